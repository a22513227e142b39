"""The query's vector: from the model that the project has vectors of, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np

from treering.core.embedded_text import part_of, space_of
from treering.core.errors import ModelUnavailable
from treering.core.privacy import WITHHELD_QUERY, ModelLocation
from treering.ports.index import IndexQuery
from treering.search.embedding import catch_up, local_embedder
from treering.search.private_words import QueryPrivacy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.index import Candidates, Numbers
    from treering.ports.models import Embedder, Models, Vectors
    from treering.ports.store import Store, Transaction


@dataclass(frozen=True)
class Meaning:
    """A query in the space of a model; `why_not` gives the reason if there is no vector.

    `unstored` is the reason if vectors of new documents could not be stored. `beside` is the query in the space of the
    local model, for documents without a vector of a model elsewhere.
    """

    model: str = ""
    reliability: float = 1.0
    vector: Vectors | None = None
    why_not: str = ""
    unstored: str = ""
    beside: Meaning | None = None

    def missing(self, tx: Transaction) -> dict[str, str]:
        """What a search by meaning cannot find, and why."""
        if self.why_not:
            return {"meaning": self.why_not}
        covered, missing = tx.index.coverage(self.model), dict[str, str]()
        if lacking := covered.documents - covered.vectors:
            missing["meaning of some"] = f"{lacking:,} of {covered.documents:,} have no vector yet; settle makes them"
        if self.unstored:
            missing["stored vectors"] = f"vectors of new documents are only in memory: {self.unstored}"
        return missing

    def wanted(self, words: Sequence[Sequence[int]], shares: Sequence[float] = (), *, part: str = "") -> IndexQuery:
        return IndexQuery(words, self.vector, space_of(self.model, part), shares)

    def candidates(
        self, tx: Transaction, wanted: IndexQuery, kinds: Sequence[str], *, most: int, among: Numbers | None = None
    ) -> Candidates:
        """The best by words and by the vectors of either model."""
        found = tx.index.candidates(wanted, kinds, limit=most, among=among)
        if self.beside is None:
            return found
        more = tx.index.candidates(self.beside._instead(wanted), kinds, limit=most, among=among)
        return self.columns_of(tx, wanted, np.union1d(found.number, more.number))

    def columns_of(self, tx: Transaction, wanted: IndexQuery, numbers: Numbers) -> Candidates:
        """Chosen documents, each compared in the space that it has a vector in."""
        found = tx.index.columns_of(wanted, numbers)
        if self.beside is None:
            return found
        other = tx.index.columns_of(self.beside._instead(wanted), numbers).meaning
        return replace(found, meaning=np.where(np.isnan(found.meaning), other, found.meaning))

    def _instead(self, wanted: IndexQuery) -> IndexQuery:
        """The same in this model's space, of the same part of episodes."""
        return replace(wanted, vector=self.vector, model=space_of(self.model, part_of(wanted.model)))


def meaning_of(
    scope: Scope,
    store: Store,
    now: datetime,
    asked: QueryPrivacy,
    *,
    models: Models,
    settings: Settings,
    parts: Sequence[str] = (),
) -> Meaning:
    """Embed the query, then as many new documents as a search has time for, if a model runs in this process.

    `parts` of episodes are embedded as well. With a model elsewhere, a query that it may not read is compared in the
    spaces of the local model alone.
    """
    try:
        with store.reading(scope, now) as tx:
            known = tx.index.models()
            embedder = models.embedder(known, hurried=True)
            allowed = asked.may_leave(tx, embedder.location)
    except ModelUnavailable as exc:
        models.failed("embedder", exc)
        return Meaning(why_not=str(exc))
    embedding = _Embedding(scope, store, now, asked.query, models, settings, parts)
    if embedder.location is ModelLocation.HERE:
        return embedding.meaning(embedder, embed_new=embedder.local and set(known) <= {embedder.model})
    local = local_embedder(models)
    beside = None if local is None else embedding.meaning(local, embed_new=True)
    if not allowed:
        return beside or Meaning(why_not=WITHHELD_QUERY)
    return replace(embedding.meaning(embedder, embed_new=False), beside=beside)


@dataclass(frozen=True, slots=True)
class _Embedding:
    """One query, in the space of any model."""

    scope: Scope
    store: Store
    now: datetime
    query: str
    models: Models
    settings: Settings
    parts: Sequence[str]

    def meaning(self, embedder: Embedder, *, embed_new: bool) -> Meaning:
        model = embedder.model
        try:
            with self.store.reading(self.scope, self.now) as tx:
                dimension = tx.index.dimension(model) if model in tx.index.models() else None
                behind = embed_new and self._is_behind(tx, model)
            vector = embedder.query(self.query)
            if dimension is not None and vector.shape[1] != dimension:
                return Meaning(
                    why_not=f"{model} now makes vectors of {vector.shape[1]} numbers, but those here have "
                    f"{dimension}; give the model another name and run `treering embed`"
                )
            unstored = self._catch_up(embedder) if behind else ""
            return Meaning(model, embedder.reliability(self.query), vector, unstored=unstored)
        except ModelUnavailable as exc:
            self.models.failed("embedder", exc)
            return Meaning(why_not=str(exc))

    def _is_behind(self, tx: Transaction, model: str) -> bool:
        """Whether documents, or parts of episodes, have no stored vector of the model."""
        covered = tx.index.coverage(model)
        return (
            covered.vectors < covered.documents
            or bool(tx.index.unstored_vectors(model))
            or any(tx.index.unembedded(space_of(model, part), limit=1) for part in self.parts)
        )

    def _catch_up(self, embedder: Embedder) -> str:
        return catch_up(self.scope, self.store, self.now, embedder, self.settings.embedder, parts=self.parts)
