"""Drafts of what the sessions of one module have in common. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.core.observations import evidence_id
from treering.core.values import fitting
from treering.observe.promotion.drafts import seen_in
from treering.observe.scratchpad import Signal
from treering.observe.synthesis.records import SynthesisDraft
from treering.observe.synthesis.statistics import clean_weight

if TYPE_CHECKING:
    from treering.core.co_access import CoAccessEdge
    from treering.core.observations import SignalEvidence
    from treering.core.taint import Taint
    from treering.observe.synthesis.statistics import ModuleStatistics

ALWAYS, OFTEN = 0.8, 0.5  # shares of the module's sessions that must be exceeded
MIN_WEIGHT = 0.7  # of a dependency
MIN_SESSIONS = 3
MIN_CLEAN_SESSIONS = 5  # untainted sessions that describe a module on their own
_MAX_LISTED = 10
_MIN_PREFETCHED = 2  # a single file is named by the task itself
_MAX_PAIRS = 2
_MAX_ERRORS = 2
_MAX_ERROR_TEXT = 300
_ORDERS = {
    "test_first": "are written or run before the change",
    "before_and_after": "are run before and after the edits",
    "after": "are run after the edits",
    "before": "are run before the edits",
}


@dataclass(frozen=True, slots=True)
class ModuleHistory:
    """What is known about a module's sessions. `sessions` holds what was counted for each."""

    module: ModuleStatistics
    sessions: Sequence[SignalEvidence]
    edges: Sequence[CoAccessEdge]
    file_sessions: Mapping[str, int]
    errors: Sequence[SignalEvidence]

    @property
    def taint(self) -> Taint | None:
        """None if untainted sessions alone describe the module."""
        return None if len(self.module.row.sessions) >= MIN_CLEAN_SESSIONS else self.module.row.taint

    @property
    def considered(self) -> list[SignalEvidence]:
        """The untainted sessions if they are enough, else all."""
        clean = frozenset(self.module.row.sessions)
        return [each for each in self.sessions if self.taint is not None or each.subject in clean]

    def files_of(self, session: SignalEvidence) -> Iterator[str]:
        tainted = frozenset(() if self.taint is not None else session.detail.get("tainted_files", ()))
        return (path for path in session.files if path not in tainted)


def module_drafts(history: ModuleHistory) -> list[SynthesisDraft]:
    """All drafts, the most useful first."""
    return [*_prefetch(history), *_dependencies(history), *_errors(history), *_test_order(history)]


def file_shares(history: ModuleHistory) -> dict[str, float]:
    """Share of the considered sessions that touched each file, largest first."""
    sessions = history.considered
    counts = Counter(path for each in sessions for path in history.files_of(each))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return {path: count / len(sessions) for path, count in ranked}


def _prefetch(history: ModuleHistory) -> Iterator[SynthesisDraft]:
    shares, count = file_shares(history), len(history.considered)
    always = tuple(path for path, share in shares.items() if share > ALWAYS)[:_MAX_LISTED]
    often = tuple(path for path, share in shares.items() if OFTEN < share <= ALWAYS)[:_MAX_LISTED]
    if count < MIN_SESSIONS:
        return
    module = history.module.module
    parts = [f"nearly always {_listed(always)}"] if always else []
    parts += [f"often {_listed(often)}"] if often else []
    needed = f"Work in `{module}` needs {', '.join(parts)}" if parts else f"Sessions in `{module}` share no files"
    yield SynthesisDraft(
        "prefetch_pattern",
        module,
        f"{needed} (of {seen_in(count)})",
        {
            "module_trigger": fitting(module, 200),
            "always_read": always,
            "often_read": often,
            "session_count": count,
        },
        files=(*always, *often),
        modules=(fitting(module, 200),),
        sessions=tuple(each.subject for each in history.considered),
        confidence=0.8 if always else 0.7,
        taint=history.taint,
        renewal_only=len(always) + len(often) < _MIN_PREFETCHED,
    )


def _dependencies(history: ModuleHistory) -> Iterator[SynthesisDraft]:
    """The strongest pairs of files."""
    strong = [each for each in history.edges if each.weight > MIN_WEIGHT and each.sessions >= MIN_SESSIONS]
    for edge in sorted(strong, key=lambda each: (-each.weight, each.first, each.second))[:_MAX_PAIRS]:
        first, second = sorted((edge.first, edge.second))
        clean = clean_weight(edge, history.file_sessions)
        is_clean = clean > MIN_WEIGHT and edge.sessions - edge.tainted_sessions >= MIN_SESSIONS
        if not is_clean and history.module.row.taint is None:
            continue
        both = tuple(each.subject for each in history.sessions if first in each.files and second in each.files)
        yield SynthesisDraft(
            "causal_dependency",
            f"{first} + {second}",
            f"`{edge.first}` and `{edge.second}` belong together: {seen_in(edge.sessions)} used both, few only one",
            {
                "cause": edge.first,
                "effects": (edge.second,),
                "coupling": edge.weight,
                "directional": edge.directional,
            },
            files=(edge.first, edge.second),
            sessions=both,
            confidence=edge.weight,
            taint=None if is_clean else history.module.row.taint,
            evidence=evidence_id(Signal.CO_ACCESS.value, f"{first} + {second}"),
        )


def _errors(history: ModuleHistory) -> Iterator[SynthesisDraft]:
    """Errors that come back and have no record, because no session showed how to resolve them."""
    ours = frozenset((*history.module.row.sessions, *history.module.row.tainted_sessions))
    recurring = [
        (len(ours & {*each.sessions, *each.tainted_sessions}), each) for each in history.errors if each.record is None
    ]
    ranked = sorted((item for item in recurring if item[0] >= MIN_SESSIONS), key=lambda item: (-item[0], item[1].id))
    for count, error in ranked[:_MAX_ERRORS]:
        clean = len(error.sessions) >= MIN_SESSIONS
        detail = error.detail if clean else {**error.tainted_detail, **error.detail}
        summary = str(detail.get("summary", "")).strip()[:_MAX_ERROR_TEXT]
        command = str(detail.get("command") or detail.get("tool") or "a command")[:200]
        if not summary or detail.get("flaky") or detail.get("tally"):
            continue  # it was resolved, but not twice in the same way
        yield SynthesisDraft(
            "error_pattern",
            error.subject,
            f"`{command}` fails with `{summary}` (in {seen_in(count)} on `{history.module.module}`; not resolved)",
            {"fingerprint": error.subject, "message": summary, "tool": command, "occurrences": error.occurrences},
            files=error.files,
            modules=(fitting(history.module.module, 200),),
            sessions=error.sessions if clean else (*error.sessions, *error.tainted_sessions),
            confidence=0.65,
            taint=None if clean else error.taint,
            evidence=error.id,
        )


def _test_order(history: ModuleHistory) -> Iterator[SynthesisDraft]:
    """When and how the tests of the module are run, if most sessions agree."""
    module = history.module
    clean, tainted = module.samples("tests"), module.samples("tests", tainted=True)
    enough = len(clean) >= MIN_SESSIONS or not tainted
    samples = clean if enough else {**clean, **tainted}
    orders = Counter(str(each[0]) for each in samples.values())
    if not orders:
        return
    order, count = min(orders.items(), key=lambda item: (-item[1], item[0]))
    if count < MIN_SESSIONS or count <= OFTEN * len(samples):
        return
    agreeing = {session: each for session, each in samples.items() if each[0] == order}
    command, runs = min(
        Counter(str(each[1]) for each in agreeing.values()).items(), key=lambda item: (-item[1], item[0])
    )
    usual = f" with `{command[:200]}`" if command and runs >= MIN_SESSIONS else ""
    yield SynthesisDraft(
        "task_calibration",
        f"{module.module}: tests",
        f"Tests of `{module.module}` {_ORDERS[order]}{usual} (in {count} of {seen_in(len(samples))})",
        {"module": fitting(module.module, 200), "samples": len(samples)},
        modules=(fitting(module.module, 200),),
        sessions=tuple(agreeing),
        confidence=0.7,
        taint=None if enough else module.row.taint,
    )


def _listed(paths: Sequence[str]) -> str:
    shown = [f"`{each}`" for each in paths[:5]]
    more = len(paths) - len(shown)
    return (
        f"{', '.join(shown)} and {more} more"
        if more > 0
        else " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
    )
