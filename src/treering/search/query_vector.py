"""The query vector in the space of the project's embedder, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from treering.core.embedded_text import part_of, space_of
from treering.core.errors import ModelUnavailable
from treering.core.privacy import WITHHELD_QUERY, ModelLocation
from treering.ports.index import IndexQuery
from treering.search.embedding import catch_up, embed_within, local_embedder
from treering.search.private_words import QueryPrivacy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.index import Candidates, Numbers
    from treering.ports.models import Embedder, Models, Vectors
    from treering.ports.store import Store, Transaction


@dataclass(frozen=True)
class QueryVector:
    """A query in the space of a model; `skip_reason` says why there is no vector.

    `unstored` is the error message if vectors of new documents could not be stored. `local` is the query in the space
    of the local model, for documents that a model on another machine may not read.
    """

    model: str = ""
    reliability: float = 1.0
    vector: Vectors | None = None
    skip_reason: str = ""
    unstored: str = ""
    local: QueryVector | None = None

    def missing(self, tx: Transaction) -> dict[str, str]:
        """Unavailable parts of the vector search, with reasons."""
        if self.skip_reason:
            return {"meaning": self.skip_reason}
        covered, missing = tx.index.coverage(self.model), dict[str, str]()
        if lacking := covered.documents - covered.vectors:
            missing["meaning of some"] = (
                f"{lacking:,} of {covered.documents:,} have no vector yet; `settle` embeds them"
            )
        if self.unstored:
            missing["stored vectors"] = f"vectors of new documents are only in memory: {self.unstored}"
        return missing

    def wanted(self, words: Sequence[Sequence[int]], shares: Sequence[float] = (), *, part: str = "") -> IndexQuery:
        return IndexQuery(words, self.vector, space_of(self.model, part), shares)

    def candidates(
        self, tx: Transaction, wanted: IndexQuery, kinds: Sequence[str], *, most: int, among: Numbers | None = None
    ) -> Candidates:
        """The best documents by words and by the vectors of both models."""
        found = tx.index.candidates(wanted, kinds, limit=most, among=among)
        if self.local is None:
            return found
        more = tx.index.candidates(self.local._in_own_space(wanted), kinds, limit=most, among=among)
        return self.look_at(tx, wanted, np.union1d(found.number, more.number))

    def look_at(self, tx: Transaction, wanted: IndexQuery, numbers: Numbers) -> Candidates:
        """The given documents, each compared in the space that it has a vector in."""
        found = tx.index.columns_of(wanted, numbers)
        if self.local is None:
            return found
        other = tx.index.columns_of(self.local._in_own_space(wanted), numbers).meaning
        return replace(found, meaning=np.where(np.isnan(found.meaning), other, found.meaning))

    def _in_own_space(self, wanted: IndexQuery) -> IndexQuery:
        """The same request in this model's space, for the same part of episodes."""
        return replace(wanted, vector=self.vector, model=space_of(self.model, part_of(wanted.model)))


def embed_query(
    scope: Scope,
    store: Store,
    now: datetime,
    privacy: QueryPrivacy,
    *,
    models: Models,
    settings: Settings,
    parts: Sequence[str] = (),
    embed_new: bool = True,
) -> QueryVector:
    """Embed the query and, if the model runs in this process, as many new documents as a search has time for.

    `parts` of episodes are embedded as well. Without `embed_new`, only the query is embedded. A query that a model on
    another machine may not read is embedded by the local model only.
    """
    embedding = _QueryEmbedding(scope, store, now, privacy.query, models, settings, parts)
    try:
        with store.reading(scope, now, for_search=True) as tx:
            known = tx.index.models()
            embedder = models.embedder(known, hurried=True)
            allowed = privacy.may_leave(tx, embedder.location)
            is_here = embedder.location is ModelLocation.HERE and embedder.local and set(known) <= {embedder.model}
            space = embedding.read_space(tx, embedder, embed_new=embed_new and is_here)
    except ModelUnavailable as exc:
        models.failed("embedder", exc)
        return QueryVector(skip_reason=str(exc))
    if embedder.location is ModelLocation.HERE:
        return embedding.meaning(embedder, space)
    local_model, local = local_embedder(models), None
    if local_model is not None:
        with store.reading(scope, now, for_search=True) as tx:
            local_space = embedding.read_space(tx, local_model, embed_new=embed_new)
        local = embedding.meaning(local_model, local_space)
    if not allowed:
        return local or QueryVector(skip_reason=WITHHELD_QUERY)
    return replace(embedding.meaning(embedder, space), local=local)


def embed_query_within(
    tx: Transaction, privacy: QueryPrivacy, models: Models, settings: Settings, *, embed_new: bool = True
) -> QueryVector | None:
    """Embed the query in an open transaction, and documents without a vector if they are few.

    None if that takes longer, because the model runs outside this process or, with `embed_new`, many documents have no
    vector yet; then call `embed_query` without a transaction.
    """
    try:
        known = tx.index.models()
        embedder = models.embedder(known, hurried=True)
        if not embedder.local:
            return None
        is_behind = set(known) <= {embedder.model} and not embed_within(tx, embedder, settings.embedder)
        if is_behind and embed_new:
            return None
        return _embedded(embedder, privacy.query, tx.index.dimension(embedder.model) if known else None)
    except ModelUnavailable as exc:
        models.failed("embedder", exc)
        return QueryVector(skip_reason=str(exc))


def _is_behind(tx: Transaction, model: str, parts: Sequence[str] = ()) -> bool:
    """Whether documents, or parts of episodes, have no stored vector of the model."""
    covered = tx.index.coverage(model)
    return (
        covered.vectors < covered.documents
        or bool(tx.index.unstored_vectors(model))
        or any(tx.index.unembedded(space_of(model, part), limit=1) for part in parts)
    )


def _embedded(embedder: Embedder, query: str, dimension: int | None) -> QueryVector:
    """The query in the space of the embedder, whose stored vectors have `dimension` numbers."""
    vector = embedder.query(query)
    if dimension is not None and vector.shape[1] != dimension:
        return QueryVector(
            skip_reason=f"{embedder.model} returned a vector of {vector.shape[1]} numbers, but the stored ones have "
            f"{dimension}; give the model another name and run `treering embed`"
        )
    return QueryVector(embedder.model, embedder.reliability(query), vector)


@dataclass(frozen=True, slots=True)
class _StoredSpace:
    """Dimension of the stored vectors of a model, None without one, and whether documents wait for a vector."""

    dimension: int | None
    behind: bool


@dataclass(frozen=True, slots=True)
class _QueryEmbedding:
    """Embeds one query with any model."""

    scope: Scope
    store: Store
    now: datetime
    query: str
    models: Models
    settings: Settings
    parts: Sequence[str]

    def read_space(self, tx: Transaction, embedder: Embedder, *, embed_new: bool) -> _StoredSpace:
        model = embedder.model
        dimension = tx.index.dimension(model) if model in tx.index.models() else None
        return _StoredSpace(dimension, embed_new and _is_behind(tx, model, self.parts))

    def meaning(self, embedder: Embedder, space: _StoredSpace) -> QueryVector:
        try:
            meaning = _embedded(embedder, self.query, space.dimension)
            if meaning.skip_reason or not space.behind:
                return meaning
            return replace(meaning, unstored=self._embed_new(embedder))
        except ModelUnavailable as exc:
            self.models.failed("embedder", exc)
            return QueryVector(skip_reason=str(exc))

    def _embed_new(self, embedder: Embedder) -> str:
        return catch_up(self.scope, self.store, self.now, embedder, self.settings.embedder, parts=self.parts)
