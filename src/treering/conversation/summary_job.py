"""Better summaries of what left the window, by a language model, in the background."""

from collections.abc import Sequence
from datetime import datetime
from importlib.resources import files

from treering.core.contexts import RemovedRun
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
_LEAST = 4
"""A span of fewer messages is told well enough by its own words."""
_READ = 24_000
"""Characters of a span that the model reads: its beginning and its end."""
_PAGE = 1_000


def summary_job(conversation: str, now: datetime, id: str) -> Job:
    key, what = f"{SUMMARISE} {conversation}", {"conversation": conversation}
    return Job(id=id, kind=SUMMARISE, key=key, payload=what, run_at=now, created_at=now)


def do_summaries(
    scope: Scope, store: Store, job: Job, clock: Clock, *, models: Models, settings: ConversationSettings
) -> None:
    """Write a summary of each long span that has none by a model; a failing model fails the job.

    A span that changed meanwhile keeps what it has.
    """
    id = job.payload["conversation"]
    writer = models.writer(hurried=False)
    for span in _spans(scope, store, clock, id):
        turns = [turn for turn in _turns(scope, store, clock, id, span) if may_leave(turn, writer.location)]
        if not turns:
            continue
        told = _told(turns)
        prompt = files("treering.prompts").joinpath(_PROMPT).read_text("utf-8").format(messages=told)
        summary = writer.write(prompt, most_tokens=settings.summary_tokens).strip()
        if summary:
            _keep(scope, store, clock, id, span, span.replace(summary=summary, written_by=writer.model))


def _spans(scope: Scope, store: Store, clock: Clock, id: str) -> Sequence[RemovedRun]:
    with store.reading(scope, clock()) as tx:
        session = tx.sessions.get(id)
    state = None if session is None else session.context
    spans = () if state is None else state.removed
    return [span for span in spans if span.messages >= _LEAST and span.written_by is None and span.summary]


def _turns(scope: Scope, store: Store, clock: Clock, id: str, span: RemovedRun) -> list[Turn]:
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


def _told(turns: Sequence[Turn]) -> str:
    lines = "\n".join(f"{turn.speaker or turn.role.value}: {turn.text}" for turn in turns)
    read = lines if len(lines) <= _READ else f"{lines[: _READ // 2]}\n…\n{lines[-_READ // 2 :]}"
    return delimited(DATA, escaped(read))


def _keep(scope: Scope, store: Store, clock: Clock, id: str, *spans: RemovedRun) -> None:
    """Put the second of two spans in the place of the first, where that is as it was read."""
    read, told = spans
    try:
        with store.transaction(scope, clock()) as tx:
            session = tx.sessions.get(id)
            state = None if session is None else session.context
            if session is None or state is None:
                return
            if read in state.removed:
                removed = tuple(told if each == read else each for each in state.removed)
                tx.sessions.update(session.replace(context=state.replace(removed=removed)))
    except Conflict:
        # Somebody changed the window while this was written: the next removal queues the work again.
        return
