"""What agents are given unasked: recorded sessions are replayed in order of time, and the points are timed.

In the replay, `offer` is asked at the start of each session, before each prompt and after each tool result (points
tool and step), then the event is observed. A session counts as using an item if it later touched a file of it or ran a
command of it; the recorded agents never saw the items, so they could not cite them.
"""

import argparse
import gc
import os
import sys
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import treering
from bench.data import DataMissing, data_folder
from bench.observer.recorded import RecordedSession, load
from bench.prose import questions, records
from bench.results import percentile, table, write_section
from treering.compose import new_id
from treering.core.injection_rules import UNTRACEABLE_TYPES
from treering.core.injections import InjectedItem, InjectionPoint, ItemOutcome, Occasion
from treering.core.records import Knowledge, Source
from treering.core.settings import ContextSettings, EmbedderSettings, Settings
from treering.memory import Memory
from treering.observe.tools import tool_use
from treering.observe.watch import Watch

SIZES = (10_000, 100_000)
ASKED = 200
SECONDS = 3.0
RECENT_CALLS = 5
PROJECT = "bench"
SETTINGS = Settings(
    embedder=EmbedderSettings(provider="bundled", batch=2_000), context=ContextSettings(control_groups=False)
)


@dataclass(slots=True)
class Replay:
    """Items of all sessions with their outcomes, and what each offer gave, by point."""

    items: list[tuple[InjectedItem, ...]] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    offers: Counter[str] = field(default_factory=Counter)
    silences: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


class ReplayedSession:
    """One session: its events go to a watch, and each occasion to `offer`."""

    def __init__(self, memory: Memory, session: RecordedSession, replay: Replay) -> None:
        self._memory, self._session, self._replay = memory, session, replay
        self._watch: Watch = memory.observe(session=session.id, type="build", root=session.root)
        self._calls: dict[str, Mapping[str, Any]] = {}
        self._files: deque[tuple[str, ...]] = deque(maxlen=RECENT_CALLS)
        self._step = self._tokens = 0

    def run(self) -> None:
        copied = self._session.copied
        if not copied:
            self._offer(InjectionPoint.START, begin="startup")
        for place, event in enumerate(self._session.events):
            asks = place >= copied
            if event["kind"] == "prompt" and asks:
                self._offer(InjectionPoint.PROMPT, prompt=str(event.get("text", "")))
            self._watch.event(event)
            if event["kind"] == "tool_call":
                self._step += 1
                self._calls[str(event.get("call_id"))] = event
            elif event["kind"] == "tool_result" and asks:
                self._after_result(event)
        self._watch.finish(outcome="success")
        self._memory.settle()
        self._replay.items.append(self._memory.injections.given(self._session.id))
        self._replay.tokens.append(self._tokens)

    def _after_result(self, event: Mapping[str, Any]) -> None:
        call = self._calls.get(str(event.get("call_id")), {})
        arguments = call.get("arguments")
        use = tool_use(str(call.get("tool", "")), arguments if isinstance(arguments, dict) else {}, self._session.root)
        error = str(event.get("text", "")) if event.get("is_error") and use.command else ""
        self._files.append(use.paths)
        self._offer(InjectionPoint.TOOL, files=use.paths, search=use.pattern, command=use.command, error=error)
        recent = tuple(dict.fromkeys(path for paths in self._files for path in paths))
        self._offer(InjectionPoint.STEP, files=recent, alerts=self._watch.alerts())

    def _offer(self, point: InjectionPoint, **fields: Any) -> None:
        begun = time.perf_counter()
        occasion = Occasion(self._session.id, point, step=self._step, **fields)
        given = self._memory.injections.offer(occasion, seconds=SECONDS)
        replay = self._replay
        replay.seconds[point].append(time.perf_counter() - begun)
        replay.offers[point] += 1
        replay.silences[point][given.silence] += 1
        self._tokens += given.tokens


def replayed(sessions: Sequence[RecordedSession], file: Path, level: str) -> Replay:
    """Replay the sessions with a new memory, whose clock shows the time of each session."""
    replay, moment = Replay(), [datetime(2025, 1, 1, tzinfo=UTC)]
    with treering.open(file, project=PROJECT, settings=SETTINGS, clock=lambda: moment[0]) as memory:
        memory.trust.set(level)
        for session in sessions:
            moment[0] = max(moment[0] + timedelta(seconds=1), datetime.fromisoformat(str(session.events[0]["at"])))
            ReplayedSession(memory, session, replay).run()
            print(f"{len(replay.items)} of {len(sessions)} sessions", end="\r", file=sys.stderr)
    return replay


_ABOUT_RULES = (
    "A rule counts as used only if the session touched a file or ran a command that it names, as for every other item; "
    "an agent that follows a rule mostly leaves no such trace, so rules count as unused here. A replay has no person "
    "who states or confirms rules: rules that were only inferred are not given at this trust level, and those that "
    "users state or confirm, which every session is given at its start, do not occur."
)


def report(replay: Replay, level: str) -> str:
    """The tables of a replay."""
    items = [each for session in replay.items for each in session]
    traceable = [each for each in items if each.type not in UNTRACEABLE_TYPES]
    prompts = replay.silences[InjectionPoint.PROMPT]
    silent = sum(count for silence, count in prompts.items() if silence) / max(1, prompts.total())
    tokens = sorted(replay.tokens)
    middle, high = (tokens[round(share * (len(tokens) - 1))] for share in (0.5, 0.95))
    by_point = [
        (
            point.value,
            replay.offers[point],
            sum(count for silence, count in replay.silences[point].items() if not silence),
            *_shares([each for each in items if each.point is point]),
        )
        for point in InjectionPoint
    ]
    types = Counter((each.point.value, each.type) for each in items)
    by_type = [
        (point, type, *_shares([each for each in items if (each.point.value, each.type) == (point, type)]))
        for (point, type), _ in types.most_common()
    ]
    return (
        f"{len(replay.items)} sessions, trust level {level}, without control groups. Tokens added per session: median "
        f"{middle:,}, p95 {high:,}. Used: **{_share(items)}** of all items, **{_share(traceable)}** without rules "
        f"({len(items) - len(traceable)} items of the types preference and requirement). Prompts with nothing "
        f"injected: {silent:.0%}.\n\n{_ABOUT_RULES}\n\n"
        + table(("point", "occasions", "injections", "items", "used"), by_point)
        + "\n\n"
        + table(("point", "type", "items", "used"), by_type)
    )


def _shares(items: Sequence[InjectedItem]) -> tuple[int, str]:
    return len(items), _share(items)


def _share(items: Sequence[InjectedItem]) -> str:
    used = sum(each.outcome is ItemOutcome.USED for each in items)
    return f"{used}/{len(items)} = {used / len(items):.0%}" if items else "–"


class Timing(NamedTuple):
    """Seconds of one offer: until its answer, of processor time, and of waiting for a processor.

    Processor time includes storing what was given, which the caller does not wait for.
    """

    wall: float
    processor: float
    queued: float


def latencies(sizes: Sequence[int], file: Path) -> Iterator[tuple[object, ...]]:
    """Times of each point with a store of each size, which grows from one to the next."""
    made, before = datetime.now(UTC) - timedelta(days=2), 0
    for size in sizes:
        with treering.open(file, project=PROJECT, settings=SETTINGS) as memory:
            memory.remember_many(_records(before, size, made))
            memory.settle(timeout=3_600)
        with treering.open(file, project=PROJECT, settings=SETTINGS) as memory:
            memory.injections.prepare()
            gc.freeze()  # as a server does after it has prepared
            for point in InjectionPoint:
                timings = [_timed(memory, occasion) for occasion in _occasions(point, size)]
                columns = zip(*timings, strict=True)
                shown = (f"{percentile(list(each), share):.1f}" for each in columns for share in (0.5, 0.95))
                yield (f"{size:,}", point.value, *shown)
        before = size


def _timed(memory: Memory, occasion: Occasion) -> Timing:
    begun, used, queued = time.perf_counter(), time.process_time(), _queued()
    memory.injections.offer(occasion, seconds=SECONDS)
    wall, waited = time.perf_counter() - begun, _queued() - queued
    memory.injections.flush(SECONDS)
    return Timing(wall, time.process_time() - used, waited)


def _queued() -> float:
    """Seconds that threads of this process were ready and had no processor; 0 where the system does not count it."""
    delays = 0
    for path in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(OSError):  # the thread has ended
            delays += int(path.read_text().split()[1])
    return delays / 1e9


_ABOUT_TIMES = (
    "Milliseconds, {asked} occasions each, one after the other in one process. Processor time includes storing what "
    "was given, which the agent does not wait for. Queued is the part of wall time in which threads of the process "
    "were ready and other programs had the processors; the load average was {load:.1f} at the beginning."
)
_TYPES = ("fact", "gotcha", "decision", "module_insight", "error_pattern", "dead_end", "preference", "workflow_recipe")


def _records(first: int, size: int, made: datetime) -> Iterator[Knowledge]:
    times = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), made)
    for number, text in islice(zip(range(size), records(size), strict=False), first, None):
        files = () if number % 3 == 0 else (f"src/part{number % 500}/file{number % 7}.go",)
        type = _TYPES[number % len(_TYPES)]
        yield Knowledge(
            id=new_id(), type=type, content=text, files=files, confidence=0.9, source=Source.AGENT_EXPLICIT, **times
        )


def _occasions(point: InjectionPoint, size: int) -> Iterator[Occasion]:
    for number, question in enumerate(questions(ASKED)):
        files = (f"src/part{number % 500}/file{number % 7}.go", f"src/part{number % 400}/file{(number + 1) % 7}.go")
        fields: Mapping[InjectionPoint, dict[str, Any]] = {
            InjectionPoint.START: {"begin": "startup"},
            InjectionPoint.PROMPT: {"prompt": question},
            InjectionPoint.TOOL: {"files": files, "search": question.split()[-1] if number % 2 else ""},
            InjectionPoint.STEP: {"files": files},
        }
        yield Occasion(f"session {point} {size} {number}", point, step=number % 50 + 5, **fields[point])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, help="file of events; default: agent_sessions of TREERING_BENCH_DATA")
    options.add_argument("--sessions", type=int, help="only the first ones")
    options.add_argument("--level", default="standard", help="trust level; default: standard")
    options.add_argument("--dry", action="store_true", help="print, do not write the results page")
    options.add_argument("--only", choices=("replay", "speed"), help="one of the two parts")
    options.add_argument("--most", type=int, default=SIZES[-1], help="records of the largest store")
    chosen = options.parse_args()
    os.environ["TREERING_EMBEDDER"] = "bundled"
    show = (lambda title, body: print(f"## {title}\n\n{body}\n")) if chosen.dry else _write
    with TemporaryDirectory() as folder:
        if chosen.only != "speed":
            show("Replay of recorded sessions", _replay(chosen, Path(folder)))
        if chosen.only != "replay":
            sizes = [size for size in SIZES if size <= chosen.most]
            load = os.getloadavg()[0]
            rows = [*latencies(sizes, Path(folder) / "speed.db")]
            named = (f"{column} {share}" for column in ("wall", "processor", "queued") for share in ("p50", "p95"))
            body = f"{_ABOUT_TIMES.format(asked=ASKED, load=load)}\n\n{table(('records', 'point', *named), rows)}"
            show("Latency of the four points", body)


def _replay(chosen: argparse.Namespace, folder: Path) -> str:
    try:
        found = chosen.data.parent if chosen.data else data_folder("agent_sessions")
    except DataMissing as exc:
        raise SystemExit(str(exc)) from None
    events, commits = (chosen.data, None) if chosen.data else (found / "events.jsonl.gz", found / "commits.jsonl.gz")
    sessions = load(events, commits)[: chosen.sessions]
    return report(replayed(sessions, folder / "memory.db", chosen.level), chosen.level)


def _write(title: str, body: str) -> None:
    write_section("injections", title, body)


if __name__ == "__main__":
    main()
