"""Nouns of a client: those parts of `memory.context`, `memory.episodes`… that work over HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from treering.client import decoding
from treering.client.connection import Connection, segment
from treering.core.entities import Entity
from treering.core.episodes import Episode
from treering.core.errors import InvalidInput, NotFound, NotOverHttp
from treering.core.observations import ObservedSession
from treering.core.patterns import Pattern
from treering.core.records import Knowledge
from treering.core.timestamps import timestamp_of
from treering.core.trust import TrustEvidence, TrustLevel

if TYPE_CHECKING:
    from treering.context.briefing import Briefing
    from treering.core.entities import EntityKind
    from treering.core.events import SessionOutcome, SessionType
    from treering.core.phases import Phase
    from treering.core.queries import SearchFilter
    from treering.render.budget import RenderedContext


class RemoteNoun:
    """A noun without the verbs that only work on a database."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotOverHttp(f"{name!r} does not work through a server; open the database itself with its path or URL")


class RemoteKnowledge(RemoteNoun):
    def resolve(self, short: str) -> str:
        """The complete id of a record, from its id or from the beginning or end of it."""
        found: str = self._connection.get(f"/records/{segment(short)}")["record"]["id"]
        return found

    def complete(self, id: str) -> str:
        """The id of a record, from its id or from the beginning or end of it; else `id` itself."""
        try:
            return self.resolve(id)
        except NotFound:
            return id

    def mute(self, id: str, *, muted: bool = True) -> Knowledge:
        """Keep a record from being given to agents unasked, or end that."""
        return decoding.value(Knowledge, self._connection.post(f"/records/{segment(id)}/mute", {"muted": muted}))


class RemoteContext(RemoteNoun):
    def build(
        self,
        query: str,
        *,
        budget: int | None = None,
        phase: Phase | str | None = None,
        reflection: bool = True,
        rules: bool = True,
        session: str | None = None,
        tainted: bool = False,
        files: Sequence[str] = (),
        where: SearchFilter | None = None,
        as_of: object = None,
        precise: bool = False,
    ) -> RenderedContext:
        """Search results as cited text for a prompt, within a token budget."""
        body = {
            "query": query,
            "budget": budget,
            "phase": None if phase is None else str(phase),
            "reflection": reflection,
            "rules": rules,
            "session": session,
            "tainted": tainted,
            "files": list(files),
            "where": search_where(where),
            "as_of": moment(as_of),
            "precise": precise,
        }
        return decoding.context(self._connection.post("/context", body))

    def briefing(self, session: str | None = None, *, episodes: int = 5, tainted: bool = False) -> Briefing:
        """Records of the session, open work, rules and latest episodes."""
        from treering.context.briefing import Briefing

        found = self._connection.get("/context/briefing", session=session, episodes=episodes, tainted=tainted)
        return Briefing(
            records=decoding.values(Knowledge, found["records"]),
            in_progress=decoding.values(Knowledge, found["in_progress"]),
            rules=decoding.values(Knowledge, found["rules"]),
            episodes=decoding.values(Episode, found["episodes"]),
            records_left_out=found["records_left_out"],
            rules_left_out=found["rules_left_out"],
        )

    def to_review(self, *, limit: int = 20) -> tuple[Knowledge, ...]:
        """Records that a person should confirm, correct or forget."""
        return decoding.values(Knowledge, self._connection.get("/context/review", limit=limit)["items"])


class RemoteEpisodes(RemoteNoun):
    def get(self, id: str) -> Episode:
        """The complete episode."""
        return decoding.value(Episode, self._connection.get(f"/episodes/{segment(id)}"))


class RemotePatterns(RemoteNoun):
    def get(self, id: str) -> Pattern:
        """The pattern with its uses counted up to now."""
        return decoding.value(Pattern, self._connection.get(f"/patterns/{segment(id)}"))

    def add(
        self, *, name: str, category: str, content: dict[str, Any], id: str | None = None, **fields: Any
    ) -> Pattern:
        """Store a new pattern, which starts as a candidate."""
        body = {"name": name, "category": category, "content": content, "id": id, "fields": fields}
        return decoding.value(Pattern, self._connection.post("/patterns", body))


class RemoteEntities(RemoteNoun):
    def find(
        self, name: str | None = None, *, kind: EntityKind | str | None = None, limit: int = 50
    ) -> tuple[Entity, ...]:
        """Entities by number of mentions."""
        found = self._connection.get("/entities", name=name, kind=kind, limit=limit)
        return decoding.values(Entity, found["items"])


class RemoteSessions(RemoteNoun):
    def list(
        self,
        *,
        limit: int = 20,
        types: Iterable[SessionType | str] = (),
        outcomes: Iterable[SessionOutcome | str] = (),
        since: datetime | date | str | None = None,
    ) -> tuple[ObservedSession, ...]:
        """The latest sessions, newest first."""
        asked = {"types": [str(each) for each in types], "outcomes": [str(each) for each in outcomes]}
        at = None if since is None else timestamp_of(since, datetime.now(UTC))
        found = self._connection.get("/sessions", limit=limit, since=moment(at), **asked)
        return decoding.values(ObservedSession, found["items"])


class RemoteTrust(RemoteNoun):
    @property
    def level(self) -> TrustLevel:
        """The level now."""
        return TrustLevel(self._connection.get("/trust")["level"])

    @property
    def since(self) -> datetime | None:
        """When the level was set; None for the first one."""
        found = self._connection.get("/trust")["since"]
        return None if found is None else datetime.fromisoformat(found)

    @property
    def offered(self) -> TrustLevel | None:
        """A more careful level, offered after several wrong records."""
        found = self._connection.get("/trust")["offered"]
        return None if found is None else TrustLevel(found)

    def evidence(self) -> TrustEvidence:
        """What was counted since the level was set."""
        return TrustEvidence(**self._connection.get("/trust")["evidence"])

    def set(self, level: TrustLevel | str) -> TrustLevel:
        """Set the level, whatever the evidence."""
        return TrustLevel(self._connection.put("/trust", {"level": str(level)})["level"])


def moment(given: object) -> str | None:
    """A time as the API takes it."""
    return None if given is None else given if isinstance(given, str) else getattr(given, "isoformat")()  # noqa: B009


def search_where(where: SearchFilter | None) -> dict[str, Any] | None:
    """A filter as the API takes it."""
    if where is None:
        return None
    fields = where.model_dump(mode="json", exclude={"time", "confidence"})
    if where.time is not None:
        fields |= where.time.model_dump(mode="json")
    if where.confidence is not None:
        if where.confidence.at_most < 1.0:
            raise InvalidInput("a maximum confidence does not work through a server; leave it out")
        fields["min_confidence"] = where.confidence.at_least
    return fields
