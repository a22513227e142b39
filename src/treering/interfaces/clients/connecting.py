"""Connecting a client and taking it back: first a change that can be shown, then the same change made."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import ndiff
from enum import StrEnum
from pathlib import Path

from treering.core.errors import ClientFileUnusable, Conflict
from treering.core.secrets import redact
from treering.interfaces.clients.edits import Edit
from treering.interfaces.clients.files import (
    missing_folders,
    read_file,
    refuse_read_only,
    remove_empty,
    replace_file,
    target_of,
    told_about,
)
from treering.interfaces.clients.formats import (
    Entry,
    NotUnderstood,
    entry_in,
    same_otherwise,
    with_entry,
    without_entry,
)
from treering.interfaces.clients.kept import Ledger, Written, digest
from treering.interfaces.clients.table import Client


class Outcome(StrEnum):
    """What a change comes to."""

    CONNECTED = "connected"
    REPLACED = "replaced"
    """An entry of our name was there that we did not leave so."""
    ALREADY = "already connected"
    REMOVED = "removed"
    ABSENT = "not connected"


@dataclass(frozen=True, slots=True)
class Change:
    """What is about to happen to a file; None stands for no file."""

    path: Path
    outcome: Outcome
    before: str | None
    after: str | None
    lines: tuple[str, ...] = ()
    """The entry as it was and as it will be, for people; nothing else of the file."""
    written: Written | None = None

    @property
    def is_needed(self) -> bool:
        return self.before != self.after


def standing(client: Client, path: Path) -> bool:
    """Whether a file lists our server."""
    return _entry(client, path, _read(path)) is not None


def to_connect(client: Client, path: Path, entry: Entry, ledger: Ledger) -> Change:
    """The change that lists our server in a file."""
    text = _read(path)
    present = _entry(client, path, text)
    if present == dict(entry):
        return Change(path, Outcome.ALREADY, text, text)
    target = target_of(path)
    states = ledger.of(target)
    ours = _left_so(states, text)
    try:
        original = _before_us(client, text or "", present, states)
        after = with_entry(client.format, (text or "") if ours is None else original, client.place, entry)
    except NotUnderstood as exc:
        raise _unusable(path, exc) from exc
    written = Written(
        digest(after.encode()),
        Edit.between(original, after),
        text is not None if ours is None else ours.was_there,
        missing_folders(target) if ours is None else ours.folders,
    )
    outcome = Outcome.CONNECTED if present is None or ours else Outcome.REPLACED
    return Change(path, outcome, text, after, _lines(client, text, after), written)


def to_remove(client: Client, path: Path, ledger: Ledger) -> Change:
    """The change that takes our entry out: all bytes as they were where nobody else wrote since, else only ours."""
    text = _read(path)
    states = ledger.of(target_of(path))
    ours = _left_so(states, text)
    if text is not None and ours is not None:
        original = ours.edit.undone(text) if ours.was_there else None
        return Change(path, Outcome.REMOVED, text, original, _lines(client, text, original), ours)
    if text is None or _entry(client, path, text) is None:
        return Change(path, Outcome.ABSENT, text, text)
    after = _taken_out(client, path, text, states)
    return Change(path, Outcome.REMOVED, text, after, _lines(client, text, after))


def make(change: Change, ledger: Ledger) -> None:
    """Write what was shown, unless the file is another by now."""
    target = target_of(change.path)
    if _read(change.path) != change.before:
        raise Conflict(f"{change.path} was changed by somebody else just now; run this again")
    if change.is_needed:
        refuse_read_only(target)
    if change.outcome in (Outcome.CONNECTED, Outcome.REPLACED) and change.written is not None:
        _write(change.path, target, change.after or "", change.written, ledger)
    elif change.outcome is Outcome.REMOVED:
        _give_back(change, target)
    if change.outcome in (Outcome.REMOVED, Outcome.ABSENT):
        ledger.drop(target)


def _write(path: Path, target: Path, text: str, written: Written, ledger: Ledger) -> None:
    ledger.keep(target, (*ledger.of(target), written))
    with told_about(path, "written"):
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, text.encode())
    ledger.keep(target, (written,))


def _give_back(change: Change, target: Path) -> None:
    with told_about(change.path, "written"):
        if change.after is not None:
            replace_file(target, change.after.encode())
            return
        target.unlink()
    remove_empty(change.written.folders if change.written else ())


def _read(path: Path) -> str | None:
    data = read_file(path)
    try:
        return None if data is None else data.decode()
    except UnicodeDecodeError as exc:
        raise ClientFileUnusable(f"{path} is not UTF-8 text; save it as such, then run this again") from exc


def _entry(client: Client, path: Path, text: str | None) -> object:
    try:
        return entry_in(client.format.content(text or ""), client.place)
    except NotUnderstood as exc:
        raise _unusable(path, exc) from exc


def _unusable(path: Path, exc: NotUnderstood) -> ClientFileUnusable:
    return ClientFileUnusable(f"{path} {exc}; it is left as it is: put that right by hand, then run this again")


def _left_so(states: Iterable[Written], text: str | None) -> Written | None:
    """The state of ours that a file is still in."""
    now = None if text is None else digest(text.encode())
    return next((state for state in states if state.digest == now), None)


def _before_us(client: Client, text: str, present: object, states: tuple[Written, ...]) -> str:
    """The file as it would be had we never written to it. An entry of our name may be somebody else's."""
    if ours := _left_so(states, text):
        return ours.edit.undone(text)
    if present is not None and states:
        return without_entry(client.format, text, client.place)
    return text


def _taken_out(client: Client, path: Path, text: str, states: Iterable[Written]) -> str:
    """Exactly what was added, where it still stands so; else the entry by itself."""
    for state in states:
        candidate = state.edit.undone_within(text)
        try:
            if candidate is not None and same_otherwise(client.format, text, candidate, client.place):
                return candidate
        except NotUnderstood:
            continue
    try:
        return without_entry(client.format, text, client.place)
    except NotUnderstood as exc:
        raise _unusable(path, exc) from exc


def _lines(client: Client, before: str | None, after: str | None) -> tuple[str, ...]:
    """What changes of our entry, line by line; secrets that somebody put beside it are not shown."""
    differing = ndiff(_shown(client, before, after), _shown(client, after, before))
    return tuple(line.rstrip() for line in differing if not line.startswith("?"))


def _shown(client: Client, text: str | None, other: str | None) -> list[str]:
    if text is None:
        return []
    if other is None:
        return redact(text).text.splitlines()
    servers = client.servers
    made_with_it = servers not in client.format.content(other)
    return redact(client.format.part(text, (servers,) if made_with_it else client.place)).text.splitlines()
