"""Worlds with several episodes a session, some of which use a pattern: base rates are made of the others."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from bench.pattern_rules import SETTINGS, START, VALIDATED, WITHIN, Standing, judge_night
from bench.results import table
from treering.patterns.base_rates import losses_of
from treering.patterns.statistics import BaseRates, Tally
from treering.patterns.validation import SessionCount
from treering.ports.patterns import UsedEpisode

DAYS, TYPES_A_DAY = 120, 3
LIFTS = np.array([0.0] * 16 + [0.2] * 2 + [0.3] * 2)
Tallies = dict[str | None, Tally]


@dataclass(frozen=True)
class Form:
    """How many episodes a session has, and in what share of the sessions a pattern is used, for one of them."""

    episodes: int
    used: float


FORMS = tuple(Form(episodes, used) for episodes in (1, 3, 8) for used in (0.3, 0.6, 0.9))


@dataclass(frozen=True)
class Session:
    name: str
    task_type: str
    at: datetime
    succeeded: tuple[bool, ...]
    used: tuple[int | None, ...]
    """By each pattern, which of the episodes used it."""


@dataclass(frozen=True)
class Outcome:
    """What was believed in one world: on each night of each pattern, and how far its base rate was off at the end."""

    believed: np.ndarray
    attainable: np.ndarray
    error: float


def sessions_of_world(pick: np.random.Generator, form: Form, rates: Sequence[float]) -> list[Session]:
    """One session a day and type; what happens in one hangs together, and what helps lifts the episode that used it."""
    found = []
    for day in range(DAYS):
        for number, rate in enumerate(rates):
            places = range(form.episodes)
            usual = pick.beta(WITHIN * rate, WITHIN * (1.0 - rate))
            used = [int(pick.integers(form.episodes)) if pick.random() < form.used else None for _ in LIFTS]
            lifts = [max((LIFTS[i] for i, at in enumerate(used) if at == place), default=0.0) for place in places]
            succeeded = tuple(bool(pick.random() < min(0.98, usual + lift)) for lift in lifts)
            at = START + timedelta(days=day, hours=number)
            found.append(Session(f"{day}-{number}", f"type {number}", at, succeeded, tuple(used)))
    return found


def simulated(seed: int, form: Form) -> Outcome:
    """Every night judges every pattern; its base rates are those of all episodes without its own."""
    pick = np.random.default_rng(seed)
    rates = pick.uniform(0.4, 0.8, TYPES_A_DAY).tolist()
    everything: Tallies = {}
    lost: list[Tallies] = [{} for _ in LIFTS]
    sessions: list[tuple[SessionCount, ...]] = [() for _ in LIFTS]
    standing = [Standing() for _ in LIFTS]
    believed = np.zeros((DAYS, len(LIFTS)), bool)
    waiting, errors = sessions_of_world(pick, form, rates), list[float]()
    for day in range(DAYS):
        for session in waiting[day * TYPES_A_DAY : (day + 1) * TYPES_A_DAY]:
            share = sum(session.succeeded) / form.episodes
            _add(everything, {session.task_type: Tally(share, 1)})
            for i, place in enumerate(session.used):
                if place is not None:
                    _add(lost[i], losses_of([_used(session, place)]))
                    won = session.succeeded[place]
                    sessions[i] += (SessionCount(session.at, int(won), 0, 1, ((session.task_type, 1),)),)
        bases = [BaseRates(everything, SETTINGS).without(each) for each in lost]
        verdicts = judge_night(standing, sessions, bases, START + timedelta(days=day + 1), SETTINGS)
        believed[day] = [each.status is VALIDATED for each in standing]
        if day == DAYS - 1:
            errors = [verdicts[str(i)].base_rate - _others(waiting, i) for i in range(len(LIFTS))]
    attainable = np.array([np.mean(rates) + lift >= SETTINGS.success_threshold for lift in LIFTS])
    return Outcome(believed, attainable, float(np.mean(errors)))


def _used(session: Session, place: int) -> UsedEpisode:
    successes, n = sum(session.succeeded), len(session.succeeded)
    won = session.succeeded[place]
    return UsedEpisode("p", f"{session.name} {place}", session.task_type, session.name, won, successes, n)


def _others(sessions: Sequence[Session], pattern: int) -> float:
    """Counted plainly: of the sessions that have other episodes, the share of those that succeeded, on average."""
    shares = []
    for each in sessions:
        left = [won for place, won in enumerate(each.succeeded) if place != each.used[pattern]]
        if left:
            shares.append(sum(left) / len(left))
    return float(np.mean(shares)) if shares else SETTINGS.floor_rate


def _add(into: Tallies, more: Tallies) -> None:
    for name, tally in more.items():
        into[name] = into.get(name, Tally()) + tally


def all_forms(seed: int) -> list[Outcome]:
    return [simulated(seed, form) for form in FORMS]


def overview(outcomes: Sequence[Sequence[Outcome]]) -> str:
    """A row for each form."""
    idle, rows = np.equal(LIFTS, 0.0), list[tuple[object, ...]]()
    for form, worlds in zip(FORMS, outcomes, strict=True):
        nightly = [(each.believed & idle).sum(axis=1) / np.maximum(1, each.believed.sum(axis=1)) for each in worlds]
        ever = [np.asarray(each.believed.any(axis=0)) for each in worlds]
        helped = [
            np.concatenate(
                [once[np.equal(LIFTS, lift) & each.attainable] for once, each in zip(ever, worlds, strict=True)]
            )
            for lift in (0.2, 0.3)
        ]
        rows.append(
            (
                form.episodes,
                f"{form.used:.0%}",
                len(worlds),
                f"{sum(int(once[idle].sum()) for once in ever)} of {len(worlds) * int(idle.sum())}",
                f"{np.mean(nightly, axis=0).max():.1%}",
                *(f"{each.mean():.0%}" if len(each) else "–" for each in helped),
                f"{np.mean([each.error for each in worlds]):+.3f}",
            )
        )
    headers = ("episodes a session", "sessions that use a pattern", "worlds", "idle ever believed")
    return table((*headers, "false on the worst night", "+0.2 believed", "+0.3", "base rate off by"), rows)
