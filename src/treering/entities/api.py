"""`memory.entities`: profiles, search, and corrections by the user."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from time import monotonic
from typing import Any, TypeVar

from treering.core.entities import Entity, EntityKind, EntityLink, link_id
from treering.core.errors import InvalidInput, NotFound, StoreError, StoreReadOnly
from treering.core.queries import EntityFilter, Order
from treering.core.records import Knowledge
from treering.core.scope import Scope, Visibility
from treering.core.settings import Settings
from treering.core.statements import same_name
from treering.entities import merge as merging
from treering.entities.extraction.mentions import EntityMention
from treering.entities.extraction.providers import Readers, accurate_readers
from treering.entities.extraction.rules import FAST, ExtractionStrategy, extract
from treering.entities.groups import checked_name, with_mentions
from treering.entities.link_jobs import LINK_SECONDS, MAX_READ_CHARACTERS, link_new
from treering.entities.links import CLAIM
from treering.entities.profiles import MAX_SUGGESTIONS, Profile, facts_over_time, profile
from treering.entities.registry import register_of
from treering.ports.clock import Clock, NewId
from treering.ports.models import Models
from treering.ports.store import Store, Transaction

T = TypeVar("T")

_PAGE = 500


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """The mentions in a text, and the providers that were unavailable."""

    mentions: tuple[EntityMention, ...]
    missing: dict[str, str]


@dataclass(frozen=True, slots=True)
class Entities:
    """The entities of one project. `name` arguments accept a name, an alias in any spelling, or an id."""

    scope: Scope
    store: Store
    settings: Settings
    models: Models
    clock: Clock
    new_id: NewId

    def __repr__(self) -> str:
        return f"Entities(project={self.scope.project!r})"

    def about(self, name: str, *, kind: EntityKind | str | None = None) -> Profile:
        """The profile of an entity; new records are linked first."""
        chosen = kind_named(kind)
        self._link_new_records()
        with self.store.reading(self.scope, self.clock()) as tx:
            return profile(tx, name, chosen, self.settings)

    def facts(self, name: str, *, kind: EntityKind | str | None = None) -> tuple[Knowledge, ...]:
        """Current and former facts of an entity, and those that replaced them, in the order of their beginning."""
        chosen = kind_named(kind)
        self._link_new_records()
        with self.store.reading(self.scope, self.clock()) as tx:
            return facts_over_time(tx, name, chosen)

    def find(
        self, name: str | None = None, *, kind: EntityKind | str | None = None, limit: int = 50
    ) -> tuple[Entity, ...]:
        """Entities by number of mentions; with `name`, those with its words in a name or alias."""
        if limit < 1:
            raise InvalidInput(f"limit is {limit}; ask for at least one entity")
        chosen = kind_named(kind)
        self._link_new_records()
        with self.store.reading(self.scope, self.clock()) as tx:
            found = (each for each in _unmerged(tx, chosen) if name is None or _has_words_of(each, name))
            return tuple(with_mentions(tx, list(islice(found, limit))))

    def link(
        self, record: str, name: str, *, kind: EntityKind | str | None = None, aliases: Sequence[str] = ()
    ) -> Entity:
        """Link a record with an entity, which is created if unknown. The link is visible to readers of the record."""
        chosen, given = kind_named(kind), checked_name(name)

        def add(tx: Transaction) -> Entity:
            kind_of, owner, visibility, at = _record_fields(tx, record)
            personal = visibility is Visibility.PERSONAL
            mention = EntityMention(given, chosen or EntityKind.OTHER, 0, len(given), 1.0, "person")
            register = register_of(tx, {same_name(given)}, self.new_id, shared=not (personal and aliases))
            entity = register.entity_for(mention, owner, personal=personal)
            if entity is None:
                raise InvalidInput(f"{name!r} was deleted; `undo` restores it")
            register.store(tx)
            link = EntityLink(
                id=link_id(entity.id, record),
                entity=entity.id,
                owner=owner,
                visibility=visibility,
                record_kind=kind_of,
                record=record,
                mention=given,
                explicit=True,
                created_at=at,
            )
            tx.entity_links.put_many([link])
            tx.entities.recount([entity.id])
            return self._mark_explicit(tx, entity, chosen, aliases, personal=personal)

        return self._write(add)

    def alias(self, name: str, *aliases: str) -> Entity:
        """Add aliases; another entity of such a name is merged into it."""
        return self._change(lambda tx, near: merging.alias(tx, name, aliases, nearest=near))

    def rename(self, name: str, to: str) -> Entity:
        """Rename the entity; the old name becomes an alias."""
        return self._change(lambda tx, near: merging.rename(tx, name, to, nearest=near))

    def merge(self, name: str, *, into: str) -> Entity:
        """Merge the entity into another, which keeps both names and the records of both."""
        return self._change(lambda tx, near: merging.merge(tx, name, into, nearest=near))

    def delete(self, name: str) -> Entity:
        """Delete the entity: it is not linked again. Its records stay, and `undo` restores it."""
        return self._change(lambda tx, near: merging.delete(tx, name, nearest=near))

    def undo(self, name: str) -> tuple[Entity, ...]:
        """Undo the last of these changes; returns the restored entities."""

        def undo(tx: Transaction) -> tuple[Entity, ...]:
            changed = merging.undo(tx, name, nearest=MAX_SUGGESTIONS)
            ids = [record.id for record in changed if isinstance(record, Entity)]
            now = tx.entities.get_many(ids)
            return tuple(now[id] for id in ids if id in now)

        return self._write(undo)

    def extract(self, text: str, *, strategy: ExtractionStrategy | str = ExtractionStrategy.FAST) -> ExtractionResult:
        """The mentions in a text; stores nothing. `accurate` also uses spaCy and a language model if available."""
        try:
            chosen = ExtractionStrategy(strategy)
        except ValueError:
            raise InvalidInput(f"{strategy!r} is not a strategy; use one of {', '.join(ExtractionStrategy)}") from None
        limits = self.settings.entities
        found = accurate_readers(self.models) if chosen is ExtractionStrategy.ACCURATE else Readers(FAST)
        mentions = extract(text, found.readers, limit=limits.most_mentions, max_characters=MAX_READ_CHARACTERS)
        return ExtractionResult(mentions, dict(found.missing))

    def _mark_explicit(
        self, tx: Transaction, entity: Entity, kind: EntityKind | None, aliases: Sequence[str], *, personal: bool
    ) -> Entity:
        """Mark the entity as named by the user; a personal record does not change a shared entity."""
        stored = tx.entities.get(entity.id) or entity
        if personal and stored.visibility is not Visibility.PERSONAL:
            return stored
        if not stored.explicit or (kind is not None and stored.kind is not kind):
            stored = tx.entities.update(stored.replace(explicit=True, taint=None, kind=kind or stored.kind))
        near = MAX_SUGGESTIONS
        return merging.alias(tx, stored.id, aliases, nearest=near) if aliases else stored

    def _link_new_records(self, *, reading: bool = True) -> None:
        """Link new records for at most `slice_seconds`, including waits for another writer if `reading`."""
        limits = self.settings.entities
        until = monotonic() + LINK_SECONDS
        with suppress(StoreError if reading else StoreReadOnly):
            link_new(
                self.scope,
                self.store,
                self.clock,
                limits,
                self.new_id,
                between=lambda: monotonic() < until,
                max_wait=LINK_SECONDS if reading else None,
            )

    def _change(self, change: Callable[[Transaction, int], Entity]) -> Entity:
        self._link_new_records(reading=False)
        return self._write(lambda tx: change(tx, MAX_SUGGESTIONS))

    def _write(self, work: Callable[[Transaction], T]) -> T:
        def claimed(tx: Transaction) -> T:
            tx.claim(CLAIM)
            return work(tx)

        return self.store.write(self.scope, self.clock(), claimed)


def kind_named(kind: EntityKind | str | None) -> EntityKind | None:
    """The kind with this name; raises `InvalidInput` with the known names."""
    try:
        return None if kind is None else EntityKind(kind)
    except ValueError:
        raise InvalidInput(f"{kind!r} is not a kind of entity; use one of {', '.join(EntityKind)}") from None


def _unmerged(tx: Transaction, kind: EntityKind | None) -> Iterator[Entity]:
    where, after = EntityFilter(kinds=() if kind is None else (kind,)), None
    while True:
        page = tx.entities.find(where, order=Order(by="mentions"), limit=_PAGE, after=after)
        yield from (each for each in page.items if each.merged_into is None)
        after = page.next
        if after is None:
            return


def _has_words_of(entity: Entity, name: str) -> bool:
    wanted = same_name(name)
    return any(f" {wanted} " in f" {same_name(each)} " for each in (entity.name, *entity.aliases))


def _record_fields(tx: Transaction, id: str) -> tuple[str, str, Visibility, datetime]:
    """Kind, owner, visibility and time of a record."""
    for kind, read in (("knowledge", tx.knowledge.get), ("turn", tx.turns.get), ("episode", tx.episodes.get)):
        record: Any = read(id)
        if record is not None and record.deleted_at is None:
            at = record.created_at if kind == "knowledge" else record.at
            return kind, record.owner, record.visibility, at
    raise NotFound(f"no record with id {id!r} in project {tx.scope.project!r}")
