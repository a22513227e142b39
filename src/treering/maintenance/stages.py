"""The stages of maintenance, in the order of the night. What a stage needs is imported when it runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from treering.core.errors import InvalidInput
from treering.jobs.stage import Progress, StageRun, Work
from treering.maintenance.principals import for_everybody
from treering.maintenance.schedule import Stage

if TYPE_CHECKING:
    from treering.core.settings import UpkeepSettings

STAGES = (
    "enrich",
    "consolidate",
    "reflect",
    "forget",
    "episodes",
    "mine",
    "validate",
    "refine",
    "staleness",
    "index",
    "report",
)
"""The order of the night: each stage reads what those before it wrote. A stage begins when the one before has ended."""
WEEKLY = ("reflect",)

Counted = Callable[[StageRun], Mapping[str, int]]
"""Something that is done in one step, and counts what it did."""


def nightly(settings: UpkeepSettings, *, staleness: Work, vectors: Work, report: Counted) -> tuple[Stage, ...]:
    """All stages. What looks at repositories, vectors and health lies in other rooms and is handed in.

    Those that work on records of one owner are done for everybody. The others go by marks of the whole project, count,
    or write what all may read: they stay with what the worker sees.
    """
    works: Mapping[str, Work] = {
        "enrich": _enrich,
        "consolidate": for_everybody(_consolidate),
        "reflect": _reflect,
        "forget": for_everybody(_forget),
        "episodes": for_everybody(in_turn(_age_episodes, _consolidate_episodes)),
        "mine": for_everybody(in_turn(in_one_step(_mine), _name)),
        "validate": for_everybody(in_turn(_record_applications, in_one_step(_validate))),
        "refine": for_everybody(_refine),
        "staleness": staleness,
        "index": in_turn(vectors, in_one_step(_optimise)),
        "report": in_one_step(report),
    }
    return tuple(Stage(name, _cron(name, settings), works[name]) for name in STAGES)


def check_stages(names: Collection[str]) -> None:
    if unknown := set(names) - set(STAGES):
        raise InvalidInput(f"upkeep.by_hand: no stage {', '.join(sorted(unknown))}; use {', '.join(STAGES)}")


def _cron(stage: str, settings: UpkeepSettings) -> str:
    if stage in settings.by_hand:
        return ""
    return settings.weekly if stage in WEEKLY else settings.nightly


def in_one_step(work: Counted) -> Work:
    """A stage of what cannot be divided."""

    def do(run: StageRun) -> None:
        run.progress.expect(1)
        run.progress.advance(None, **work(run))

    return do


def in_turn(*parts: Work) -> Work:
    """A stage of several parts; its cursor also says which of them it is at."""

    def do(run: StageRun) -> None:
        number, _, within = (run.cursor or "0:").partition(":")
        begin, cursor = int(number), within or None
        for place, part in enumerate(parts):
            if place >= begin:
                progress = _PartOfProgress(run.progress, place)
                part(replace(run, progress=progress, cursor=cursor if place == begin else None))

    return do


class _PartOfProgress:
    def __init__(self, whole: Progress, place: int) -> None:
        self._whole = whole
        self._place = place

    def expect(self, total: int) -> None:
        self._whole.expect(total)

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None:
        self._whole.advance(f"{self._place}:{cursor or ''}", steps, **counts)


def _enrich(run: StageRun) -> None:
    from treering.entities.enrichment import enrich_entities

    enrich_entities(run)


def _consolidate(run: StageRun) -> None:
    from treering.knowledge.session_learning import consolidate_sessions

    consolidate_sessions(run)


def _reflect(run: StageRun) -> None:
    from treering.knowledge.reflection.stage import reflect

    reflect(run)


def _forget(run: StageRun) -> None:
    from treering.knowledge.removal.stage import forget_expired

    forget_expired(run)


def _age_episodes(run: StageRun) -> None:
    from treering.episodes.lifecycle import age_episodes

    age_episodes(run)


def _consolidate_episodes(run: StageRun) -> None:
    from treering.episodes.consolidation.stage import consolidate_episodes

    consolidate_episodes(run)


def _record_applications(run: StageRun) -> None:
    from treering.patterns.stages import record_new

    record_new(run)


def _mine(run: StageRun) -> Mapping[str, int]:
    from treering.patterns.stages import mine_new

    return mine_new(run)


def _validate(run: StageRun) -> Mapping[str, int]:
    from treering.patterns.stages import validate_all

    return validate_all(run)


def _refine(run: StageRun) -> None:
    from treering.patterns.stages import refine_reviewed

    refine_reviewed(run)


def _name(run: StageRun) -> None:
    from treering.patterns.mining.names import name_found

    name_found(run)


def _optimise(run: StageRun) -> Mapping[str, int]:
    if not run.dry_run:
        run.store.optimise()
    return {}
