"""Connecting a client and taking it back: what is about to happen to its file, to be shown first."""

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
    Entry,
    NotUnderstood,
    entry_in,
    same_otherwise,
    with_entry,
    with_theirs,
    without_entry,
)
from treering.interfaces.client_configs.ledger import Ledger, Written, digest
from treering.interfaces.client_configs.table import Client


class Outcome(StrEnum):
    """What a change comes to."""

    CONNECTED = "connected"
    REPLACED = "replaced"
    """An entry of our name was there that we did not write so."""
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
    """The state that we leave the file in, or left it in."""
    costs_theirs: bool = False
    """An entry goes that somebody else wrote, or edited: not without their word."""

    @property
    def is_needed(self) -> bool:
        return self.before != self.after


def standing(client: Client, path: Path) -> bool:
    """Whether a file lists our server."""
    return isinstance(_entry(client, path, read_text(path)), dict)


def to_connect(client: Client, path: Path, entry: Entry, ledger: Ledger) -> Change:
    """The change that lists our server in a file."""
    text = read_text(path)
    present = _entry(client, path, text)
    if present == dict(entry):
        return Change(path, Outcome.ALREADY, text, text)
    target = target_of(path)
    states = ledger.of(target, text)
    exact = _left_so(states, text)
    try:
        theirs = _theirs(client, text, present, states)
        original = exact.edit.undone(text or "") if exact else _before_us(client, text or "", present, states)
        after = with_entry(client.format, original if exact else text or "", client.place, entry)
    except NotUnderstood as exc:
        raise _unusable(path, exc) from exc
    written = Written(
        digest=digest(after) or "",
        edit=Edit.between(original, after),
        was_there=exact.was_there if exact else text is not None,
        folders=exact.folders if exact else missing_folders(target),
        entry=dict(entry),
        theirs=theirs,
    )
    foreign = present is not None and not _is_ours(present, states)
    outcome = Outcome.REPLACED if foreign else Outcome.CONNECTED
    return Change(path, outcome, text, after, _lines(client, text, after), written, costs_theirs=foreign)


def to_remove(client: Client, path: Path, ledger: Ledger) -> Change:
    """The change that takes our entry out: all bytes as they were where nobody else wrote since, else only ours."""
    text = read_text(path)
    states = ledger.of(target_of(path), text)
    exact = _left_so(states, text)
    if text is not None and exact is not None:
        original = exact.edit.undone(text) if exact.was_there else None
        return Change(path, Outcome.REMOVED, text, original, _lines(client, text, original), exact)
    present = _entry(client, path, text)
    if text is None or present is None:
        return Change(path, Outcome.ABSENT, text, text)
    try:
        after = _taken_out(client, text, states)
    except NotUnderstood as exc:
        raise _unusable(path, exc) from exc
    lines = _lines(client, text, after)
    return Change(path, Outcome.REMOVED, text, after, lines, costs_theirs=not _is_ours(present, states))


def _entry(client: Client, path: Path, text: str | None) -> object:
    try:
        return entry_in(client.format.content(text or ""), client.place)
    except NotUnderstood as exc:
        raise _unusable(path, exc) from exc


def _unusable(path: Path, exc: NotUnderstood) -> ClientFileUnusable:
    return ClientFileUnusable(f"{path} {exc}; it is left as it is: put that right by hand, then run this again")


def _left_so(states: Iterable[Written], text: str | None) -> Written | None:
    """The state of ours that a file is still in."""
    now = digest(text)
    return next((state for state in states if state.digest == now), None)


def _is_ours(present: object, states: Iterable[Written]) -> bool:
    """Whether an entry says what we wrote, to the letter."""
    return any(state.entry == present for state in states)


def _theirs(client: Client, text: str | None, present: object, states: tuple[Written, ...]) -> str | None:
    """The entry of our name that somebody else had, before any of ours."""
    if text is None or present is None:
        return None
    return states[-1].theirs if states else client.format.part(text, client.place)


def _before_us(client: Client, text: str, present: object, states: tuple[Written, ...]) -> str:
    """The file as it would be had we never written to it. An entry of our name may be somebody else's."""
    return text if present is None or not states else _without_ours(client, text, states)


def _without_ours(client: Client, text: str, states: tuple[Written, ...]) -> str:
    """Their entry in the place of ours, if there was one; else none."""
    theirs = states[-1].theirs if states else None
    if theirs is None:
        return without_entry(client.format, text, client.place)
    return with_theirs(client.format, text, client.place, theirs)


def _taken_out(client: Client, text: str, states: tuple[Written, ...]) -> str:
    """Exactly what was added, where that is all that was done and still stands so; else the entry by itself."""
    for state in states:
        candidate = state.edit.undone_within(text) if state.theirs is None else None
        try:
            if candidate is not None and same_otherwise(client.format, text, candidate, client.place):
                return candidate
        except NotUnderstood:
            continue
    return _without_ours(client, text, states)


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
