"""The audit log, and the revisions that make undo possible."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Protocol

from treering.core.errors import InvalidInput
from treering.core.scope import Visibility
from treering.core.values import EMPTY, Count, FrozenMap, Instant, Key, Label, Record, Text, Value


class Action(StrEnum):
    """Actions on records."""

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
    MUTE = "mute"
    UNMUTE = "unmute"
    DELETE = "delete"
    UNDO = "undo"
    PURGE = "purge"
    INJECT = "inject"
    EXPORT = "export"
    BACKUP = "backup"
    REPAIR = "repair"

    @classmethod
    def named(cls, name: str) -> "Action":
        """The action with this name. Raises `InvalidInput` with the known actions for any other."""
        try:
            return cls(name)
        except ValueError:
            raise InvalidInput(f"{name!r} is not an action; use one of {', '.join(cls)}") from None


class LogInjection(Protocol):
    """Records in the audit log that these records were handed to a model, and by which interface."""

    def __call__(self, ids: Iterable[str], *, via: str, tokens: int = 0) -> None: ...


class AuditDetail(Value):
    """Details of an audit entry: a reason, a note, the id of another record."""

    detail: FrozenMap = EMPTY


class AuditEntry(Record):
    """One action of an actor on a record. Never contains the record's text."""

    at: Instant
    actor: Key
    action: Action
    kind: Label
    subject: Key
    owner: Key = "local"
    visibility: Visibility = Visibility.PROJECT
    detail: FrozenMap = EMPTY


class Revision(Record):
    """State of a record before a change."""

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
    """One change in a record's history, with the previous text if it changed."""

    at: Instant
    actor: Key
    action: Action
    version: Count | None = None
    content_before: Text | None = None
    undone: bool = False
    detail: FrozenMap = EMPTY
