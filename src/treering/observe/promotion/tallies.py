"""Names that sessions show again and again, with how often: ways to resolve an error, files that change together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

from treering.core.observations import SignalEvidence
from treering.observe.errors.resolution import EDIT_NAMED

MAX_NAMES = 40  # kept of one subject; those of most sessions
MIN_SHARE = 0.5  # of the times that an error was resolved, those that followed the same way


@dataclass(frozen=True, slots=True)
class Tallied:
    """A name with the sessions that show it, and how often they do."""

    name: str
    sessions: int
    times: int


def tallied(detail: Mapping[str, Any]) -> list[Tallied]:
    """The names of a detail, those of most sessions first."""
    found = [Tallied(name, int(counts[0]), int(counts[1])) for name, counts in detail.get("tally", {}).items()]
    return sorted(found, key=lambda each: (-each.sessions, -each.times, each.name))


def sessions_with(detail: Mapping[str, Any], name: str) -> int:
    counts = detail.get("tally", {}).get(name)
    return int(counts[0]) if counts else 0


def with_session(known: Mapping[str, Any], shown: Mapping[str, int], *, counted: bool) -> dict[str, list[int]]:
    """The tally with what one session shows; one that is counted already only adds names."""
    tally = {name: [int(counts[0]), int(counts[1])] for name, counts in known.items()}
    for name, times in shown.items():
        before = tally.get(name)
        if before is None:
            tally[name] = [1, times]
        elif not counted:
            tally[name] = [before[0] + 1, before[1] + times]
    return _most(tally)


def joined(clean: Mapping[str, Any], tainted: Mapping[str, Any]) -> dict[str, Any]:
    """The details of all sessions: the tainted ones, with the sums of both tallies."""
    tally: dict[str, list[int]] = {}
    for each in (clean, tainted):
        for name, counts in each.get("tally", {}).items():
            before = tally.get(name, [0, 0])
            tally[name] = [before[0] + int(counts[0]), before[1] + int(counts[1])]
    resolved = int(clean.get("resolved_times", 0)) + int(tainted.get("resolved_times", 0))
    return {**clean, **tainted, "tally": _most(tally), "resolved_times": resolved}


def ways_in(evidence: SignalEvidence) -> dict[str, int]:
    """How often each way resolved an error, in untainted and tainted sessions."""
    return {each.name: each.times for each in tallied(joined(evidence.detail, evidence.tainted_detail))}


def best_way(detail: Mapping[str, Any]) -> Tallied | None:
    """What preceded the success of a failed call most often. Commands come first, then what holds for every file."""
    return min(
        tallied(detail),
        key=lambda each: (-each.sessions, -each.times, each.name[:1] != "`", each.name != EDIT_NAMED, each.name),
        default=None,
    )


def is_proven(detail: Mapping[str, Any], way: Tallied) -> bool:
    """Whether a way resolved an error more than once, and at least half of the times that it was resolved."""
    return way.times > 1 and way.times >= MIN_SHARE * int(detail.get("resolved_times", 0))


def lower_bound(successes: int, trials: int) -> float:
    """Lower bound of a share, one standard error below it (Wilson)."""
    if not trials:
        return 0.0
    share = min(1.0, successes / trials)
    spread = sqrt(share * (1 - share) / trials + 1 / (4 * trials * trials))
    return max(0.0, (share + 1 / (2 * trials) - spread) / (1 + 1 / trials))


def _most(tally: Mapping[str, list[int]]) -> dict[str, list[int]]:
    ranked = sorted(tally, key=lambda name: (-tally[name][0], -tally[name][1], name))
    return {name: tally[name] for name in ranked[:MAX_NAMES]}
