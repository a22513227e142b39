"""Who and what records speak of."""

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
    """A person, project, place… under its canonical name and its aliases.

    One that only personal records speak of is as personal as they are.
    """

    version: Count = 1
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT
    kind: EntityKind
    name: Label
    aliases: Labels = ()
    summary: Text = ""
    mentions: Count = 0
    """How many records speak of it whose readers see it, too."""
    explicit: bool = False
    """Whether a user named it: it then stays when the last record no longer speaks of it, but not when that record is
    removed for good."""
    tainted: bool = False
    """Whether only tainted records speak of it."""
    taint: Taint | None = None
    created_at: Instant
    updated_at: Instant
    merged_into: Key | None = None
    deleted_at: Instant | None = None


class EntityLink(Record):
    """An entity is mentioned in a record; who sees the one sees the other. `created_at` is when the record was."""

    entity: Key
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT
    record_kind: Label
    record: Key
    mention: Label
    confidence: Share = 1.0
    explicit: bool = False
    """Whether somebody linked the two; reading the record again does not unlink them."""
    created_at: Instant


def link_id(entity: str, record: str) -> str:
    """Id of the link between the two: a function of both, so that linking again changes nothing."""
    return blake2b(f"{entity}\n{record}".encode(), digest_size=16).hexdigest()
