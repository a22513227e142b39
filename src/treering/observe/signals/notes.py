"""Notes of a scratchpad, with taint and quorum."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from treering.observe.scratchpad import Activity, Scratchpad, Signal
from treering.observe.signals.note import Note
from treering.observe.signals.table import SIGNALS

_MAX_CONFLICTS = 20


def notes_of(pad: Scratchpad) -> tuple[Note, ...]:
    """The notes of a session, by signal and strength.

    A note without taint is made from what happened before the first outside content, and from nothing else.
    """
    if not pad.parts:
        return _preferred(_notes_by_origin(pad))
    notes = [_notes_by_origin(part) for part in pad.parts]
    return (*_with_quorum(pad, notes), *_edited_by_several(pad.parts))


def _notes_by_origin(pad: Scratchpad) -> list[Note]:
    """Notes of the clean part of a session first, then those of all of it, which are tainted."""
    if pad.taint is None:
        return [*_detected(pad.activity, None)]
    return [*(_detected(pad.clean, None) if pad.clean else ()), *_detected(pad.activity, pad.taint)]


def _detected(activity: Activity, taint: str | None) -> Iterator[Note]:
    for signal, spec in SIGNALS.items():
        found = sorted(spec.detector(activity), key=lambda each: (-each.strength, each.subject))
        for each in found[: spec.max_notes]:
            data = {**each.data, "strength": round(each.strength, 3)}
            yield Note(signal, each.subject, data, each.files, each.step, taint)


def _preferred(notes: Sequence[Note]) -> tuple[Note, ...]:
    """One note of each subject: the clean one, unless only the tainted one has a resolution."""
    chosen: dict[tuple[Signal, str], Note] = {}
    for note in notes:
        known = chosen.get((note.signal, note.subject))
        if known is None or _says_more(note, known):
            chosen[note.signal, note.subject] = note
    return tuple(sorted(chosen.values(), key=lambda note: _ORDER[note.signal]))


def _says_more(note: Note, known: Note) -> bool:
    return "resolution" in note.data and "resolution" not in known.data


def _with_quorum(pad: Scratchpad, notes: Sequence[Sequence[Note]]) -> tuple[Note, ...]:
    """Notes of parallel agents, each with the number of agents that made it.

    Only clean observations count for a clean note. A note keeps its own subject, because that of a similar one may
    be tainted.
    """
    groups: dict[tuple[Signal, str], list[Note]] = {}
    for part in notes:
        for note in _preferred(part):
            groups.setdefault((note.signal, pad.same.get(note.subject, note.subject)), []).append(note)
    return tuple(_quorum(group) for group in groups.values())


def _quorum(group: list[Note]) -> Note:
    clean = [note for note in group if note.taint is None]
    counted = clean or group
    best = max(counted, key=lambda note: ("resolution" in note.data, float(str(note.data["strength"]))))
    tallies = [tally for note in counted if isinstance(tally := note.data.get("tally"), Mapping)]
    if len(tallies) < 2 or best.signal is not Signal.ERROR_RETRY:
        return replace(best, agents=len(counted))
    resolved = sum(int(str(note.data.get("resolved", 0))) for note in counted)
    data = {**best.data, "tally": dict(sum(map(Counter, tallies), Counter[str]())), "resolved": resolved}
    return replace(best, data=data, agents=len(counted))


def _edited_by_several(parts: Sequence[Scratchpad]) -> Iterator[Note]:
    """Files that more than one agent edited; clean if the clean parts of the sessions suffice to see it."""
    clean = _editors([part.activity if part.taint is None else part.clean or Activity() for part in parts])
    every = _editors([part.activity for part in parts])
    conflicts = sorted((path for path, steps in every.items() if len(steps) > 1), key=lambda path: -len(every[path]))
    source = next((part.taint for part in parts if part.taint), None)
    for path in conflicts[:_MAX_CONFLICTS]:
        is_clean = len(clean.get(path, ())) > 1
        steps = clean[path] if is_clean else every[path]
        data = {"cause": "parallel_edits", "agents": len(steps), "strength": float(len(steps))}
        taint = None if is_clean else source
        yield Note(Signal.PARALLEL_CONFLICT, path, data, (path,), max(steps), taint, agents=len(steps))


def _editors(activities: Sequence[Activity]) -> dict[str, list[int]]:
    """For each edited file, the last edit of every agent that edited it."""
    found: dict[str, list[int]] = {}
    for activity in activities:
        for path, use in activity.files.items():
            if use.edits:
                found.setdefault(path, []).append(use.last_edit)
    return found


_ORDER = {signal: place for place, signal in enumerate(SIGNALS)}
