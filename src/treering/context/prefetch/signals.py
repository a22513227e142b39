"""Evidence that a session will touch a file: one number per signal and file, most of them between 0 and 1."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import chain
from math import log, log1p
from typing import TYPE_CHECKING

from treering.context.prefetch.words import folder_of, path_name, subject_of

if TYPE_CHECKING:
    from treering.context.prefetch.history import FileValues, SessionHistory, SessionValues
    from treering.context.prefetch.words import PathName, PromptReading

MAX_SEEDS = 8  # files whose companions are considered
SELECTIVE = 8.0  # names that the words of a prompt may match at full weight


@dataclass(frozen=True, slots=True)
class Request:
    """The request for which files are ranked. The three mappings lead from a file to its companions with a weight."""

    reading: PromptReading
    files: tuple[str, ...] = ()
    co_access: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    co_change: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    code: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    records: Mapping[str, float] = field(default_factory=dict)
    """Files of knowledge and episodes that match the prompt, with the relevance of the best of them."""


def signals_of(history: SessionHistory, request: Request, votes: SessionValues) -> dict[str, FileValues]:
    """The value of every signal for the files of the history; `votes` are those of sessions with similar prompts."""
    found = {**_over_time(history), **_by_prompt(history, request, votes)}
    found |= _by_companions(history, request, found)
    return found


def summed(values: Iterable[FileValues]) -> dict[int, float]:
    """For each file, the sum of its values."""
    total: dict[int, float] = defaultdict(float)
    for each in values:
        for file, value in each.items():
            total[file] += value
    return total


def _over_time(history: SessionHistory) -> dict[str, FileValues]:
    return {
        "recent": history.edits.sums(history.faded(1.0)),
        "lately": history.edits.sums(history.faded(4.0)),
        "usual": {file: log1p(len(sessions)) for file, sessions in history.edits.sessions.items()},
        "read": history.reads.sums(history.faded(1.0)),
    }


def _by_prompt(history: SessionHistory, request: Request, votes: SessionValues) -> dict[str, FileValues]:
    return {
        "similar": history.edits.sums(votes),
        "similar_read": history.reads.sums(votes),
        **_by_name(history.paths, request.reading),
    }


def _by_name(paths: Sequence[str], reading: PromptReading) -> dict[str, FileValues]:
    names = [path_name(path) for path in paths]
    holders = Counter(chain.from_iterable(each.words for each in names))
    in_prompt = holders.keys() & reading.forms
    same_base = Counter(each.base for each in names)
    same_stem = Counter(each.stem for each in names)
    most = log(len(paths) + 1)
    name, path, base, identifier = (dict[int, float]() for _ in range(4))
    for place, each in enumerate(names):
        if not in_prompt.isdisjoint(each.own_words):
            name[place] = _name_match(each, in_prompt, holders, most)
        if each.base in reading.bases:
            named = any(_same_file(paths[place], other) for other in reading.paths if other.endswith(each.base))
            (path if named else base)[place] = 1.0 if named else 1.0 / same_base[each.base]
        if each.stem in reading.identifiers and not each.stem.islower():
            identifier[place] = 1.0 / same_stem[each.stem]
    # Words that match many names (a long prompt, or a word of the whole project) say little about each.
    selective = min(1.0, SELECTIVE / max(1, sum(value > 0.25 for value in name.values())))
    name = {place: value * selective for place, value in name.items()}
    return {"name": name, "path": path, "base": base, "identifier": identifier}


def _name_match(name: PathName, in_prompt: Set[str], holders: Mapping[str, int], most: float) -> float:
    """How much of a file's name the prompt contains, rare words first; a whole name counts most.

    `most` is the rarity of a word that one file has, plus that of all files.
    """
    rarity = {word: most - log(holders[word]) for word in name.words}
    own = [rarity[word] for word in name.own_words if word in in_prompt]
    share = sum(own) / (sum(rarity[word] for word in name.own_words) or 1.0)
    path_match = min(1.0, sum(rarity[word] for word in name.words & in_prompt) / most)
    whole = sum(own) / len(own) / most if len(own) == len(name.own_words) else 0.0
    return whole + share * path_match / 2


def _same_file(path: str, named: str) -> bool:
    return path == named or path.endswith("/" + named) or named.endswith("/" + path)


def _by_companions(history: SessionHistory, request: Request, found: Mapping[str, FileValues]) -> dict[str, FileValues]:
    strength = summed(found[name] for name in ("path", "base", "identifier", "name", "similar", "recent"))
    given = [history.numbers[path] for path in request.files if path in history.numbers]
    strong = sorted(file for file, value in strength.items() if value > 0.5)
    seeds = nlargest(MAX_SEEDS, strong, key=strength.__getitem__)
    named = [place for place in seeds if any(place in found[name] for name in ("path", "base", "identifier"))]
    return {
        "together": _edited_together(history, given, request.co_access),
        "pair": _pairs(history.paths, [*given, *seeds]),
        "folder": _folders(history.paths, found["recent"]),
        "co_change": _linked(history, [*given, *named], request.co_change),
        "code": _linked(history, [*given, *named], request.code),
        "records": _relevance(history, request.records),
    }


def _edited_together(
    history: SessionHistory, seeds: Sequence[int], co_access: Mapping[str, Mapping[str, float]]
) -> FileValues:
    """The highest share of the seed's editing sessions that edited the file too."""
    values = _linked(history, seeds, co_access)
    for seed in seeds[:MAX_SEEDS]:
        edits = history.edit_count(seed) + 1.0
        for file, sessions in history.edited_with(seed).items():
            values[file] = max(values.get(file, 0.0), sessions / edits)
    return values


def _linked(
    history: SessionHistory, seeds: Sequence[int], links: Mapping[str, Mapping[str, float]]
) -> dict[int, float]:
    values: dict[int, float] = {}
    for seed in seeds:
        for path, weight in links.get(history.paths[seed], {}).items():
            place = history.numbers.get(path)
            if place is not None and place != seed:
                values[place] = max(values.get(place, 0.0), min(1.0, weight))
    return values


def _relevance(history: SessionHistory, records: Mapping[str, float]) -> FileValues:
    numbered = ((history.numbers.get(path), relevance) for path, relevance in records.items())
    return {place: min(1.0, relevance) for place, relevance in numbered if place is not None}


def _pairs(paths: Sequence[str], seeds: Sequence[int]) -> FileValues:
    """1 for files that share the subject of a seed: the test of a file, or the file of a test."""
    subjects: dict[str, set[int]] = defaultdict(set)
    for seed in seeds:
        subjects[subject_of(paths[seed])].add(seed)
    values: dict[int, float] = {}
    for place, path in enumerate(paths) if subjects else ():
        folded = path.lower()
        # Finding the subject of every path would take longer than this.
        if any(subject in folded for subject in subjects) and subjects.get(subject_of(path), set()) - {place}:
            values[place] = 1.0
    return values


def _folders(paths: Sequence[str], recent: FileValues) -> FileValues:
    """Share of three files of the same folder that the last sessions edited."""
    busy = Counter(folder_of(paths[place]) for place, value in recent.items() if value > 0.4)
    if not busy:
        return {}
    return {place: min(busy[folder], 3) / 3 for place, path in enumerate(paths) if (folder := folder_of(path)) in busy}
