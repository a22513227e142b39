"""What outside sets teach about the weights of the fusion, and how the weights in the settings do on them.

`bench/outside_sets.py` says which sets and where they come from. Their documents are indexed by Treering itself, and
what its fusion sees of every candidate is learned from; `bench/listwise.py` says how.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import treering
from bench.listwise import Candidates, Floats, across_groups, by_set, learned, without_each_set
from bench.outside_sets import DATA, load
from bench.results import table, write_section
from bench.retrieval.measures import LIMIT
from bench.retrieval.sets import Dataset, Group, Question
from bench.retrieval.ways import WEIGHTS, use_bundled_embedder
from treering.adapters.models.selection import ConfiguredModels
from treering.compose import now
from treering.core.settings import EmbedderSettings, Settings
from treering.core.turns import Turn
from treering.memory import Memory
from treering.search import fusion
from treering.search.expansion import LIKELY_SCORE
from treering.search.paths import MIN_SCORE, Paths, narrow_to_time
from treering.search.private_words import QueryPrivacy
from treering.search.query import interpret
from treering.search.query_vector import embed_query
from treering.search.relevance_feedback import with_feedback
from treering.search.request import ALL_KNOWLEDGE, ALL_TURNS, current

FOLDS = 5
SETTINGS = Settings(embedder=EmbedderSettings(provider="bundled"))
IN_SETTINGS: Floats = np.array([fusion.WEIGHTS[name] for name in WEIGHTS])
STEP = 0.1
# A weight that was rounded to the nearest 0.05 lies no further than this from what was learned.
ROUNDING = 0.025
ABOUT = (
    "Candidates as the index brings them, and what the fusion sees of each, on public sets that are not measured above "
    "(`bench/outside_sets.py`). A softmax over the candidates of each question, L2, every set counting alike; weights "
    "are given against that of words. `counts for` is the share of candidates where the sign is not 0: what it is 0 "
    "for everywhere cannot be learned here and was set by hand; so were `time` and `order`, as these sets have no "
    "dates. The best five results that feedback starts from are those of the weights in the settings."
)


def candidates(dataset: Dataset, folder: Path) -> Iterator[Candidates]:
    """What the fusion sees for every question of a set, indexed for this."""
    models = ConfiguredModels(SETTINGS, {})
    for group in dataset.groups:
        with treering.open(folder / f"{dataset.name}.db", project=group.name, settings=SETTINGS) as memory:
            _store(memory, group)
            for question in group.questions:
                yield _seen(memory, models, dataset.name, group.name, question)


def _store(memory: Memory, group: Group) -> None:
    """In one transaction: what is found does not depend on how it was written."""
    at = now()
    turns = [
        Turn.make(id=document.id, session="s", role="user", text=document.text, at=at, recorded_at=at, owner="local")
        for document in group.documents
        if document.text.strip()
    ]
    with memory.store.transaction(memory.scope, at) as tx:
        tx.turns.create_many(turns)
    memory.settle(timeout=600.0)


def _seen(memory: Memory, models: ConfiguredModels, dataset: str, group: str, question: Question) -> Candidates:
    """As recall goes about it, up to the point where signs are added up."""
    query, at = question.text, now()
    meaning = embed_query(memory.scope, memory.store, at, QueryPrivacy(query), models=models, settings=SETTINGS)
    with memory.store.reading(memory.scope, at) as tx:
        asked = interpret(query, at, languages=tx.index.languages(), speakers=tx.index.speakers())
        filters = narrow_to_time(current({"knowledge": ALL_KNOWLEDGE, "turn": ALL_TURNS}), asked)
        found = with_feedback(tx, Paths(tx, asked, meaning, SETTINGS).search(filters, enough=LIMIT), SETTINGS)
        gold = tx.documents.numbers("turn", sorted(question.gold))
    number, nothing = found.candidates.number, np.zeros(len(found.candidates))
    seen = np.stack([found.fused.parts.get(name, nothing) for name in WEIGHTS], axis=1)
    return Candidates(dataset, group, seen, np.isin(number, list(gold.values())), len(question.gold))


def weights_table(lists: Sequence[Candidates], found: Floats, folds: Sequence[Floats]) -> str:
    counts = np.mean(np.concatenate([each.seen for each in lists]) != 0, axis=0)
    spread = np.array([fold / fold[0] for fold in folds])
    rows: list[tuple[object, ...]] = [
        (
            name,
            f"{found[place] / found[0]:.2f}",
            f"{spread[:, place].min():.2f} to {spread[:, place].max():.2f}",
            f"{IN_SETTINGS[place]:.2f}",
            f"{counts[place]:.1%}",
        )
        for place, name in enumerate(WEIGHTS)
    ]
    shown = table(("sign", "learned", f"in {len(folds)} folds", "in the settings", "counts for"), rows)
    inside = (spread.min(axis=0) - ROUNDING <= IN_SETTINGS) & (spread.max(axis=0) + ROUNDING >= IN_SETTINGS)
    other = [name for place, name in enumerate(WEIGHTS) if counts[place] and not inside[place]]
    said = f"Not what was learned, rounded to the nearest {2 * ROUNDING}: {', '.join(other)}." if other else ""
    return f"{shown}\n\n{said}"


def recall_table(lists: Sequence[Candidates], found: Floats, across: dict[str, float]) -> str:
    words = np.array([float(name == "words") for name in WEIGHTS])
    names = list(dict.fromkeys(each.dataset for each in lists))
    figures = {
        "words alone": by_set(lists, words),
        "learned, on what it learned from": by_set(lists, found),
        f"learned, {FOLDS}-fold, on groups left out": across,
        "learned on the other sets": without_each_set(lists),
        "the settings": by_set(lists, IN_SETTINGS),
        "among the candidates at all": {
            name: float(np.mean([each.relevant.sum() / each.answers for each in lists if each.dataset == name]))
            for name in names
        },
    }
    rows: list[tuple[object, ...]] = [
        (way, *(f"{of[name]:.3f}" for name in names), f"{np.mean([of[name] for name in names]):.3f}")
        for way, of in figures.items()
    ]
    asked = ", ".join(f"{name} {sum(each.dataset == name for each in lists)}" for name in names)
    return f"{table(('R@10', *names, 'mean'), rows)}\n\nQuestions: {asked}."


def calibration_table(lists: Sequence[Candidates]) -> str:
    """The sum of signs, with the weights in the settings, against the share of relevant candidates."""
    sums = np.concatenate([each.seen @ IN_SETTINGS for each in lists])
    relevant = np.concatenate([each.relevant for each in lists])
    rows: list[tuple[object, ...]] = []
    for low in np.arange(0.0, 2.0, STEP):
        inside = (sums >= low) & (sums < low + STEP)
        if inside.any():
            rows.append((f"{low:.1f} to {low + STEP:.1f}", f"{inside.sum():,}", f"{relevant[inside].mean():.2%}"))
    marks = (
        (f"below least, {MIN_SCORE}", sums < MIN_SCORE),
        (f"from least to likely_at, {LIKELY_SCORE}", (sums >= MIN_SCORE) & (sums < LIKELY_SCORE)),
        ("from likely_at on", sums >= LIKELY_SCORE),
    )
    rows += [(name, f"{chosen.sum():,}", f"{relevant[chosen].mean():.2%}") for name, chosen in marks]
    return table(("sum of signs", "candidates", "relevant"), rows)


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m bench.weights")
    options.add_argument("--dry", action="store_true", help="print the section instead of writing it")
    chosen = options.parse_args()
    if not DATA.is_dir():
        print(
            "TREERING_OUTSIDE_DATA names no folder with the outside sets (bench/outside_sets.py). Nothing was learned."
        )
        return
    use_bundled_embedder()
    begun = time.perf_counter()
    lists: list[Candidates] = []
    with tempfile.TemporaryDirectory() as folder:
        for dataset in load():
            lists += candidates(dataset, Path(folder))
            print(f"{dataset.name}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    found = learned(lists)
    across, folds = across_groups(lists, FOLDS)
    parts = (ABOUT, weights_table(lists, found, folds), recall_table(lists, found, across), calibration_table(lists))
    body = "\n\n".join((*parts, f"Taken in {(time.perf_counter() - begun) / 60:.1f} minutes."))
    if chosen.dry:
        print(body)
    else:
        write_section("weights", "Fusion weights", body)


if __name__ == "__main__":
    main()
