"""Applies a change that was shown, if the file is still the one that the change was computed from."""

from collections.abc import Iterable
from pathlib import Path

from treering.core.errors import ClientFileUnusable, Conflict
from treering.interfaces.client_configs.connection import ChangeOutcome, ConfigChange
from treering.interfaces.client_configs.files import (
    read_text,
    refuse_read_only,
    remove_empty,
    replace_file,
    target_of,
    translated_errors,
)
from treering.interfaces.client_configs.ledger import Ledger, WrittenState, digest

_OWNER_ONLY = 0o600


def apply_changes(changes: Iterable[ConfigChange], ledger: Ledger, *, private: bool = False) -> None:
    """Apply changes that belong together, after checking that all their files may be written."""
    changes = tuple(changes)
    for change in changes:
        if change.is_needed:
            refuse_read_only(target_of(change.path))
    # The first file may have been there before the others, and then its folders are noted with it: it is removed last.
    removals = [change for change in reversed(changes) if change.outcome is ChangeOutcome.REMOVED]
    for change in (*(change for change in changes if change not in removals), *removals):
        apply_change(change, ledger, private=private)


def apply_change(change: ConfigChange, ledger: Ledger, *, private: bool = False) -> None:
    """Write the file; with `private`, only its owner can read a new file."""
    target = target_of(change.path)
    if change.is_needed:
        refuse_read_only(target)
        ledger.follow(target, change.before)
        if change.outcome is ChangeOutcome.REMOVED:
            _restore(change, target)
        elif change.written is not None:
            _write(
                change, change.written, target, ledger, mode=_OWNER_ONLY if private and change.before is None else None
            )
    if change.outcome is ChangeOutcome.REMOVED or (
        change.outcome is ChangeOutcome.ABSENT and change.before is not None
    ):
        ledger.drop(target)


def _write(change: ConfigChange, written: WrittenState, target: Path, ledger: Ledger, *, mode: int | None) -> None:
    ledger.keep(target, (*ledger.of(target, None), written))
    try:
        _replace(change, target, mode)
    except (ClientFileUnusable, Conflict):
        remove_empty(target, written.folders)
        _forget_state(written, target, ledger)
        raise
    ledger.keep(target, (written,))


def _forget_state(written: WrittenState, target: Path, ledger: Ledger) -> None:
    """Drop the note of a state that was not written, unless the file is in that state anyway."""
    now = digest(read_text(target))
    states = tuple(state for state in ledger.of(target, None) if state != written or state.digest == now)
    if states:
        ledger.keep(target, states)
    else:
        ledger.drop(target)


def _restore(change: ConfigChange, target: Path) -> None:
    if change.after is not None:
        _replace(change, target, None)
        return
    with translated_errors(change.path, "deleted"):
        _check_unchanged(change)
        target.unlink()
    remove_empty(target, change.written.folders if change.written else 0)


def _replace(change: ConfigChange, target: Path, mode: int | None) -> None:
    with translated_errors(change.path, "written"):
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, (change.after or "").encode(), mode, check=lambda: _check_unchanged(change))


def _check_unchanged(change: ConfigChange) -> None:
    """Raise `Conflict` if a client wrote to the file since the change was computed."""
    if read_text(change.path) != change.before:
        raise Conflict(f"{change.path} was changed by another program meanwhile; run this again")
