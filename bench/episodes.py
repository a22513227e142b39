"""Episodes of recorded agent sessions: what vectors of task and outcome find beside that of the whole, and their cost.

A session is an episode: its first request, and the last answer as what came of it. It is looked for by the first words
of either and by the subject of the commit that followed. The request of each session is also compared with the
sessions before it: of these, the ones that edited the same files are related.
"""

import gzip
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean, median
from time import process_time

import treering
from bench.data import DATA
from bench.results import table, write_section
from treering.core.settings import Settings
from treering.episodes.search import COMPARED, Compared
from treering.memory import Memory

SESSIONS = DATA / "agent_sessions"
AT = datetime(2026, 6, 1, tzinfo=UTC)
"""All at one moment: only likeness decides."""
WORDS = 8
RELATED = 0.2
"""Sessions are related from this share of common files on."""
COMMITTED = timedelta(hours=2)
WAYS: Mapping[str, Compared | None] = {"nearest of the three": None, **{each: each for each in COMPARED}}
KINDS = {
    "request": "first words of the request",
    "outcome": "first words of the outcome",
    "commit": "subject of the commit",
    "related": "related sessions before it, by the request",
}
NOTES = (
    "Mean reciprocal rank of the session (of the first related one) in `search_semantic`, with the bundled model. The "
    "first words of a text are an easier query than a person's recollection of it; the commit subjects are not."
)


@dataclass(frozen=True)
class Session:
    id: str
    began: datetime
    ended: datetime
    files: frozenset[str]
    task: str
    outcome: str


def rows(name: str) -> Iterator[dict[str, object]]:
    with gzip.open(SESSIONS / f"{name}.jsonl.gz", "rt") as lines:
        yield from map(json.loads, lines)


def sessions() -> list[Session]:
    """Those that edited files, the earliest first."""
    said: dict[tuple[str, str], list[str]] = defaultdict(list)
    for event in rows("events"):
        if not event["side"]:
            said[str(event["session"]), str(event["kind"])].append(str(event.get("text", "")))
    found = []
    for row in rows("index"):
        id = str(row["session"])
        asked, answered = said[id, "user_text"], said[id, "assistant_text"]
        if asked and answered and row["edited"]:
            began, ended = (datetime.fromisoformat(str(row[name])) for name in ("first", "last"))
            files = frozenset(map(in_repository, row["edited"]))  # type: ignore[call-overload]
            found.append(Session(id, began, ended, files, asked[0], answered[-1]))
    return sorted(found, key=lambda session: session.began)


def in_repository(path: str) -> str:
    return path.rpartition("/cli/cmd/")[2]


def stored(path: Path, found: list[Session], **options: object) -> Memory:
    memory = treering.open(path, project="bench", background=False, **options)  # type: ignore[arg-type]
    for session in found:
        memory.episode(session.task, output=session.outcome, id=session.id, at=AT)
    memory.settle()
    return memory


def queries(found: list[Session]) -> Iterator[tuple[str, str, set[str], set[str]]]:
    """Kind, query, what is right, and what is not to be looked at."""
    for place, session in enumerate(found):
        for kind, text in (("request", session.task), ("outcome", session.outcome)):
            if len(text.split()) > WORDS:
                yield kind, " ".join(text.split()[:WORDS]), {session.id}, set()
        related = {each.id for each in found[:place] if overlap(each.files, session.files) >= RELATED}
        if related:
            yield "related", session.task, related, {each.id for each in found[place:]}
    for commit in rows("commits"):
        at = datetime.fromisoformat(str(commit["date"]))
        files = {f"{path}".removeprefix("cmd/") for path in commit["files"]}  # type: ignore[attr-defined]
        made = {
            each.id
            for each in found
            if each.began <= at <= each.ended + COMMITTED and 2 * len(each.files & files) >= max(2, len(files) - 1)
        }
        if made:
            yield "commit", str(commit["subject"]), made, set()


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other)


def ranks(memory: Memory, found: list[Session]) -> Mapping[str, Mapping[str, list[float]]]:
    """Reciprocal ranks by kind of query and way."""
    ranked: dict[str, dict[str, list[float]]] = {kind: {way: [] for way in WAYS} for kind in KINDS}
    for kind, query, right, ignored in queries(found):
        for way, compare in WAYS.items():
            hits = memory.episodes.search_semantic(query, compare=compare, limit=200)
            order = [hit.id for hit in hits if hit.id not in ignored]
            ranked[kind][way].append(next((1 / place for place, id in enumerate(order, 1) if id in right), 0.0))
    return ranked


def milliseconds(work: Callable[[str], object], ids: list[str]) -> float:
    spent = []
    for id in ids:
        began = process_time()
        work(id)
        spent.append(process_time() - began)
    return 1000 * median(spent)


def reads(folder: Path, found: list[Session]) -> Iterator[tuple[object, ...]]:
    """Reading episodes with steps whole, archived ones from their blobs: with the cache and without it."""
    ids = [session.id for session in found]
    steps = [
        {"action": f"step {each}", "tool": "Bash", "input": "pytest -q", "output": "ok " * 60} for each in range(100)
    ]
    for name, settings in (("cache", Settings.defaults()), ("no cache", Settings.make(episodes={"cache": 0}))):
        with treering.open(folder / f"{name}.db", project="bench", background=False, settings=settings) as memory:
            for session in found:
                memory.episode(session.task, output=session.outcome, id=session.id, trace=steps)
            for state in ("active", "archived"):
                first = milliseconds(memory.episodes.get, ids)
                yield name, state, f"{first:.2f}", f"{milliseconds(memory.episodes.get, ids):.2f}"
                memory.episodes.archive_old(datetime.now(UTC) + timedelta(days=400))


def cost(memory: Memory, found: list[Session]) -> str:
    """Processor time and bytes for the two more vectors of an episode."""
    with memory.store.reading(memory.scope, AT) as tx:
        embedder = memory.models.embedder(tx.index.models(), hurried=False)
    began = process_time()
    embedder.documents([text for session in found for text in (session.task, session.outcome)])
    spent = (process_time() - began) / len(found)
    return f"The two more vectors of an episode cost {1000 * spent:.1f} ms and {2 * 2 * embedder.dimension:,} bytes."


def main() -> None:
    found = sessions()
    with tempfile.TemporaryDirectory() as folder:
        with stored(Path(folder) / "memory.db", found) as memory:
            ranked, spent = ranks(memory, found), cost(memory, found)
        read = list(reads(Path(folder), found))
    lines: list[tuple[object, ...]] = [
        (KINDS[kind], len(ways["whole"]), *(f"{fmean(ways[way]):.3f}" for way in WAYS)) for kind, ways in ranked.items()
    ]
    quality = table(("query", "queries", *WAYS), lines)
    cached = table(("", "episodes of 100 steps", "first read, ms", "read again, ms"), read)
    write_section("episodes", "Vectors of episodes", f"{quality}\n\n{NOTES} {spent}")
    write_section("episodes", "Reading episodes whole", cached)


if __name__ == "__main__":
    main()
