"""Drafts of what one session alone says: where it left its work, what its checks found, how a screen behaves. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from treering.core.events import SessionOutcome
from treering.core.payloads import ObservationKind, WorkState
from treering.core.records import Source
from treering.observe.synthesis.records import SynthesisDraft
from treering.observe.synthesis.statistics import session_taint

if TYPE_CHECKING:
    from treering.core.observations import ObservedSession
    from treering.core.records import Knowledge
    from treering.observe.synthesis.session_facts import CheckFact, SessionFacts

WORK_STATE = "work_state"
QA_TAG, SCREEN_TAG = "qa_failure", "screen"
MAX_CHECKS = 5  # of each kind in one session
_CONFIDENCE = {WORK_STATE: 0.9, QA_TAG: 0.8, SCREEN_TAG: 0.75}
_MAX_PROMPT = 160
_SHOWN = 3


def work_state(session: ObservedSession, facts: SessionFacts) -> SynthesisDraft | None:
    """Where the session left its work; None if it left nothing open."""
    work = facts.work
    is_open = session.outcome is not SessionOutcome.SUCCESS
    asked = _shortened(session.prompts[-1]) if session.prompts and is_open else ""
    current = work.in_progress or asked or (work.failure and f"make `{work.failure}` go away")
    if not current:
        return None
    parts = [f"Left unfinished on {session.last_at:%Y-%m-%d}: “{current}”"]
    parts += [f"next: “{work.next_step}”"] if work.next_step else []
    parts += [f"last failure: `{work.failure}`"] if work.failure and work.failure not in current else []
    parts += [f"done: {_quoted(work.completed)}"] if work.completed else []
    parts += [f"the user said: {_quoted(work.decisions)}"] if work.decisions else []
    parts += [f"edited: {', '.join(f'`{path}`' for path in work.files[:_SHOWN])}"] if work.files else []
    return SynthesisDraft(
        WORK_STATE,
        session.id,
        "; ".join(parts),
        {
            "completed": work.completed,
            "in_progress": current,
            "next_step": work.next_step or None,
            "decisions": work.decisions,
        },
        files=work.files,
        sessions=(session.id,),
        confidence=_CONFIDENCE[WORK_STATE],
        taint=session_taint(facts) if facts.work_tainted else None,
        is_distinct=True,
    )


def finished_work(session: str, facts: SessionFacts, states: Iterable[Knowledge]) -> Iterator[SynthesisDraft]:
    """Corrections of stored work states whose work this session finished: its own ones, and others that it names.

    Call it for its own ones only if it left nothing open.
    """
    done = {title.casefold() for title in facts.work.completed}
    for state in states:
        payload, origin = state.payload, state.provenance_sessions[:1]
        if not isinstance(payload, WorkState) or not payload.in_progress or not origin:
            continue
        if origin[0] != session and payload.in_progress.casefold() not in done:
            continue
        by = "the same session" if origin[0] == session else "a later session"
        yield SynthesisDraft(
            WORK_STATE,
            origin[0],
            f"Finished by {by}: “{payload.in_progress}”",
            {"completed": (*payload.completed, payload.in_progress), "decisions": payload.decisions},
            files=state.files,
            sessions=state.provenance_sessions,
            confidence=_CONFIDENCE[WORK_STATE],
            taint=state.taint or (session_taint(facts) if facts.work_tainted else None),
            renewal_only=True,
            is_distinct=True,
        )


def failed_checks(session: str, facts: SessionFacts) -> list[SynthesisDraft]:
    """Error patterns of the serious problems that a check reported."""
    return [_failed_check(session, facts, each) for each in facts.failed_checks[:MAX_CHECKS]]


def _failed_check(session: str, facts: SessionFacts, check: CheckFact) -> SynthesisDraft:
    text = f"A review found in `{check.file}`: {check.text}" if check.file else f"A review found: {check.text}"
    text += f" (tried: {check.tried})" if check.tried else ""
    text += f"; recommended: {check.recommendation}" if check.recommendation else ""
    return SynthesisDraft(
        "error_pattern",
        f"{QA_TAG}: {check.file}: {check.text}",
        text,
        {"message": check.text, "resolution": check.recommendation or None},
        files=(check.file,) if check.file else (),
        sessions=(session,),
        confidence=_CONFIDENCE[QA_TAG],
        taint=session_taint(facts) if check.tainted else None,
        tags=(QA_TAG, f"severity:{check.kind}"),
        source=Source.QA_AUTO,
    )


def screen_observations(session: str, facts: SessionFacts) -> list[SynthesisDraft]:
    """What screens were seen to do. Every one waits for review: it is recognised by a few words."""
    return [
        SynthesisDraft(
            "e2e_observation",
            check.text,
            check.text,
            {"kind": ObservationKind(check.kind), "tool": check.tool},
            sessions=(session,),
            confidence=_CONFIDENCE[SCREEN_TAG],
            taint=session_taint(facts) if check.tainted else None,
            tags=(SCREEN_TAG,),
            needs_review=True,
            source=Source.MCP_AUTO,
        )
        for check in facts.screens[:MAX_CHECKS]
    ]


def _quoted(texts: tuple[str, ...]) -> str:
    more = len(texts) - _SHOWN
    shown = ", ".join(f"“{text}”" for text in texts[-_SHOWN:])
    return f"{shown} and {more} more" if more > 0 else shown


def _shortened(prompt: str) -> str:
    line = " ".join(prompt.split())
    return line if len(line) <= _MAX_PROMPT else f"{line[: _MAX_PROMPT - 1]}…"
