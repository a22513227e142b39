"""Gives every document its vector, in order and in batches; whoever comes next goes on where the last one stopped."""

from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import blake2b
from time import monotonic

from treering.core.episodes import Episode
from treering.core.errors import ModelUnavailable
from treering.core.jobs import Job
from treering.core.language.marks import without_speaker
from treering.core.patterns import Pattern
from treering.core.records import Knowledge
from treering.core.scope import Scope
from treering.core.settings import EmbedderSettings, Settings
from treering.core.turns import Turn
from treering.ports.clock import Clock
from treering.ports.index import Coverage, Unembedded
from treering.ports.models import Embedder, Models
from treering.ports.store import Store

EMBED = "embed"
# Characters of a neighbouring turn that a text is understood from: a sentence or two.
_AROUND = 200


def embed_batch(scope: Scope, store: Store, now: datetime, embedder: Embedder, settings: EmbedderSettings) -> int:
    """Embed the next documents that have no vector; how many is returned, 0 where all have one.

    No transaction is open while the model works. Texts that were embedded before are not embedded again.
    """
    with store.reading(scope, now) as tx:
        waiting = tx.index.unembedded(embedder.model, limit=settings.batch)
        if not waiting:
            return 0
        texts = {each.number: contextual_text(each, contextual=embedder.contextual) for each in waiting}
        digests = {number: _digest(text) for number, text in texts.items()}
        known = dict(tx.index.known_vectors(embedder.model, sorted(set(digests.values()))))
    fresh = {digest: texts[number] for number, digest in digests.items() if digest not in known}
    if fresh:
        known |= dict(zip(fresh, embedder.documents(list(fresh.values())), strict=True))
    with store.transaction(scope, now) as tx:
        tx.index.add_vectors(embedder.model, [(number, digest, known[digest]) for number, digest in digests.items()])
    return len(waiting)


def embed_all(
    scope: Scope,
    store: Store,
    now: datetime,
    embedder: Embedder,
    settings: EmbedderSettings,
    *,
    between: Callable[[int], bool] = lambda _done: True,
) -> int:
    """Batch by batch until all have a vector or `between` says stop."""
    total = 0
    while done := embed_batch(scope, store, now, embedder, settings):
        total += done
        if not between(total):
            return total
    return total


def drop_others(scope: Scope, store: Store, now: datetime, model: str) -> int:
    """Remove the vectors of every other model; how many is returned. Somebody paid for them: only when asked."""
    with store.transaction(scope, now) as tx:
        return tx.index.drop_vectors(but=model)


def queue_embedding(scope: Scope, store: Store, now: datetime, models: Models, id: str) -> bool:
    """Queue the work where there is any, and a model to do it; whether it was queued is returned."""
    try:
        with store.transaction(scope, now) as tx:
            embedder = models.embedder(tx.index.models(), hurried=False)
            if not tx.index.unembedded(embedder.model, limit=1):
                return False
            return tx.jobs.enqueue(Job(id=id, kind=EMBED, key=EMBED, run_at=now, created_at=now))
    except ModelUnavailable:
        return False


def do_embedding(scope: Scope, store: Store, job: Job, clock: Clock, *, models: Models, settings: Settings) -> None:
    """Embed what has no vector for some seconds, so that others get their turn; a failing model fails the job."""
    with store.reading(scope, clock()) as tx:
        embedder = models.embedder(tx.index.models(), hurried=False)
    lease = timedelta(seconds=settings.jobs.lease_seconds)
    until = monotonic() + settings.embedder.slice_seconds

    def keep(_done: int) -> bool:
        with store.transaction(scope, clock()) as tx:
            return tx.jobs.extend(job, lease) and monotonic() < until

    embed_all(scope, store, clock(), embedder, settings.embedder, between=keep)


def embed_where_local(scope: Scope, store: Store, clock: Clock, models: Models, settings: Settings) -> None:
    """Embed what has no vector, for some seconds, where the model answers in this process; otherwise leave it."""
    try:
        with store.reading(scope, clock()) as tx:
            embedder = models.embedder(tx.index.models(), hurried=True)
        if embedder.local:
            until = monotonic() + settings.embedder.slice_seconds
            embed_all(scope, store, clock(), embedder, settings.embedder, between=lambda _done: monotonic() < until)
    except ModelUnavailable as exc:
        models.failed("embedder", exc)


def coverage(scope: Scope, store: Store, now: datetime, model: str) -> Coverage:
    with store.reading(scope, now) as tx:
        return tx.index.coverage(model)


def contextual_text(waiting: Unembedded, *, contextual: bool) -> str:
    """What is embedded for a document: its text, for a model that reads in context with what stands around it."""
    record = waiting.record
    if isinstance(record, Knowledge):
        return _of_knowledge(record) if contextual else " ".join((record.content, *record.tags, *record.files))
    if isinstance(record, Turn):
        return _of_turn(record, waiting) if contextual else without_speaker(record.text)
    if isinstance(record, Episode):
        return f"{record.task.input}\n{record.outcome.output}"
    if isinstance(record, Pattern):
        return f"{record.name}\n{record.summary}\n{record.description}"
    return ""


def _of_knowledge(record: Knowledge) -> str:
    symbol = record.chunk.context if record.chunk else ""
    around = {
        "Files": ", ".join(record.files),
        "Symbol": symbol,
        "Module": ", ".join(record.modules),
        "Type": record.type,
        "Tags": ", ".join(record.tags),
    }
    prefix = " | ".join(f"{name}: {value}" for name, value in around.items() if value)
    return f"{prefix}\n\n{record.content}"


def _of_turn(turn: Turn, waiting: Unembedded) -> str:
    """Who said it and when, after what and before what."""
    said = f"{turn.speaker or turn.role.value}, {turn.at:%d %B %Y}: {turn.text}"
    return "\n".join(filter(None, (waiting.before[-_AROUND:], said, waiting.after[:_AROUND])))


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
