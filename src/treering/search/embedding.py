"""Gives every document its vector, in order and in batches; whoever comes next goes on where the last one stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from treering.core.embedded_text import (
    WITHHELD,
    digest_it_brings,
    digest_of,
    embedded_part,
    embedded_text,
    part_of,
    space_of,
    spaces_of,
    vector_it_brings,
)
from treering.core.errors import ModelUnavailable, StoreError
from treering.core.jobs import Job, embedding_job
from treering.core.privacy import ModelLocation, may_leave, text_may_leave

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treering.core.scope import Scope
    from treering.core.settings import EmbedderSettings, Settings
    from treering.ports.clock import Clock
    from treering.ports.index import Coverage, Unembedded
    from treering.ports.models import Embedder, Models
    from treering.ports.store import Store, Transaction

EMBED_SECONDS = 1.0  # a job embeds this long before other jobs have their turn: `settle` keeps its deadline
INLINE_SECONDS = 0.05  # time a search spends on new documents after a first group: some hundred short texts

_AT_ONCE = 128
_WORDS_AT_ONCE = 10_000
"""Documents, and words in them, that a search embeds before it looks at the clock again: some ten milliseconds."""

_MOST_UNSTORED = 10
"""Searches whose vectors are kept in memory at most, if they cannot be stored."""


def embed_batch(scope: Scope, store: Store, now: datetime, embedder: Embedder, settings: EmbedderSettings) -> int:
    """Embed the next documents of the scope that lack a vector, then parts of episodes; the number of vectors stored.

    It is 0 once all documents have one, or other transactions hold the remaining documents.

    No transaction is open while the model works. Texts that were embedded before are not embedded again.
    """
    for space in spaces_of(embedder.model):
        with store.reading(scope, now) as tx:
            waiting = tx.index.unembedded(space, limit=settings.batch)
            make = _vectors_of(tx, waiting, embedder, space)
        if (made := make()) and (stored := store.write(scope, now, partial(_add, space, made))):
            return stored
    return 0


def _add(space: str, made: Sequence[tuple[int, str, NDArray[np.float32]]], tx: Transaction) -> int:
    return tx.index.add_vectors(space, made)


def catch_up(
    scope: Scope,
    store: Store,
    now: datetime,
    embedder: Embedder,
    settings: EmbedderSettings,
    *,
    parts: Sequence[str] = (),
) -> str:
    """Embed documents without a vector for as long as a search may take, and no longer.

    `parts` of episodes are embedded after whole records.

    Their vectors are kept in memory, for this search and later ones, and stored unless that would mean to wait. One
    group of documents is embedded in any case, so that each search makes progress. The reason is returned if they
    could not be stored, and that is not because another process is writing.
    """
    until = monotonic() + INLINE_SECONDS
    for space in (space_of(embedder.model, part) for part in ("", *parts)):
        with store.reading(scope, now) as tx:
            left = min(settings.inline, _MOST_UNSTORED * settings.inline - len(tx.index.unstored_vectors(space)))
        while left > 0:
            with store.reading(scope, now) as tx:
                limit = min(_AT_ONCE, left)
                waiting = tx.index.unembedded(space, limit=limit, max_words=_WORDS_AT_ONCE, skip_unstored=True)
                tx.index.hold_vectors(space, _vectors_of(tx, waiting, embedder, space)())
            left -= len(waiting)
            if not waiting or monotonic() >= until:
                break
    try:
        store_vectors(scope, store, now, embedder.model)
    except StoreError as exc:
        return str(exc)
    return ""


def store_vectors(scope: Scope, store: Store, now: datetime, model: str = "", *, seconds: float = 0.0) -> None:
    """Store the vectors that are kept in memory, unless that would mean to wait longer than `seconds`.

    Those of `model`, and of models that vectors are stored of already. They stay in memory if they could not be stored,
    and a later search, or the end of the process, tries again.
    """

    def add(tx: Transaction) -> None:
        # `model` first: `unstored_vectors` discards vectors of models that have none stored.
        for space in spaces_of(*dict.fromkeys((model, *tx.index.models()))):
            tx.index.add_vectors(space, tx.index.unstored_vectors(space))

    if store.has_unstored_vectors(scope):
        store.write_if_free(scope, now, add, seconds=seconds)


def embed_all(
    scope: Scope,
    store: Store,
    now: datetime,
    embedder: Embedder,
    settings: EmbedderSettings,
    *,
    between: Callable[[int], bool] = lambda _done: True,
) -> int:
    """Batch by batch and principal by principal until no more vectors can be stored, or `between` returns False."""
    total = 0
    for own in scopes_of_all(scope, store, now):
        while done := embed_batch(own, store, now, embedder, settings):
            total += done
            if not between(total):
                return total
    return total


def scopes_of_all(scope: Scope, store: Store, now: datetime) -> list[Scope]:
    """The scope itself, and one for each other principal with personal records in the project."""
    with store.reading(scope, now) as tx:
        others = [owner for owner in tx.owners_of_personal() if owner != scope.principal]
    return [scope, *(scope.replace(principal=owner) for owner in others)]


def drop_others(scope: Scope, store: Store, now: datetime, model: str, beside: str = "") -> int:
    """Remove the vectors of every model except these; how many is returned. Somebody paid for them: only when asked."""
    own = scopes_of_all(scope, store, now)
    return sum(store.write(each, now, lambda tx: tx.index.drop_vectors(but=model, beside=beside)) for each in own)


def embedders_of(models: Models, known: Sequence[str]) -> list[Embedder]:
    """The embedder of a project and, beside one elsewhere, the local one for what that may not read, if present."""
    embedder = models.embedder(known, hurried=False)
    beside = None if embedder.location is ModelLocation.HERE else local_embedder(models)
    return [embedder] if beside is None else [embedder, beside]


def local_embedder(models: Models) -> Embedder | None:
    """The embedder in this process that can be used, if present."""
    try:
        embedder = models.local_embedder()
        embedder.query("")
    except ModelUnavailable:
        return None
    return embedder


def queue_embedding(scope: Scope, store: Store, now: datetime, models: Models, id: str) -> bool:
    """Queue the work where there is any, and a model to do it; whether it was queued is returned."""
    try:
        with store.reading(scope, now) as tx:
            spaces = spaces_of(*(each.model for each in embedders_of(models, tx.index.models())))
    except ModelUnavailable:
        return False
    if not any(_is_waiting(own, store, now, spaces) for own in scopes_of_all(scope, store, now)):
        return False
    return store.write(scope, now, lambda tx: tx.jobs.enqueue(embedding_job(now, id)))


def _is_waiting(scope: Scope, store: Store, now: datetime, spaces: Sequence[str]) -> bool:
    with store.reading(scope, now) as tx:
        return any(tx.index.unembedded(space, limit=1) for space in spaces)


def do_embedding(
    scope: Scope,
    store: Store,
    job: Job,
    clock: Clock,
    *,
    models: Models,
    settings: Settings,
    heed: Callable[[], None] = lambda: None,
) -> None:
    """Embed what has no vector for some seconds, so that others get their turn; a failing model fails the job.

    Where somebody chose to have none, there is nothing to do. `heed` raises between two batches where the worker is
    to stop.
    """
    if settings.embedder.provider == "none":
        return
    with store.reading(scope, clock()) as tx:
        embedders = embedders_of(models, tx.index.models())
    lease = timedelta(seconds=settings.jobs.lease_seconds)
    until = monotonic() + EMBED_SECONDS

    def keep(_done: int) -> bool:
        heed()
        return store.write(scope, clock(), lambda tx: tx.jobs.extend(job, lease)) and monotonic() < until

    # The local one first: it costs nothing, and a server that fails does not keep it from its work.
    for embedder in reversed(embedders):
        embed_all(scope, store, clock(), embedder, settings.embedder, between=keep)


def coverage(scope: Scope, store: Store, now: datetime, model: str) -> Coverage:
    with store.reading(scope, now) as tx:
        return tx.index.coverage(model)


def _vectors_of(
    tx: Transaction, waiting: Sequence[Unembedded], embedder: Embedder, space: str
) -> Callable[[], list[tuple[int, str, NDArray[np.float32]]]]:
    """Makes a vector for each, with the digest of its text; without the transaction, if the model takes long.

    Texts that were embedded before are not embedded again. A document that the model may not read gets zeros.
    """
    import numpy as np

    if not waiting:
        return list
    part = part_of(space)
    readable = [each for each in waiting if may_leave(each.record, embedder.location)]
    withheld = sorted({each.number for each in waiting} - {each.number for each in readable})
    brought = [] if part else _brought(readable, embedder)
    own = {number for number, *_ in brought}
    texts = {each.number: _text(each, embedder, part) for each in readable if each.number not in own}
    digests = {number: digest_of(text) for number, text in texts.items()}
    known = dict(tx.index.known_vectors(space, sorted(set(digests.values()))))
    fresh = {digest: texts[number] for number, digest in digests.items() if digest not in known}

    def make() -> list[tuple[int, str, NDArray[np.float32]]]:
        embedded = dict(zip(fresh, embedder.documents(list(fresh.values())), strict=True)) if fresh else {}
        every = known | embedded
        made = [*brought, *((number, digest, every[digest]) for number, digest in digests.items())]
        nothing = np.zeros(len(made[0][2]) if made else embedder.dimension if withheld else 0, np.float32)
        return [*made, *((number, WITHHELD, nothing) for number in withheld)]

    return make


def _text(waiting: Unembedded, embedder: Embedder, part: str) -> str:
    if part:
        return embedded_part(waiting.record, part)
    before, after = (
        text if text_may_leave(text, embedder.location) else "" for text in (waiting.before, waiting.after)
    )
    return embedded_text(waiting.record, contextual=embedder.contextual, before=before, after=after)


def _brought(waiting: Sequence[Unembedded], embedder: Embedder) -> list[tuple[int, str, NDArray[np.float32]]]:
    """The vectors of those that have one to bring, as long as the model's are."""
    import numpy as np

    return [
        (each.number, digest_it_brings(each.record), np.array(vector, np.float32))
        for each in waiting
        if each.record is not None
        and (vector := vector_it_brings(each.record, embedder.model))
        and len(vector) == embedder.dimension
    ]
