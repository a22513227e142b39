"""Embedding of chunks, in order and in batches. An unchanged chunk keeps its vector.

Text is read only below the indexed root, and used only if its digest is the indexed one. Text that leaves this process
has its secrets redacted. A chunk that contains a secret is never sent to another machine; its vector is zeros.
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

ChunkKey = tuple[str, int]
"""Path of a file and index of a chunk in it."""
_STORED = np.dtype("<f2")


@dataclass(frozen=True, slots=True)
class ChunkEmbedding:
    """Creates and stores the vectors of one project's chunks."""

    scope: Scope
    store: Store
    clock: Clock
    settings: Settings

    def embed_all(
        self,
        embedder: Embedder,
        *,
        after: ChunkKey | None = None,
        between: Callable[[int, ChunkKey], bool] = lambda _made, _last: True,
        keep: Callable[[str, Mapping[str, bytes]], object] | None = None,
        known: Container[str] = (),
        batch: int | None = None,
    ) -> int:
        """Embed batch by batch, starting after `after`, until `between` returns False; returns the number of vectors.

        Chunks that cannot be read, that changed since they were indexed, or whose digest is `known` are skipped. No
        transaction is open while the model runs. Vectors are stored, or passed to `keep` with the name of the model.
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
        """Wait at most `seconds` for another writer; returns False if the vectors were not stored."""

        def add(tx: Transaction) -> None:
            tx.chunks.add_vectors(model, vectors)

        return self.store.write_if_free(self.scope, self.clock(), add, seconds=seconds)

    def drop_others(self, model: str) -> int:
        """Remove the vectors of every other model; returns how many."""
        return self.store.write(self.scope, self.clock(), lambda tx: tx.chunks.drop_vectors(but=model))

    def coverage(self, model: str, kept: Collection[str] = ()) -> ChunkCoverage:
        with self.store.reading(self.scope, self.clock()) as tx:
            return tx.chunks.coverage(model, kept)

    def _batch(
        self, embedder: Embedder, after: ChunkKey | None, limit: int, known: Container[str]
    ) -> tuple[ChunkKey, Mapping[str, bytes]] | None:
        """The last chunk examined, and vectors by digest; None if there is no chunk after `after`."""
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
    """Queue jobs to embed chunks without a vector if the model runs in this process; returns whether any was queued.

    Other models may be slow or paid for, so that a repository is embedded with them only on request.
    """
    try:
        with work.store.reading(work.scope, work.clock()) as tx:
            embedder = models.embedder(tx.index.models(), hurried=False)
            if not embedder.local or not tx.chunks.unembedded(embedder.model, limit=1):
                return False
    except ModelUnavailable:
        return False
    with work.store.transaction(work.scope, work.clock()) as tx:
        # A running job may have passed the new chunks already, so a second one is queued behind it.
        return tx.jobs.enqueue_first([code_embedding_job(work.clock(), new_id(), turn=turn) for turn in (0, 1)])


def run_chunk_embedding(
    work: ChunkEmbedding, job: Job, models: Models, new_id: NewId, check_stop: Callable[[], None] = lambda: None
) -> None:
    """Embed for a limited time, and queue the rest behind other jobs.

    `check_stop` is called between two batches, and raises if the worker has to stop.
    """
    if work.settings.embedder.provider == "none":
        return
    with work.store.reading(work.scope, work.clock()) as tx:
        embedder = models.embedder(tx.index.models(), hurried=False)
    if not embedder.local:
        return
    lease = timedelta(seconds=work.settings.jobs.lease_seconds)
    until = monotonic() + work.settings.embedder.slice_seconds

    def continue_after(_made: int, last: ChunkKey) -> bool:
        check_stop()
        with work.store.transaction(work.scope, work.clock()) as tx:
            if not tx.jobs.extend(job, lease):
                return False
            if monotonic() < until:
                return True
            tx.jobs.enqueue(code_embedding_job(work.clock(), new_id(), after=last, turn=job.payload["turn"] + 1))
            return False

    after = job.payload["after"]
    work.embed_all(embedder, after=(after[0], after[1]) if after else None, between=continue_after)
