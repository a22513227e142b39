"""The error tree. Adapters translate the errors of their libraries; every message says what to do next."""

from typing import Protocol


class TreeringError(Exception):
    """Anything Treering raises on purpose."""


class InvalidInput(TreeringError, ValueError):
    """An argument is invalid."""


class FolderUnavailable(InvalidInput):
    """A folder does not exist or cannot be read."""


class SecretRefused(InvalidInput):
    """A secret is in a field that cannot be redacted, such as an id, or the settings refuse secrets."""


class CheckTimedOut(InvalidInput):
    """A text could not be checked for secrets in time, so it was not stored."""


class NotOverHttp(InvalidInput, AttributeError):
    """A verb of `Client` that only works on a database, not through a server."""


class NotFound(TreeringError, KeyError):
    """No such record in this scope."""

    def __str__(self) -> str:
        return Exception.__str__(self)


class Conflict(TreeringError):
    """The record changed since it was read, or its id belongs to another record."""


def id_taken(*ids: str) -> Conflict:
    """Error for an id in use; always the same text, so that it reveals nothing about the record."""
    which = f"the id {ids[0]!r}" if len(ids) == 1 else f"the id of one among {len(ids):,} records"
    return Conflict(f"{which} is taken; choose another id, or correct or undo the record that has it")


class VersionedRecord(Protocol):
    """A record with a version that every change raises."""

    @property
    def id(self) -> str: ...
    @property
    def version(self) -> int: ...


class StaleVersion(Conflict):
    """The record changed since the caller read it: `current` is the record now, `version` the one that was read."""

    def __init__(self, current: VersionedRecord, version: int) -> None:
        super().__init__(
            f"{current.id!r} was changed: it has version {current.version}, and the change is based on version "
            f"{version}; read it again and repeat the change"
        )
        self.current = current
        self.version = version


class RequestRepeated(Conflict):
    """A request with this key was carried out already. `record` is the id of the record that it returned, if any."""

    def __init__(self, key: str, record: str | None) -> None:
        super().__init__(f"the request {key!r} was carried out already")
        self.record = record


class NothingToUndo(TreeringError):
    """The record has no change left to undo."""


class StoreError(TreeringError):
    """The database or the blob store failed; no acknowledged write is lost."""


class StoreUnavailable(StoreError):
    """The database cannot be reached: missing, connection refused, wrong password, locked for too long."""


class TransactionAborted(StoreUnavailable):
    """The server aborted the transaction in favour of another one; nothing of it was stored."""


class StoreReadOnly(StoreError):
    """The database or its folder cannot be written."""


class StoreFull(StoreError):
    """The disk is full."""


class NotADatabase(StoreError):
    """The file is not a database, or is damaged."""


class StoreTooNew(StoreError):
    """The database was written by a newer version of Treering."""


class BlobMissing(StoreError):
    """A blob that a record refers to is not in the blob store, or is damaged."""


class Unreadable(StoreError):
    """A stored record cannot be read by this version."""


class MissingDependency(TreeringError):
    """An optional part is not installed."""


class PluginFailed(TreeringError):
    """A plug-in that is installed cannot be loaded."""


class RepositoryUnavailable(TreeringError):
    """The version control system does not respond or cannot read the repository."""


class ClientFileUnusable(TreeringError):
    """A coding agent's configuration file cannot be read, parsed or written; it is unchanged."""


class ContextTooLarge(TreeringError):
    """The required messages do not fit into the model's context window."""


class ModelUnavailable(TreeringError):
    """A model cannot be reached, refused, or gave an invalid answer; results are computed without it."""


class UnusableAnswer(ModelUnavailable):
    """A model refused or its answer does not match the schema; the server itself works."""


class TokensUsedUp(UnusableAnswer):
    """The daily token budget of learning is used up; the model is not called again before midnight UTC."""


class AnswerCutOff(UnusableAnswer):
    """An answer exceeded its token limit. `text` is the incomplete answer."""

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text
