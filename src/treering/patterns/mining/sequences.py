"""Frequent sequences of steps, with gaps, by projection: only what follows a frequent beginning is looked at.

The table is prefix-closed: every beginning of a frequent sequence is frequent, and in it. Support counts episodes and
sessions, never repetitions inside them. Repeated steps in a row are one step. What is found depends neither on the
order of the episodes nor on how they were cut into blocks. Where a length has more than `most_sequences`, the most
frequent go on.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from treering.patterns.mining.corpus import Corpus, Numbers

Steps = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Support:
    """In how many episodes and in how many sessions it occurs."""

    episodes: int
    sessions: int


@dataclass(frozen=True)
class Lines:
    """All sequences one behind the other, as numbers."""

    vocabulary: tuple[str, ...]
    tokens: Numbers
    line: Numbers
    """Of each place, its episode."""
    end: Numbers
    """Of each place, where its episode ends."""
    sessions: Numbers

    def only(self, numbers: list[int]) -> "Lines":
        """With no names but these; what was called otherwise is -1, and still takes its place."""
        new = np.full(len(self.vocabulary), -1, dtype=np.int64)
        new[numbers] = np.arange(len(numbers))
        return replace(self, vocabulary=tuple(self.vocabulary[number] for number in numbers), tokens=new[self.tokens])


def lines_of(sequences: Sequence[Steps], sessions: Numbers) -> Lines:
    collapsed = [tuple(step for step, _ in groupby(each)) for each in sequences]
    vocabulary = tuple(sorted({step for each in collapsed for step in each}))
    number = {step: place for place, step in enumerate(vocabulary)}
    lengths = np.array([len(each) for each in collapsed], dtype=np.int64)
    tokens = np.fromiter(
        (number[step] for each in collapsed for step in each), dtype=np.int64, count=int(lengths.sum())
    )
    line = np.repeat(np.arange(len(collapsed), dtype=np.int64), lengths)
    return Lines(vocabulary, tokens, line, np.repeat(np.cumsum(lengths), lengths), sessions)


def frequent_sequences(corpus: Corpus, sequences: Sequence[Steps]) -> dict[Steps, Support]:
    """Every frequent sequence of the table, single steps among them. One sequence for each episode of the corpus."""
    lines = lines_of(sequences, corpus.sessions)
    places = np.arange(len(lines.tokens), dtype=np.int64)
    single = _kept(lines, lines.tokens, places, corpus)
    found: dict[Steps, Support] = {(lines.vocabulary[number],): support for number, _, support in single}
    lines = lines.only([number for number, _, _ in single])
    level: list[tuple[Steps, Numbers]] = [
        ((step,), ends) for step, (_, ends, _) in zip(lines.vocabulary, single, strict=True)
    ]
    for _ in range(corpus.settings.longest - 1):
        blocks = _blocks(level, corpus.settings.block, len(lines.vocabulary))
        longer = [each for block in blocks for each in _extended(lines, block, corpus)]
        longer.sort(key=lambda each: (-each[2].episodes, each[0]))
        longer = list(_within(longer, corpus))
        found |= {steps: support for steps, _, support in longer}
        level = [(steps, ends) for steps, ends, _ in sorted(longer, key=lambda each: each[0])]
        if not level:
            break
    return found


def _within(longer: list[tuple[Steps, Numbers, Support]], corpus: Corpus) -> Iterator[tuple[Steps, Numbers, Support]]:
    """As many of the most frequent as there is room for."""
    room = corpus.settings.most_places
    for each in longer[: corpus.settings.most_sequences]:
        room -= len(each[1])
        if room < 0:
            return
        yield each


def _blocks(level: list[tuple[Steps, Numbers]], most: int, each_costs: int) -> Iterator[list[tuple[Steps, Numbers]]]:
    """Some at a time: each takes room for its places and for every step that may follow."""
    block, size = list[tuple[Steps, Numbers]](), 0
    for each in level:
        cost = len(each[1]) + each_costs
        if block and size + cost > most:
            yield block
            block, size = [], 0
        block.append(each)
        size += cost
    if block:
        yield block


def _extended(
    lines: Lines, block: list[tuple[Steps, Numbers]], corpus: Corpus
) -> Iterator[tuple[Steps, Numbers, Support]]:
    """Every frequent sequence that is one step longer than one of these."""
    prefix = np.repeat(np.arange(len(block), dtype=np.int64), [len(ends) for _, ends in block])
    ends = np.concatenate([ends for _, ends in block])
    words, places = list[Numbers](), list[Numbers]()
    for distance in range(1, corpus.settings.most_gap + 2):
        inside = np.flatnonzero(ends + distance < lines.end[ends])
        inside = inside[lines.tokens[ends[inside] + distance] >= 0]
        there = ends[inside] + distance
        words.append(prefix[inside] * len(lines.vocabulary) + lines.tokens[there])
        places.append(there)
    for number, reached, support in _kept(lines, np.concatenate(words), np.concatenate(places), corpus):
        before, step = divmod(number, len(lines.vocabulary))
        yield (*block[before][0], lines.vocabulary[step]), reached, support


def _kept(lines: Lines, words: Numbers, places: Numbers, corpus: Corpus) -> list[tuple[int, Numbers, Support]]:
    """The frequent ones among numbered sequences, with the places where they end, each once and in order."""
    often = np.bincount(words) >= corpus.least_support if len(words) else np.zeros(0, dtype=bool)
    likely = often[words]
    if not likely.any():
        return []
    room = len(lines.tokens)
    words, places = np.divmod(distinct(words[likely] * room + places[likely]), room)
    episodes = _different(words, lines.line[places])
    count = int(lines.sessions.max()) + 1
    sessions = np.bincount(distinct(words * count + lines.sessions[lines.line[places]]) // count)
    bounds = np.r_[np.flatnonzero(np.r_[True, words[1:] != words[:-1]]), len(words)].tolist()
    found = []
    for low, high in pairwise(bounds):
        word = int(words[low])
        if episodes[word] >= corpus.least_support and sessions[word] >= corpus.settings.least_sessions:
            found.append((word, places[low:high].copy(), Support(int(episodes[word]), int(sessions[word]))))
    return found


def distinct(numbers: Numbers) -> Numbers:
    """Each once, in order: sorting is faster here than the hashing of `np.unique`."""
    ordered = np.sort(numbers)
    return ordered[np.r_[True, ordered[1:] != ordered[:-1]]] if len(ordered) else ordered


def _different(words: Numbers, lines: Numbers) -> Numbers:
    """How many lines each word has; places, and so lines, are in order within a word."""
    return np.bincount(words[np.r_[True, (words[1:] != words[:-1]) | (lines[1:] != lines[:-1])]])


def told_sequences(table: Mapping[Steps, Support], absorbed_at: float) -> list[Steps]:
    """Those worth telling: of two steps or more, and part of no longer one that says nearly the same."""
    absorbed = set[Steps]()
    for steps, support in table.items():
        for left_out in range(len(steps)):
            part = steps[:left_out] + steps[left_out + 1 :]
            # Gaps are counted between neighbours: without a step of the middle a part may even be rarer.
            if part in table and support.episodes >= absorbed_at * table[part].episodes:
                absorbed.add(part)
    return sorted(steps for steps in table if len(steps) > 1 and steps not in absorbed and not _repeats(steps))


def _repeats(steps: Steps) -> bool:
    """One step twice in a row says only that something unnamed lay between."""
    return any(step == later for step, later in pairwise(steps))


def episodes_with(lines: Lines, steps: Steps, most_gap: int) -> Numbers:
    """The episodes that hold it, by their places."""
    number = {step: place for place, step in enumerate(lines.vocabulary)}
    wanted = [number.get(step, -1) for step in steps]
    ends: NDArray[np.int64] = np.flatnonzero(lines.tokens == wanted[0])
    for step in wanted[1:]:
        reached = [ends[ends + distance < lines.end[ends]] + distance for distance in range(1, most_gap + 2)]
        there = distinct(np.concatenate(reached))
        ends = there[lines.tokens[there] == step]
    return distinct(lines.line[ends])
