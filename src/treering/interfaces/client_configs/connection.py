"""Changes that connect a client or disconnect it, computed before they are applied so that they can be shown."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import ndiff
from enum import StrEnum
from pathlib import Path
from typing import Any

from treering.core.errors import ClientFileUnusable
from treering.core.secrets import redact
from treering.interfaces.client_configs import json_text
from treering.interfaces.client_configs.edits import Edit
from treering.interfaces.client_configs.files import missing_folders, read_text, target_of
from treering.interfaces.client_configs.formats import ConfigUnreadable
from treering.interfaces.client_configs.ledger import Ledger, WrittenState, digest
from treering.interfaces.client_configs.parts import ConfigPart, WholeFilePart


class ChangeOutcome(StrEnum):
    """Effect of a change."""

    CONNECTED = "connected"
    REPLACED = "replaced"
    """An existing entry with our name, written or edited by someone else, is replaced."""
    ALREADY = "already connected"
    REMOVED = "removed"
    ABSENT = "not connected"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file and the parts that it should have; all parts of ours that it may have are listed."""

    path: Path
    parts: tuple[ConfigPart, ...]
    initial: Mapping[str, Any] = field(default_factory=dict)
    """Members that a file without content gets first."""

    @property
    def is_wanted(self) -> bool:
        return any(part.wanted is not None for part in self.parts)


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """A change of a file; a text is None if there is no file."""

    path: Path
    outcome: ChangeOutcome
    before: str | None
    after: str | None
    lines: tuple[str, ...] = ()
    """The diff of our parts, for display; nothing else of the file."""
    written: WrittenState | None = None
    """The state that the change leaves the file in, or that it reverts."""
    replaces_foreign: bool = False
    """Whether a part that we did not write, or that was edited since, is lost; needs confirmation."""

    @property
    def is_needed(self) -> bool:
        return self.before != self.after


def combined_outcome(changes: Iterable[ConfigChange], *, connecting: bool) -> ChangeOutcome:
    """The effect of several changes that belong together."""
    outcomes = {change.outcome for change in changes}
    if not connecting:
        return ChangeOutcome.REMOVED if ChangeOutcome.REMOVED in outcomes else ChangeOutcome.ABSENT
    if ChangeOutcome.REPLACED in outcomes:
        return ChangeOutcome.REPLACED
    changing = outcomes & {ChangeOutcome.CONNECTED, ChangeOutcome.REMOVED}
    return ChangeOutcome.CONNECTED if changing else ChangeOutcome.ALREADY


def is_present(file: ConfigFile) -> bool:
    """Whether the file has all wanted parts, in whatever form."""
    text = read_text(file.path)
    found = _found(file, text)
    return text is not None and all(isinstance(found[part.name], dict | list) for part in file.parts)


def planned_change(file: ConfigFile, ledger: Ledger) -> ConfigChange:
    """The change that gives the file its wanted parts and removes the others."""
    return _connecting_change(file, ledger) if file.is_wanted else _removing_change(file, ledger)


def _connecting_change(file: ConfigFile, ledger: Ledger) -> ConfigChange:
    text = read_text(file.path)
    found = _found(file, text)
    if all(found[part.name] == part.wanted for part in file.parts):
        return ConfigChange(file.path, ChangeOutcome.ALREADY, text, text)
    target = target_of(file.path)
    states = ledger.of(target, text)
    exact = _current_state(states, text)
    try:
        theirs = _foreign_parts(file, text or "", found, states)
        original = exact.undone(text or "") if exact else _without_ours(file, text or "", states, foreign=False)
        edits, after = _edits(file, original)
    except ConfigUnreadable as exc:
        raise _unusable(file.path, exc) from exc
    written = WrittenState(
        digest=digest(after) or "",
        edits=edits,
        was_there=exact.was_there if exact else text is not None,
        folders=exact.folders if exact else missing_folders(target),
        parts={part.name: part.wanted for part in file.parts if part.wanted is not None},
        theirs=theirs,
    )
    foreign = _has_foreign(found, states)
    outcome = ChangeOutcome.REPLACED if foreign else ChangeOutcome.CONNECTED
    return ConfigChange(file.path, outcome, text, after, _lines(file, text, after), written, replaces_foreign=foreign)


def _removing_change(file: ConfigFile, ledger: Ledger) -> ConfigChange:
    """Restores every byte if only we wrote since, else removes only our parts."""
    text = read_text(file.path)
    states = ledger.of(target_of(file.path), text)
    exact = _current_state(states, text)
    if text is not None and exact is not None:
        original = exact.undone(text) if exact.was_there else None
        return ConfigChange(file.path, ChangeOutcome.REMOVED, text, original, _lines(file, text, original), exact)
    found = _found(file, text)
    is_whole = isinstance(file.parts[0], WholeFilePart)
    is_foreign = is_whole and not states
    if text is None or is_foreign or all(value is None for value in found.values()):
        return ConfigChange(file.path, ChangeOutcome.ABSENT, text, text)
    try:
        after: str | None = _without_ours(file, text, states, foreign=True)
    except ConfigUnreadable as exc:
        raise _unusable(file.path, exc) from exc
    after = after or (None if is_whole else after)
    lines = _lines(file, text, after)
    foreign = _has_foreign(found, states)
    return ConfigChange(file.path, ChangeOutcome.REMOVED, text, after, lines, replaces_foreign=foreign)


def _found(file: ConfigFile, text: str | None) -> dict[str, Any]:
    """The present value of each part."""
    try:
        return {part.name: part.found(text or "") for part in file.parts}
    except ConfigUnreadable as exc:
        raise _unusable(file.path, exc) from exc


def _unusable(path: Path, exc: ConfigUnreadable) -> ClientFileUnusable:
    return ClientFileUnusable(f"{path} {exc}; it was not changed: correct it by hand, then run this again")


def _current_state(states: Iterable[WrittenState], text: str | None) -> WrittenState | None:
    """The state that we left the file in, if it is still in one."""
    now = digest(text)
    return next((state for state in states if state.digest == now), None)


def _has_foreign(found: Mapping[str, Any], states: Iterable[WrittenState]) -> bool:
    """Whether a present part is not one that we wrote."""
    ours = [state.parts for state in states]
    return any(
        value is not None and all(name not in parts or parts[name] != value for parts in ours)
        for name, value in found.items()
    )


def _edits(file: ConfigFile, text: str) -> tuple[tuple[Edit, ...], str]:
    """One edit per part, and the text after all of them."""
    edits = []
    is_empty = bool(file.initial) and not json_text.content(text)
    for key, value in file.initial.items() if is_empty else ():
        after = json_text.put(text, (key,), value)
        edits.append(Edit.between(text, after))
        text = after
    for part in file.parts:
        if part.wanted is not None:
            after = part.put(text)
            edits.append(Edit.between(text, after))
            text = after
    return tuple(edits), text


def _noted(part: ConfigPart, states: Iterable[WrittenState]) -> list[WrittenState]:
    return [state for state in states if part.name in state.parts]


def _foreign_parts(
    file: ConfigFile, text: str, found: Mapping[str, Any], states: tuple[WrittenState, ...]
) -> dict[str, str]:
    """The text of what had the place of a wanted part before we wrote any."""
    theirs: dict[str, str] = {}
    for part in file.parts:
        if part.wanted is None or found[part.name] is None:
            continue
        if noted := _noted(part, states):
            theirs |= {name: kept for name, kept in noted[-1].theirs.items() if name == part.name}
        else:
            theirs[part.name] = part.written(text)
    return theirs


def _without_ours(file: ConfigFile, text: str, states: tuple[WrittenState, ...], *, foreign: bool) -> str:
    """The text with what was there before our parts; with `foreign`, without parts that we did not write, too."""
    for part in reversed(file.parts):
        noted = _noted(part, states)
        if part.found(text) is not None and (noted or foreign or part.wanted is None):
            text = _without_part(part, text, noted)
    return text


def _without_part(part: ConfigPart, text: str, noted: list[WrittenState]) -> str:
    """The text with our edit reverted exactly, if it is still there unchanged, else with only the part removed."""
    for state in noted:
        edit = None if part.name in state.theirs else state.edit_of(part.name)
        candidate = edit.undone_within(text) if edit else None
        try:
            if candidate is not None and part.found(candidate) is None and part.same_otherwise(text, candidate):
                return candidate
        except ConfigUnreadable:
            continue
    return part.without(text, noted[-1].theirs.get(part.name) if noted else None)


def _lines(file: ConfigFile, before: str | None, after: str | None) -> tuple[str, ...]:
    """The diff of our parts; secrets beside them are redacted. A file that is ours as a whole is only named."""
    if isinstance(file.parts[0], WholeFilePart) and None in (before, after):
        return ()
    differing = ndiff(_shown(file, before, after), _shown(file, after, before))
    return tuple(line.rstrip() for line in differing if not line.startswith("?"))


def _shown(file: ConfigFile, text: str | None, other: str | None) -> list[str]:
    if text is None:
        return []
    if other is None:
        return redact(text).text.splitlines()
    return [line for part in file.parts for line in part.shown(text, other)]
