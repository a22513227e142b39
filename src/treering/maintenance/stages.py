"""The stages of maintenance in the order in which they run. Each imports what it needs when it runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from treering.core.errors import InvalidInput
from treering.jobs.stage import StageProgress, StageRun, StageWork
from treering.maintenance.owners import for_each_owner
from treering.maintenance.schedule import Stage

if TYPE_CHECKING:
    from treering.core.settings import MaintenanceSettings

STAGES = (
    "enrich",
    "consolidate",
    "reflect",
    "synthesise",
    "forget",
    "episodes",
    "mine",
    "validate",
    "refine",
    "staleness",
    "index",
    "report",
)
"""Each stage reads what the stages before it wrote, and starts when the one before it has ended."""
WEEKLY = ("reflect", "synthesise")

SingleStep = Callable[[StageRun], Mapping[str, int]]
"""Work done in one step; returns counts of what it did."""


def nightly(
    settings: MaintenanceSettings, *, staleness: StageWork, vectors: StageWork, report: SingleStep
) -> tuple[Stage, ...]:
    """All stages. The work on repositories, vectors and health is passed in by the composition root.

    Stages that change the records of one owner run once for each owner. The others use marks of the whole project, only
    count, or write shared records: they run once, with the visibility of the worker.
    """
    works: Mapping[str, StageWork] = {
        "enrich": _enrich,
        "consolidate": for_each_owner(_consolidate),
        "reflect": _reflect,
        "synthesise": in_sequence(_correct_co_access, in_one_step(_write_causal_chains)),
        "forget": for_each_owner(_forget),
        "episodes": for_each_owner(in_sequence(_age_episodes, _consolidate_episodes)),
        "mine": for_each_owner(in_sequence(in_one_step(_mine), _name)),
        "validate": for_each_owner(in_sequence(_record_applications, in_one_step(_validate))),
        "refine": for_each_owner(_refine),
        "staleness": staleness,
        "index": in_sequence(vectors, in_one_step(_optimise)),
        "report": in_one_step(report),
    }
    return tuple(Stage(name, _cron(name, settings), works[name]) for name in STAGES)


def check_stages(names: Collection[str]) -> None:
    if unknown := set(names) - set(STAGES):
        raise InvalidInput(f"maintenance.by_hand: unknown stage {', '.join(sorted(unknown))}; use {', '.join(STAGES)}")


def _cron(stage: str, settings: MaintenanceSettings) -> str:
    if stage in settings.by_hand:
        return ""
    return settings.weekly if stage in WEEKLY else settings.nightly


def in_one_step(work: SingleStep) -> StageWork:
    """A stage of a single step."""

    def do(run: StageRun) -> None:
        run.progress.expect(1)
        run.progress.advance(None, **work(run))

    return do


def in_sequence(*parts: StageWork) -> StageWork:
    """A stage that runs several parts in order; its cursor starts with the number of the current part."""

    def do(run: StageRun) -> None:
        number, _, within = (run.cursor or "0:").partition(":")
        first, cursor = int(number), within or None
        for index, part in enumerate(parts):
            if index >= first:
                progress = _PartProgress(run.progress, index)
                part(replace(run, progress=progress, cursor=cursor if index == first else None))

    return do


class _PartProgress:
    def __init__(self, progress: StageProgress, index: int) -> None:
        self._progress = progress
        self._index = index

    def expect(self, total: int) -> None:
        self._progress.expect(total)

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None:
        self._progress.advance(f"{self._index}:{cursor or ''}", steps, **counts)


def _enrich(run: StageRun) -> None:
    from treering.entities.enrichment import enrich_entities

    enrich_entities(run)


def _consolidate(run: StageRun) -> None:
    from treering.knowledge.session_learning import consolidate_sessions
    from treering.observe.unfinished import finish_abandoned

    if run.cursor is None and (abandoned := finish_abandoned(run)):
        run.progress.advance(None, 0, abandoned=abandoned)
    consolidate_sessions(run)


def _reflect(run: StageRun) -> None:
    from treering.knowledge.reflection.stage import reflect

    reflect(run)


def _correct_co_access(run: StageRun) -> None:
    from treering.core.observations import PROMOTION
    from treering.observe.synthesis.weekly import correct_weights

    correct_weights(run, PROMOTION)


def _write_causal_chains(run: StageRun) -> Mapping[str, int]:
    from treering.core.observations import PROMOTION
    from treering.observe.synthesis.weekly import write_chains

    return write_chains(run, PROMOTION)


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
    from treering.patterns.stages import record_new_applications

    record_new_applications(run)


def _mine(run: StageRun) -> Mapping[str, int]:
    from treering.patterns.stages import mine_changed_episodes

    return mine_changed_episodes(run)


def _validate(run: StageRun) -> Mapping[str, int]:
    from treering.patterns.stages import validate_all

    return validate_all(run)


def _refine(run: StageRun) -> None:
    from treering.patterns.stages import refine_patterns_under_review

    refine_patterns_under_review(run)


def _name(run: StageRun) -> None:
    from treering.patterns.mining.names import name_mined_patterns

    name_mined_patterns(run)


def _optimise(run: StageRun) -> Mapping[str, int]:
    if not run.dry_run:
        run.store.optimise()
    return {}
