"""What belongs to the result of a tool, and to the pause between two steps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from treering.context.injection.candidates import InjectionCandidate, record_candidate
from treering.context.injection.lookup import TRUSTED, WARNING_TYPES, WORK_AGE
from treering.core.payloads import ErrorPattern

if TYPE_CHECKING:
    from treering.context.injection.lookup import InjectionLookup

_MAX_PATTERN = 200
_FAILURES, _SEARCHES = "error_retry", "repeated_grep"
"""Signals of the observer; importing its table would take longer than the look-up."""
_ANSWERS = ("module_insight", "decision", "causal_dependency", *WARNING_TYPES)
_REPEATED = re.compile(r"^searched \d+ times for ")
_NAME = re.compile(r"[^\W\d_]{3}")


def known_resolution(look: InjectionLookup) -> Iterator[InjectionCandidate]:
    """How the failure of this command was resolved before; failures are compared by their fingerprints."""
    occasion = look.occasion
    if not occasion.error:
        return
    from treering.observe.errors import failure_of
    from treering.observe.tools import ToolAction, ToolUse

    use = ToolUse(ToolAction.RUN, command=occasion.command or "command")
    failure = failure_of("Bash", use, occasion.error, is_error=True, root="")
    record = None if failure is None else look.promoted(_FAILURES, failure.fingerprint)
    payload = None if record is None else record.payload
    if record is not None and isinstance(payload, ErrorPattern) and payload.resolution:
        yield record_candidate(record, "This failure happened before", 0.75, "the same failure")


def known_answer(look: InjectionLookup) -> Iterator[InjectionCandidate]:
    """Where earlier sessions found what the agent searches for."""
    yield from _answers(look, look.occasion.search, "Found before", 0.75)


def _answers(look: InjectionLookup, pattern: str, section: str, estimate: float) -> Iterator[InjectionCandidate]:
    pattern = pattern[:_MAX_PATTERN]
    if not _NAME.search(pattern):
        return
    record = look.promoted(_SEARCHES, pattern)
    if record is not None:
        yield record_candidate(record, section, estimate, "earlier sessions searched for it")
        return
    for _, found in look.matching(pattern, types=_ANSWERS, precise=True)[:2]:
        yield record_candidate(found, section, estimate - 0.2, f"matches {pattern}")


def file_warnings(look: InjectionLookup) -> Iterator[InjectionCandidate]:
    """What went wrong before in the files just touched."""
    yield from look.warnings(look.occasion.files, "About the files just touched")


def alert_matches(look: InjectionLookup) -> Iterator[InjectionCandidate]:
    """What memory knows about early notices of this session, the most urgent first. Tainted notices are left out."""
    for alert in sorted(look.occasion.alerts, key=lambda each: -each.priority):
        if alert.taint is not None or not look.in_time():
            continue
        yield from look.warnings(alert.files, "Seen before")
        yield from _answers(look, _REPEATED.sub("", alert.text), "Seen before", 0.4 + 0.4 * alert.priority)


def open_questions(look: InjectionLookup) -> Iterator[InjectionCandidate]:
    """Work on the files just touched that an earlier session left unfinished."""
    files = look.occasion.files
    if not files:
        return
    for state in look.newest(TRUSTED.replace(types=("work_state",), files=files), 1):
        if look.gate.now - state.created_at <= WORK_AGE:
            yield record_candidate(state, "Left unfinished here", 0.55, "about files just touched")
