"""Statistics of the window, and the explanation of every message."""

from datetime import datetime

from treering.conversation.exchanges import ORPHAN
from treering.conversation.importance import ImportanceInputs, importance
from treering.conversation.pruning import protected_places
from treering.conversation.stored_window import StoredWindow
from treering.conversation.transcript import TranscriptEntry, completed, redundant
from treering.conversation.views import ConversationStats, ExplainedMessage, WindowExplanation
from treering.conversation.window_context import left_out
from treering.core.contexts import ContextState
from treering.render.token_counts import Meter


def window_statistics(stored: StoredWindow, meter: Meter) -> ConversationStats:
    """Statistics of the window; tokens are scaled to the provider's counts."""
    state, transcript, window = stored.state, stored.transcript, stored.window
    looked_up = meter.hits + meter.misses
    first = next((entry for entry in transcript if entry.place not in window.out), None)
    return ConversationStats(
        id=stored.id,
        rules=state.rules,
        exact=meter.tokenizer.exact and not meter.failures.count,
        messages=len(transcript),
        in_context=window.messages,
        removed=len(window.out),
        left_out=len(window.absent),
        tokens=stored.scaled(window.tokens + meter.priming),
        total_tokens=stored.scaled(sum(entry.tokens for entry in transcript)),
        tokens_by_role={role.value: stored.scaled(tokens) for role, tokens in window.by_role.items()},
        marker_tokens=stored.scaled(window.marker_tokens),
        oldest=first.at if first else None,
        last_removal=max((run.at for run in state.removed), default=None),
        spans=state.removed,
        counts_from_cache=meter.hits / looked_up if looked_up else 0.0,
        counts_estimated=meter.failures.count,
    )


def explain_window(stored: StoredWindow, stats: ConversationStats, now: datetime) -> WindowExplanation:
    """Every message with its importance and the reason it is in the window or not."""
    state, transcript, window, protection = stored.state, stored.transcript, stored.window, stored.protection
    completed_places, protected = completed(transcript), protected_places(transcript, protection)
    repeated = redundant(transcript, window.out | window.absent)
    segments = transcript.segments()
    number = {segment: place for place, segment in enumerate(segments)}
    missing = left_out(transcript, window.out)

    def line(entry: TranscriptEntry) -> ExplainedMessage:
        after = len(transcript) - 1 - entry.place
        inputs = ImportanceInputs(
            after,
            now,
            completed=entry.place in completed_places,
            unimportant=entry.id in protection.unimportant,
            redundant=entry.place in repeated,
        )
        out = entry.place in window.out
        return ExplainedMessage(
            place=entry.place,
            seq=entry.seq,
            id=entry.id,
            role=entry.role,
            at=entry.at,
            tokens=stored.scaled(entry.tokens),
            importance=importance(entry, inputs),
            segment=number[transcript.segment_of[entry.place]],
            pinned=entry.id in protection.pinned,
            protected=entry.place in protected,
            in_context=not out and entry.place not in window.absent,
            why=_why(state, entry) if out else missing.get(entry.id, ""),
            text=entry.gist if entry.message is None else entry.message.text,
            cues=entry.cues.why,
        )

    tasks = tuple((each.first, each.opened, each.ended) for each in segments)
    return WindowExplanation(stats, tuple(line(entry) for entry in transcript), tasks)


def _why(state: ContextState, entry: TranscriptEntry) -> str:
    """The reason of removal; a late result of a removed call has no run of its own."""
    run = next((run for run in state.removed if run.first <= entry.seq <= run.last), None)
    return ORPHAN if run is None else run.why
