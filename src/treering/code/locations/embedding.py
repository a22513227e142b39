"""Gives chunks their vectors, in order and in batches. A chunk that is the same as before has one already.

Text is read only below the root that was indexed, and used only where it is what was indexed, by its digest. What
leaves this process is without secrets, as all that is stored is. A chunk that holds a secret is sent to no other
machine; its vector is zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from treering.core.errors import ModelUnavailable
from treering.core.jobs import Job, code_embedding_job
from treering.core.privacy import text_may_leave
from treering.core.secrets import redact

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.clock import Clock, NewId
    from treering.ports.code_chunks import ChunkCoverage
    from treering.ports.models import Embedder, Models
    from treering.ports.store import Store, Transaction

Place = tuple[str, int]
"""The path and the place of a chunk."""
_STORED = np.dtype("<f2")


@dataclass(frozen=True, slots=True)
class ChunkEmbedding:
    """One project's chunks, and what their vectors are made with."""

    scope: Scope
    store: Store
    clock: Clock
    settings: Settings

    def all(
        self,
        embedder: Embedder,
        *,
        after: Place | None = None,
        between: Callable[[int, Place], bool] = lambda _made, _last: True,
        keep: Callable[[str, Mapping[str, bytes]], object] | None = None,
        known: Container[str] = (),
        batch: int | None = None,
    ) -> int:
        """Batch by batch, from behind `after` on, until all were looked at or `between` says stop; how many were made.

        What cannot be read, or is not as it was indexed, is passed over, and so is what is `known` by its digest. No
        transaction is open while the model works. Vectors are stored, or given to `keep` with the name of the model.
        """
        made = 0
        while (found := self._batch(embedder, after, batch or self.settings.embedder.batch, known)) is not None:
            after, vectors = found
            if vectors:
                (keep or self.add)(embedder.model, vectors)
            made += len(vectors)
            if not between(made, after):
                break
        return made

    def add(self, model: str, vectors: Mapping[str, bytes]) -> None:
        self.store.write(self.scope, self.clock(), lambda tx: tx.chunks.add_vectors(model, vectors))

    def add_if_free(self, model: str, vectors: Mapping[str, bytes], *, seconds: float) -> bool:
        """Wait at most this long for another writer; False if they were not stored."""

        def add(tx: Transaction) -> None:
            tx.chunks.add_vectors(model, vectors)

        return self.store.write_if_free(self.scope, self.clock(), add, seconds=seconds)

    def drop_others(self, model: str) -> int:
        """Remove the vectors of every other model; how many is returned."""
        return self.store.write(self.scope, self.clock(), lambda tx: tx.chunks.drop_vectors(but=model))

    def coverage(self, model: str, kept: Collection[str] = ()) -> ChunkCoverage:
        with self.store.reading(self.scope, self.clock()) as tx:
            return tx.chunks.coverage(model, kept)

    def _batch(
        self, embedder: Embedder, after: Place | None, limit: int, known: Container[str]
    ) -> tuple[Place, Mapping[str, bytes]] | None:
        """The last chunk that was examined, and vectors by digest; None if there is no chunk after `after`."""
        from treering.code.chunks.words import embedded_text
        from treering.code.locations.chunk_texts import chunks_in

        with self.store.reading(self.scope, self.clock()) as tx:
            state = tx.code.state()
            waiting = tx.chunks.unembedded(embedder.model, limit=limit, after=after)
            if state is None or not waiting:
                return None
            lacking = [each for each in waiting if each.digest not in known]
            there = chunks_in(Path(state.root), {each.path for each in lacking}, tx.code, self.settings.index)
        texts = {each.digest: embedded_text(there[each.digest]) for each in lacking if each.digest in there}
        sent = {digest: text for digest, text in texts.items() if text_may_leave(text, embedder.location)}
        if not embedder.local:
            sent = {digest: redact(text).text for digest, text in sent.items()}
        rows = embedder.documents(list(sent.values())).astype(_STORED) if sent else ()
        nothing = np.zeros(embedder.dimension, _STORED).tobytes() if len(sent) < len(texts) else b""
        vectors = dict.fromkeys(texts, nothing) | {
            digest: row.tobytes() for digest, row in zip(sent, rows, strict=True)
        }
        return (waiting[-1].path, waiting[-1].place), vectors


def queue_chunk_embedding(work: ChunkEmbedding, models: Models, new_id: NewId) -> bool:
    """Queue the work where there is any, and a model in this process to do it; whether it was queued is returned.

    Another model, which takes long or is paid for, is given a whole repository only by whoever says so.
    """
    try:
        with work.store.reading(work.scope, work.clock()) as tx:
            embedder = models.embedder(tx.index.models(), hurried=False)
            if not embedder.local or not tx.chunks.unembedded(embedder.model, limit=1):
                return False
    except ModelUnavailable:
        return False
    with work.store.transaction(work.scope, work.clock()) as tx:
        # The one that is at work may have passed by already: the other waits behind it.
        return tx.jobs.enqueue_first([code_embedding_job(work.clock(), new_id(), turn=turn) for turn in (0, 1)])


def do_chunk_embedding(
    work: ChunkEmbedding, job: Job, models: Models, new_id: NewId, heed: Callable[[], None] = lambda: None
) -> None:
    """Embed for some seconds, so that others get their turn; what is left is queued behind them.

    `heed` raises between two batches where the worker is to stop.
    """
    if work.settings.embedder.provider == "none":
        return
    with work.store.reading(work.scope, work.clock()) as tx:
        embedder = models.embedder(tx.index.models(), hurried=False)
    if not embedder.local:
        return
    lease = timedelta(seconds=work.settings.jobs.lease_seconds)
    from treering.search.embedding import EMBED_SECONDS

    until = monotonic() + EMBED_SECONDS

    def go_on(_made: int, last: Place) -> bool:
        heed()
        with work.store.transaction(work.scope, work.clock()) as tx:
            if not tx.jobs.extend(job, lease):
                return False
            if monotonic() < until:
                return True
            tx.jobs.enqueue(code_embedding_job(work.clock(), new_id(), after=last, turn=job.payload["turn"] + 1))
            return False

    after = job.payload["after"]
    work.all(embedder, after=(after[0], after[1]) if after else None, between=go_on)
