"""The verbs of Memory over HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack

from treering.client import decoding
from treering.client.connection import Connection, segment
from treering.client.nouns import (
    RemoteContext,
    RemoteEntities,
    RemoteEpisodes,
    RemoteKnowledge,
    RemotePatterns,
    RemoteSessions,
    RemoteTrust,
    moment,
    search_where,
)
from treering.core.episodes import Episode
from treering.core.errors import InvalidInput, NotOverHttp
from treering.core.history import Action, AuditEntry, HistoryEntry
from treering.core.queries import SearchFilter
from treering.core.records import Knowledge
from treering.core.scope import Scope
from treering.core.turns import Turn
from treering.core.values import Value, thaw

if TYPE_CHECKING:
    import httpx

    from treering.archive.restore import ImportReport
    from treering.core.fields import EpisodeFields, KnowledgeFields, TurnFields
    from treering.core.messages import Role
    from treering.core.patterns import Pattern
    from treering.core.phases import Phase
    from treering.jobs.worker import SettleReport
    from treering.knowledge.authors import Author, Reason
    from treering.knowledge.removal.proof import PurgeReceipt
    from treering.maintenance.stats import Stats
    from treering.ports.store import ProjectSize
    from treering.search.answer import Answer

__all__ = ["Client"]


class Client:
    """One project of a server: the verbs of `Memory`, with the same values and errors. Safe to share between threads.

    A verb that only works on a database raises `InvalidInput`. After a lost connection, a request is sent again, and
    carried out once.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        project: str | None = None,
        timeout: float = 60.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        """Connect to `treering serve` at `url`; a project that does not exist is created, as by `treering.open`.

        Without a project, it is the one that the server was started for.
        """
        self._connection = Connection(url, token=token, timeout=timeout, transport=transport)
        if project is None:
            project = str(self._connection.server("GET", "/server")["default_project"])
        else:
            self._connection.server("PUT", f"/projects/{segment(project)}")
        self._connection.project = project
        self.scope = Scope.named(tenant="local", project=project, principal="local")
        self.knowledge = RemoteKnowledge(self._connection)
        self.context = RemoteContext(self._connection)
        self.episodes = RemoteEpisodes(self._connection)
        self.patterns = RemotePatterns(self._connection)
        self.entities = RemoteEntities(self._connection)
        self.sessions = RemoteSessions(self._connection)
        self.trust = RemoteTrust(self._connection)

    def __repr__(self) -> str:
        return f"Client(url={self._connection.url!r}, project={self.scope.project!r})"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotOverHttp(f"{name!r} does not work through a server; open the database itself with its path or URL")

    def remember(self, text: str, *, type: str = "fact", **fields: Unpack[KnowledgeFields]) -> Knowledge:
        """Store a piece of knowledge."""
        body = {"text": text, "type": type, **_plain(fields)}
        return decoding.value(Knowledge, self._connection.post("/records", body))

    def remember_many(self, records: Iterable[str]) -> int:
        """Store many texts as facts, each once; return how many were new."""
        texts = list(records)
        if not all(isinstance(each, str) for each in texts):
            raise InvalidInput("through a server, remember_many takes texts; use remember for records with fields")
        if not texts:
            return 0
        return int(self._connection.post("/records/batch", {"texts": texts})["count"])

    def turn(
        self,
        *,
        session: str,
        role: Role | str,
        text: str,
        id: str | None = None,
        at: datetime | date | str | None = None,
        **fields: Unpack[TurnFields],
    ) -> Turn:
        """Store a message; a turn delivered twice under one id is stored once."""
        body = {"session": session, "role": str(role), "text": text, "id": id, "at": moment(at), **_plain(fields)}
        return decoding.value(Turn, self._connection.post("/turns", body))

    def episode(
        self,
        task: str | Mapping[str, object],
        *,
        outcome: str | Mapping[str, object] = "SUCCESS",
        output: str | None = None,
        session: str | None = None,
        at: datetime | date | str | None = None,
        id: str | None = None,
        artifacts: Mapping[str, str] | None = None,
        **fields: Unpack[EpisodeFields],
    ) -> Episode:
        """Store a task execution; artifacts are texts."""
        body = {
            "task": _json(task),
            "outcome": _json(outcome),
            "output": output,
            "session": session,
            "at": moment(at),
            "id": id,
            "artifacts": dict(artifacts or {}),
            "fields": _plain(fields),
        }
        return decoding.value(Episode, self._connection.post("/episodes", body))

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        where: SearchFilter | None = None,
        superseded: bool = False,
        as_of: datetime | date | str | None = None,
        files: Iterable[str] = (),
        phase: Phase | str | None = None,
        explain: bool = False,
        thorough: bool = True,
        precise: bool = False,
        repeated: bool = False,
        private: bool = False,
        tainted: bool = True,
        code: bool | None = None,
    ) -> Answer:
        """The best matching records of every kind; `Memory.search` documents the arguments."""
        body = {
            "query": query,
            "limit": limit,
            "where": search_where(where),
            "superseded": superseded,
            "as_of": moment(as_of),
            "files": list(files),
            "phase": None if phase is None else str(phase),
            "explain": explain,
            "thorough": thorough,
            "precise": precise,
            "repeated": repeated,
            "private": private,
            "tainted": tainted,
            "code": code,
        }
        return decoding.answer(self._connection.post("/search", body))

    def get(self, id: str) -> Knowledge | Turn | Episode | Pattern:
        """The record with this id, of any kind."""
        return decoding.record(self._connection.get(f"/records/{segment(id)}", exact=True))

    def confirm(self, id: str, *, by: Author | None = None) -> Knowledge:
        """Mark a record as true."""
        body = None if by is None else {"source": by.source.value, "session": by.session}
        return self._changed(id, "confirm", body)

    def correct(
        self,
        id: str,
        reason: Reason | str | None = None,
        *,
        text: str | None = None,
        duplicate_of: str | None = None,
        by: Author | None = None,
    ) -> Knowledge:
        """Correct a record and return the one that is valid now."""
        body: dict[str, Any] = {
            "reason": None if reason is None else str(reason),
            "text": text,
            "duplicate_of": duplicate_of,
        }
        if by is not None:
            taint = by.effective_taint
            body |= {
                "source": by.source.value,
                "session": by.session,
                "taint": None if taint is None else taint.model_dump(mode="json"),
            }
        return self._changed(id, "correct", body)

    def flag(self, id: str, note: str = "") -> Knowledge:
        """Mark a record as doubtful."""
        return self._changed(id, "flag", {"note": note})

    def pin(self, id: str, *, pinned: bool = True) -> Knowledge:
        """Protect a record from decay, or end that protection."""
        return self._changed(id, "pin", {"pinned": pinned})

    def used(self, ids: str | Iterable[str], *, corrected: bool = False) -> int:
        """Report that work was based on these records; returns how many of them exist."""
        named = [ids] if isinstance(ids, str) else list(ids)
        if not named:
            return 0
        return int(self._connection.post("/records/used", {"ids": named, "corrected": corrected})["count"])

    def forget(self, id: str, *, hard: bool = False) -> PurgeReceipt | None:
        """Delete a record so that `undo` restores it, or purge it (`hard`) and return the proof."""
        found = self._connection.delete(f"/records/{segment(id)}", hard=hard)
        if found["proof"] is None:
            return None
        from treering.knowledge.removal.proof import Proof, PurgeReceipt, Remnant

        proof = found["proof"]
        remains = tuple(Remnant(each["place"], each["record"], "", each["meaning"]) for each in proof["remains"])
        made = Proof(proof["files"], proof["bytes"], proof["pieces"], remains)
        return PurgeReceipt(id, lambda: made)

    def undo(self, id: str) -> Knowledge | Turn | Episode | Pattern | None:
        """Revert the last change of a record; None if the change had created it."""
        found = self._connection.post(f"/records/{segment(id)}/undo")["record"]
        return None if found is None else decoding.record(found)

    def history(self, id: str) -> tuple[HistoryEntry, ...]:
        """Changes of a record, newest first."""
        return decoding.values(HistoryEntry, self._connection.get(f"/records/{segment(id)}/history")["entries"])

    def audit(
        self, *, actions: Iterable[Action | str] = (), subject: str | None = None, limit: int = 50
    ) -> tuple[AuditEntry, ...]:
        """The audit log, newest first."""
        named = [Action.named(each).value for each in actions]
        found = self._connection.get("/audit", actions=named, subject=subject, limit=limit)
        return decoding.values(AuditEntry, found["items"])

    def projects(self) -> tuple[ProjectSize, ...]:
        """Projects of the database, with their sizes."""
        from treering.ports.store import ProjectSize

        return tuple(ProjectSize(**each) for each in self._connection.server("GET", "/projects")["projects"])

    def stats(self) -> Stats:
        """Counts of what this project holds."""
        return decoding.stats(self._connection.get("/stats"))

    def settle(self, timeout: float = 60.0) -> SettleReport:
        """Wait until background work is done."""
        from treering.jobs.worker import SettleReport

        return SettleReport(**self._connection.post("/jobs/settle", {"seconds": timeout}))

    def export_lines(self, *, history: bool = False) -> Iterator[str]:
        """The lines of an export, one by one."""
        return self._connection.lines("/export", history=history)

    def import_(self, path: str | Path) -> ImportReport:
        """Read an export into this project: all of it or nothing."""
        from treering.archive.restore import ImportReport

        found = self._connection.upload("/import", Path(path))
        return ImportReport(found["added"], found["known"], tuple(found["conflicts"]), found["skipped"])

    def close(self) -> None:
        """Close the connection. Everything acknowledged is stored already."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _changed(self, id: str, verb: str, body: Mapping[str, Any] | None) -> Knowledge:
        return decoding.value(Knowledge, self._connection.post(f"/records/{segment(id)}/{verb}", body))


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _json(value) for name, value in fields.items()}


def _json(value: Any) -> Any:
    """A value of the library, or a container of such values, as JSON."""
    if isinstance(value, Value):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(key): _json(each) for key, each in thaw(value).items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_json(each) for each in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    return value
