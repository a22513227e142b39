"""Entities that records mention."""

from enum import StrEnum
from hashlib import blake2b

from treering.core.scope import Visibility
from treering.core.taint import Taint, Taintable
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


class Entity(Taintable, Record):
    """A person, project, place… with its canonical name and aliases.

    An entity that only personal records mention is personal too.
    """

    version: Count = 1
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT
    kind: EntityKind
    name: Label
    aliases: Labels = ()
    summary: Text = ""
    mentions: Count = 0
    """Number of records that mention it and are visible to its readers."""
    explicit: bool = False
    """Whether a user named it. It then remains when no record mentions it any more, unless the last one is purged."""
    tainted: bool = False
    """Whether only tainted records mention it."""
    taint: Taint | None = None
    created_at: Instant
    updated_at: Instant
    merged_into: Key | None = None
    deleted_at: Instant | None = None


class EntityLink(Record):
    """A mention of an entity in a record, visible to the same principals. `created_at` is that of the record."""

    entity: Key
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT
    record_kind: Label
    record: Key
    mention: Label
    confidence: Share = 1.0
    explicit: bool = False
    """Whether the link was made explicitly; extraction does not remove it."""
    created_at: Instant


def link_id(entity: str, record: str) -> str:
    """Id of the link, derived from both ids so that linking twice changes nothing."""
    return blake2b(f"{entity}\n{record}".encode(), digest_size=16).hexdigest()
