"""Known records that say the same as a new text, by the similarity of their vectors."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from treering.core.embedded_text import space_of
from treering.core.errors import ModelUnavailable
from treering.core.queries import KnowledgeFilter
from treering.observe.similarity import cosine
from treering.ports.index import IndexQuery

if TYPE_CHECKING:
    from treering.ports.models import Models
    from treering.ports.store import Transaction

MIN_SIMILARITY = 0.88
_NEAREST = 3
_QUOTED = re.compile(r"`` (.+?) ``|`([^`]+)`")

_LOG = logging.getLogger(__name__)


def same_meaning(tx: Transaction, models: Models, texts: Sequence[tuple[str, str]]) -> list[str | None]:
    """For each (type, text) the id of the most similar current record of that type; None if none is similar enough.

    Records of one template are similar whatever they are about, so a record must also have the names that the text
    quotes: files, commands, messages.
    Only a model in this process is used: nothing that was observed leaves the machine for this.
    """
    if not texts:
        return []
    try:
        embedder = models.local_embedder()
        vectors = embedder.documents([text for _, text in texts])
    except ModelUnavailable as exc:
        _LOG.info("novelty is decided by subject alone: %s", exc)
        return [None] * len(texts)
    space = space_of(embedder.model, "")
    found: list[str | None] = []
    for (type, text), vector in zip(texts, vectors, strict=True):
        near = tx.index.candidates(IndexQuery((), vector[None, :], space), ("knowledge",), limit=_NEAREST)
        stored = tx.index.vectors(space, near.number)
        cosines = {number: cosine(vector, each) for number, each in stored.items()}
        best = sorted((number for number, each in cosines.items() if each > MIN_SIMILARITY), key=lambda n: -cosines[n])
        where = KnowledgeFilter(types=(type,), deprecated=False, flagged=False)
        ids = tx.index.matching_ids({"knowledge": where}, np.array(best, np.int64)) if best else {}
        near_ids = [ids[number][1] for number in best if number in ids]
        known = tx.knowledge.get_many(near_ids)
        found.append(next((id for id in near_ids if id in known and has_same_names(known[id].content, text)), None))
    return found


def has_same_names(content: str, text: str) -> bool:
    """Whether both quote the same names in the same order; content without quotations must contain them."""
    names, known = _quoted(text), _quoted(content)
    return names == known if known else all(name in content for name in names)


def _quoted(text: str) -> list[str]:
    return [found[1] or found[2] for found in _QUOTED.finditer(text)]
