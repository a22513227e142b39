"""Query expansion for searches with few likely results, by a hypothetical answer from a language model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from treering.core.errors import ModelUnavailable
from treering.core.privacy import WITHHELD_QUERY

if TYPE_CHECKING:
    from treering.ports.models import Models
    from treering.ports.store import Transaction
    from treering.search.paths import RankedCandidates
    from treering.search.private_words import QueryPrivacy
    from treering.search.query_vector import QueryVector

THIN_RESULTS = 3  # with fewer likely results, a language model is asked for a hypothetical answer
LIKELY_SCORE = 0.6  # from this score on one candidate in seven is relevant (`bench/weights.py`)
HYPOTHETICAL_SHARE = 0.6  # how far the query's vector moves towards that of a hypothetical answer
HYPOTHETICAL_TOKENS = 100  # two sentences

_PROMPT = "hypothetical_answer.md"


@dataclass(frozen=True)
class ExpandedQuery:
    """The query vector moved towards a hypothetical answer; `skip_reason` is set if it is unchanged."""

    meaning: QueryVector
    skip_reason: str = ""


def has_few_results(found: RankedCandidates) -> bool:
    """Whether too few candidates are likely to be relevant."""
    likely = found.fused.total[found.order[:THIN_RESULTS]] >= LIKELY_SCORE
    return int(likely.sum()) < THIN_RESULTS


def expand_query(tx: Transaction, privacy: QueryPrivacy, meaning: QueryVector, models: Models) -> ExpandedQuery:
    """Mix the vector of a hypothetical answer into the query vector."""
    if meaning.vector is None:
        return ExpandedQuery(meaning, "the query has no vector")
    try:
        writer = models.writer(hurried=True)
        if not privacy.may_leave(tx, writer.location):
            return ExpandedQuery(meaning, WITHHELD_QUERY)
        prompt = files("treering.prompts").joinpath(_PROMPT).read_text("utf-8").format(query=privacy.query)
        answer = writer.write(prompt, max_tokens=HYPOTHETICAL_TOKENS)
    except ModelUnavailable as exc:
        models.failed("writer", exc)
        return ExpandedQuery(meaning, str(exc))
    try:
        embedder = models.embedder((meaning.model,), hurried=True)
        if embedder.model != meaning.model or not privacy.may_leave(tx, embedder.location):
            return ExpandedQuery(meaning, WITHHELD_QUERY)
        answer_vector = embedder.documents([answer])
    except ModelUnavailable as exc:
        models.failed("embedder", exc)
        return ExpandedQuery(meaning, str(exc))
    share = HYPOTHETICAL_SHARE
    moved = (1 - share) * meaning.vector + share * answer_vector
    length = float(np.linalg.norm(moved)) or 1.0
    return ExpandedQuery(replace(meaning, vector=(moved / length).astype(np.float32)))
