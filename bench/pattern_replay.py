"""Recorded sessions of coding agents: do the patterns mined from the older half predict the newer half?

Each request of a user is an episode; sessions are in the order of time. Parameters were tuned on the older half (four
parts of it, each scored with what precedes it: `--validate`); the newer half gives the figures below. It was measured
twice: after the first time, steps that occur only in the current run became possible predictions, steps without
precedent got their wider names, and two weights were set again, on the older half. At each step but the first, the
next one is predicted from the steps before it in the same request; results that had not arrived when the next step
was taken are hidden. After a failed step, the prediction is compared with what happened, and with what worked: a step
between the failure and the next success of the same step (that step, if there is none between).
"""

import argparse
import gzip
import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.data import DATA, data_folder
from bench.results import table, write_section
from treering.core.episodes import Episode, TraceEntry
from treering.core.settings.mining import AdviceSettings, MiningSettings
from treering.core.task_features import features_of_episode
from treering.core.values import storable
from treering.patterns.mining.candidates import mine
from treering.patterns.mining.findings import Mining
from treering.patterns.mining.next_steps import next_steps
from treering.patterns.mining.steps import step_of

EVENTS = DATA / "agent_sessions" / "events.jsonl.gz"
VALIDATED = (0.4, 0.55, 0.7, 0.85, 1.0)
"""Where the older half is cut when something is tuned: each part is scored by what lies before it."""
OUTPUT = 4_000
INTERRUPTED = "[Request interrupted"
DRAWS = 2_000
WITHIN = MiningSettings().recovery_within
Guess = Callable[["Point"], Sequence[str]]


@dataclass(frozen=True)
class Recorded:
    """One request; `known_at` says of each step before which other its result was there."""

    episode: Episode
    known_at: tuple[int, ...]
    steps: tuple[str, ...]

    def history(self, end: int) -> list[TraceEntry]:
        trace = self.episode.execution.trace[:end]
        return [
            entry if self.known_at[place] <= end else entry.replace(output="", is_error=False)
            for place, entry in enumerate(trace)
        ]


@dataclass(frozen=True)
class Point:
    """A place where the next step is guessed."""

    session: str
    history: list[TraceEntry]
    steps: tuple[str, ...]
    """Names of the steps before, and of those after."""
    later: tuple[str, ...]
    features: Mapping[str, Any]
    """What the request says of itself."""
    worked: frozenset[str]
    """After a failure, the steps that led out of it."""

    @property
    def failed(self) -> bool:
        return self.history[-1].is_error


def sessions(events: Path) -> list[list[Recorded]]:
    """The recorded sessions in the order of time, each as its requests."""
    by_session = defaultdict(list)
    with gzip.open(events, "rt") as lines:
        for line in lines:
            event = json.loads(line)
            by_session[event["session"]].append(event)
    ordered = sorted(by_session, key=lambda session: (min(each["ts"] for each in by_session[session]), session))
    return [list(requests(session, sorted(by_session[session], key=_place))) for session in ordered]


def _place(event: dict[str, Any]) -> int:
    return int(event["seq"])


def requests(session: str, events: list[dict[str, Any]]) -> Iterator[Recorded]:
    results = {event["id"]: event for event in events if event["kind"] == "tool_result"}
    starts = [place for place, event in enumerate(events) if event["kind"] == "user_text"]
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(events)], strict=True)):
        calls = [event for event in events[start:end] if event["kind"] == "tool_use"]
        if calls:
            stopped = end < len(events) and events[end]["text"].startswith(INTERRUPTED)
            yield _recorded(f"{session}-{number}", events[start], calls, results, stopped=stopped)


def _recorded(
    id: str, asked: dict[str, Any], calls: list[dict[str, Any]], results: dict[str, Any], *, stopped: bool
) -> Recorded:
    trace = [_entry(call, results.get(call["id"], {})) for call in calls]
    came = [_place(results[call["id"]]) if call["id"] in results else len(results) * 10 for call in calls]
    known_at = tuple(
        next((later for later in range(place + 1, len(calls)) if _place(calls[later]) > came[place]), len(calls))
        for place in range(len(calls))
    )
    status = "FAILURE" if trace[-1].is_error else "PARTIAL" if stopped else "SUCCESS"
    begun, ended = _moment(calls[0]), _moment(results.get(calls[-1]["id"], calls[-1]))
    episode = Episode.make(
        id=id[-150:],
        session=asked["session"],
        at=begun,
        task={"input": storable(asked["text"])},
        execution={"trace": trace, "duration_ms": max(0.0, (ended - begun).total_seconds() * 1000)},
        outcome={"status": status},
    )
    return Recorded(episode, known_at, tuple(map(step_of, trace)))


def _moment(event: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(event["ts"]).astimezone(UTC)


def _entry(call: dict[str, Any], result: dict[str, Any]) -> TraceEntry:
    return TraceEntry.make(
        at=call["ts"],
        action=call["tool"],
        tool=call["tool"],
        input=storable(json.dumps(call["input"])),
        output=storable((result.get("text") or "")[:OUTPUT]),
        is_error=bool(result.get("is_error")),
    )


def points(recorded: Sequence[Recorded]) -> Iterator[Point]:
    for each in recorded:
        features = features_of_episode(each.episode)
        for end in range(1, len(each.steps)):
            history = each.history(end)
            out = _worked(each, end - 1) if history[-1].is_error else frozenset()
            yield Point(str(each.episode.session), history, each.steps[:end], each.steps[end:], features, out)


def _worked(recorded: Recorded, failed: int) -> frozenset[str]:
    steps, trace = recorded.steps, recorded.episode.execution.trace
    for later in range(failed + 1, min(len(steps), failed + 1 + WITHIN)):
        if steps[later] == steps[failed]:
            return frozenset() if trace[later].is_error else frozenset(steps[failed + 1 : later] or (steps[later],))
    return frozenset()


def baselines(older: Sequence[Recorded]) -> dict[str, Guess]:
    """What counting alone would guess."""
    overall, after_failure = Counter[str](), Counter[str]()
    after, after_own_failure = defaultdict[str, Counter[str]](Counter), defaultdict[str, Counter[str]](Counter)
    for point in points(older):
        overall[point.later[0]] += 1
        after[point.steps[-1]][point.later[0]] += 1
        if point.failed:
            after_failure[point.later[0]] += 1
            after_own_failure[point.steps[-1]][point.later[0]] += 1
    everywhere, failures = _ranked(overall), _ranked(after_failure)
    return {
        "most frequent step": lambda point: everywhere,
        "most frequent after the last step": lambda point: (*_ranked(after[point.steps[-1]]), *everywhere),
        "in this run after the last step, else overall": lambda point: (
            *_ranked(Counter(later for step, later in pairwise(point.steps) if step == point.steps[-1])),
            *_ranked(after[point.steps[-1]]),
            *everywhere,
        ),
        "most frequent after any failure": lambda point: failures,
        "most frequent after a failure of that step": lambda point: (
            *_ranked(after_own_failure[point.steps[-1]]),
            *failures,
        ),
    }


def _ranked(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda step: (-counts[step], step)))


def mined_guesses(mining: Mining) -> dict[str, Guess]:
    alone = AdviceSettings(own_following=0, own_use=0, own_new=0)
    return {
        "mined patterns": lambda point: _steps(mining, point, alone),
        "mined patterns and the run's own steps": lambda point: _steps(mining, point, AdviceSettings()),
    }


def _steps(mining: Mining, point: Point, advice: AdviceSettings) -> list[str]:
    return [each.step for each in next_steps(mining, point.history, point.features, advice=advice)]


@dataclass
class Score:
    """Of each session, how many guesses there were and how many were right."""

    right: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))

    def add(self, session: str, guess: Sequence[str], true: frozenset[str]) -> None:
        counts, best = self.right[session], tuple(dict.fromkeys(guess))[:3]
        counts[0] += 1
        counts[1] += best[:1] != () and best[0] in true
        counts[2] += not true.isdisjoint(best)

    def share(self, top: int) -> float:
        return sum(counts[top] for counts in self.right.values()) / max(1, self.total)

    @property
    def total(self) -> int:
        return sum(counts[0] for counts in self.right.values())


def better_by(one: Score, other: Score, top: int) -> tuple[float, float]:
    """Between what the difference lies in 95 of 100 draws of whole sessions."""
    chance, names = random.Random(1), sorted(one.right)
    drawn = []
    for _ in range(DRAWS):
        chosen = chance.choices(names, k=len(names))
        total = sum(one.right[name][0] for name in chosen)
        drawn.append(sum(one.right[name][top] - other.right[name][top] for name in chosen) / total)
    drawn.sort()
    return drawn[int(0.025 * DRAWS)], drawn[int(0.975 * DRAWS)]


def shown(scores: dict[str, Score], against: str) -> str:
    rows: list[tuple[object, ...]] = []
    for name, score in scores.items():
        bounds = ("–", "–")
        if name.startswith("mined"):
            drawn = [better_by(score, scores[against], top) for top in (1, 2)]
            bounds = tuple(f"{100 * low:+.1f} to {100 * high:+.1f}" for low, high in drawn)  # type: ignore[assignment]
        rows.append((name, f"{score.share(1):.3f}", f"{score.share(2):.3f}", *bounds))
    headers = ("guess", "top 1", "top 3", "top 1: points above it, 95 %", "top 3: points above it, 95 %")
    return f"{table(headers, rows)}\n\nAbove “{against}”; whole sessions drawn."


@dataclass
class Measured:
    """Scores of several parts together, each mined from what lay before it."""

    asked: dict[str, dict[str, Score]] = field(default_factory=lambda: defaultdict(dict))
    told: list[str] = field(default_factory=list)

    def add(self, older: list[list[Recorded]], newer: list[list[Recorded]]) -> None:
        mined_from, scored_on = [each for one in older for each in one], [each for one in newer for each in one]
        mining = mine(each.episode for each in mined_from)
        known, ours = baselines(mined_from), mined_guesses(mining)
        every = list(points(scored_on))
        failed = [point for point in every if point.failed]
        usual = {name: known[name] for name in list(known)[:3]} | ours
        failing = {name: known[name] for name in list(known) if name not in list(known)[:3:2]} | {
            "mined patterns": ours["mined patterns"]
        }
        self._score("The next step", usual, [(point, frozenset(point.later[:1])) for point in every])
        self._score("What happened after a failure", failing, [(point, frozenset(point.later[:1])) for point in failed])
        worked = [(point, point.worked) for point in failed if point.worked]
        self._score("What worked after a failure", failing, worked)
        kinds = Counter(each.category.value for each in mining.candidates)
        told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))
        self.told.append(
            f"{len(mined_from):,} requests of {len(older)} sessions mined ({told}; {len(mining.habits):,} contexts, "
            f"{len(mining.failures):,} failures), {len(scored_on):,} requests of {len(newer)} sessions scored."
        )

    def _score(self, asked: str, guesses: dict[str, Guess], cases: list[tuple[Point, frozenset[str]]]) -> None:
        for name, guess in guesses.items():
            score = self.asked[asked].setdefault(name, Score())
            for point, true in cases:
                score.add(point.session, guess(point), true)

    def shown(self) -> str:
        parts = list(self.told)
        for asked, scores in self.asked.items():
            parts += [f"**{asked}**, {next(iter(scores.values())).total:,} times:", shown(scores, list(scores)[1])]
        return "\n\n".join(parts)


def halves(events: Path) -> tuple[list[list[Recorded]], list[list[Recorded]]]:
    """The older and the newer sessions."""
    recorded = sessions(events)
    return recorded[: len(recorded) // 2], recorded[len(recorded) // 2 :]


def figures() -> dict[str, float]:
    """How often the next step is the first guess, and one of three."""
    measured = Measured()
    measured.add(*halves(data_folder(EVENTS.parent.name) / EVENTS.name))
    score = measured.asked["The next step"]["mined patterns and the run's own steps"]
    return {"pattern-replay.first": score.share(1), "pattern-replay.three": score.share(2)}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--events", type=Path, default=EVENTS)
    options.add_argument("--validate", action="store_true", help="score parts of the older half only")
    given = options.parse_args()
    if not given.events.exists():
        raise SystemExit(
            f"{given.events} is not here: the recorded sessions belong to the workplace, not to the project"
        )
    older, newer = halves(given.events)
    measured = Measured()
    if given.validate:
        for begin, end in pairwise(int(share * len(older)) for share in VALIDATED):
            measured.add(older[:begin], older[begin:end])
        print(measured.shown())
        return
    measured.add(older, newer)
    write_section("pattern-replay", "Mined patterns on recorded sessions", f"{__doc__}\n{measured.shown()}")


if __name__ == "__main__":
    main()
