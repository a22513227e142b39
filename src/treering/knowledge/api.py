"""`memory.knowledge`: operations on the knowledge records of one project."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from treering.core.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from datetime import datetime

    from treering.core.episodes import Episode
    from treering.core.history import HistoryEntry
    from treering.core.patterns import Pattern
    from treering.core.records import Knowledge
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.core.turns import Turn
    from treering.knowledge.authors import Author, Reason
    from treering.knowledge.operations import KnowledgeOperations
    from treering.knowledge.removal.proof import PurgeReceipt, Sweep
    from treering.ports.clock import Clock, NewId
    from treering.ports.store import Store

_MIN_SHORT = 4  # characters of an id that name a record; fewer match by chance
_MAX_CANDIDATES = 10


@dataclass(eq=False)
class KnowledgeBase:
    """One project's knowledge. `get`, `forget`, `undo` and `history` take the id of a record of any kind."""

    scope: Scope
    store: Store
    clock: Clock
    new_id: NewId
    settings: Settings
    sweep: Callable[[], Sweep]
    """Removes the blobs of purged records."""
    on_forget: Callable[[str], None]
    """Called with the id of each forgotten record, before it is removed."""

    def __repr__(self) -> str:
        return f"KnowledgeBase(project={self.scope.project!r})"

    @cached_property
    def _operations(self) -> KnowledgeOperations:
        from treering.knowledge.operations import KnowledgeOperations

        return KnowledgeOperations(self.store, self.settings.knowledge, self.new_id, self.settings.episodes)

    def remember(self, text: str, *, type: str = "fact", **fields: Any) -> Knowledge:
        """Store a record; see `Memory.remember`."""
        return self._operations.remember(self.scope, self.clock(), text, type=type, **fields)

    def remember_many(self, records: Iterable[Knowledge | str]) -> int:
        """Store many records, or texts as facts, in one transaction, each text once; return how many were new."""
        return self._operations.remember_many(self.scope, self.clock(), records)

    def get(self, id: str) -> Knowledge | Turn | Episode | Pattern:
        """The record with this id, of any kind; `NotFound` for a forgotten one.

        A superseded record names its successor in `superseded_by`.
        """
        from treering.core.records import Knowledge

        with self.store.reading(self.scope, self.clock()) as tx:
            # Collections are loaded one after the other: most ids belong to knowledge.
            for look_up in (
                lambda: tx.knowledge.get(id),
                lambda: tx.turns.get(id),
                lambda: tx.episodes.get_complete(id),
                lambda: tx.patterns.get(id),
            ):
                found: Knowledge | Turn | Episode | Pattern | None = look_up()
                if found is not None and found.deleted_at is None:
                    if isinstance(found, Knowledge) and found.deprecated_at is not None:
                        from treering.knowledge.operations import with_successor

                        return with_successor(tx, found)
                    return found
        raise NotFound(f"no record with id {id!r} in project {self.scope.project!r}")

    def resolve(self, short: str) -> str:
        """The complete id of a record of any kind, from its id or from the beginning or end of it.

        Raises `NotFound` if no record has such an id, `InvalidInput` with the candidates if several have.
        """
        found = tuple(dict.fromkeys(self._ids_like(short)))
        if len(found) == 1:
            return found[0]
        if not found:
            raise NotFound(f"no record with id {short!r} in project {self.scope.project!r}")
        more = ", …" if len(found) > _MAX_CANDIDATES else ""
        listed = ", ".join(found[:_MAX_CANDIDATES])
        raise InvalidInput(f"{short!r} is the beginning or end of several ids; pass one of {listed}{more}")

    def complete(self, id: str) -> str:
        """The id of a record, even a forgotten one; else the id that `resolve` finds; else `id` itself.

        Raises `InvalidInput` with the candidates if several records have such an id.
        """
        with self.store.reading(self.scope, self.clock()) as tx:
            if any(each.holds(id, deleted=True) for each in (tx.knowledge, tx.turns, tx.episodes, tx.patterns)):
                return id
        try:
            return self.resolve(id)
        except NotFound:
            return id

    def _ids_like(self, short: str) -> Iterator[str]:
        with self.store.reading(self.scope, self.clock()) as tx:
            # Loaded one after the other, as in `get`.
            collections = (lambda: tx.knowledge, lambda: tx.turns, lambda: tx.episodes, lambda: tx.patterns)
            if any(collection().holds(short) for collection in collections):
                yield short
            elif len(short) >= _MIN_SHORT:
                for collection in collections:
                    yield from collection().ids_like(short, limit=_MAX_CANDIDATES + 1)

    def confirm(self, id: str, *, by: Author | None = None) -> Knowledge:
        """Mark a record as true. With `by`, an agent reports a confirmation, which does not clear a flag or taint."""
        return self._operations.confirm(self.scope, self.clock(), id, by=by)

    def mark_from_outside(self, ids: Iterable[str], source: str, *, since: datetime) -> tuple[Knowledge, ...]:
        """Taint those of the records that an agent stored since then, as derived from this source; return them.

        They wait for review. Records of a person, and confirmed ones, stay as they are.
        """
        from treering.knowledge.outside_content import mark_from_outside

        return mark_from_outside(self.scope, self.store, self.clock(), tuple(ids), source=source, since=since)

    def correct(
        self,
        id: str,
        reason: Reason | str | None = None,
        *,
        text: str | None = None,
        duplicate_of: str | None = None,
        by: Author | None = None,
    ) -> Knowledge:
        """Correct a record and return the one that is valid now; see `Memory.correct`."""
        from treering.knowledge.authors import Reason

        default = Reason.INACCURATE if duplicate_of is None else Reason.DUPLICATE
        chosen = default if reason is None else Reason.named(reason)
        return self._operations.correct(
            self.scope, self.clock(), id, chosen, text=text, duplicate_of=duplicate_of, by=by
        )

    def flag(self, id: str, note: str = "") -> Knowledge:
        """Flag a record as doubtful; searches leave it out until it is confirmed or corrected."""
        return self._operations.flag(self.scope, self.clock(), id, note)

    def pin(self, id: str, *, pinned: bool = True) -> Knowledge:
        """Protect a record from expiry, or end that protection."""
        return self._operations.pin(self.scope, self.clock(), id, pinned=pinned)

    def mute(self, id: str, *, muted: bool = True) -> Knowledge:
        """Keep a record from being given to agents unasked, or end that. Searches still find it."""
        return self._operations.mute(self.scope, self.clock(), id, muted=muted)

    def forget(self, id: str, *, hard: bool = False) -> PurgeReceipt | None:
        """Delete a record so that `undo` restores it; or purge it (`hard`), and return the proof."""
        self.on_forget(id)
        if not hard:
            self._operations.forget(self.scope, self.clock(), id)
            return None
        from treering.knowledge.removal.proof import purge_with_proof

        return purge_with_proof(
            self.scope, self._operations, self.clock, id, sweep=self.sweep(), settings=self.settings
        )

    def used(self, ids: str | Iterable[str], *, corrected: bool = False) -> int:
        """Count a use of each record as evidence for it, or against it (`corrected`); return how many exist."""
        from treering.knowledge.usage import count_uses

        named = (ids,) if isinstance(ids, str) else ids
        return count_uses(self.scope, self.store, self.clock(), named, corrected=corrected)

    def undo(self, id: str) -> Knowledge | Turn | Episode | Pattern | None:
        """Revert the last change; return the record, or None if the change had created it."""
        self._operations.undo(self.scope, self.clock(), id)
        try:
            return self.get(id)
        except NotFound:
            return None

    def history(self, id: str) -> tuple[HistoryEntry, ...]:
        """Changes of a record, newest first."""
        from treering.audit import history

        return history(self.scope, self.store, self.clock(), id)
