"""Changes that connect a client or disconnect it, computed before they are applied so that they can be shown."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import ndiff
from enum import StrEnum
from pathlib import Path

from treering.core.errors import ClientFileUnusable
from treering.core.secrets import redact
from treering.interfaces.client_configs.edits import Edit
from treering.interfaces.client_configs.files import missing_folders, read_text, target_of
from treering.interfaces.client_configs.formats import (
    ConfigUnreadable,
    Entry,
    entry_in,
    same_otherwise,
    with_entry,
    with_foreign_entry,
    without_entry,
)
from treering.interfaces.client_configs.ledger import Ledger, WrittenState, digest
from treering.interfaces.client_configs.table import Client


class ChangeOutcome(StrEnum):
    """Effect of a change."""

    CONNECTED = "connected"
    REPLACED = "replaced"
    """An existing entry with our name, written or edited by someone else, is replaced."""
    ALREADY = "already connected"
    REMOVED = "removed"
    ABSENT = "not connected"


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """A change of a file; a text is None if there is no file."""

    path: Path
    outcome: ChangeOutcome
    before: str | None
    after: str | None
    lines: tuple[str, ...] = ()
    """The diff of our entry, for display; nothing else of the file."""
    written: WrittenState | None = None
    """The state that the change leaves the file in, or that it reverts."""
    replaces_foreign: bool = False
    """Whether an entry that we did not write, or that was edited since, is lost; needs confirmation."""

    @property
    def is_needed(self) -> bool:
        return self.before != self.after


def is_connected(client: Client, path: Path) -> bool:
    """Whether the file lists our server."""
    return isinstance(_entry(client, path, read_text(path)), dict)


def connecting_change(client: Client, path: Path, entry: Entry, ledger: Ledger) -> ConfigChange:
    """The change that adds our server to the file."""
    text = read_text(path)
    present = _entry(client, path, text)
    if present == dict(entry):
        return ConfigChange(path, ChangeOutcome.ALREADY, text, text)
    target = target_of(path)
    states = ledger.of(target, text)
    exact = _current_state(states, text)
    try:
        theirs = _foreign_entry(client, text, present, states)
        original = exact.edit.undone(text or "") if exact else _before_us(client, text or "", present, states)
        after = with_entry(client.format, original if exact else text or "", client.place, entry)
    except ConfigUnreadable as exc:
        raise _unusable(path, exc) from exc
    written = WrittenState(
        digest=digest(after) or "",
        edit=Edit.between(original, after),
        was_there=exact.was_there if exact else text is not None,
        folders=exact.folders if exact else missing_folders(target),
        entry=dict(entry),
        theirs=theirs,
    )
    foreign = present is not None and not _is_ours(present, states)
    outcome = ChangeOutcome.REPLACED if foreign else ChangeOutcome.CONNECTED
    return ConfigChange(path, outcome, text, after, _lines(client, text, after), written, replaces_foreign=foreign)


def removing_change(client: Client, path: Path, ledger: Ledger) -> ConfigChange:
    """The change that removes our entry: restores every byte if only we wrote since, else removes only ours."""
    text = read_text(path)
    states = ledger.of(target_of(path), text)
    exact = _current_state(states, text)
    if text is not None and exact is not None:
        original = exact.edit.undone(text) if exact.was_there else None
        return ConfigChange(path, ChangeOutcome.REMOVED, text, original, _lines(client, text, original), exact)
    present = _entry(client, path, text)
    if text is None or present is None:
        return ConfigChange(path, ChangeOutcome.ABSENT, text, text)
    try:
        after = _without_our_edit(client, text, states)
    except ConfigUnreadable as exc:
        raise _unusable(path, exc) from exc
    lines = _lines(client, text, after)
    return ConfigChange(path, ChangeOutcome.REMOVED, text, after, lines, replaces_foreign=not _is_ours(present, states))


def _entry(client: Client, path: Path, text: str | None) -> object:
    try:
        return entry_in(client.format.content(text or ""), client.place)
    except ConfigUnreadable as exc:
        raise _unusable(path, exc) from exc


def _unusable(path: Path, exc: ConfigUnreadable) -> ClientFileUnusable:
    return ClientFileUnusable(f"{path} {exc}; it was not changed: correct it by hand, then run this again")


def _current_state(states: Iterable[WrittenState], text: str | None) -> WrittenState | None:
    """The state that we left the file in, if it is still in one."""
    now = digest(text)
    return next((state for state in states if state.digest == now), None)


def _is_ours(present: object, states: Iterable[WrittenState]) -> bool:
    """Whether we wrote exactly this entry."""
    return any(state.entry == present for state in states)


def _foreign_entry(client: Client, text: str | None, present: object, states: tuple[WrittenState, ...]) -> str | None:
    """The text of an entry with our name that existed before we wrote any."""
    if text is None or present is None:
        return None
    return states[-1].theirs if states else client.format.part(text, client.place)


def _before_us(client: Client, text: str, present: object, states: tuple[WrittenState, ...]) -> str:
    """The file without our writes; an entry with our name may be foreign."""
    return text if present is None or not states else _without_ours(client, text, states)


def _without_ours(client: Client, text: str, states: tuple[WrittenState, ...]) -> str:
    """The text with the foreign entry restored in place of ours, if there was one, else without any."""
    theirs = states[-1].theirs if states else None
    if theirs is None:
        return without_entry(client.format, text, client.place)
    return with_foreign_entry(client.format, text, client.place, theirs)


def _without_our_edit(client: Client, text: str, states: tuple[WrittenState, ...]) -> str:
    """The text with our edit reverted exactly, if it is still there unchanged, else with only the entry removed."""
    for state in states:
        candidate = state.edit.undone_within(text) if state.theirs is None else None
        try:
            if candidate is not None and same_otherwise(client.format, text, candidate, client.place):
                return candidate
        except ConfigUnreadable:
            continue
    return _without_ours(client, text, states)


def _lines(client: Client, before: str | None, after: str | None) -> tuple[str, ...]:
    """The diff of our entry; secrets beside it are redacted."""
    differing = ndiff(_shown(client, before, after), _shown(client, after, before))
    return tuple(line.rstrip() for line in differing if not line.startswith("?"))


def _shown(client: Client, text: str | None, other: str | None) -> list[str]:
    if text is None:
        return []
    if other is None:
        return redact(text).text.splitlines()
    servers = client.servers
    table_is_new = servers not in client.format.content(other)
    return redact(client.format.part(text, (servers,) if table_is_new else client.place)).text.splitlines()
