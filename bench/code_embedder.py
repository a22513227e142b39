"""The file for an issue with the embedder that the environment names, beside the bundled one and words alone.

Set TREERING_EMBEDDER as for `treering embed`: a server, which gets chunks and questions, or the folder of a model.
The cases are those of `bench.code_issues`; `bench.bug_fixes` makes some from commits. Questions (up to 200 characters)
and reports are ranked differently, so they are counted apart.
"""

import argparse
import os
import pickle
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from platformdirs import user_cache_path

from bench.code_issues import FILES, LOOKED_AT, Blob, ReadBlob, blobs_at, cases_of, read_blobs, texts_of
from bench.results import table, write_section
from treering.adapters.models.bundled import BundledEmbedder
from treering.adapters.models.selection import ConfiguredModels
from treering.code.locations.chunk_search import ChunkSearch
from treering.code.locations.file_roles import role_of
from treering.code.locations.question import read_question
from treering.code.locations.search import MIN_DEVIATIONS
from treering.compose.settings import load_settings
from treering.ports.models import Embedder

HEADERS = ("cases", "n", "found by", "first", "among 3", "among 5", "among 10", "mean 1/rank")

SOURCE_ONLY = " Chunks of tests, examples, documentation and set-up files have no vector of it."

Ranks = dict[str, int | None]
"""Rank of the first right file for each way."""


def read_all(git: Sequence[str], blobs: set[Blob], embedder: Embedder, cache: Path) -> dict[Blob, ReadBlob]:
    """The chunks of blobs with vectors of this embedder; what was read before is in `cache`."""
    known: dict[Blob, ReadBlob] = pickle.loads(cache.read_bytes()) if cache.exists() else {}
    if missing := blobs - known.keys():
        known |= dict(read_blobs(git, missing, embedder))
        cache.write_bytes(pickle.dumps(known))
    return known


def rank_of(case: dict[str, Any], search: ChunkSearch, embedder: Embedder | None) -> int | None:
    """Rank of the first changed file; without an embedder, by words."""
    query = case["problem_statement"]
    vector = None if embedder is None else np.asarray(embedder.query(query), np.float32).reshape(-1)
    apart = 0.0 if embedder is None or embedder.contextual else MIN_DEVIATIONS
    found = search.find(query, vector, limit=LOOKED_AT, apart=apart)
    files = list(dict.fromkeys(place.path for place in found))[:FILES]
    return next((rank for rank, path in enumerate(files, 1) if path in case["gold_files"]), None)


def ranks_in(
    repository: str, cases: Sequence[dict[str, Any]], embedders: Sequence[Embedder], given: argparse.Namespace
) -> Iterator[Ranks]:
    name = repository.replace("/", "+")
    git = ("git", "-C", str(given.mirror / name / "repo"))
    at = {case["base_commit"]: blobs_at(git, case["base_commit"]) for case in cases}
    blobs = {blob for found in at.values() for blob in found}
    # Files of tests and examples count less than half: with --source, they have no vector of a served model.
    known = {
        each.model: read_all(
            git,
            blobs if each.local or not given.source else {blob for blob in blobs if role_of(blob[0]) < 0},
            each,
            given.cache / f"{name}.{each.model.replace('/', '+')}.pickle",
        )
        for each in embedders
    }
    first = known[embedders[0].model]
    for case in cases:
        chunks = [chunk for blob in at[case["base_commit"]] for chunk in first[blob].chunks]
        ranks: Ranks = {"words": rank_of(case, ChunkSearch(chunks), None)}
        for each in embedders:
            made = known[each.model]
            read = (made[blob].vectors for blob in at[case["base_commit"]] if blob in made)
            vectors = {digest: vector for found in read for digest, vector in found.items()}
            ranks[f"words and {each.model}"] = rank_of(case, ChunkSearch(chunks, vectors), each)
        yield ranks


def row(title: str, way: str, ranked: Sequence[Ranks]) -> tuple[object, ...]:
    ranks = [each[way] for each in ranked]
    within = [f"{sum(rank is not None and rank <= top for rank in ranks) / len(ranks):.2f}" for top in (1, 3, 5, 10)]
    return (title, len(ranks), way, *within, f"{sum(1 / rank for rank in ranks if rank) / len(ranks):.2f}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories: owner+name/repo")
    options.add_argument("--cases", type=Path, action="append", required=True, help="JSON lines; may be repeated")
    options.add_argument("--texts", type=Path, action="append", default=[], help="JSON lines: repo, issue, text")
    options.add_argument("--limit", type=int, help="maximum number of cases of each repository; default: all")
    options.add_argument("--source", action="store_true", help="send no files of tests, examples and documentation")
    options.add_argument("--cache", type=Path, default=user_cache_path("treering") / "bench-code-embedder")
    given = options.parse_args()
    given.cache.mkdir(parents=True, exist_ok=True)
    configured = ConfiguredModels(load_settings(None).settings, os.environ).embedder((), hurried=False)
    embedders: list[Embedder] = [BundledEmbedder(), *([] if configured.local else [configured])]
    rows, texts = list[tuple[object, ...]](), texts_of(given.texts)
    for file in given.cases:
        measured = defaultdict[str, list[Ranks]](list)
        for repository, cases in sorted(cases_of(file, texts).items()):
            chosen = cases[: given.limit]
            for case, ranks in zip(chosen, ranks_in(repository, chosen, embedders, given), strict=True):
                kind = "reports" if read_question(case["problem_statement"]).is_report else "questions"
                measured[kind].append(ranks)
            print(repository, len(chosen), flush=True)
        for kind, ranked in sorted(measured.items()):
            rows += [row(f"{file.name.partition('.')[0]}, {kind}", way, ranked) for way in ranked[0]]
    said = (
        "Cases in the format of `code-issues`. Each embedder gets the same questions; a configured one is used through "
        "the settings that `treering embed` uses." + (SOURCE_ONLY if given.source else "")
    )
    write_section(
        "code-embedder", "The file for an issue, with a configured embedder", f"{said}\n\n{table(HEADERS, rows)}"
    )


if __name__ == "__main__":
    main()
