"""The figures as tables, and how they stand against what was asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.results import percentile, table
from bench.retrieval.measures import Judged, interval, mean
from bench.retrieval.measuring import APART, Measured
from bench.retrieval.sets import ALL_AT_10

OURS = "Treering"


@dataclass(frozen=True, slots=True)
class Target:
    must: float
    aim: float

    def verdict(self, got: float) -> str:
        if got >= self.aim:
            return "reached, and so is the aim"
        if got >= self.must:
            return f"reached; falls {self.aim - got:.4f} short of the aim"
        return f"**falls {self.must - got:.4f} short**"


TARGETS = {
    "locomo": Target(0.72, 0.78),
    "realtalk": Target(0.61, 0.67),
    "longmemeval": Target(0.89, 0.93),
    "beam100k": Target(0.55, 0.62),
    "memdaily": Target(0.62, 0.70),
    "xquad_en_en": Target(0.95, 0.98),
    "xquad_es_es": Target(0.95, 0.98),
    "xquad_zh_zh": Target(0.95, 0.98),
}
ABOUT = (
    "Every document is stored with `turn`, one session per group, and every question is asked with "
    "`search(question, limit=10)` in its own group, with default settings and the bundled embedder. A document "
    "after the tenth result counts as not found. R@k is the share of a question's documents among the first k, "
    "all@10 whether all of them are. ± is the 95 % interval of the mean."
)
WAYS = (
    "`words only`: no embedder, and the words' BM25 alone. `meaning only`: the cosine alone. `no …`: default settings "
    "with those weights at 0. The graph is empty here: these documents were neither learned from nor tied to files. "
    "`plain RRF`: the ranks that the index gives by words and by vector, each as 1 / (60 + rank). `BM25`: k1 = 1.2, "
    "b = 0.75, without and with our analysis of words. `a session for each document`: default settings, but documents "
    "that are whole texts have no neighbours. The file of longmemeval lists the sessions of a question one after the "
    "other, which no memory would see: stored as one session, they are found through their neighbours. Use its "
    "figure without that help."
)


def against_targets(measured: Sequence[Measured]) -> str:
    rows: list[tuple[object, ...]] = []
    for each in measured:
        name, figures = each.dataset.name, each.figures(OURS)
        got, target = mean(figures), TARGETS.get(name)
        goal = (f"{target.must:.2f}", f"{target.aim:.2f}", target.verdict(got)) if target else ("–", "–", "no target")
        spent = each.seconds[OURS]
        took = f"{percentile(spent, 0.5):.1f} / {percentile(spent, 0.95):.1f} ms"
        stored = f"{each.dataset.documents / each.indexing:,.0f}/s"
        apart = f"{mean(each.figures(APART)):.3f}" if APART in each.judged else "–"
        shown = f"{got:.3f} ± {interval(figures):.3f}"
        rows.append((name, _figure(name), len(figures), shown, *goal, apart, took, stored))
    heads = (
        "set",
        "figure",
        "questions",
        "Treering",
        "must",
        "aim",
        "the must is",
        "apart",
        "recall p50 / p95",
        "stored",
    )
    return table(heads, rows)


def by_way(measured: Measured) -> str:
    """One table a set: a row for each way, its figures, and the set's own figure for each category."""
    name = measured.dataset.name
    categories = sorted({each.category for each in measured.judged[OURS]})
    shown = categories if len(categories) > 1 else []
    heads = ("", _figure(name), "R@5", "NDCG@10", "MRR", *(f"{_figure(name)} {category}" for category in shown))
    rows = [(way, *_row(name, judged, shown)) for way, judged in measured.judged.items()]
    size = f"{measured.dataset.documents:,} documents in {len(measured.dataset.groups)} groups"
    return f"### {name}\n\n{size}, {measured.dataset.questions:,} questions.\n\n{table(heads, rows)}"


def _row(name: str, judged: Sequence[Judged], categories: Sequence[str]) -> tuple[object, ...]:
    overall = (
        mean([each.figure(name) for each in judged]),
        mean([each.recall_5 for each in judged]),
        mean([each.ndcg for each in judged]),
        mean([each.reciprocal for each in judged]),
    )
    by_category = (mean([each.figure(name) for each in judged if each.category == of]) for of in categories)
    return tuple(f"{value:.3f}" for value in (*overall, *by_category))


def _figure(dataset: str) -> str:
    return "all@10" if dataset in ALL_AT_10 else "R@10"
