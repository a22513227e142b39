"""Indexes a set once and asks its questions in every way."""

import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.retrieval.measures import Judged, judge, mean
from bench.retrieval.sets import WHOLE_TEXTS, Dataset, Group, load
from bench.retrieval.ways import Rank, index, recalling, use_bundled_embedder, ways

DEFAULT = "Treering"
SMALL_SETS = ("realtalk", "longmemeval")
APART = "Treering, a session for each document"


@dataclass
class Measured:
    """A set with the answers of each way, and the seconds that indexing and each answer took."""

    dataset: Dataset
    indexing: float = 0.0
    judged: dict[str, list[Judged]] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)

    def figures(self, way: str) -> Sequence[float]:
        """The set's own figure, question by question."""
        return [each.figure(self.dataset.name) for each in self.judged[way]]

    def add(self, way: str, group: Group, opened: AbstractContextManager[Rank]) -> None:
        with opened as rank:
            for question in group.questions:
                begun = time.perf_counter()
                found = rank(question.text)
                self.seconds.setdefault(way, []).append(time.perf_counter() - begun)
                self.judged.setdefault(way, []).append(judge(found, question.gold, question.category))


def figures() -> dict[str, float]:
    """The figure of each small set, with default settings."""
    use_bundled_embedder()
    return {f"retrieval.{name}": _default_figure(load(name)) for name in SMALL_SETS}


def _default_figure(dataset: Dataset) -> float:
    measured = Measured(dataset)
    with TemporaryDirectory() as folder:
        place = Path(folder) / "memory.db"
        for group in dataset.groups:
            index(place, group.name, group)
            measured.add(DEFAULT, group, recalling(place, group.name))
    return mean(measured.figures(DEFAULT))


def measure(dataset: Dataset, folder: Path) -> Measured:
    """All figures of a set."""
    measured, place = Measured(dataset), folder / f"{dataset.name}.db"
    begun = time.perf_counter()
    for group in dataset.groups:
        index(place, group.name, group)
    measured.indexing = time.perf_counter() - begun
    for group in dataset.groups:
        for name, opened in ways(place, group).items():
            measured.add(name, group, opened)
        if dataset.name in WHOLE_TEXTS:
            elsewhere = folder / f"{dataset.name}-apart.db"
            index(elsewhere, group.name, group, apart=True)
            measured.add(APART, group, recalling(elsewhere, group.name))
    return measured
