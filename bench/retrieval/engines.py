"""Whether both engines rank words alike: NDCG@10 of the words alone, on SQLite and on PostgreSQL."""

import os
from collections.abc import Sequence
from pathlib import Path

from bench.postgres import server
from bench.results import table
from bench.retrieval.measures import judge, mean
from bench.retrieval.sets import Dataset
from bench.retrieval.ways import WORDS_ONLY, index, recalling

AGREE_WITHIN = 0.02


def agreement(datasets: Sequence[Dataset], folder: Path) -> str:
    """A table of both engines. The documents of a set are indexed once on each."""
    os.environ["TREERING_BLOBS"] = str(folder / "blobs")
    rows: list[tuple[object, ...]] = []
    with server(folder) as url:
        for dataset in datasets:
            embedded, same_first = _ranked(dataset, folder / f"engines-{dataset.name}.db")
            served, other_first = _ranked(dataset, url)
            difference = abs(embedded - served)
            alike = mean([float(one == other) for one, other in zip(same_first, other_first, strict=True)])
            verdict = "agree" if difference <= AGREE_WITHIN else "DISAGREE"
            rows.append(
                (dataset.name, f"{embedded:.3f}", f"{served:.3f}", f"{difference:.3f}", f"{alike:.1%}", verdict)
            )
    heads = ("set", "SQLite", "PostgreSQL", "difference", "same ten in the same order", f"within {AGREE_WITHIN}")
    return table(heads, rows)


def _ranked(dataset: Dataset, place: str | Path) -> tuple[float, list[Sequence[str]]]:
    """NDCG@10, and the rankings themselves."""
    gains, rankings = list[float](), list[Sequence[str]]()
    for group in dataset.groups:
        project = f"{dataset.name}-{os.getpid()}-{group.name}"
        index(place, project, group)
        with recalling(place, project, WORDS_ONLY) as rank:
            for question in group.questions:
                rankings.append(rank(question.text))
                gains.append(judge(rankings[-1], question.gold, question.category).ndcg)
    return mean(gains), rankings
