"""The four points of an agent's loop: what each may give, its budget and its deadline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from treering.core.injections import InjectionPoint

if TYPE_CHECKING:
    from treering.context.injection.candidates import InjectionCandidate
    from treering.context.injection.lookup import InjectionLookup

InjectionSource = Callable[["InjectionLookup"], Iterator["InjectionCandidate"]]

MAX_SECONDS = 3.0  # whatever the caller allows


@dataclass(frozen=True, slots=True)
class PointSpec:
    """A point: most tokens and items, seconds, the chance of use that an item needs, and where items come from."""

    tokens: int
    items: int
    seconds: float
    threshold: float
    sources: Callable[[], tuple[InjectionSource, ...]]
    """Imports them: what one point needs is not loaded for another."""
    first_step: int = 0


def _at_start() -> tuple[InjectionSource, ...]:
    from treering.context.injection.session_start import given_before, known_here, open_work, rules, top_patterns

    return rules, open_work, given_before, known_here, top_patterns


def _at_prompt() -> tuple[InjectionSource, ...]:
    from treering.context.injection.user_prompt import likely_files, matching_knowledge, pattern_advice

    return matching_knowledge, likely_files, pattern_advice


def _after_tool() -> tuple[InjectionSource, ...]:
    from treering.context.injection.tool_result import file_warnings, known_answer, known_resolution

    return known_resolution, known_answer, file_warnings


def _between_steps() -> tuple[InjectionSource, ...]:
    from treering.context.injection.tool_result import alert_matches, file_warnings, open_questions

    return alert_matches, file_warnings, open_questions


POINTS: Mapping[InjectionPoint, PointSpec] = MappingProxyType(
    {
        InjectionPoint.START: PointSpec(1_500, 24, 0.5, 0.5, _at_start),
        InjectionPoint.PROMPT: PointSpec(800, 12, 2.0, 0.5, _at_prompt),
        InjectionPoint.TOOL: PointSpec(400, 4, 0.1, 0.5, _after_tool),
        # Before step 5, the agent works with what it was given at the start.
        InjectionPoint.STEP: PointSpec(300, 4, 0.05, 0.5, _between_steps, first_step=5),
    }
)
