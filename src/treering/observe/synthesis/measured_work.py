"""Drafts of what work costs: steps against the plan, tokens of a module, outcomes of subtasks. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from treering.core.records import WorkUnit
from treering.core.values import fitting
from treering.observe.promotion.drafts import seen_in
from treering.observe.synthesis.records import SynthesisDraft
from treering.observe.synthesis.statistics import session_taint

if TYPE_CHECKING:
    from treering.core.taint import Taint
    from treering.observe.synthesis.session_facts import SessionFacts, WorkUnitFact
    from treering.observe.synthesis.statistics import ModuleStatistics

MIN_SAMPLES = 3
MIN_TOKENS = 10_000  # of a module in a session; less is not worth a warning
MIN_DEVIATION = 0.15  # plans that are right within this share need no calibration
MAX_UNITS = 5  # outcomes of one session
_CONFIDENCE = 0.75


def calibrations(module: ModuleStatistics) -> Iterator[SynthesisDraft]:
    """How the plans of a module relate to what was done, by session type and unit."""
    clean, tainted = module.samples("plans"), module.samples("plans", tainted=True)
    for type, unit in sorted({(each[0], each[1]) for each in (*clean.values(), *tainted.values())}):
        samples, taint = _supported(_of_kind(clean, type, unit), _of_kind(tainted, type, unit), module.row.taint)
        if len(samples) < MIN_SAMPLES:
            continue
        planned = _mean([each[2] for each in samples.values()])
        actual = _mean([each[3] for each in samples.values()])
        ratio = round(actual / planned, 1)
        if abs(ratio - 1) < MIN_DEVIATION:
            continue
        yield SynthesisDraft(
            "task_calibration",
            f"{module.module}: {type}: {unit}",
            f"{_session_type(type)} in `{module.module}` take {ratio:g} times the planned {unit} "
            f"(planned {_rounded(planned):,}, done {_rounded(actual):,}; mean of {seen_in(len(samples))})",
            {
                "module": fitting(module.module, 200),
                "methodology": type,
                "mean_planned_steps": round(planned, 1),
                "mean_actual_steps": round(actual, 1),
                "ratio": round(actual / planned, 3),
                "samples": len(samples),
            },
            modules=(fitting(module.module, 200),),
            sessions=tuple(samples),
            confidence=_CONFIDENCE,
            taint=taint,
        )


def context_costs(module: ModuleStatistics) -> Iterator[SynthesisDraft]:
    """Tokens that work in a module puts into the context, if they are many."""
    samples, taint = _supported(module.samples("tokens"), module.samples("tokens", tainted=True), module.row.taint)
    if len(samples) < MIN_SAMPLES or (mean := _mean([*samples.values()])) < MIN_TOKENS:
        return
    largest = max(samples.values())
    yield SynthesisDraft(
        "context_cost",
        module.module,
        f"A session that works in `{module.module}` reads about {_rounded(mean):,} tokens of it, "
        f"at most {_rounded(largest):,} (mean of the last {seen_in(len(samples))})",
        {
            "module": fitting(module.module, 200),
            "mean_tokens": round(mean, 1),
            "max_tokens": largest,
            "samples": len(samples),
        },
        modules=(fitting(module.module, 200),),
        sessions=tuple(samples),
        confidence=_CONFIDENCE,
        taint=taint,
    )


def work_unit_outcomes(session: str, facts: SessionFacts) -> list[SynthesisDraft]:
    """Outcomes of the session's subtasks: those that failed first, then the longest."""
    ranked = sorted(facts.units, key=lambda unit: (_succeeded(unit), -unit.steps, unit.key))
    return [_outcome(session, facts, unit) for unit in ranked[:MAX_UNITS]]


def _outcome(session: str, facts: SessionFacts, unit: WorkUnitFact) -> SynthesisDraft:
    named = unit.title if unit.title != unit.key else f"{session}: {unit.key}"
    succeeded, steps = _succeeded(unit), "1 step" if unit.steps == 1 else f"{unit.steps} steps"
    checked = {True: ", validated", False: ", not validated", None: ""}[unit.validated]
    how = "succeeded in" if succeeded else "was abandoned after" if unit.outcome == "abandoned" else "failed after"
    because = f": `{unit.failures[-1]}`" if unit.failures and not succeeded else ""
    return SynthesisDraft(
        "work_unit_outcome",
        named,
        f"Subtask “{unit.title}” {how} {steps}{checked}{because}",
        {"succeeded": succeeded, "steps": unit.steps, "files_changed": unit.files, "failures": unit.failures},
        files=unit.files,
        sessions=(session,),
        confidence=_CONFIDENCE,
        taint=session_taint(facts) if unit.tainted else None,
        work_unit=WorkUnit(hierarchy=(fitting(unit.key, 200),), label=fitting(unit.title, 200)),
    )


def _succeeded(unit: WorkUnitFact) -> bool:
    return unit.outcome == "success" and unit.validated is not False


def _supported(
    clean: Mapping[str, Any], tainted: Mapping[str, Any], taint: Taint | None
) -> tuple[Mapping[str, Any], Taint | None]:
    """Untainted samples if they are enough on their own, else all of them with the taint."""
    if len(clean) >= MIN_SAMPLES or not tainted:
        return clean, None
    return {**clean, **tainted}, taint


def _of_kind(samples: Mapping[str, Any], type: str, unit: str) -> dict[str, Any]:
    return {session: each for session, each in samples.items() if (each[0], each[1]) == (type, unit)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _rounded(value: float) -> int:
    """To two digits, so that a record changes only when the figure does."""
    unit = int(10 ** max(0, len(str(int(value))) - 2))
    return round(value / unit) * unit


def _session_type(type: str) -> str:
    return {"build": "Builds", "pr_review": "Reviews", "insights": "Explorations"}.get(type, f"Sessions of type {type}")
