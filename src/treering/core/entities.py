"""Who and what records speak of."""

from enum import StrEnum

from treering.core.values import Count, Instant, Key, Label, Labels, Record, Share, Text


class EntityKind(StrEnum):
    PERSON = "person"
    PROJECT = "project"
    ORGANISATION = "organisation"
    LOCATION = "location"
    EMAIL = "email"
    URL = "url"
    DATE = "date"
    OTHER = "other"


class Entity(Record):
    """A person, project, place… under its canonical name and its aliases."""

    version: Count = 1
    kind: EntityKind
    name: Label
    aliases: Labels = ()
    summary: Text = ""
    mentions: Count = 0
    created_at: Instant
    updated_at: Instant
    merged_into: Key | None = None
    deleted_at: Instant | None = None


class EntityLink(Record):
    """An entity is mentioned in a record."""

    entity: Key
    record_kind: Label
    record: Key
    mention: Label
    confidence: Share = 1.0
    created_at: Instant
