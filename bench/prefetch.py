"""Files that a session will edit, offered from its first prompt: recorded sessions are replayed in order of time.

Only files that an earlier session touched count. A file of events has one JSON object a line (`.gz` is read too), in
the project's own schema (docs/reference/events.md) or as in `agent_sessions`. If sessions were recorded in several
checkouts, paths are made relative to each of them.
"""

import argparse
import gzip
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from statistics import fmean
from time import process_time
from typing import Any

from bench.data import data_folder
from bench.results import PAGES, percentile, table, write_section
from treering.context.prefetch.history import SessionHistory
from treering.context.prefetch.ranking import rank_files
from treering.context.prefetch.words import read_prompt
from treering.core.past_sessions import PastFile, PastSession
from treering.core.prompt_words import prompt_text, session_words
from treering.observe.tools import ToolAction, tool_use

OFFERED = 12
DRAWS = 2_000
WINDOW = 20  # scored sessions that a point of the curve averages
PARTS = ((0, 10), (10, 20), (20, 30), (30, 50), (50, 80), (80, 10_000))
_PROMPTS, _CALLS = ("prompt", "user_text"), ("tool_call", "tool_use")
_EDITING, _READING = frozenset({ToolAction.EDIT}), frozenset({ToolAction.READ})

_MARKERS = frozenset({"README.md", "CLAUDE.md", "AGENTS.md", "go.mod", "package.json", "pyproject.toml", "Cargo.toml"})
"""Files at the top of a checkout."""
_NESTED_CHECKOUTS = frozenset({".worktrees", "worktrees", ".claude"})

Ranker = Callable[[str, Sequence[PastSession]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Scored:
    """Recall of each ranker for the session with this number."""

    number: int
    recall: Mapping[str, float]


def read_sessions(path: Path) -> list[PastSession]:
    """The sessions of a file of events, oldest first."""
    by_session: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            event = json.loads(line)
            by_session[event["session"]].append(event)
    tops = _top_folders([use for events in by_session.values() for event in events for use in _absolute(event)])
    sessions = (_session(name, events, tops) for name, events in by_session.items())
    return sorted((session for session in sessions if session.prompts), key=lambda session: session.at)


def _session(name: str, events: Sequence[Mapping[str, Any]], tops: frozenset[str]) -> PastSession:
    events = sorted(events, key=lambda event: (str(_time(event)), event.get("seq", 0)))
    said = (event.get("text", "") for event in events if event["kind"] in _PROMPTS and not event.get("side"))
    prompts = tuple(text for text in said if prompt_text(text))
    files: dict[str, PastFile] = {}
    for step, event in enumerate(events):
        if event["kind"] not in _CALLS:
            continue
        use = tool_use(event.get("tool") or "", _arguments(event), _root(event))
        for path in use.paths if use.action in _EDITING | _READING else ():
            inside = path if event.get("root") else _relative(path, tops)
            if inside:
                file = files.get(inside) or PastFile(inside, first_step=step)
                edited = use.action in _EDITING
                files[inside] = file._replace(reads=file.reads + (not edited), edits=file.edits + edited)
    at = datetime.fromisoformat(_time(events[0])) if events and _time(events[0]) else datetime(1970, 1, 1, tzinfo=UTC)
    return PastSession(name, at, prompts=prompts, files=tuple(files.values()), words=session_words(prompts))


def _time(event: Mapping[str, Any]) -> str:
    return str(event.get("at") or event.get("ts") or "")


def _arguments(event: Mapping[str, Any]) -> Mapping[str, Any]:
    found = event.get("arguments") or event.get("input") or {}
    return found if isinstance(found, dict) else {}


def _absolute(event: Mapping[str, Any]) -> Iterator[str]:
    if event["kind"] in _CALLS and not event.get("root"):
        yield from tool_use(event.get("tool") or "", _arguments(event), _root(event)).paths


def _root(event: Mapping[str, Any]) -> str:
    """The root of the session; if it is unknown, the folder at the top of the file system."""
    named = (value for value in _arguments(event).values() if isinstance(value, str) and value.startswith("/"))
    return str(event.get("root") or "/" + next(named, "/home").split("/")[1])


def _top_folders(paths: Sequence[str]) -> frozenset[str]:
    """Names of the folders and files at the top of the checkout in which most of the work was done."""
    marked = {str(PurePosixPath(path).parent) for path in paths if PurePosixPath(path).name in _MARKERS}
    below = {folder: [path for path in paths if path.startswith(folder + "/")] for folder in marked}
    if not below:
        return frozenset()
    root = max(below, key=lambda folder: (len(below[folder]), -len(folder)))
    return frozenset(path[len(root) + 1 :].split("/")[0] for path in below[root]) - _NESTED_CHECKOUTS


def _relative(path: str, tops: frozenset[str]) -> str:
    """The path below the top of its checkout; empty if it is in none."""
    parts = path.split("/")
    place = next((place for place, part in enumerate(parts) if part in tops), None) if tops else 0
    return "" if place is None else "/".join(parts[place:])


def by_recency(prompt: str, past: Sequence[PastSession]) -> list[str]:
    newest = (file for session in reversed(past) for file in sorted(session.files, key=lambda file: -file.first_step))
    return list(dict.fromkeys(file.path for file in newest if file.edits))


def by_frequency(prompt: str, past: Sequence[PastSession]) -> list[str]:
    return [path for path, _ in Counter(file.path for each in past for file in each.files if file.edits).most_common()]


def by_similar_prompts(prompt: str, past: Sequence[PastSession]) -> list[str]:
    scores = SessionHistory.of(past).similarities(read_prompt(prompt))
    order = sorted(range(len(past)), key=lambda place: -scores.get(place, 0.0))
    return list(dict.fromkeys(file.path for place in order for file in past[place].files if file.edits))


def by_prefetch(prompt: str, past: Sequence[PastSession]) -> list[str]:
    return [file.path for file in rank_files(prompt, (), past, limit=OFFERED)]


RANKERS: Mapping[str, Ranker] = {
    "prefetch": by_prefetch,
    "recency": by_recency,
    "frequency": by_frequency,
    "BM25 over prompts": by_similar_prompts,
}


def replay(sessions: Sequence[PastSession]) -> tuple[list[Scored], list[float]]:
    """The recall of every ranker at every session that edits a known file, and the processor seconds of prefetch."""
    scored, seconds, seen = list[Scored](), list[float](), set[str]()
    for number, session in enumerate(sessions):
        gold = {file.path for file in session.files if file.edits} & seen
        if gold:
            recall = {}
            for name, ranker in RANKERS.items():
                begun = process_time()
                offered = ranker(session.prompts[0], sessions[:number])[:OFFERED]
                if name == "prefetch":
                    seconds.append(process_time() - begun)
                recall[name] = len(gold.intersection(offered)) / len(gold)
            scored.append(Scored(number, recall))
        seen |= {file.path for file in session.files}
    return scored, seconds


def interval(values: Sequence[float]) -> str:
    """The mean with its 95 % interval, by resampling sessions."""
    if not values:
        return "–"
    draw = random.Random(7)
    means = sorted(fmean(draw.choices(values, k=len(values))) for _ in range(DRAWS))
    return f"{fmean(values):.2f} ({means[DRAWS // 40]:.2f}–{means[-DRAWS // 40]:.2f})"


def report(scored: Sequence[Scored]) -> str:
    parts = [(f"{low + 1}–{min(high, scored[-1].number + 1)}", low, high) for low, high in PARTS]
    rows: list[tuple[object, ...]] = []
    for title, low, high in [("all", 0, 10**9), *parts]:
        group = [each for each in scored if low <= each.number < high]
        if group:
            rows.append((title, len(group), *(interval([each.recall[name] for each in group]) for name in RANKERS)))
    return table(("sessions", "scored", *RANKERS), rows)


def plot(scored: Sequence[Scored], target: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 4))
    for name in RANKERS:
        values = [each.recall[name] for each in scored]
        means = [fmean(values[max(0, place - WINDOW + 1) : place + 1]) for place in range(len(values))]
        axes.plot([each.number + 1 for each in scored], means, label=name)
    axes.set(xlabel="session", ylabel=f"R@{OFFERED}, mean of the last {WINDOW}", ylim=(0, 1))
    axes.legend()
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, help="file of events; default: agent_sessions of TREERING_BENCH_DATA")
    options.add_argument("--plot", type=Path, help="write the curve to this SVG file")
    options.add_argument("--write", action="store_true", help="write the page of results and its plot")
    chosen = options.parse_args()
    sessions = read_sessions(chosen.data or data_folder("agent_sessions") / "events.jsonl.gz")
    scored, seconds = replay(sessions)
    if not scored:
        raise SystemExit("no session edits a file that an earlier one touched")
    body = (
        f"{len(sessions)} sessions, {len(scored)} of which edit files that an earlier one touched. "
        f"R@{OFFERED} of these files, mean over sessions with 95 % interval; prefetch takes "
        f"{percentile(seconds, 0.5):.1f} ms of processor time (median).\n\n{report(scored)}"
    )
    if chosen.plot:
        plot(scored, chosen.plot)
    if chosen.write:
        plot(scored, PAGES / "prefetch.svg")
        write_section("prefetch", "Files that a session will edit", f"{body}\n\n![curve](prefetch.svg)")
    else:
        print(body)


if __name__ == "__main__":
    main()
