"""Evidence that a session will touch a file: one number per signal and file, most of them between 0 and 1."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
from math import log
from typing import TYPE_CHECKING

import numpy as np

from treering.context.prefetch.words import path_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.context.prefetch.history import SessionHistory
    from treering.context.prefetch.words import PathName, PromptReading

    Floats = NDArray[np.float64]

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


def signals_of(history: SessionHistory, request: Request, votes: Floats) -> dict[str, Floats]:
    """The value of every signal for every file of the history; `votes` are those of sessions with similar prompts."""
    found = {**_over_time(history), **_by_prompt(history, request, votes)}
    found |= _by_companions(history, request, found)
    return found


def _over_time(history: SessionHistory) -> dict[str, Floats]:
    count = len(history.paths)
    return {
        "recent": history.edits.sums(history.faded(1.0), count),
        "lately": history.edits.sums(history.faded(4.0), count),
        "usual": np.log1p(history.edit_counts),
        "read": history.reads.sums(history.faded(1.0), count),
    }


def _by_prompt(history: SessionHistory, request: Request, votes: Floats) -> dict[str, Floats]:
    count = len(history.paths)
    return {
        "similar": history.edits.sums(votes, count),
        "similar_read": history.reads.sums(votes, count),
        **_by_name(history.paths, request.reading),
    }


def _by_name(paths: Sequence[str], reading: PromptReading) -> dict[str, Floats]:
    names = [path_name(path) for path in paths]
    holders = Counter(chain.from_iterable(name.words for name in names))
    rarity = {word: log((len(paths) + 1) / count) for word, count in holders.items()}
    in_prompt = rarity.keys() & reading.forms
    same_base = Counter(name.base for name in names)
    same_stem = Counter(name.stem for name in names)
    values = {key: np.zeros(len(paths)) for key in ("name", "path", "base", "identifier")}
    for place, name in enumerate(names):
        if not in_prompt.isdisjoint(name.own_words):
            values["name"][place] = _name_match(name, in_prompt, rarity, log(len(paths) + 1))
        if name.base in reading.bases:
            named = any(_same_file(paths[place], path) for path in reading.paths if path.endswith(name.base))
            values["path" if named else "base"][place] = 1.0 if named else 1.0 / same_base[name.base]
        if name.stem in reading.identifiers and not name.stem.islower():
            values["identifier"][place] = 1.0 / same_stem[name.stem]
    # Words that match many names (a long prompt, or a word of the whole project) say little about each.
    matching = int((values["name"] > 0.25).sum())
    values["name"] *= min(1.0, SELECTIVE / max(1, matching))
    return values


def _name_match(name: PathName, in_prompt: Set[str], rarity: Mapping[str, float], most: float) -> float:
    """How much of a file's name the prompt contains, rare words first; a whole name counts most."""
    own = [rarity[word] for word in name.own_words if word in in_prompt]
    share = sum(own) / (sum(rarity[word] for word in name.own_words) or 1.0)
    path_match = min(1.0, sum(rarity[word] for word in name.words & in_prompt) / most)
    whole = sum(own) / len(own) / most if len(own) == len(name.own_words) else 0.0
    return whole + share * path_match / 2


def _same_file(path: str, named: str) -> bool:
    return path == named or path.endswith("/" + named) or named.endswith("/" + path)


def _by_companions(history: SessionHistory, request: Request, found: Mapping[str, Floats]) -> dict[str, Floats]:
    strength = found["path"] + found["base"] + found["identifier"] + found["name"] + found["similar"] + found["recent"]
    given = [history.numbers[path] for path in request.files if path in history.numbers]
    seeds = [int(place) for place in np.argsort(-strength, kind="stable")[:MAX_SEEDS] if strength[place] > 0.5]
    named = [place for place in seeds if found["path"][place] + found["base"][place] + found["identifier"][place] > 0]
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
) -> Floats:
    """The highest share of the seed's editing sessions that edited the file too."""
    values = np.zeros(len(history.paths))
    for seed in seeds[:MAX_SEEDS]:
        values = np.maximum(values, history.edited_with(seed) / (history.edit_counts[seed] + 1.0))
    return np.maximum(values, _linked(history, seeds, co_access))


def _linked(history: SessionHistory, seeds: Sequence[int], links: Mapping[str, Mapping[str, float]]) -> Floats:
    values = np.zeros(len(history.paths))
    for seed in seeds:
        for path, weight in links.get(history.paths[seed], {}).items():
            place = history.numbers.get(path)
            if place is not None and place != seed:
                values[place] = max(values[place], min(1.0, weight))
    return values


def _relevance(history: SessionHistory, records: Mapping[str, float]) -> Floats:
    values = np.zeros(len(history.paths))
    for path, relevance in records.items():
        if (place := history.numbers.get(path)) is not None:
            values[place] = min(1.0, relevance)
    return values


def _pairs(paths: Sequence[str], seeds: Sequence[int]) -> Floats:
    """1 for files that share the subject of a seed: the test of a file, or the file of a test."""
    subjects: dict[str, set[int]] = {}
    for seed in seeds:
        subjects.setdefault(path_name(paths[seed]).subject, set()).add(seed)
    values = np.zeros(len(paths))
    for place, path in enumerate(paths):
        if subjects.get(path_name(path).subject, set()) - {place}:
            values[place] = 1.0
    return values


def _folders(paths: Sequence[str], recent: Floats) -> Floats:
    """Share of three files of the same folder that the last sessions edited."""
    busy = Counter(path_name(paths[place]).folder for place in np.flatnonzero(recent > 0.4).tolist())
    return np.fromiter((min(busy[path_name(path).folder], 3) / 3 if busy else 0.0 for path in paths), float, len(paths))
