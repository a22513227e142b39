"""Phases of work and their use of memory.

`PHASE_WEIGHTS` are factors of knowledge types in a phase; types that are not listed have 1. `PHASE_BUDGETS` are token
budgets of a context. `PHASE_SHARES` divide that budget among the types, most important first; `OTHER` is the share of
turns and of types that are not listed, which without it get only what the listed types leave over.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Phase(StrEnum):
    """Phase of work, independent of the methodology."""

    DEFINE = "define"
    IMPLEMENT = "implement"
    VALIDATE = "validate"
    REFINE = "refine"
    EXPLORE = "explore"
    REFLECT = "reflect"


NATIVE_PHASES: Mapping[str, Phase] = MappingProxyType(
    {
        "planning": Phase.DEFINE,
        "spec": Phase.DEFINE,
        "coding": Phase.IMPLEMENT,
        "qa_review": Phase.VALIDATE,
        "qa_fix": Phase.REFINE,
        "debugging": Phase.REFINE,
        "insights": Phase.EXPLORE,
    }
)
"""Phases by the names that agents use for their own work."""

OTHER = "other"


def _fixed(table: Mapping[Phase, Mapping[str, float]]) -> Mapping[Phase, Mapping[str, float]]:
    return MappingProxyType({phase: MappingProxyType(row) for phase, row in table.items()})


PHASE_WEIGHTS: Mapping[Phase, Mapping[str, float]] = _fixed(
    {
        Phase.DEFINE: {
            "workflow_recipe": 1.4,
            "dead_end": 1.2,
            "requirement": 1.2,
            "decision": 1.1,
            "task_calibration": 1.1,
            "gotcha": 0.8,
            "error_pattern": 0.8,
        },
        Phase.IMPLEMENT: {
            "gotcha": 1.4,
            "error_pattern": 1.3,
            "causal_dependency": 1.2,
            "dead_end": 1.2,
            "pattern": 1.1,
            "prefetch_pattern": 1.1,
        },
        Phase.VALIDATE: {"error_pattern": 1.4, "e2e_observation": 1.4, "requirement": 1.2, "work_unit_outcome": 1.1},
        Phase.REFINE: {"error_pattern": 1.3, "gotcha": 1.2, "dead_end": 1.2, "pattern": 1.0},
        Phase.EXPLORE: {"module_insight": 1.4, "decision": 1.2, "pattern": 1.1, "causal_dependency": 1.0},
        Phase.REFLECT: {"work_unit_outcome": 1.4, "task_calibration": 1.3, "dead_end": 1.1},
    }
)

PHASE_BUDGETS: Mapping[Phase, int] = MappingProxyType(
    {
        Phase.DEFINE: 2500,
        Phase.IMPLEMENT: 3000,
        Phase.VALIDATE: 2500,
        Phase.REFINE: 2000,
        Phase.EXPLORE: 2000,
        Phase.REFLECT: 1500,
    }
)

PHASE_SHARES: Mapping[Phase, Mapping[str, float]] = _fixed(
    {
        Phase.DEFINE: {
            "workflow_recipe": 0.30,
            "requirement": 0.20,
            "decision": 0.20,
            "dead_end": 0.15,
            "task_calibration": 0.10,
            OTHER: 0.05,
        },
        Phase.IMPLEMENT: {
            "gotcha": 0.30,
            "error_pattern": 0.25,
            "causal_dependency": 0.15,
            "pattern": 0.15,
            "dead_end": 0.10,
            OTHER: 0.05,
        },
        Phase.VALIDATE: {
            "error_pattern": 0.30,
            "requirement": 0.25,
            "e2e_observation": 0.25,
            "work_unit_outcome": 0.15,
            OTHER: 0.05,
        },
        Phase.REFINE: {"error_pattern": 0.35, "gotcha": 0.25, "dead_end": 0.20, "pattern": 0.15, OTHER: 0.05},
        Phase.EXPLORE: {"module_insight": 0.40, "decision": 0.25, "pattern": 0.20, "causal_dependency": 0.15},
        Phase.REFLECT: {"work_unit_outcome": 0.40, "task_calibration": 0.35, "dead_end": 0.15, OTHER: 0.10},
    }
)
