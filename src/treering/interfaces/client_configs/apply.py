"""A change that was shown is made: on the very file that was looked at, or not at all."""

from pathlib import Path

from treering.core.errors import ClientFileUnusable, Conflict
from treering.interfaces.client_configs.connection import Change, Outcome
from treering.interfaces.client_configs.files import (
    read_text,
    refuse_read_only,
    remove_empty,
    replace_file,
    target_of,
    told_about,
)
from treering.interfaces.client_configs.ledger import Ledger, Written, digest

FOR_ONE = 0o600


def make(change: Change, ledger: Ledger, *, private: bool = False) -> None:
    """Write what was shown; a new file that is `private` can be read by its owner only."""
    target = target_of(change.path)
    if change.is_needed:
        refuse_read_only(target)
        ledger.follow(target, change.before)
        if change.outcome is Outcome.REMOVED:
            _give_back(change, target)
        elif change.written is not None:
            _write(change, change.written, target, ledger, mode=FOR_ONE if private and change.before is None else None)
    if change.outcome is Outcome.REMOVED or (change.outcome is Outcome.ABSENT and change.before is not None):
        ledger.drop(target)


def _write(change: Change, written: Written, target: Path, ledger: Ledger, *, mode: int | None) -> None:
    ledger.keep(target, (*ledger.of(target, None), written))
    try:
        _replace(change, target, mode)
    except (ClientFileUnusable, Conflict):
        remove_empty(target, written.folders)
        _take_back(written, target, ledger)
        raise
    ledger.keep(target, (written,))


def _take_back(written: Written, target: Path, ledger: Ledger) -> None:
    """A state that did not come about is not noted, unless somebody else brought the file into it meanwhile."""
    now = digest(read_text(target))
    states = tuple(state for state in ledger.of(target, None) if state != written or state.digest == now)
    if states:
        ledger.keep(target, states)
    else:
        ledger.drop(target)


def _give_back(change: Change, target: Path) -> None:
    if change.after is not None:
        _replace(change, target, None)
        return
    with told_about(change.path, "deleted"):
        _refuse_another(change)
        target.unlink()
    remove_empty(target, change.written.folders if change.written else 0)


def _replace(change: Change, target: Path, mode: int | None) -> None:
    with told_about(change.path, "written"):
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, (change.after or "").encode(), mode, allow=lambda: _refuse_another(change))


def _refuse_another(change: Change) -> None:
    """Clients write to their files at any time: what they say now must be what the change was made from."""
    if read_text(change.path) != change.before:
        raise Conflict(f"{change.path} was changed by somebody else just now; run this again")
