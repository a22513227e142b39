"""Entities: people, projects, places and other names."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import Field

from treering.core.entities import Entity, EntityKind
from treering.core.records import Knowledge
from treering.core.taint import Taint
from treering.interfaces.rest.calls import Route
from treering.interfaces.rest.schemas import Answered, Asked, ListPage
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory

EntityName = Annotated[str, Path(description="Name or alias of the entity.", examples=["Ada Lovelace"])]
KindFilter = Annotated[EntityKind | None, Query(description="Only entities of this kind.")]


class EntityMentionedIn(Answered):
    """A record that mentions the entity."""

    kind: str
    id: str
    at: datetime
    text: str
    taint: Taint | None = None


class EntityNeighbour(Answered):
    """An entity mentioned in the same records."""

    entity: Entity
    together: int


class TimelineEntry(Answered):
    """A fact, and the time from which it holds or at which it was learned."""

    at: datetime
    text: str
    record: str
    tainted: bool


class EntityProfile(Answered):
    """Facts by confidence, records newest first, timeline oldest first."""

    entity: Entity
    aliases: list[str]
    mentions: int
    summary: str
    facts: list[Knowledge]
    records: list[EntityMentionedIn]
    related: list[EntityNeighbour]
    timeline: list[TimelineEntry]


class LinkRequest(Asked):
    """A record that mentions an entity."""

    record: str
    name: str
    kind: EntityKind | None = None
    aliases: tuple[str, ...] = ()


class AliasRequest(Asked):
    aliases: list[str] = Field(min_length=1)


class RenameRequest(Asked):
    to: str = Field(min_length=1)


class MergeEntityRequest(Asked):
    into: str = Field(min_length=1)


class ExtractRequest(Asked):
    text: str
    strategy: Literal["fast", "accurate"] = "fast"


class FoundMention(Answered):
    """A name in a text."""

    name: str
    kind: EntityKind
    start: int
    end: int
    confidence: float
    provider: str


class FoundMentions(Answered):
    mentions: list[FoundMention]
    missing: dict[str, str]


def list_entities(
    memory: Memory,
    name: Annotated[str | None, Query(description="Only entities with these words in a name or alias.")] = None,
    kind: KindFilter = None,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 50,
) -> ListPage[Entity]:
    """List entities by number of mentions."""
    found = list(memory.entities.find(name, kind=kind, limit=limit))
    return ListPage[Entity].model_construct(items=found, next=None, total=None)


def get_entity(memory: Memory, name: EntityName, kind: KindFilter = None) -> Any:
    """The profile of an entity: facts, records, related entities and a timeline."""
    return memory.entities.about(name, kind=kind)


def list_entity_facts(memory: Memory, name: EntityName, kind: KindFilter = None) -> ListPage[Knowledge]:
    """Current and former facts of an entity, and those that replaced them, in the order of their beginning."""
    found = list(memory.entities.facts(name, kind=kind))
    return ListPage[Knowledge].model_construct(items=found, next=None, total=len(found))


def link_entity(memory: Memory, body: LinkRequest) -> Entity:
    """Link a record with an entity, which is created if unknown."""
    return memory.entities.link(body.record, body.name, kind=body.kind, aliases=body.aliases)


def add_aliases(memory: Memory, name: EntityName, body: AliasRequest) -> Entity:
    """Add aliases; another entity of such a name is merged into it."""
    return memory.entities.alias(name, *body.aliases)


def rename_entity(memory: Memory, name: EntityName, body: RenameRequest) -> Entity:
    """Rename an entity; the old name becomes an alias."""
    return memory.entities.rename(name, body.to)


def merge_entity(memory: Memory, name: EntityName, body: MergeEntityRequest) -> Entity:
    """Merge an entity into another, which keeps both names and the records of both."""
    return memory.entities.merge(name, into=body.into)


def delete_entity(memory: Memory, name: EntityName) -> Entity:
    """Delete an entity: it is not linked again. Its records stay, and undo restores it."""
    return memory.entities.delete(name)


def undo_entity(memory: Memory, name: EntityName) -> ListPage[Entity]:
    """Undo the last change of an entity."""
    return ListPage[Entity].model_construct(items=list(memory.entities.undo(name)), next=None, total=None)


def extract_entities(memory: Memory, body: ExtractRequest) -> Any:
    """The names in a text; stores nothing."""
    return memory.entities.extract(body.text, strategy=body.strategy)


_WRITE = CallQueue.WRITE
ROUTES = (
    Route("GET", "/entities", list_entities, ListPage[Entity], "List entities"),
    Route("POST", "/entities/links", link_entity, Entity, "Link a record with an entity", _WRITE, 201),
    Route("POST", "/entities/extract", extract_entities, FoundMentions, "Extract names from a text"),
    Route("GET", "/entities/{name}", get_entity, EntityProfile, "Get the profile of an entity"),
    Route("GET", "/entities/{name}/facts", list_entity_facts, ListPage[Knowledge], "List facts over time"),
    Route("DELETE", "/entities/{name}", delete_entity, Entity, "Delete an entity", _WRITE),
    Route("POST", "/entities/{name}/aliases", add_aliases, Entity, "Add aliases", _WRITE),
    Route("POST", "/entities/{name}/rename", rename_entity, Entity, "Rename an entity", _WRITE),
    Route("POST", "/entities/{name}/merge", merge_entity, Entity, "Merge an entity into another", _WRITE),
    Route("POST", "/entities/{name}/undo", undo_entity, ListPage[Entity], "Undo the last change", _WRITE),
)
