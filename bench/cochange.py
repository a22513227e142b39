"""Given one changed file, which others does the commit change? Histories of real repositories, replayed.

The queries come from the newest 20 % of the commits that touch a source file: of each commit that changes 2 to
10 source files, every file that existed before is given once, and the others that existed are to be found.
Counts are updated from commit to commit; co-commit, same folder and popularity are counted from the same
commits. Terms were chosen and weights fitted (`bench/cochange_fit.py`) on the older 80 % of the repositories
marked so, the same for all; the others were not used for that. The queries of flask, hono and gin are the
shared ones, unchanged.
"""

import argparse
import gzip
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.data import DATA
from bench.results import percentile, table, write_section
from treering.adapters.git.commits import GitCommits
from treering.code.history.counts import CoChange
from treering.code.history.names import name_of
from treering.code.history.ranking import related
from treering.ports.commits import Commit

MIRROR = Path("/work/.mirror")
QUERIES = DATA / "codegraph" / "cochange"
SHARED = ("pallets+flask", "honojs+hono", "gin-gonic+gin")
NEVER_FITTED = (
    *("django+django", "pytest-dev+pytest", "aio-libs+aiohttp", "vitejs+vite", "junegunn+fzf", "tokio-rs+axum"),
    *("caddyserver+caddy", "go-chi+chi", "serde-rs+serde", "rust-lang+regex", "sharkdp+fd"),
    *("charmbracelet+bubbletea", "hashicorp+raft"),
)
FITTED = (
    *("encode+httpx", "trpc+trpc", "psf+requests", "fastapi+fastapi", "BurntSushi+ripgrep", "pydantic+pydantic"),
    *("tokio-rs+tokio", "spf13+cobra", "colinhacks+zod", "expressjs+express", "labstack+echo", "clap-rs+clap"),
    *("encode+starlette", "TanStack+query", "sharkdp+bat", "pallets+click", "sqlalchemy+sqlalchemy", "vuejs+core"),
)
SUFFIXES = frozenset({"py", "pyi", "ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "go", "rs"})
OLDER = 0.8
FEWEST, MOST = 2, 10
FIRST = 5
ONE_PLACE = 1_000
Guess = Callable[[CoChange, str], Sequence[str]]


@dataclass(frozen=True)
class Query:
    path: str
    others: frozenset[str]


@dataclass
class Tally:
    recall: float = 0.0
    rank: float = 0.0
    asked: int = 0

    def add(self, guesses: Sequence[str], others: frozenset[str]) -> None:
        self.asked += 1
        self.recall += len(others.intersection(guesses[:FIRST])) / len(others)
        self.rank += next((1 / place for place, path in enumerate(guesses, 1) if path in others), 0.0)

    def means(self) -> tuple[float, float]:
        return self.recall / max(1, self.asked), self.rank / max(1, self.asked)


def is_source(path: str) -> bool:
    return path.rpartition(".")[2] in SUFFIXES


def read(repository: Path) -> list[Commit]:
    history = GitCommits(repository, os.environ, 60.0)
    _, head = history.head()
    with history.commits(head) as commits:
        return list(commits)


def newest(commits: Sequence[Commit]) -> int:
    """Where the newest fifth begins."""
    touching = [place for place, each in enumerate(commits) if any(is_source(touch.after) for touch in each.touches)]
    return touching[int(len(touching) * OLDER)]


def queries_of(commit: Commit, counts: CoChange) -> Iterator[Query]:
    """What is asked about a commit, before it is counted."""
    sources = [touch for touch in commit.touches if is_source(touch.after)]
    there = [touch.before for touch in sources if touch.letter != "D" and counts.number(touch.before) is not None]
    if FEWEST <= len({touch.after for touch in sources}) <= MOST and len(there) >= FEWEST:
        yield from (Query(path, frozenset(there) - {path}) for path in there)


def shared_queries(name: str) -> dict[str, list[Query]] | None:
    place = QUERIES / f"{name.partition('+')[2]}.queries.json.gz"
    if name not in SHARED or not place.exists():
        return None
    by_commit: dict[str, list[Query]] = {}
    for each in json.loads(gzip.decompress(place.read_bytes())):
        by_commit.setdefault(each["commit"], []).append(Query(each["query"], frozenset(each["relevant"])))
    return by_commit


def by_formula(counts: CoChange, path: str) -> list[str]:
    return [each.path for each in related(counts, path, limit=ONE_PLACE)]


def by_count(counts: CoChange, path: str) -> list[str]:
    number = counts.number(path)
    near = counts.pairs.get(number, {}) if number is not None else {}
    there = [each for each in near if counts.exists(each)]
    return [counts.path(each) for each in sorted(there, key=lambda each: (-near[each].count, *_busiest(counts, each)))]


def by_folder(counts: CoChange, path: str) -> list[str]:
    beside = counts.by_folder.get(name_of(path).folder, set()) - {counts.number(path)}
    return [counts.path(each) for each in sorted(beside, key=lambda each: _busiest(counts, each))]


def by_popularity(counts: CoChange, path: str) -> list[str]:
    there = (each for each in counts.files if counts.exists(each) and each != counts.number(path))
    return [counts.path(each) for each in sorted(there, key=lambda each: _busiest(counts, each))[:ONE_PLACE]]


def _busiest(counts: CoChange, number: int) -> tuple[int, int]:
    return -counts.files[number].touched, number


GUESSES: dict[str, Guess] = {
    "Treering": by_formula,
    "co-commit": by_count,
    "same folder": by_folder,
    "popularity": by_popularity,
}


def replay(repository: Path, given: dict[str, list[Query]] | None) -> tuple[dict[str, Tally], list[float]]:
    """How well each way guesses, and how long the formula takes."""
    commits = read(repository)
    first = newest(commits)
    counts, tallies, seconds = CoChange(is_source), {name: Tally() for name in GUESSES}, []
    for place, commit in enumerate(commits):
        if given is not None:
            queries = given.get(commit.id, [])
        else:
            queries = list(queries_of(commit, counts)) if place >= first else []
        for query in queries:
            for name, guess in GUESSES.items():
                begun = time.perf_counter()
                guesses = guess(counts, query.path)
                if guess is by_formula:
                    seconds.append(time.perf_counter() - begun)
                tallies[name].add(guesses, query.others)
        counts.add(commit)
    return tallies, seconds


def reading_speed(repository: Path) -> tuple[int, float, int]:
    """Commits, seconds from nothing to whole counts in one stream, and pairs."""
    begun = time.perf_counter()
    history = GitCommits(repository, os.environ, 60.0)
    counts, total = CoChange(is_source), Counter[str]()
    with history.commits(history.head()[1]) as commits:
        for commit in commits:
            total["commits"] += 1
            counts.add(commit)
    return total["commits"], time.perf_counter() - begun, sum(map(len, counts.pairs.values())) // 2


def _row(repository: Path, part: str, timed: bool) -> tuple[object, ...]:
    tallies, seconds = replay(repository / "repo", shared_queries(repository.name))
    means = {name: tally.means() for name, tally in tallies.items()}
    gain = means["Treering"][0] - means["co-commit"][0]
    cells = [f"{recall:.3f} / {rank:.3f}" for recall, rank in means.values()]
    asked = [f"{percentile(seconds, 0.95):.1f} ms" if seconds else "–"] if timed else []
    name = repository.name.partition("+")[2]
    print(name, *cells, f"{gain:+.3f}", flush=True)
    return name, part, tallies["Treering"].asked, *cells, f"{gain:+.3f}", *asked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="owner+name, below --mirror; all that are known where none is given")
    parser.add_argument("--mirror", type=Path, default=MIRROR, help="folder of <owner>+<name>/repo git directories")
    parser.add_argument("--timed", action="store_true", help="say how long it takes; on a machine that is at rest")
    parser.add_argument("--write", action="store_true", help="write the section of the results page")
    options = parser.parse_args()
    parts = {name: part for part, names in _parts().items() for name in names}
    wanted = [options.mirror / name for name in options.names or parts]
    there = [repository for repository in wanted if (repository / "repo").is_dir()]
    if not there:
        parser.error(f"no repository below {options.mirror}: clone some as <owner>+<name>/repo")
    rows = [_row(repository, parts.get(repository.name, "other"), options.timed) for repository in there]
    heads = ("repository", "part", "queries", *(f"{name}, recall@5 / MRR" for name in GUESSES), "gain")
    if options.timed:
        heads = (*heads, "query p95")
    body = f"{__doc__.partition(chr(10))[2].strip()}\n\n{table(heads, rows)}"
    if options.timed:
        total, seconds, pairs = max(reading_speed(repository / "repo") for repository in there)
        body += (
            f"\n\nThe longest history: {total:,} commits read and counted in {seconds:.1f} s, {pairs:,} pairs of files."
        )
    if options.write:
        write_section("cochange", "Files that change together", body)
    else:
        print(body)


def _parts() -> dict[str, Sequence[str]]:
    return {"shared": SHARED, "never fitted": NEVER_FITTED, "older 80 % fitted": FITTED}


if __name__ == "__main__":
    main()
