"""Embeds documents in order and in batches; each call continues where the previous one stopped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from treering.core.embedded_text import (
    WITHHELD,
    digest_of,
    embedded_part,
    embedded_text,
    part_of,
    space_of,
    spaces_of,
    supplied_digest,
    supplied_vector,
)
from treering.core.errors import ModelUnavailable, StoreError
from treering.core.jobs import embedding_job
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

_BATCH_DOCUMENTS = 128
_BATCH_WORDS = 10_000
"""Documents, and words in them, that a search embeds between two checks of its deadline: about ten milliseconds."""

_BULK = 2_000  # after this many vectors a job loads and thereby saves the index: the next process need not build it

_EMBEDDED_WITHIN = 16  # new documents that a search embeds in its own transaction: about five milliseconds
_STORED_TOGETHER = 100
"""Vectors in memory that a search stores itself; fewer are left to the background, or to the end of the process."""

_MAX_UNSTORED_SEARCHES = 10
"""Searches whose vectors stay in memory if they cannot be stored."""


def embed_batch(
    scope: Scope, store: Store, now: datetime, embedder: Embedder, settings: EmbedderSettings, *, space: str
) -> int:
    """Embed the next documents that lack a vector of this space and return the number of vectors stored.

    Fewer than `settings.batch` are stored if every document has a vector or other transactions hold the remaining
    documents. No transaction is open while the model runs. Texts that were embedded before are not embedded again.
    """
    with store.reading(scope, now, for_search=True) as tx:
        waiting = tx.index.unembedded(space, limit=settings.batch)
        make = _vectors_of(tx, waiting, embedder, space)
    made = make()
    return store.write(scope, now, partial(_add, space, made)) if made else 0


def _add(space: str, made: Sequence[tuple[int, str, NDArray[np.float32]]], tx: Transaction) -> int:
    return tx.index.add_vectors(space, made)


def embed_within(tx: Transaction, embedder: Embedder, settings: EmbedderSettings) -> bool:
    """Embed the few documents without a vector in an open transaction, and hold their vectors in memory.

    False if they are many, or if many vectors wait to be stored: then call `catch_up` without a transaction.
    """
    model = embedder.model
    if len(tx.index.unstored_vectors(model)) >= _STORED_TOGETHER:
        return False
    covered = tx.index.coverage(model)
    lacking = covered.documents - covered.vectors
    if lacking > min(_EMBEDDED_WITHIN, settings.inline):
        return False
    if lacking > 0:
        waiting = tx.index.unembedded(model, limit=lacking, max_words=_BATCH_WORDS, skip_unstored=True)
        tx.index.hold_vectors(model, _vectors_of(tx, waiting, embedder, model)())
    return True


def catch_up(
    scope: Scope,
    store: Store,
    now: datetime,
    embedder: Embedder,
    settings: EmbedderSettings,
    *,
    parts: Sequence[str] = (),
) -> str:
    """Embed documents without a vector within the time limit of a search; `parts` of episodes follow whole records.

    The vectors stay in memory for this search and later ones, and are stored unless another process is writing. At
    least one batch is embedded, so that each search makes progress. Returns the error message if storing failed,
    otherwise an empty string.
    """
    until = monotonic() + INLINE_SECONDS
    for space in (space_of(embedder.model, part) for part in ("", *parts)):
        made = 0
        while True:
            with store.reading(scope, now, for_search=True) as tx:
                held = len(tx.index.unstored_vectors(space))
                left = min(settings.inline - made, _MAX_UNSTORED_SEARCHES * settings.inline - held)
                limit = min(_BATCH_DOCUMENTS, left)
                if limit <= 0:
                    break
                waiting = tx.index.unembedded(space, limit=limit, max_words=_BATCH_WORDS, skip_unstored=True)
                tx.index.hold_vectors(space, _vectors_of(tx, waiting, embedder, space)())
                made += len(waiting)
                # Most often one document is new; looking for another one would cost as much again.
                if not waiting or monotonic() >= until or (space == embedder.model and _is_covered(tx, space)):
                    break
    try:
        store_vectors(scope, store, now, embedder.model)
    except StoreError as exc:
        return str(exc)
    return ""


def _is_covered(tx: Transaction, model: str) -> bool:
    covered = tx.index.coverage(model)
    return covered.vectors >= covered.documents


def store_vectors(scope: Scope, store: Store, now: datetime, model: str = "", *, seconds: float = 0.0) -> None:
    """Store the vectors held in memory, waiting at most `seconds` for other writers.

    Covers `model` and every model that already has stored vectors. Vectors that could not be stored stay in memory for
    the next attempt, by a later search or at the end of the process.
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
    """Embed every principal's documents, then parts of episodes, until `between` returns False; return the number.

    `between` is called after each batch with the number of vectors stored so far. Documents stored meanwhile may be
    left over.
    """
    total = 0
    for each in principal_scopes(scope, store, now):
        for space in spaces_of(embedder.model):
            done = settings.batch
            while done == settings.batch and (done := embed_batch(each, store, now, embedder, settings, space=space)):
                total += done
                if not between(total):
                    return total
    return total


def principal_scopes(scope: Scope, store: Store, now: datetime) -> list[Scope]:
    """The scope, then one scope for each other principal with personal records in the project."""
    with store.reading(scope, now) as tx:
        others = [owner for owner in tx.owners_of_personal() if owner != scope.principal]
    return [scope, *(scope.replace(principal=owner) for owner in others)]


def drop_other_models(scope: Scope, store: Store, now: datetime, model: str, beside: str = "") -> int:
    """Remove the vectors of every model except these two and return their number.

    Called only on request: vectors may have been paid for.
    """
    scopes = principal_scopes(scope, store, now)
    return sum(store.write(each, now, lambda tx: tx.index.drop_vectors(but=model, beside=beside)) for each in scopes)


def embedders_of(models: Models, known: Sequence[str]) -> list[Embedder]:
    """The project's embedder and, if that runs on another machine, the local one for records it may not read."""
    embedder = models.embedder(known, hurried=False)
    beside = None if embedder.location is ModelLocation.HERE else local_embedder(models)
    return [embedder] if beside is None else [embedder, beside]


def local_embedder(models: Models) -> Embedder | None:
    """The embedder in this process; None if it is unavailable."""
    try:
        embedder = models.local_embedder()
        embedder.query("")
    except ModelUnavailable:
        return None
    return embedder


def queue_embedding(scope: Scope, store: Store, now: datetime, models: Models, id: str) -> bool:
    """Queue an embedding job if documents lack vectors and a model is available; return whether it was queued."""
    try:
        with store.reading(scope, now, for_search=True) as tx:
            spaces = spaces_of(*(each.model for each in embedders_of(models, tx.index.models())))
    except ModelUnavailable:
        return False
    if not _has_unembedded(principal_scopes(scope, store, now), store, now, spaces):
        return False
    return store.write(scope, now, lambda tx: tx.jobs.enqueue(embedding_job(now, id)))


def _has_unembedded(scopes: Sequence[Scope], store: Store, now: datetime, spaces: Sequence[str]) -> bool:
    for scope in scopes:
        with store.reading(scope, now, for_search=True) as tx:
            if any(tx.index.unembedded(space, limit=1) for space in spaces):
                return True
    return False


@dataclass(frozen=True, slots=True)
class EmbeddingRun:
    """Number of vectors that a run stored, and whether documents without a vector are left."""

    stored: int = 0
    unfinished: bool = False


def run_embedding_job(
    scope: Scope,
    store: Store,
    clock: Clock,
    *,
    models: Models,
    settings: Settings,
    check_stop: Callable[[], None] = lambda: None,
) -> EmbeddingRun:
    """Embed documents without a vector for some seconds, so that other jobs get their turn.

    Does nothing if the embedder is turned off. A failing model fails the job. `check_stop` is called between batches
    and raises if the worker is to stop.
    """
    if settings.embedder.provider == "none":
        return EmbeddingRun()
    with store.reading(scope, clock()) as tx:
        embedders = embedders_of(models, tx.index.models())
    until = monotonic() + EMBED_SECONDS

    def has_time(_done: int) -> bool:
        check_stop()
        return monotonic() < until

    stored = 0
    # The local one first: it costs nothing, and a failing server must not prevent it from running.
    for embedder in reversed(embedders):
        done = embed_all(scope, store, clock(), embedder, settings.embedder, between=has_time)
        stored += done
        if done >= _BULK:
            with store.reading(scope, clock()) as tx:
                tx.index.load(embedder.model)
    models_used, now = [embedder.model for embedder in embedders], clock()
    if stored:
        return EmbeddingRun(stored, _has_unembedded([scope], store, now, models_used))
    # Everything is embedded, or locked: then `settle` would find the same documents and queue the job again at once.
    return EmbeddingRun(0, _has_unembedded(principal_scopes(scope, store, now), store, now, spaces_of(*models_used)))


def coverage(scope: Scope, store: Store, now: datetime, model: str) -> Coverage:
    with store.reading(scope, now, for_search=True) as tx:
        return tx.index.coverage(model)


def _vectors_of(
    tx: Transaction, waiting: Sequence[Unembedded], embedder: Embedder, space: str
) -> Callable[[], list[tuple[int, str, NDArray[np.float32]]]]:
    """A function that makes a vector for each document, with the digest of its text; it needs no transaction.

    Texts that were embedded before are not embedded again. A document that the model may not read gets zeros.
    """
    import numpy as np

    if not waiting:
        return list
    part = part_of(space)
    readable = [each for each in waiting if may_leave(each.record, embedder.location)]
    withheld = sorted({each.number for each in waiting} - {each.number for each in readable})
    supplied = [] if part else _supplied_vectors(readable, embedder)
    supplied_numbers = {number for number, *_ in supplied}
    texts = {each.number: _text(each, embedder, part) for each in readable if each.number not in supplied_numbers}
    digests = {number: digest_of(text) for number, text in texts.items()}
    # A model in this process embeds a few texts faster than the database finds them.
    few = embedder.local and len(digests) <= _EMBEDDED_WITHIN
    known = {} if few else dict(tx.index.known_vectors(space, sorted(set(digests.values()))))
    new_texts = {digest: texts[number] for number, digest in digests.items() if digest not in known}

    def make() -> list[tuple[int, str, NDArray[np.float32]]]:
        embedded = dict(zip(new_texts, embedder.documents(list(new_texts.values())), strict=True)) if new_texts else {}
        vectors = known | embedded
        made = [*supplied, *((number, digest, vectors[digest]) for number, digest in digests.items())]
        zeros = np.zeros(len(made[0][2]) if made else embedder.dimension if withheld else 0, np.float32)
        return [*made, *((number, WITHHELD, zeros) for number in withheld)]

    return make


def _text(waiting: Unembedded, embedder: Embedder, part: str) -> str:
    if part:
        return embedded_part(waiting.record, part)
    before, after = (
        text if text_may_leave(text, embedder.location) else "" for text in (waiting.before, waiting.after)
    )
    return embedded_text(waiting.record, contextual=embedder.contextual, before=before, after=after)


def _supplied_vectors(waiting: Sequence[Unembedded], embedder: Embedder) -> list[tuple[int, str, NDArray[np.float32]]]:
    """Vectors that records supply themselves, if they have the dimension of the model."""
    import numpy as np

    return [
        (each.number, supplied_digest(each.record), np.array(vector, np.float32))
        for each in waiting
        if each.record is not None
        and (vector := supplied_vector(each.record, embedder.model))
        and len(vector) == embedder.dimension
    ]
