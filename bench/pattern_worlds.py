"""Worlds in which it is known what each pattern does: what validation believes of it, and how soon it notices."""

import argparse
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.pattern_rules import (
    CERTAINTIES,
    CONTROLS_A_DAY,
    DAYS,
    FEW_CONTROLS,
    HALF,
    KINDS,
    PATTERNS,
    RULES,
    SETTINGS,
    TASK_TYPES,
    TREERING,
    Run,
    all_certainties,
    all_rules,
)
from bench.pattern_shared import all_forms
from bench.pattern_shared import overview as of_shared_sessions
from bench.results import PAGES, table, write_section

# The settings were chosen on worlds with lower seeds than these.
FIRST_SEED = 1_000
LIFTS = np.array([kind.lift for kind in PATTERNS])
STOPS = np.array([kind.stops for kind in PATTERNS])


@dataclass(frozen=True)
class Figures:
    """What a rule did over all worlds."""

    runs: list[Run]

    def false(self, run: Run) -> NDArray[np.bool_]:
        """Those that nobody should believe: no better than their base rate, or than a coin."""
        return (LIFTS <= 0) | (run.rate <= 0.5)

    def attainable(self, run: Run, lift: float) -> NDArray[np.bool_]:
        """Those of this lift that keep helping, and succeed as often as the settings ask."""
        return (lift == LIFTS) & ~STOPS & (run.rate >= SETTINGS.success_threshold)

    def proportions(self) -> NDArray[np.float64]:
        """Of those believed, the share that is false, for each world and night. Those that stopped are left out."""
        found = []
        for each in self.runs:
            wrong = (each.believed & self.false(each)).sum(axis=1)
            right = (each.believed & ~self.false(each) & ~STOPS).sum(axis=1)
            found.append(wrong / np.maximum(1, wrong + right))
        return np.array(found)

    def ever(self) -> float:
        """Of those that were ever believed, the share that is false."""
        found = []
        for each in self.runs:
            once, false = each.once, self.false(each)
            found.append((once & false & ~STOPS).sum() / max(1, (once & ~STOPS).sum()))
        return float(np.mean(found))

    def helping(self, lift: float) -> float:
        """Of the attainable patterns of this lift, the share that was ever believed."""
        return float(np.mean(np.concatenate([run.once[self.attainable(run, lift)] for run in self.runs])))

    def hurting(self) -> float:
        return float(np.mean(np.concatenate([run.once[LIFTS < 0] for run in self.runs])))

    def needed(self, lift: float) -> list[int]:
        """Sessions that an attainable pattern of this lift had when it was first believed."""
        return [
            int(run.sessions[run.believed[:, i].argmax(), i])
            for run in self.runs
            for i in np.flatnonzero(self.attainable(run, lift) & run.once)
        ]

    def alarms(self) -> tuple[float, float]:
        """Of the good ones believed, the share that was doubted later, and doubts in 100 sessions."""
        doubted, believed, sessions = 0, 0, 0
        for run in self.runs:
            for i in np.flatnonzero((LIFTS > 0) & ~STOPS & ~self.false(run) & run.once):
                first = run.believed[:, i].argmax()
                lost = np.flatnonzero(~run.believed[first:, i])
                until = first + lost[0] if len(lost) else DAYS - 1
                believed, doubted = believed + 1, doubted + bool(len(lost))
                sessions += run.sessions[until, i] - run.sessions[first, i]
        return doubted / max(1, believed), 100 * doubted / max(1, sessions)

    def delays(self, lift: float | None, what: str = "sessions") -> tuple[list[float], int]:
        """After how many sessions (or applications) without effect each was doubted; and how many were believed."""
        found = []
        for run in self.runs:
            counts = run.sessions if what == "sessions" else run.applications
            for i in np.flatnonzero(STOPS & run.believed[HALF - 1] & ((lift == LIFTS) | (lift is None))):
                lost = np.flatnonzero(~run.believed[HALF:, i])
                end = counts[HALF + lost[0], i] - counts[HALF - 1, i] if len(lost) else np.inf
                found.append(float(end))
        return found, len(found)


def quantile(values: Iterable[float], share: float) -> str:
    ordered = sorted(values)
    if not ordered:
        return "–"
    found = ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]
    return "not by the end" if np.isinf(found) else f"{found:.0f}"


def simulated(work: Callable[[int], list[Run]], seeds: int, processes: int) -> list[Figures]:
    """Each thing that was tried, over all seeds."""
    with Pool(processes) as pool:
        runs = pool.map(work, range(FIRST_SEED, FIRST_SEED + seeds), chunksize=1)
    return [Figures(list(each)) for each in zip(*runs, strict=True)]


def overview(figures: Mapping[str, Figures]) -> str:
    rows: list[tuple[object, ...]] = []
    for rule, each in figures.items():
        nightly = each.proportions()
        share, per_hundred = each.alarms()
        rows.append(
            (
                rule,
                len(each.runs),
                *(f"{each.helping(lift):.0%}" for lift in (0.1, 0.2, 0.3)),
                f"{nightly[:, -1].mean():.1%}",
                f"{nightly.mean(axis=0).max():.1%}",
                f"{each.ever():.1%}",
                f"{(nightly.max(axis=1) > 0.2).mean():.1%}",
                f"{each.hurting():.1%}",
                f"{share:.1%}",
                f"{per_hundred:.2f}",
            )
        )
    headers = ("rule", "worlds", "+0.1 believed", "+0.2", "+0.3", "false on the last night", "on the worst night")
    return table(
        (*headers, "among ever believed", "worlds with a night above 20%", "hurting believed", "good doubted",
         "in 100 sessions"),
        rows,
    )  # fmt: skip


def base_rates(figures: list[Figures]) -> str:
    names = [
        (f"{certainty:.0%} bound" if certainty > 0.5 else "as estimated", a_day)
        for a_day in (CONTROLS_A_DAY, FEW_CONTROLS)
        for certainty in CERTAINTIES
    ]
    rows: list[tuple[object, ...]] = []
    for (name, a_day), each in zip([*names, ("known", "–")], figures, strict=True):
        believed = [f"{each.helping(lift):.0%}" for lift in (0.1, 0.2, 0.3)]
        nightly = each.proportions()
        false = [nightly[:, -1].mean(), nightly.mean(axis=0).max(), each.ever()]
        rows.append((name, a_day, *believed, *(f"{share:.1%}" for share in false)))
    headers = ("base rate", "sessions a day and type", "+0.1 believed", "+0.2", "+0.3", "false on the last night")
    return table((*headers, "on the worst night", "among ever believed"), rows)


def needed(figures: Figures) -> str:
    rows: list[tuple[object, ...]] = []
    for lift in (0.1, 0.2, 0.3):
        took = figures.needed(lift)
        there = sum(int(figures.attainable(run, lift).sum()) for run in figures.runs)
        reached = [f"{sum(n <= limit for n in took) / there:.0%}" for limit in (25, 50, 100, 200)]
        rows.append((f"+{lift}", there, *reached, f"{len(took) / there:.0%}", quantile(took, 0.5), quantile(took, 0.9)))
    limits = tuple(f"by {limit} sessions" for limit in (25, 50, 100, 200))
    return table(("lift", "patterns", *limits, "in all", "sessions needed, median", "p90"), rows)


def decayed(figures: Mapping[str, Figures]) -> str:
    rows: list[tuple[object, ...]] = []
    for rule, each in figures.items():
        for lift in (0.1, 0.2, 0.3):
            sessions, believed = each.delays(lift)
            applications, _ = each.delays(lift, "applications")
            noticed = sum(np.isfinite(sessions)) / max(1, believed)
            rows.append(
                (
                    rule,
                    f"+{lift}",
                    believed,
                    f"{noticed:.0%}",
                    *(quantile(sessions, share) for share in (0.5, 0.9)),
                    *(quantile(applications, share) for share in (0.5, 0.9)),
                )
            )
    headers = ("rule", "lift lost", "believed by then", "doubted by the end", "sessions, median", "p90")
    return table((*headers, "applications, median", "p90"), rows)


def plot(figures: Mapping[str, Figures], target: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    figure, (power, false, stopped) = pyplot.subplots(3, 1, figsize=(7, 10))
    for lift in (0.1, 0.2, 0.3):
        took = np.sort(figures[TREERING].needed(lift))
        there = sum(int(figures[TREERING].attainable(run, lift).sum()) for run in figures[TREERING].runs)
        power.step(np.append(took, 300), np.append(np.arange(1, len(took) + 1), len(took)) / there, label=f"+{lift}")
    power.set(xlabel="sessions", ylabel="patterns that help, believed", xlim=(0, 300), ylim=(0, 1))
    power.legend(title="lift")
    for rule, each in figures.items():
        false.plot(each.proportions().mean(axis=0), label=rule)
    false.axhline(SETTINGS.false_discovery_rate, color="gray", linestyle=":", label="what is promised")
    false.set(xlabel="day", ylabel="false among those believed", ylim=(0, 1))
    false.legend()
    for rule, each in figures.items():
        delays, believed = each.delays(None)
        ends = np.sort([delay for delay in delays if np.isfinite(delay)])
        stopped.step(ends, np.arange(1, len(ends) + 1) / max(1, believed), label=rule)
    stopped.set(xlabel="sessions since it stopped helping", ylabel="doubted", xlim=(0, 150), ylim=(0, 1))
    stopped.legend()
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=200)
    options.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options.add_argument("--dry", action="store_true", help="print the tables, and write nothing down")
    chosen = options.parse_args()
    begun = time.perf_counter()
    figures = dict(zip(RULES, simulated(all_rules, chosen.seeds, chosen.processes), strict=True))
    bases = simulated(all_certainties, max(1, chosen.seeds // 10), chosen.processes)
    with Pool(chosen.processes) as pool:
        shared = list(zip(*pool.map(all_forms, range(FIRST_SEED, FIRST_SEED + max(1, chosen.seeds // 5))), strict=True))
    minutes = (time.perf_counter() - begun) / 60
    told = (
        f"Worlds of {DAYS} days, {TASK_TYPES} task types with base rates of 0.3 to 0.85 and {len(PATTERNS)} patterns: "
        + ", ".join(f"{kind.number} that {kind.name}" for kind in KINDS)
        + f". A pattern is used in 0.3 to 2.5 sessions a day, for one to three task types; half of the sessions apply "
        f"it once, the others up to 100 times, and outcomes within a session are correlated (a fifth of the variance "
        f"is between sessions). Base rates are estimated from {CONTROLS_A_DAY} sessions per day and type without the "
        f"pattern. Every pattern is judged every night; outcomes do not depend on the status of a pattern, so every "
        f"rule sees the same data. A pattern that helps counts as attainable if it succeeds in "
        f"{SETTINGS.success_threshold:.0%} or more; validating one at 50% or less is false whatever its lift. "
        f"{minutes:.1f} minutes in all."
    )
    promise = (
        f"Promise: on any night, on average at most {SETTINGS.false_discovery_rate:.0%} of the validated patterns are "
        f"false. Patterns that stopped helping are excluded from that share; they have a separate table."
    )
    cost = (
        f"Cost of estimating the base rates, over {len(bases[0].runs)} of the worlds, each also with a tenth of "
        f"the sessions to estimate from:"
    )
    beside = (
        "Sessions of several episodes, of which one uses a pattern: its base rate is that of the others (`left_out`, "
        "`BaseRates.without`), not of other sessions. 16 of 20 patterns do nothing. The last column is the "
        "difference between the base rate that validation used and a plain count over the episodes that did not "
        "use the pattern (the rate of a type with few sessions is pulled towards the overall rate, that of one "
        "with none is 0.5)."
    )
    parts = (
        *(told, overview(figures), promise, needed(figures[TREERING]), decayed(figures), cost, base_rates(bases)),
        *(beside, of_shared_sessions(shared)),
    )
    body = "\n\n".join(parts)
    if chosen.dry:
        print(body)
        return
    plot(figures, PAGES / "pattern_worlds.svg")
    write_section("patterns", "Patterns in simulated worlds", f"{body}\n\n![worlds](pattern_worlds.svg)")


if __name__ == "__main__":
    main()
