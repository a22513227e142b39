"""Import of a rule file: each statement becomes a record, and later imports follow the changes of the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treering.archive.rule_files.classification import type_of
from treering.archive.rule_files.import_turn import ImportTurn
from treering.archive.rule_files.rule_sources import RuleSource, rule_sources
from treering.core.confidence import TAUGHT_CONFIDENCE
from treering.core.errors import NotFound
from treering.core.history import Action
from treering.core.project_settings import ProjectSetting
from treering.core.records import ChunkKind, Knowledge, RecordChunk, Source, text_digest
from treering.core.scope import Visibility
from treering.core.values import thaw
from treering.knowledge.authors import Reason

if TYPE_CHECKING:
    from treering.archive.rule_files.statements import RuleStatement
    from treering.core.scope import Scope
    from treering.knowledge.api import KnowledgeBase
    from treering.ports.clock import Clock
    from treering.ports.store import Store, Transaction

TAG = "rules:"
"""Beginning of the tag that names the rule file of a record."""
_MIN_SIMILARITY = 0.6  # of two texts, from which one is an edit of the other
_SAME_PLACE = 0.3  # added to the similarity of texts on the same line under the same headings
_MAX_FILES = 10
_MAX_SUCCESSORS = 50
_PATH = re.compile(r"(?<![\w/:@.-])(?:\./)?([\w.-]+(?:/[\w.-]+)*)")


@dataclass(frozen=True, slots=True)
class RuleChange:
    """A statement of a rule file and its record. `before` is the text that it replaces, `id` None in a preview."""

    file: str
    first_line: int
    last_line: int
    type: str
    text: str
    id: str | None = None
    before: str | None = None


@dataclass(frozen=True, slots=True)
class RuleImport:
    """What an import changed, or with `dry_run` would change.

    `missing` are records whose statements are no longer in the file; they stay, unless they were `retired`.
    """

    files: tuple[str, ...] = ()
    added: tuple[RuleChange, ...] = ()
    corrected: tuple[RuleChange, ...] = ()
    missing: tuple[RuleChange, ...] = ()
    retired: tuple[RuleChange, ...] = ()
    unchanged: int = 0
    dry_run: bool = False

    def with_file(self, other: RuleImport) -> RuleImport:
        """This report and that of another file."""
        return RuleImport(
            (*self.files, *other.files),
            (*self.added, *other.added),
            (*self.corrected, *other.corrected),
            (*self.missing, *other.missing),
            (*self.retired, *other.retired),
            self.unchanged + other.unchanged,
            self.dry_run,
        )


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """Statements by what has to be done: new ones, edited ones with the digest of the old text, known ones."""

    added: tuple[RuleStatement, ...]
    edited: tuple[tuple[RuleStatement, str], ...]
    known: tuple[RuleStatement, ...]
    missing: tuple[str, ...]


def plan_import(statements: Sequence[RuleStatement], imported: Mapping[str, Knowledge | None]) -> ImportPlan:
    """Compare a file with what was `imported` from it before: records by digest, None for forgotten ones.

    A new statement is an edit of a missing one if their texts are similar, or less similar but in the same place; each
    missing one is edited once.
    """
    digests = {digest_of(each): each for each in statements}
    left = dict.fromkeys(digest for digest in imported if digest not in digests)
    known = tuple(each for digest, each in digests.items() if digest in imported)
    added: list[RuleStatement] = []
    edited: list[tuple[RuleStatement, str]] = []
    for statement in (each for digest, each in digests.items() if digest not in imported):
        similar = [(_similarity(statement, record), old) for old in left if (record := imported[old]) is not None]
        score, nearest = max(similar, key=lambda each: each[0], default=(0.0, ""))
        if score >= _MIN_SIMILARITY:
            edited.append((statement, nearest))
            del left[nearest]
        else:
            added.append(statement)
    return ImportPlan(tuple(added), tuple(edited), known, tuple(left))


def digest_of(statement: RuleStatement) -> str:
    """The key of a statement: equal for the same words."""
    return text_digest("rule", statement.content)


def _similarity(statement: RuleStatement, record: Knowledge) -> float:
    words, before = (each.casefold().split() for each in (statement.content, record.content))
    chunk = record.chunk
    is_same_place = (
        chunk is not None and chunk.start_line == statement.first_line and chunk.context == context_of(statement)
    )
    return SequenceMatcher(None, words, before, autojunk=False).ratio() + _SAME_PLACE * is_same_place


def context_of(statement: RuleStatement) -> str:
    """The headings above a statement, as a record holds them."""
    return " > ".join(statement.headings)


@dataclass(frozen=True)
class RuleImporter:
    """Imports of one project. `commit_of` gives the commit that is checked out in a folder, None without one."""

    scope: Scope
    store: Store
    clock: Clock
    knowledge: KnowledgeBase
    commit_of: Callable[[Path], str | None]

    def run(self, path: Path, root: Path, *, dry_run: bool, retire: bool) -> RuleImport:
        """Import the file and the files that it imports."""
        report = RuleImport(dry_run=dry_run)
        commit = None if dry_run else self.commit_of(root)
        for source in rule_sources(path, root):
            file = _File(source, root, commit)
            turn = ImportTurn(self.scope, self.store, self.clock, source.name, file.state_id(self.scope))
            with nullcontext() if dry_run else turn.held():
                report = report.with_file(self._import(file, turn, dry_run=dry_run, retire=retire))
        return report

    def _import(self, file: _File, turn: ImportTurn, *, dry_run: bool, retire: bool) -> RuleImport:
        state = self._state(file)
        records = {digest: self._current(id) for digest, id in state.items()}
        texts = {digest: record.content for digest, record in records.items() if record is not None}
        plan = plan_import(file.source.statements, records)
        missing = [(digest, record) for digest in plan.missing if (record := records[digest]) is not None]
        report = RuleImport(
            (file.source.name,),
            added=tuple(file.change(each) for each in plan.added),
            corrected=tuple(file.change(each, before=texts.get(old)) for each, old in plan.edited),
            missing=() if retire else tuple(file.lost(record) for _, record in missing),
            retired=tuple(file.lost(record) for _, record in missing) if retire else (),
            unchanged=len(plan.known),
        )
        if dry_run:
            return report
        new_state = dict(state)
        report = replace(
            report,
            added=tuple(self._stored(file, turn, each, None, new_state) for each in plan.added),
            corrected=tuple(
                replace(self._stored(file, turn, each, records[old], new_state), before=texts.get(old))
                for each, old in plan.edited
            ),
        )
        self._keep_lines(file, plan.known, records)
        gone = {digest for _, digest in plan.edited} | {digest for digest in plan.missing if records[digest] is None}
        for digest, record in missing if retire else ():
            self.knowledge.correct(record.id, Reason.OUTDATED)
            gone.add(digest)
        self._save(file, state, {digest: id for digest, id in new_state.items() if digest not in gone})
        return report

    def _stored(
        self, file: _File, turn: ImportTurn, statement: RuleStatement, old: Knowledge | None, state: dict[str, str]
    ) -> RuleChange:
        """Remember the statement, or correct the record of its earlier text."""
        turn.renew()
        type, payload = type_of(statement)
        if old is None:
            record = self.knowledge.remember(
                statement.content, type=type, payload=payload, **file.fields(statement), tags=(file.tag,)
            )
        else:
            record = self.knowledge.correct(old.id, Reason.OUTDATED, text=statement.content)
            self._update(record.id, {"type": type, "payload": payload, **file.provenance(statement)})
        state[digest_of(statement)] = record.id
        return replace(file.change(statement), id=record.id)

    def _keep_lines(self, file: _File, known: Iterable[RuleStatement], records: Mapping[str, Knowledge | None]) -> None:
        """Follow statements that moved inside the file."""
        for statement in known:
            record = records[digest_of(statement)]
            chunk = file.provenance(statement)["chunk"]
            if record is not None and record.chunk != chunk:
                self._update(record.id, {"chunk": chunk})

    def _update(self, id: str, changes: Mapping[str, Any]) -> None:
        def update(tx: Transaction) -> None:
            record = tx.knowledge.get(id)
            if record is not None and record.deleted_at is None:
                tx.knowledge.update(record.replace(**changes), Action.UPDATE)

        self.store.write(self.scope, self.clock(), update, claims=(f"record {id}",))

    def _current(self, id: str) -> Knowledge | None:
        """The record, or the one that a person corrected it to; None if it was forgotten or retired."""
        with suppress(NotFound):
            for _ in range(_MAX_SUCCESSORS):
                record = self.knowledge.get(id)
                if not isinstance(record, Knowledge):
                    return None
                if record.deprecated_at is None:
                    return record
                if record.superseded_by is None:
                    return None
                id = record.superseded_by
        return None

    def _state(self, file: _File) -> dict[str, str]:
        """Record ids by digest, as the last import left them."""
        with self.store.reading(self.scope, self.clock()) as tx:
            setting = tx.project_settings.get(file.state_id(self.scope))
        found = {} if setting is None else thaw(setting.values).get("statements")
        return {str(digest): str(id) for digest, id in found.items()} if isinstance(found, dict) else {}

    def _save(self, file: _File, before: Mapping[str, str], state: Mapping[str, str]) -> None:
        if state == before:
            return
        now, id = self.clock(), file.state_id(self.scope)
        setting = ProjectSetting.make(id=id, changed_at=now, values={"statements": dict(state)})
        self.store.write(self.scope, now, lambda tx: tx.project_settings.put_many([setting]), claims=(id,))


@dataclass(frozen=True, slots=True)
class _File:
    """A rule file in its repository."""

    source: RuleSource
    root: Path
    commit: str | None

    @property
    def tag(self) -> str:
        return f"{TAG}{self.source.name}"

    def state_id(self, scope: Scope) -> str:
        """Id of the project setting with what was imported; personal files have one for each principal."""
        owner = f"\n{scope.principal}" if self.source.is_personal else ""
        return f"{TAG}{text_digest('rule file', f'{self.source.name}{owner}')}"

    def provenance(self, statement: RuleStatement) -> dict[str, Any]:
        chunk = RecordChunk(
            kind=ChunkKind.PROSE,
            start_line=statement.first_line,
            end_line=statement.last_line,
            context=context_of(statement),
        )
        return {"chunk": chunk, "files": tuple(self._named_files(statement.text)), "commit": self.commit}

    def fields(self, statement: RuleStatement) -> dict[str, Any]:
        visibility = {"visibility": Visibility.PERSONAL} if self.source.is_personal else {}
        return {
            **self.provenance(statement),
            "source": Source.USER_TAUGHT,
            "confidence": TAUGHT_CONFIDENCE,
            "user_verified": True,
            **visibility,
        }

    def change(self, statement: RuleStatement, before: str | None = None) -> RuleChange:
        return RuleChange(
            self.source.name,
            statement.first_line,
            statement.last_line,
            type_of(statement)[0],
            statement.content,
            before=before,
        )

    def lost(self, record: Knowledge) -> RuleChange:
        chunk = record.chunk
        lines = (chunk.start_line, chunk.end_line) if chunk else (0, 0)
        return RuleChange(self.source.name, *lines, record.type, record.content, record.id)

    def _named_files(self, text: str) -> Iterator[str]:
        """Files of the repository that the statement names."""
        named = dict.fromkeys(found[1].rstrip(".") for found in _PATH.finditer(text))
        likely = [each for each in named if ("/" in each or "." in each) and ".." not in each.split("/")]
        yield from [each for each in likely if (self.root / each).is_file()][:_MAX_FILES]
