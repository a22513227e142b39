"""The file to change, given the text of an issue: the share of cases with the right file among the first ones.

A case is a JSON line with `repo` (owner/name), `base_commit`, `gold_files`, and `problem_statement` or `issue`, whose
text is then in a file of `--texts`. The files at the commit are read from a bare repository below `--mirror`, in a
folder `owner+name/repo`; what was read is cached.
"""

import argparse
import gzip
import json
import pickle
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from platformdirs import user_cache_path

from bench.data import DATA
from bench.results import percentile, table, write_section
from treering.adapters.models.bundled import BundledEmbedder
from treering.code.chunks.split import chunks_of
from treering.code.chunks.words import embedded_text, stored_chunks
from treering.code.language_choice import load_language
from treering.code.limits import CHUNK_LIMITS
from treering.code.locations.chunk_search import ChunkSearch
from treering.code.locations.question import read_question
from treering.code.locations.search import MIN_DEVIATIONS
from treering.ports.code_chunks import StoredChunk
from treering.ports.models import Embedder

HEADERS = (
    "cases",
    "n",
    "found by",
    "first",
    "among 3",
    "among 5",
    "among 10",
    "mean 1/rank",
    "p95 ms of processor time",
)
LOOKED_AT = 500
FILES = 10
MAX_BYTES = 1_000_000

Blob = tuple[str, str]
"""Path and id of a blob."""


class ReadBlob(NamedTuple):
    chunks: tuple[StoredChunk, ...]
    vectors: dict[str, bytes]


class Project(NamedTuple):
    """The code at one commit."""

    search: ChunkSearch
    words: ChunkSearch
    """Without vectors."""


def by_words_and_meaning(project: Project, query: str, vector: np.ndarray) -> list[str]:
    return _paths(project.search, query, vector)


def by_words(project: Project, query: str, _vector: np.ndarray) -> list[str]:
    return _paths(project.words, query, None)


def by_file_words(project: Project, query: str, _vector: np.ndarray) -> list[str]:
    """Plain BM25 over whole files, tests included."""
    scores = project.words._words.scores(read_question(query)).files
    paths = list(dict.fromkeys(place.path for place in project.words._places))
    return [paths[file] for file in np.argsort(-scores, kind="stable")[:FILES]]


WAYS: dict[str, Callable[[Project, str, np.ndarray], list[str]]] = {
    "words and meaning": by_words_and_meaning,
    "words": by_words,
    "BM25 over files": by_file_words,
}


def _paths(search: ChunkSearch, query: str, vector: np.ndarray | None) -> list[str]:
    found = search.find(query, vector, limit=LOOKED_AT, apart=MIN_DEVIATIONS)
    return list(dict.fromkeys(place.path for place in found))[:FILES]


def rows_of(file: Path) -> list[dict[str, Any]]:
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
        return list(map(json.loads, lines))


def texts_of(files: Iterable[Path]) -> dict[tuple[str, str], str]:
    """Texts of issues by repository and issue."""
    return {(each["repo"], each["issue"]): each["text"] for file in files for each in rows_of(file)}


def cases_of(file: Path, texts: Mapping[tuple[str, str], str]) -> dict[str, list[dict[str, Any]]]:
    """Cases by repository; those without a text are left out, and counted on the screen."""
    by_repository, rows = defaultdict[str, list[dict[str, Any]]](list), rows_of(file)
    for case in rows:
        text = case.get("problem_statement") or texts.get((case["repo"], case.get("issue", "")))
        if text:
            by_repository[case["repo"]].append({**case, "problem_statement": text})
    if missing := len(rows) - sum(map(len, by_repository.values())):
        print(f"{file.name}: {missing} of {len(rows)} cases have no text", flush=True)
    return by_repository


def blobs_at(git: Sequence[str], commit: str) -> list[Blob]:
    """Python files of a commit, by path."""
    listed = subprocess.run([*git, "ls-tree", "-r", "-l", commit], capture_output=True, text=True, check=True).stdout
    found = list[Blob]()
    for line in listed.splitlines():
        meta, path = line.split("\t", 1)
        mode, kind, blob, size = meta.split()
        if kind == "blob" and mode != "120000" and path.endswith(".py") and int(size) <= MAX_BYTES:
            found.append((path, blob))
    return sorted(found)


def sources(git: Sequence[str], blobs: Sequence[str]) -> Iterator[bytes]:
    """Contents of blobs, from one process of git."""
    with subprocess.Popen([*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        for blob in blobs:
            reader.stdin.write(f"{blob}\n".encode())
            reader.stdin.flush()
            size = int(reader.stdout.readline().split()[2])
            yield reader.stdout.read(size + 1)[:size]
        reader.stdin.close()


def read_blobs(git: Sequence[str], wanted: set[Blob], embedder: Embedder) -> Iterator[tuple[Blob, ReadBlob]]:
    python = load_language("python")
    for (path, blob), source in zip(sorted(wanted), sources(git, [blob for _, blob in sorted(wanted)]), strict=True):
        cut = chunks_of(path, source.decode("utf-8", "replace"), python.extract(path, source).definitions, CHUNK_LIMITS)
        rows = embedder.documents([embedded_text(chunk) for chunk in cut]).astype("<f2") if cut else ()
        vectors = {chunk.digest: row.tobytes() for chunk, row in zip(cut, rows, strict=True)}
        yield (path, blob), ReadBlob(stored_chunks(cut), vectors)


def read_project(blobs: Sequence[Blob], known: dict[Blob, ReadBlob]) -> Project:
    chunks = [chunk for blob in blobs for chunk in known[blob].chunks]
    vectors = {digest: vector for blob in blobs for digest, vector in known[blob].vectors.items()}
    return Project(ChunkSearch(chunks, vectors), ChunkSearch(chunks))


def ranks_in(
    repository: str, cases: Sequence[dict[str, Any]], mirror: Path, cache: Path
) -> Iterator[dict[str, tuple[int | None, float]]]:
    """For each case and way, the rank of the first right file and the processor time in seconds."""
    name = repository.replace("/", "+")
    git, kept, embedder = ("git", "-C", str(mirror / name / "repo")), cache / f"{name}.pickle", BundledEmbedder()
    at = {case["base_commit"]: blobs_at(git, case["base_commit"]) for case in cases}
    known: dict[Blob, ReadBlob] = pickle.loads(kept.read_bytes()) if kept.exists() else {}
    if missing := {blob for blobs in at.values() for blob in blobs} - known.keys():
        known |= dict(read_blobs(git, missing, embedder))
        kept.write_bytes(pickle.dumps(known))
    for case in cases:
        project, query, measured = read_project(at[case["base_commit"]], known), case["problem_statement"], {}
        for way, find in WAYS.items():
            began = process_time()
            found = find(project, query, embedder.query(query).reshape(-1))
            seconds = process_time() - began
            rank = next((rank for rank, path in enumerate(found, 1) if path in case["gold_files"]), None)
            measured[way] = (rank, seconds)
        yield measured


def row(title: str, way: str, measured: Sequence[dict[str, tuple[int | None, float]]]) -> tuple[object, ...]:
    ranks = [case[way][0] for case in measured]
    within = [f"{sum(rank is not None and rank <= top for rank in ranks) / len(ranks):.2f}" for top in (1, 3, 5, 10)]
    mean = sum(1 / rank for rank in ranks if rank) / len(ranks)
    return (
        title,
        len(ranks),
        way,
        *within,
        f"{mean:.2f}",
        f"{percentile([case[way][1] for case in measured], 0.95):.0f}",
    )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories: owner+name/repo")
    options.add_argument("--cases", type=Path, action="append", help="default: SWE-bench Lite of the data folder")
    options.add_argument("--texts", type=Path, action="append", default=[], help="JSON lines: repo, issue, text")
    options.add_argument("--cache", type=Path, default=user_cache_path("treering") / "bench-code-issues")
    given = options.parse_args()
    given.cache.mkdir(parents=True, exist_ok=True)
    texts = texts_of(given.texts)
    rows = list[tuple[object, ...]]()
    for file in given.cases or [DATA / "swebench_lite" / "instances.jsonl.gz"]:
        measured = list[dict[str, tuple[int | None, float]]]()
        for repository, cases in sorted(cases_of(file, texts).items()):
            measured += ranks_in(repository, cases, given.mirror, given.cache)
            print(repository, [case["words and meaning"][0] for case in measured[-len(cases) :]], flush=True)
        title = "SWE-bench Lite" if file.parent.name == "swebench_lite" else file.name.partition(".")[0]
        rows += [row(title, way, measured) for way in WAYS]
        print(*rows[-len(WAYS) :], sep="\n", flush=True)
    said = (
        "The text of an issue, or of a commit that fixes a bug, against the file that was changed for it, as it was "
        "before. Files are ranked by their best location. The ranking was fitted on the commits of `fit`; those of "
        "`confirm` are of other repositories. Only Python files are read; the times are those of the ranking alone."
    )
    write_section("code-issues", "The file for an issue", f"{said}\n\n{table(HEADERS, rows)}")


if __name__ == "__main__":
    main()
