"""Background job: summaries of removed messages, written by a language model."""

from collections.abc import Sequence
from datetime import datetime
from importlib.resources import files

from treering.core.contexts import RemovedMessages
from treering.core.delimiters import DATA, delimited, escaped
from treering.core.errors import Conflict
from treering.core.jobs import Job
from treering.core.privacy import may_leave
from treering.core.queries import Order, TurnFilter
from treering.core.scope import Scope, Visibility
from treering.core.settings import ConversationSettings
from treering.core.turns import Turn
from treering.ports.clock import Clock
from treering.ports.models import Models
from treering.ports.store import Store

SUMMARISE = "summarise_removed"
_PROMPT = "removed_messages.md"
_MIN_MESSAGES = 4
"""For shorter spans, the extractive summary is good enough."""
_MAX_CHARACTERS = 24_000
"""Characters of a span given to the model: its beginning and its end."""
_PAGE = 1_000


def summary_job(conversation: str, now: datetime, id: str) -> Job:
    key, payload = f"{SUMMARISE} {conversation}", {"conversation": conversation}
    return Job(id=id, kind=SUMMARISE, key=key, payload=payload, run_at=now, created_at=now)


def do_summaries(
    scope: Scope, store: Store, job: Job, clock: Clock, *, models: Models, settings: ConversationSettings
) -> None:
    """Write a summary of each long span that has none from a model. A model error fails the job.

    A span that changed in the meantime keeps its summary.
    """
    id = job.payload["conversation"]
    writer = models.writer(hurried=False)
    for span in _spans(scope, store, clock, id):
        turns = [turn for turn in _turns(scope, store, clock, id, span) if may_leave(turn, writer.location)]
        if not turns:
            continue
        text = _prompt_text(turns)
        prompt = files("treering.prompts").joinpath(_PROMPT).read_text("utf-8").format(messages=text)
        summary = writer.write(prompt, max_tokens=settings.summary_tokens).strip()
        if summary:
            _replace_span(scope, store, clock, id, span, span.replace(summary=summary, written_by=writer.model))


def _spans(scope: Scope, store: Store, clock: Clock, id: str) -> Sequence[RemovedMessages]:
    with store.reading(scope, clock()) as tx:
        session = tx.sessions.get(id)
    state = None if session is None else session.context
    spans = () if state is None else state.removed
    return [span for span in spans if span.messages >= _MIN_MESSAGES and span.written_by is None and span.summary]


def _turns(scope: Scope, store: Store, clock: Clock, id: str, span: RemovedMessages) -> list[Turn]:
    found, after = list[Turn](), None
    with store.reading(scope, clock()) as tx:
        while True:
            order = Order(by="seq", descending=False)
            page = tx.turns.find(TurnFilter(sessions=(id,)), order=order, limit=_PAGE, after=after)
            found += [turn for turn in page.items if span.first <= turn.seq <= span.last and _quotable(turn)]
            after = page.next
            if after is None or page.items[-1].seq >= span.last:
                return found


def _quotable(turn: Turn) -> bool:
    return turn.visibility is not Visibility.PERSONAL and not turn.tainted


def _prompt_text(turns: Sequence[Turn]) -> str:
    lines = "\n".join(f"{turn.speaker or turn.role.value}: {turn.text}" for turn in turns)
    read = (
        lines
        if len(lines) <= _MAX_CHARACTERS
        else f"{lines[: _MAX_CHARACTERS // 2]}\n…\n{lines[-_MAX_CHARACTERS // 2 :]}"
    )
    return delimited(DATA, escaped(read))


def _replace_span(scope: Scope, store: Store, clock: Clock, id: str, *spans: RemovedMessages) -> None:
    """Replace the first span by the second, unless it changed since it was read."""
    read, rewritten = spans
    try:
        with store.transaction(scope, clock()) as tx:
            session = tx.sessions.get(id)
            state = None if session is None else session.context
            if session is None or state is None:
                return
            if read in state.removed:
                removed = tuple(rewritten if each == read else each for each in state.removed)
                tx.sessions.update(session.replace(context=state.replace(removed=removed)))
    except Conflict:
        # Another writer changed the window; the next removal queues the job again.
        return
