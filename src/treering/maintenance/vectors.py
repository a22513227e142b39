"""`memory.vectors`: the vectors that search by meaning compares, of documents and of code chunks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.code.locations.embedding import ChunkEmbedding
from treering.search.embedding import coverage, drop_other_models, embed_all, embedders_of

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.clock import Clock
    from treering.ports.models import Embedder, Models
    from treering.ports.store import Store


@dataclass(frozen=True, slots=True)
class VectorCoverage:
    """How many documents, and code chunks, have a vector of the project's model."""

    model: str
    documents: int
    vectors: int
    code: int
    code_vectors: int

    @property
    def missing(self) -> int:
        return self.documents - self.vectors + self.code - self.code_vectors


@dataclass(frozen=True, slots=True)
class Vectors:
    """Vectors of one project."""

    scope: Scope
    store: Store
    clock: Clock
    settings: Settings
    models: Models

    def coverage(self) -> VectorCoverage:
        embedder = self._embedders()[0]
        covered = coverage(self.scope, self.store, self.clock(), embedder.model)
        code = self._chunks.coverage(embedder.model)
        return VectorCoverage(embedder.model, covered.documents, covered.vectors, code.chunks, code.vectors)

    def update(self, on_progress: Callable[[int], object] = lambda _done: None) -> int:
        """Embed every document and code chunk that has no vector; return the number of vectors that were stored.

        Each batch is stored at once: after an interruption the next call continues. If the project's model is on
        another machine, the local model embeds as well, for texts that must not leave this one. Vectors of other models
        are removed. `on_progress` gets the number of vectors stored so far.
        """

        def advance(done: int) -> bool:
            on_progress(done)
            return True

        embedder, *local = self._embedders()
        for each in local:
            embed_all(self.scope, self.store, self.clock(), each, self.settings.embedder)
        made = embed_all(self.scope, self.store, self.clock(), embedder, self.settings.embedder, between=advance)
        made += self._chunks.embed_all(embedder, between=lambda more, _last: advance(made + more))
        drop_other_models(self.scope, self.store, self.clock(), embedder.model, "".join(each.model for each in local))
        self._chunks.drop_others(embedder.model)
        return made

    @property
    def _chunks(self) -> ChunkEmbedding:
        return ChunkEmbedding(self.scope, self.store, self.clock, self.settings)

    def _embedders(self) -> list[Embedder]:
        with self.store.reading(self.scope, self.clock()) as tx:
            return embedders_of(self.models, tx.index.models())
