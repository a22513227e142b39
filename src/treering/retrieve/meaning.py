"""The query's vector: from the model that the project has vectors of, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from treering.core.errors import ModelUnavailable
from treering.retrieve.embed import catch_up

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.ports.models import Models, Vectors
    from treering.ports.store import Store, Transaction


@dataclass(frozen=True)
class Meaning:
    """A query in the space of a model; `why_not` gives the reason if there is no vector.

    `unstored` is the reason if vectors of new documents could not be stored.
    """

    model: str = ""
    reliance: float = 1.0
    vector: Vectors | None = None
    why_not: str = ""
    unstored: str = ""

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


def meaning_of(scope: Scope, store: Store, now: datetime, query: str, *, models: Models, settings: Settings) -> Meaning:
    """Embed the query, then as many new documents as a search has time for, if the model runs in this process."""
    try:
        with store.reading(scope, now) as tx:
            known = tx.index.models()
            embedder = models.embedder(known, hurried=True)
            ours = embedder.local and set(known) <= {embedder.model}
            dimension = tx.index.dimension(embedder.model) if embedder.model in known else None
            covered = tx.index.coverage(embedder.model)
            behind = covered.vectors < covered.documents or tx.index.unstored_vectors(embedder.model)
        vector = embedder.query(query)
        if dimension is not None and vector.shape[1] != dimension:
            return Meaning(
                why_not=f"{embedder.model} now makes vectors of {vector.shape[1]} numbers, but those here have "
                f"{dimension}; give the model another name and run `treering embed`"
            )
        unstored = catch_up(scope, store, now, embedder, settings.embedder) if ours and behind else ""
        return Meaning(embedder.model, embedder.reliance(query), vector, unstored=unstored)
    except ModelUnavailable as exc:
        models.failed("embedder", exc)
        return Meaning(why_not=str(exc))
