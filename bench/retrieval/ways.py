"""The ways of ranking that are compared: Treering, Treering without one of its parts, and plainer ones."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from unittest.mock import patch

import treering
from bench.retrieval.measures import LIMIT
from bench.retrieval.plain_bm25 import BM25, Forms, our_forms, our_words, plain_forms, plain_words
from bench.retrieval.sets import Group
from treering.adapters.models.bundled import BundledEmbedder
from treering.compose import now
from treering.core.settings import EmbedderSettings, Settings
from treering.memory import Memory
from treering.ports.index import IndexQuery
from treering.search import fusion, paths
from treering.search.fusion import ranks
from treering.search.query import interpret
from treering.search.request import ALL_TURNS

Rank = Callable[[str], Sequence[str]]
# Ranks count as 1 / (60 + rank): the constant of the paper that proposed it.
RRF_AT = 60
# The weights are learned for the sum of all parts, and so is the least sum of a candidate; a part alone has its own.
ANY_WORD, ANY_ANGLE = 1e-9, -1.0
WEIGHTS = tuple(fusion.WEIGHTS)
NEIGHBOURS = (*(name for name in WEIGHTS if name.endswith(("_before", "_after"))), "answers")
FEEDBACK = ("feedback_words", "feedback_meaning")


@dataclass(frozen=True)
class Variant:
    """Treering with other weights, another least score or another embedder."""

    weights: Mapping[str, float] = field(default_factory=dict)
    least: float = paths.MIN_SCORE
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)


def without(names: Sequence[str]) -> Variant:
    """Treering as it is, except that these signs count nothing."""
    return Variant(dict.fromkeys(names, 0.0))


def only(name: str, least: float, embedder: EmbedderSettings | None = None) -> Variant:
    """One sign alone decides."""
    return Variant({other: float(other == name) for other in WEIGHTS}, least, embedder or EmbedderSettings())


WORDS_ONLY = only("words", ANY_WORD, EmbedderSettings(provider="none"))
VARIANTS: Mapping[str, Variant] = {
    "Treering": Variant(),
    "words only": WORDS_ONLY,
    "meaning only": only("meaning", ANY_ANGLE),
    "no graph": without(("graph",)),
    "no neighbours": without(NEIGHBOURS),
    "no feedback": without(FEEDBACK),
}


def use_bundled_embedder() -> None:
    """A local Ollama would be preferred, and the figures would depend on the machine."""
    os.environ["TREERING_EMBEDDER"] = "bundled"


def index(place: str | Path, project: str, group: Group, *, apart: bool = False) -> None:
    """Every document said in its turn; `apart` gives each a session of its own, where it has no neighbours."""
    with treering.open(place, project=project) as memory:
        for document in group.documents:
            session = document.id if apart else "s"
            memory.turn(session=session, role="user", text=document.text, id=document.id, at=document.date)
        memory.settle(timeout=600.0)


@contextmanager
def recalling(place: str | Path, project: str, variant: Variant | None = None) -> Iterator[Rank]:
    chosen = variant or Variant()
    with (
        patch.dict(fusion.WEIGHTS, chosen.weights),
        patch.object(paths, "MIN_SCORE", chosen.least),
        treering.open(place, project=project, settings=Settings(embedder=chosen.embedder)) as memory,
    ):
        yield lambda query: [hit.id for hit in memory.search(query, limit=LIMIT)]


@contextmanager
def fusing_ranks(place: str | Path, project: str) -> Iterator[Rank]:
    """Plain reciprocal rank fusion of the index's own two rankings."""
    with treering.open(place, project=project) as memory:
        yield partial(_fused_ranks, memory, BundledEmbedder())


def _fused_ranks(memory: Memory, embedder: BundledEmbedder, query: str) -> Sequence[str]:
    vector = embedder.query(query)
    with memory.store.reading(memory.scope, now()) as tx:
        asked = interpret(query, now(), languages=tx.index.languages(), speakers=tx.index.speakers())
        wanted = IndexQuery(asked.codes, vector, embedder.model, asked.shares)
        found = tx.index.candidates(wanted, ("turn",), limit=memory.settings.search.candidates)
        places = (ranks(found.words, 0.0), ranks(found.meaning, -1.0))
        fused = {row: sum(1 / (RRF_AT + of[row]) for of in places if row in of) for of in places for row in of}
        best = sorted(fused, key=lambda row: (-fused[row], row))[:LIMIT]
        numbers = found.number[best]
        ids = tx.index.matching_ids({"turn": ALL_TURNS}, numbers)
    return [ids[number][1] for number in numbers.tolist()]


@contextmanager
def by_bm25(group: Group, analyse: Callable[[str], Iterable[str]], forms: Callable[[str], Forms]) -> Iterator[Rank]:
    index = BM25(group.documents, analyse)
    yield lambda query: index.best(forms(query), LIMIT)


def ways(place: Path, group: Group) -> Mapping[str, AbstractContextManager[Rank]]:
    """Every way to answer the questions of a group that is indexed at this place; none is opened yet."""
    return {
        **{name: recalling(place, group.name, variant) for name, variant in VARIANTS.items()},
        f"plain RRF, k = {RRF_AT}": fusing_ranks(place, group.name),
        "BM25, our analysis": by_bm25(group, our_words, our_forms),
        "BM25, plain words": by_bm25(group, plain_words, plain_forms),
    }
