"""Judges promoted records against later sessions, beside records that frequency alone would have made.

A verdict has a strict and a lenient part: True, False, or None if no later session tests the record.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from statistics import mean
from typing import Any

from bench.observer.facts import SessionFacts
from treering.observe.scratchpad import Signal
from treering.observe.scratchpad.commands_run import SEQUENCE_STEPS

DRAWS = 20  # alternatives by frequency that each record is compared with
_QUOTED = re.compile(r"`([^`]+)`")
_TOKENS_FACTOR = 2


@dataclass(frozen=True, slots=True)
class PromotedRecord:
    """A record as it was when its session ended. `place` is the session's place in time; `support` its sessions."""

    id: str
    place: int
    session: str
    signal: str
    subject: str
    type: str
    text: str
    files: tuple[str, ...]
    payload: Mapping[str, Any]
    support: int
    tainted: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    strict: bool | None
    lenient: bool | None


UNTESTED = Verdict(None, None)


@dataclass(slots=True)
class Past:
    """What sessions up to now show: in how many of them each name occurs."""

    sessions: int = 0
    touched: Counter[str] = field(default_factory=Counter)
    edited: Counter[str] = field(default_factory=Counter)
    commands: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, facts: SessionFacts) -> None:
        self.sessions += 1
        self.touched.update(facts.touched)
        self.edited.update(list(facts.edits))  # a set would order files of equal counts differently in every process
        self.commands.update({name for _, name in facts.succeeded})
        for one, other in combinations(sorted(facts.touched), 2):
            if one in facts.edits or other in facts.edits:
                self.pairs[one, other] += 1

    def share(self, path: str) -> float:
        """Share of the sessions that touched the file."""
        return self.touched[path] / max(1, self.sessions)


@dataclass(frozen=True, slots=True)
class Later:
    """Sessions after a record was made, and the candidates that the observer itself found in each."""

    sessions: Sequence[SessionFacts]
    candidates: Sequence[frozenset[tuple[str, str]]]


Judge = Callable[[PromotedRecord, Past, Later], Verdict]
Alternatives = Callable[[PromotedRecord, Past, random.Random], Iterator[PromotedRecord]]


def judged(record: PromotedRecord, past: Past, later: Later) -> tuple[Verdict, tuple[float | None, float | None]]:
    """The verdict on a record, and the share of its alternatives by frequency that are true (strict, lenient)."""
    judge, alternatives = RULES.get(record.signal, (_unjudged, _no_alternatives))
    if record.signal == Signal.BACKTRACK and "workaround" in record.payload:
        judge, alternatives = _together_from_first, _other_effects
    verdict = judge(record, past, later)
    if verdict.strict is None and verdict.lenient is None:
        return verdict, (None, None)
    pick = random.Random(f"{record.signal} {record.subject} {record.place}")
    others = [judge(each, past, later) for each in alternatives(record, past, pick)]
    return verdict, (_share([each.strict for each in others]), _share([each.lenient for each in others]))


def _share(outcomes: Sequence[bool | None]) -> float | None:
    tested = [outcome for outcome in outcomes if outcome is not None]
    return mean(tested) if tested else None


def _together(record: PromotedRecord, past: Past, later: Later, *, from_first: bool) -> Verdict:
    """Of later sessions that edit one of the files (the first, if directed), those that touch the others, too.

    Lenient: they come together again. Strict: also more often than the files' own frequency predicts.
    """
    files = _named_files(record)
    seen = expected = 0.0
    tested = 0
    for facts in later.sessions:
        anchor = next((path for path in (files[:1] if from_first else files) if path in facts.edits), None)
        if anchor is None:
            continue
        others = [path for path in files if path != anchor]
        tested += 1
        seen += sum(path in facts.touched for path in others) / max(1, len(others))
        expected += sum(map(past.share, others)) / max(1, len(others))
    return Verdict(seen > expected, seen > 0) if tested else UNTESTED


def _together_from_any(record: PromotedRecord, past: Past, later: Later) -> Verdict:
    return _together(record, past, later, from_first=False)


def _together_from_first(record: PromotedRecord, past: Past, later: Later) -> Verdict:
    return _together(record, past, later, from_first=True)


def _named_files(record: PromotedRecord) -> tuple[str, ...]:
    if "cause" in record.payload:
        return (str(record.payload["cause"]), *map(str, record.payload["effects"]))
    return record.files


def _error(record: PromotedRecord, past: Past, later: Later) -> Verdict:
    """Strict: of records whose error occurs again, those whose resolution precedes its success. Lenient: the same
    of records whose error occurs again and is resolved."""
    names = set(_QUOTED.findall(str(record.payload["resolution"])))
    recurred, resolutions = False, list[frozenset[str]]()
    for facts in later.sessions:
        if record.subject in facts.failures:
            recurred = True
            resolutions += facts.resolutions(record.subject)
            resolutions += [frozenset({way}) for way in facts.ways(record.subject) if way]
    names.add(str(record.payload["resolution"]))
    same = any(names & each for each in resolutions)
    return Verdict(same if recurred else None, same if resolutions else None)


def _sequence(record: PromotedRecord, past: Past, later: Later) -> Verdict:
    """Lenient: the commands succeed in this order in a later session. Strict: close to each other."""
    commands = [str(step["description"]) for step in record.payload["steps"]]
    strict = any(_in_order(facts.succeeded, commands, SEQUENCE_STEPS) for facts in later.sessions)
    lenient = any(_in_order(facts.succeeded, commands, None) for facts in later.sessions)
    return Verdict(strict, lenient) if later.sessions else UNTESTED


def _in_order(succeeded: Sequence[tuple[int, str]], commands: Sequence[str], within: int | None) -> bool:
    """Whether the commands succeeded one after the other, each within so many steps of the one before."""
    reached: dict[int, int] = {}  # by number of commands so far: the latest step of the last one
    for step, name in succeeded:
        for place in range(len(commands) - 1, -1, -1):
            if name == commands[place]:
                before = reached.get(place) if place else step
                if before is not None and (within is None or step - before <= within):
                    reached[place + 1] = step
    return len(commands) in reached


def _mistaken(record: PromotedRecord, past: Past, later: Later) -> Verdict:
    """Later sessions that read the file: the other one is touched (lenient); it is edited and this one not (strict)."""
    path, *instead = record.files
    reading = [facts for facts in later.sessions if path in facts.reads]
    if not reading or not instead:
        return UNTESTED
    strict = any(instead[0] in facts.edits and path not in facts.edits for facts in reading)
    return Verdict(strict, any(instead[0] in facts.touched for facts in reading))


def _searched(record: PromotedRecord, past: Past, later: Later) -> Verdict:
    """Later sessions that search the same pattern: a named file is touched in one (lenient), in most (strict)."""
    searching = [facts for facts in later.sessions if record.subject in facts.searches]
    right = sum(not facts.touched.isdisjoint(record.files) for facts in searching)
    return Verdict(2 * right > len(searching), right > 0) if searching else UNTESTED


def _cost(record: PromotedRecord, past: Past, later: Later) -> Verdict:
    """The largest later result of the subject is as long as the record says, within a factor of two (strict), or at
    least half of it (lenient)."""
    said = float(record.payload["mean_tokens"])
    found = [facts.tokens[record.subject] for facts in later.sessions if record.subject in facts.tokens]
    if not found:
        return UNTESTED
    low, high = said / _TOKENS_FACTOR, said * _TOKENS_FACTOR
    return Verdict(any(low <= each <= high for each in found), max(found) >= low)


def _recurs(record: PromotedRecord, past: Past, later: Later) -> Verdict:
    """The observer notes the same in a later session, of those that touch one of its files."""
    tested = [
        (record.signal, record.subject) in candidates
        for facts, candidates in zip(later.sessions, later.candidates, strict=True)
        if not record.files or not facts.touched.isdisjoint(record.files)
    ]
    return Verdict(any(tested), any(tested)) if tested else UNTESTED


def _corrected(record: PromotedRecord, past: Past, later: Later) -> Verdict:
    """Later sessions that edit the file: the observer notes the same (strict); it is edited repeatedly (lenient)."""
    path = record.subject
    editing = [
        (facts.edits[path], (record.signal, path) in candidates)
        for facts, candidates in zip(later.sessions, later.candidates, strict=True)
        if path in facts.edits
    ]
    return Verdict(any(same for _, same in editing), any(edits > 1 for edits, _ in editing)) if editing else UNTESTED


def _unjudged(record: PromotedRecord, past: Past, later: Later) -> Verdict:
    """No later event can show whether it is true: read it."""
    return UNTESTED


def _other_pairs(record: PromotedRecord, past: Past, pick: random.Random) -> Iterator[PromotedRecord]:
    """Pairs that came together in at least as many sessions, one of them edited."""
    own = tuple(sorted(_named_files(record)[:2]))
    pairs = sorted(pair for pair, count in past.pairs.items() if count >= record.support and pair != own)
    for pair in pick.sample(pairs, min(DRAWS, len(pairs))):
        yield replace(record, files=pair, payload={})


def _other_effects(record: PromotedRecord, past: Past, pick: random.Random) -> Iterator[PromotedRecord]:
    """The same first file with others that were touched in at least as many sessions as the record was seen in."""
    first, *others = _named_files(record)
    names = _frequent(past.touched, record.support, {first, *others})
    for _ in range(DRAWS if len(names) >= len(others) else 0):
        yield replace(record, files=(first, *pick.sample(names, len(others))), payload={})


def _other_resolution(record: PromotedRecord, past: Past, pick: random.Random) -> Iterator[PromotedRecord]:
    """As many of the files that were edited in most sessions."""
    count = len(_QUOTED.findall(str(record.payload["resolution"])))
    names = [f"`{name}`" for name, _ in past.edited.most_common(count)]
    yield replace(record, payload={"resolution": " ".join(names)})


def _other_sequences(record: PromotedRecord, past: Past, pick: random.Random) -> Iterator[PromotedRecord]:
    """Commands that succeeded in at least as many sessions, in any order."""
    length = len(record.payload["steps"])
    names = _frequent(past.commands, record.support, set())
    for _ in range(DRAWS if len(names) >= length else 0):
        yield replace(record, payload={"steps": [{"description": name} for name in pick.sample(names, length)]})


def _other_answers(record: PromotedRecord, past: Past, pick: random.Random) -> Iterator[PromotedRecord]:
    names = _frequent(past.touched, record.support, set(record.files))
    for _ in range(DRAWS if len(names) >= len(record.files) else 0):
        yield replace(record, files=tuple(pick.sample(names, len(record.files))))


def _other_subjects(record: PromotedRecord, past: Past, pick: random.Random) -> Iterator[PromotedRecord]:
    """Files that were touched in at least as many sessions."""
    names = _frequent(past.touched, record.support, {record.subject})
    for name in pick.sample(names, min(DRAWS, len(names))):
        yield replace(record, subject=name, files=(name,))


def _no_alternatives(record: PromotedRecord, past: Past, pick: random.Random) -> Iterator[PromotedRecord]:
    return iter(())


def _frequent(counts: Counter[str], sessions: int, without: set[str]) -> list[str]:
    return sorted(name for name, count in counts.items() if count >= sessions and name not in without)


RULES: Mapping[str, tuple[Judge, Alternatives]] = {
    Signal.CO_ACCESS: (_together_from_any, _other_pairs),
    Signal.IMPORT_CHASE: (_together_from_any, _other_pairs),
    Signal.CONFIG_TOUCH: (_together_from_first, _other_effects),
    Signal.ERROR_RETRY: (_error, _other_resolution),
    Signal.TOOL_SEQUENCE: (_sequence, _other_sequences),
    Signal.READ_ABANDON: (_mistaken, _other_effects),
    Signal.REPEATED_GREP: (_searched, _other_answers),
    Signal.CONTEXT_TOKEN_SPIKE: (_cost, _other_subjects),
    Signal.BACKTRACK: (_corrected, _other_subjects),
    Signal.PARALLEL_CONFLICT: (_recurs, _other_subjects),
    Signal.STEP_OVERRUN: (_recurs, _no_alternatives),
    Signal.EXTERNAL_REFERENCE: (_recurs, _no_alternatives),
}
"""Signals without a rule (what was said) are listed for reading."""
