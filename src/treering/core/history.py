"""What was done to the memory: the audit log, and the earlier states that make undo possible."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Protocol

from treering.core.errors import InvalidInput
from treering.core.scope import Visibility
from treering.core.values import EMPTY, Count, FrozenMap, Instant, Key, Label, Record, Text, Value


class Action(StrEnum):
    """Everything that can happen to a record, named once."""

    CREATE = "create"
    IMPORT = "import"
    UPDATE = "update"
    CONFIRM = "confirm"
    CORRECT = "correct"
    SUPERSEDE = "supersede"
    REINFORCE = "reinforce"
    FLAG = "flag"
    PIN = "pin"
    UNPIN = "unpin"
    DELETE = "delete"
    UNDO = "undo"
    PURGE = "purge"
    INJECT = "inject"
    EXPORT = "export"
    BACKUP = "backup"
    REPAIR = "repair"

    @classmethod
    def named(cls, name: str) -> "Action":
        """The action called so; an unknown one is an error that lists the known."""
        try:
            return cls(name)
        except ValueError:
            raise InvalidInput(f"{name!r} is not an action; use one of {', '.join(cls)}") from None


class Injected(Protocol):
    """Notes in the audit log that these records were handed to a model, and which way."""

    def __call__(self, ids: Iterable[str], *, via: str, tokens: int = 0) -> None: ...


class AuditDetail(Value):
    """What else an audit entry says: a reason, a note, the id of the other record."""

    detail: FrozenMap = EMPTY


class AuditEntry(Record):
    """Who did what to which record, when. Never holds the record's text."""

    at: Instant
    actor: Key
    action: Action
    kind: Label
    subject: Key
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT
    detail: FrozenMap = EMPTY


class Revision(Record):
    """How a record was just before a change."""

    kind: Label
    subject: Key
    version: Count
    action: Action
    at: Instant
    actor: Key
    before: Text
    group: Key
    undone: bool = False
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT


class HistoryEntry(Value):
    """One line of a record's history, newest first: what happened, and the text before it where it changed."""

    at: Instant
    actor: Key
    action: Action
    version: Count | None = None
    content_before: Text | None = None
    undone: bool = False
    detail: FrozenMap = EMPTY
