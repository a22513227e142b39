"""The one error tree. Adapters translate what their libraries raise into it; every message says what to do next."""


class TreeringError(Exception):
    """Anything Treering raises on purpose."""


class InvalidInput(TreeringError, ValueError):
    """What the caller passed cannot be stored or understood."""


class FolderUnavailable(InvalidInput):
    """A folder that is to be read is not there, or cannot be read now."""


class SecretRefused(InvalidInput):
    """A secret stands where it cannot be redacted (an id), or the settings say to refuse it."""


class CheckTimedOut(InvalidInput):
    """A text could not be checked for secrets in time, so nothing of it was stored."""


class NotFound(TreeringError, KeyError):
    """No such record in this scope."""

    def __str__(self) -> str:
        return Exception.__str__(self)


class Conflict(TreeringError):
    """The record changed since it was read, or its id is taken by another content."""


def id_taken(*ids: str) -> Conflict:
    """The error for an id that a record has: always the same, so that it says nothing about that record."""
    which = f"the id {ids[0]!r}" if len(ids) == 1 else f"the id of one among {len(ids):,} records"
    return Conflict(f"{which} is taken; choose another id, or correct or undo the record that has it")


class NothingToUndo(TreeringError):
    """The record has no change left to undo."""


class StoreError(TreeringError):
    """The database or the blob store did not do what was asked; nothing acknowledged is lost."""


class StoreUnavailable(StoreError):
    """The database cannot be reached: gone, refused, wrong password, locked for too long."""


class TransactionAborted(StoreUnavailable):
    """The server aborted the transaction in favour of another one; nothing of it was stored."""


class StoreReadOnly(StoreError):
    """The database or its folder cannot be written."""


class StoreFull(StoreError):
    """The disk has no room left."""


class NotADatabase(StoreError):
    """The file is something else, or is damaged."""


class StoreFromTheFuture(StoreError):
    """A newer Treering wrote this database."""


class BlobMissing(StoreError):
    """A blob that a record refers to is not in the blob store, or is damaged."""


class Unreadable(StoreError):
    """What is stored under an id is no record that this process understands."""


class MissingDependency(TreeringError):
    """An optional part is not installed."""


class PluginFailed(TreeringError):
    """A plug-in that is installed cannot be loaded."""


class RepositoryUnavailable(TreeringError):
    """The version control system did not answer, or cannot read the repository."""


class ClientFileUnusable(TreeringError):
    """A coding agent's configuration file cannot be read, understood or written; it is left as it is."""


class ContextTooLarge(TreeringError):
    """What must be sent does not fit into the model's window."""


class ModelUnavailable(TreeringError):
    """A model cannot be reached, refused, or answered what cannot be used; results are given without it."""


class UnusableAnswer(ModelUnavailable):
    """A model answered, but refused or missed the form it was asked for; the server itself is well."""


class TokensUsedUp(UnusableAnswer):
    """Learning has spent the tokens of the day; the model is not asked again before midnight UTC."""


class AnswerCutOff(UnusableAnswer):
    """An answer ended where its tokens did. `text` is what there is of it."""

    def __init__(self, message: str, text: str = "") -> None:
        super().__init__(message)
        self.text = text
