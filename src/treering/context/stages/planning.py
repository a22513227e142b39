"""Contexts for planning and for checks: few records of the types that change a plan or a test, with their meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.context.stages.calibration import combined
from treering.context.stages.stage_context import ContextSection, StageContext, stage_context
from treering.core.payloads import CausalDependency
from treering.core.phases import PHASE_BUDGETS, Phase
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge

if TYPE_CHECKING:
    from treering.ports.store import Transaction
    from treering.search.answer import Answer

_TRUSTED = KnowledgeFilter(deprecated=False, flagged=False, tainted=False)
_MAX_WIDENED = 5
"""Files by which the scope of a plan is widened."""
_RECENT = 40
"""Newest records of a type among which those of the modules are chosen."""


@dataclass(frozen=True, slots=True)
class _SectionSpec:
    """A type of records, how many are shown, and whether the newest or the best matching ones are."""

    title: str
    type: str
    limit: int
    newest: bool = False


_PLANNER = (
    _SectionSpec("Estimates", "task_calibration", 5),
    _SectionSpec("Approaches that failed: constraints for the plan", "dead_end", 8),
    _SectionSpec("Files that change together", "causal_dependency", 10),
    _SectionSpec("Recent outcomes", "work_unit_outcome", 5, newest=True),
    _SectionSpec("Recipes", "workflow_recipe", 2),
)
_QA = (
    _SectionSpec("What the screens do", "e2e_observation", 5),
    _SectionSpec("Errors that happened before", "error_pattern", 8),
    _SectionSpec("Requirements", "requirement", 8),
)


@dataclass(frozen=True, slots=True)
class StageRequest:
    """The work, and the files and modules that it is known to concern."""

    task: str
    files: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    budget: int | None = None


def planner_context(tx: Transaction, search: Callable[..., Answer], request: StageRequest) -> StageContext:
    """Estimates, constraints, coupled files, recent outcomes and recipes for a plan."""
    sections = [*_sections(tx, search, _PLANNER, request)]
    estimates = sections[0]
    factor = combined(estimates.records).factor
    if estimates.records:
        sections[0] = ContextSection(
            estimates.title,
            estimates.records,
            f"Multiply estimates of steps by {factor:g}: that is what such work took.",
        )
    widened = _widened(sections[2].records, request.files)
    budget = PHASE_BUDGETS[Phase.DEFINE] if request.budget is None else request.budget
    return stage_context(sections, budget, step_factor=factor, files=widened)


def qa_context(tx: Transaction, search: Callable[..., Answer], request: StageRequest) -> StageContext:
    """Behaviour of screens, known errors and requirements for a check, before anything is tried."""
    budget = PHASE_BUDGETS[Phase.VALIDATE] if request.budget is None else request.budget
    return stage_context([*_sections(tx, search, _QA, request)], budget)


def _sections(
    tx: Transaction, search: Callable[..., Answer], specs: Sequence[_SectionSpec], request: StageRequest
) -> Iterator[ContextSection]:
    for spec in specs:
        found = _newest(tx, spec, request) if spec.newest else _matching(search, spec, request)
        yield ContextSection(spec.title, tuple(each for each in found if _is_proven(each))[: spec.limit])


def _newest(tx: Transaction, spec: _SectionSpec, request: StageRequest) -> list[Knowledge]:
    where = _TRUSTED.replace(types=(spec.type,), modules=request.modules)
    return [match.value for match in tx.knowledge.newest(where, limit=_RECENT)]


def _matching(search: Callable[..., Answer], spec: _SectionSpec, request: StageRequest) -> list[Knowledge]:
    where = _TRUSTED.replace(types=(spec.type,), modules=request.modules)
    answer = search(
        request.task,
        knowledge=where,
        turns=None,
        files=request.files,
        limit=2 * spec.limit,
        thorough=False,
        tainted=False,
        note_access=False,
    )
    return [hit.record for hit in answer if isinstance(hit.record, Knowledge)]


def _is_proven(record: Knowledge) -> bool:
    return record.user_verified or not record.needs_review


def _widened(coupled: Iterable[Knowledge], files: Iterable[str]) -> tuple[str, ...]:
    """Effects of changes to the files that are not among them."""
    known = frozenset(files)
    payloads = (each.payload for each in coupled)
    effects = (
        path
        for each in payloads
        if isinstance(each, CausalDependency) and each.cause in known
        for path in each.effects
        if path not in known
    )
    return tuple(dict.fromkeys(effects))[:_MAX_WIDENED]
