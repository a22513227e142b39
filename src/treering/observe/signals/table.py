"""The seventeen signals."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from treering.core.events import SessionType
from treering.observe.scratchpad import Signal
from treering.observe.signals.command_signals import test_order, tool_sequence
from treering.observe.signals.cue_signals import self_correction
from treering.observe.signals.failure_signals import backtrack, error_retry, parallel_conflict
from treering.observe.signals.file_signals import co_access, file_access, import_chase, read_abandon, time_anomaly
from treering.observe.signals.note import Detector
from treering.observe.signals.search_signals import glob_ignore, repeated_grep
from treering.observe.signals.work_signals import config_touch, context_token_spike, external_reference, step_overrun

MIN_SCORE = 0.4  # signals below this are discarded
_WEIGHTS = (0.5, 0.3, 0.2)


@dataclass(frozen=True, slots=True)
class SignalSpec:
    """One signal: how it is detected, what it is worth, and what it may become.

    `false_positive_rate` is a prior; each project estimates its own. `session_types` are those whose sessions promote
    this signal. A signal that `needs_another` is only promoted beside another one about the same files.
    """

    detector: Detector
    diagnostic: float
    relevance: float
    false_positive_rate: float
    min_sessions: int
    promotes_to: tuple[str, ...]
    session_types: frozenset[SessionType]
    max_notes: int = 20
    needs_another: bool = False

    @property
    def score(self) -> float:
        return self.score_at(self.false_positive_rate)

    def score_at(self, false_positive_rate: float) -> float:
        """Value of the signal, between 0 and 1, at this rate of false positives."""
        parts = (self.diagnostic, self.relevance, 1 - false_positive_rate)
        return round(sum(weight * part for weight, part in zip(_WEIGHTS, parts, strict=True)), 4)


_BUILD = SessionType.BUILD
_PRIMARY: Mapping[SessionType, frozenset[Signal]] = {
    _BUILD: frozenset(Signal),
    SessionType.INSIGHTS: frozenset({Signal.CO_ACCESS, Signal.SELF_CORRECTION, Signal.REPEATED_GREP}),
    # Decisions and requirements are said by the user, so they are cues.
    SessionType.ROADMAP: frozenset({Signal.SELF_CORRECTION}),
    SessionType.TERMINAL: frozenset({Signal.ERROR_RETRY, Signal.TOOL_SEQUENCE}),
    SessionType.CHANGELOG: frozenset(),
    # File accesses, and the signals that become insights about a module.
    SessionType.SPEC: frozenset(
        {Signal.FILE_ACCESS, Signal.SELF_CORRECTION, Signal.REPEATED_GREP, Signal.EXTERNAL_REFERENCE}
    ),
    SessionType.PR_REVIEW: frozenset({Signal.ERROR_RETRY, Signal.SELF_CORRECTION}),
}


def _spec(
    signal: Signal,
    detector: Detector,
    values: tuple[float, float, float],
    min_sessions: int,
    *promotes_to: str,
    max_notes: int = 20,
    needs_another: bool = False,
) -> tuple[Signal, SignalSpec]:
    types = frozenset(kind for kind, signals in _PRIMARY.items() if signal in signals)
    return signal, SignalSpec(detector, *values, min_sessions, promotes_to, types, max_notes, needs_another)


# Diagnostic value, relevance to other sessions, prior rate of false positives; from the highest score to the lowest.
SIGNALS: Mapping[Signal, SignalSpec] = MappingProxyType(
    dict(
        (
            _spec(Signal.CO_ACCESS, co_access, (0.90, 0.95, 0.125), 3, "causal_dependency", "prefetch_pattern"),
            _spec(Signal.SELF_CORRECTION, self_correction, (0.95, 0.85, 0.25), 1, "gotcha", "module_insight"),
            _spec(Signal.ERROR_RETRY, error_retry, (0.90, 0.80, 0.20), 2, "error_pattern", "gotcha"),
            _spec(Signal.PARALLEL_CONFLICT, parallel_conflict, (0.90, 0.70, 0.20), 1, "gotcha", max_notes=10),
            _spec(Signal.READ_ABANDON, read_abandon, (0.80, 0.80, 0.25), 3, "gotcha", "module_insight", max_notes=10),
            _spec(Signal.REPEATED_GREP, repeated_grep, (0.75, 0.80, 0.275), 2, "module_insight", "gotcha"),
            _spec(Signal.TEST_ORDER, test_order, (0.70, 0.80, 0.25), 3, "task_calibration", max_notes=3),
            _spec(Signal.TOOL_SEQUENCE, tool_sequence, (0.65, 0.85, 0.25), 3, "workflow_recipe", max_notes=12),
            _spec(Signal.FILE_ACCESS, file_access, (0.60, 0.90, 0.25), 3, "prefetch_pattern"),
            _spec(Signal.STEP_OVERRUN, step_overrun, (0.65, 0.75, 0.20), 3, "task_calibration", max_notes=10),
            _spec(Signal.BACKTRACK, backtrack, (0.70, 0.60, 0.25), 2, "gotcha", needs_another=True),
            _spec(Signal.CONFIG_TOUCH, config_touch, (0.60, 0.70, 0.25), 2, "causal_dependency", max_notes=10),
            _spec(Signal.GLOB_IGNORE, glob_ignore, (0.60, 0.65, 0.275), 2, "gotcha", max_notes=5),
            _spec(Signal.CONTEXT_TOKEN_SPIKE, context_token_spike, (0.55, 0.70, 0.275), 3, "context_cost", max_notes=5),
            _spec(
                *(Signal.EXTERNAL_REFERENCE, external_reference, (0.60, 0.60, 0.35), 3, "module_insight"),
                max_notes=10,
                needs_another=True,
            ),
            _spec(Signal.IMPORT_CHASE, import_chase, (0.45, 0.55, 0.35), 4, "causal_dependency", max_notes=5),
            _spec(Signal.TIME_ANOMALY, time_anomaly, (0.40, 0.50, 0.35), 3, max_notes=5, needs_another=True),
        )
    )
)
