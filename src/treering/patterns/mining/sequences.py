"""Frequent sequences of steps with gaps, by prefix projection: only continuations of frequent prefixes are read.

The result is prefix-closed. Support counts episodes and sessions, never repetitions within them. Repeats of a step in a
row are one step. The result does not depend on the order of episodes or the block size. If there are more than
`most_sequences` of one length, the most frequent are extended.
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
    """Number of episodes and of sessions in which a sequence occurs."""

    episodes: int
    sessions: int


@dataclass(frozen=True)
class StepLines:
    """All sequences concatenated, with steps as numbers."""

    vocabulary: tuple[str, ...]
    tokens: Numbers
    line: Numbers
    """For each position, its episode."""
    end: Numbers
    """For each position, the end of its episode."""
    sessions: Numbers

    def only(self, numbers: list[int]) -> "StepLines":
        """Keep only these steps; others become -1 but keep their positions."""
        new = np.full(len(self.vocabulary), -1, dtype=np.int64)
        new[numbers] = np.arange(len(numbers))
        return replace(self, vocabulary=tuple(self.vocabulary[number] for number in numbers), tokens=new[self.tokens])


def lines_of(sequences: Sequence[Steps], sessions: Numbers) -> StepLines:
    collapsed = [tuple(step for step, _ in groupby(each)) for each in sequences]
    vocabulary = tuple(sorted({step for each in collapsed for step in each}))
    number = {step: place for place, step in enumerate(vocabulary)}
    lengths = np.array([len(each) for each in collapsed], dtype=np.int64)
    tokens = np.fromiter(
        (number[step] for each in collapsed for step in each), dtype=np.int64, count=int(lengths.sum())
    )
    line = np.repeat(np.arange(len(collapsed), dtype=np.int64), lengths)
    return StepLines(vocabulary, tokens, line, np.repeat(np.cumsum(lengths), lengths), sessions)


def frequent_sequences(corpus: Corpus, sequences: Sequence[Steps]) -> dict[Steps, Support]:
    """All frequent sequences, including single steps; `sequences` has one for each episode of the corpus."""
    lines = lines_of(sequences, corpus.sessions)
    places = np.arange(len(lines.tokens), dtype=np.int64)
    single = _frequent(lines, lines.tokens, places, corpus)
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
    """The most frequent ones within the limits on sequences and positions."""
    remaining = corpus.settings.most_places
    for each in longer[: corpus.settings.most_sequences]:
        remaining -= len(each[1])
        if remaining < 0:
            return
        yield each


def _blocks(level: list[tuple[Steps, Numbers]], max_size: int, overhead: int) -> Iterator[list[tuple[Steps, Numbers]]]:
    """Blocks of limited memory: a sequence needs its positions plus one entry for every possible next step."""
    block, size = list[tuple[Steps, Numbers]](), 0
    for each in level:
        cost = len(each[1]) + overhead
        if block and size + cost > max_size:
            yield block
            block, size = [], 0
        block.append(each)
        size += cost
    if block:
        yield block


def _extended(
    lines: StepLines, block: list[tuple[Steps, Numbers]], corpus: Corpus
) -> Iterator[tuple[Steps, Numbers, Support]]:
    """Frequent sequences that extend one of these by one step."""
    prefix = np.repeat(np.arange(len(block), dtype=np.int64), [len(ends) for _, ends in block])
    ends = np.concatenate([ends for _, ends in block])
    words, places = list[Numbers](), list[Numbers]()
    for distance in range(1, corpus.settings.most_gap + 2):
        inside = np.flatnonzero(ends + distance < lines.end[ends])
        inside = inside[lines.tokens[ends[inside] + distance] >= 0]
        there = ends[inside] + distance
        words.append(prefix[inside] * len(lines.vocabulary) + lines.tokens[there])
        places.append(there)
    for number, reached, support in _frequent(lines, np.concatenate(words), np.concatenate(places), corpus):
        before, step = divmod(number, len(lines.vocabulary))
        yield (*block[before][0], lines.vocabulary[step]), reached, support


def _frequent(lines: StepLines, words: Numbers, places: Numbers, corpus: Corpus) -> list[tuple[int, Numbers, Support]]:
    """The frequent ones among numbered sequences, with their distinct end positions in order."""
    often = np.bincount(words) >= corpus.min_support if len(words) else np.zeros(0, dtype=bool)
    likely = often[words]
    if not likely.any():
        return []
    size = len(lines.tokens)
    words, places = np.divmod(distinct(words[likely] * size + places[likely]), size)
    episodes = _line_counts(words, lines.line[places])
    count = int(lines.sessions.max()) + 1
    sessions = np.bincount(distinct(words * count + lines.sessions[lines.line[places]]) // count)
    bounds = np.r_[np.flatnonzero(np.r_[True, words[1:] != words[:-1]]), len(words)].tolist()
    found = []
    for low, high in pairwise(bounds):
        word = int(words[low])
        if episodes[word] >= corpus.min_support and sessions[word] >= corpus.settings.least_sessions:
            found.append((word, places[low:high].copy(), Support(int(episodes[word]), int(sessions[word]))))
    return found


def distinct(numbers: Numbers) -> Numbers:
    """Distinct numbers in order; faster here than `np.unique`."""
    ordered = np.sort(numbers)
    return ordered[np.r_[True, ordered[1:] != ordered[:-1]]] if len(ordered) else ordered


def _line_counts(words: Numbers, lines: Numbers) -> Numbers:
    """Number of lines of each word; lines must be in order within a word."""
    return np.bincount(words[np.r_[True, (words[1:] != words[:-1]) | (lines[1:] != lines[:-1])]])


def maximal_sequences(table: Mapping[Steps, Support], absorbed_at: float) -> list[Steps]:
    """Sequences of two steps or more that no longer sequence with nearly the same support contains."""
    absorbed = set[Steps]()
    for steps, support in table.items():
        for left_out in range(len(steps)):
            part = steps[:left_out] + steps[left_out + 1 :]
            # Gaps are limited between neighbours, so a part without a middle step may even be rarer.
            if part in table and support.episodes >= absorbed_at * table[part].episodes:
                absorbed.add(part)
    return sorted(steps for steps in table if len(steps) > 1 and steps not in absorbed and not _repeats(steps))


def _repeats(steps: Steps) -> bool:
    """The same step twice in a row only means that an infrequent step came between."""
    return any(step == later for step, later in pairwise(steps))


def episodes_with(lines: StepLines, steps: Steps, max_gap: int) -> Numbers:
    """Positions of the episodes that contain the sequence."""
    number = {step: place for place, step in enumerate(lines.vocabulary)}
    wanted = [number.get(step, -1) for step in steps]
    ends: NDArray[np.int64] = np.flatnonzero(lines.tokens == wanted[0])
    for step in wanted[1:]:
        reached = [ends[ends + distance < lines.end[ends]] + distance for distance in range(1, max_gap + 2)]
        there = distinct(np.concatenate(reached))
        ends = there[lines.tokens[there] == step]
    return distinct(lines.line[ends])
