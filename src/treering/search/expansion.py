"""When little was found: ask a language model what the answer might sound like, and look for that as well."""

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
    from treering.search.paths import Found
    from treering.search.private_words import QueryPrivacy
    from treering.search.query_vector import Meaning

THIN_RESULTS = 3  # with fewer likely results, a language model is asked for a hypothetical answer
LIKELY_SCORE = 0.6  # from this score on one candidate in seven is relevant (`bench/weights.py`)
HYPOTHETICAL_SHARE = 0.6  # how far the query's vector moves towards that of a hypothetical answer
HYPOTHETICAL_TOKENS = 100  # two sentences

_PROMPT = "hypothetical_answer.md"


@dataclass(frozen=True)
class Expanded:
    """The query's vector, moved towards a hypothetical answer; `why_not` where it stays as it was."""

    meaning: Meaning
    why_not: str = ""


def is_thin(found: Found) -> bool:
    """Whether too few candidates are likely to be what was asked for."""
    likely = found.fused.total[found.order[:THIN_RESULTS]] >= LIKELY_SCORE
    return int(likely.sum()) < THIN_RESULTS


def expanded(tx: Transaction, asked: QueryPrivacy, meaning: Meaning, models: Models) -> Expanded:
    """Mix the vector of a hypothetical answer into that of the query."""
    if meaning.vector is None:
        return Expanded(meaning, "there is no vector to move")
    try:
        writer = models.writer(hurried=True)
        if not asked.may_leave(tx, writer.location):
            return Expanded(meaning, WITHHELD_QUERY)
        prompt = files("treering.prompts").joinpath(_PROMPT).read_text("utf-8").format(query=asked.query)
        answer = writer.write(prompt, max_tokens=HYPOTHETICAL_TOKENS)
    except ModelUnavailable as exc:
        models.failed("writer", exc)
        return Expanded(meaning, str(exc))
    try:
        embedder = models.embedder((meaning.model,), hurried=True)
        if embedder.model != meaning.model or not asked.may_leave(tx, embedder.location):
            return Expanded(meaning, WITHHELD_QUERY)
        sounding = embedder.documents([answer])
    except ModelUnavailable as exc:
        models.failed("embedder", exc)
        return Expanded(meaning, str(exc))
    share = HYPOTHETICAL_SHARE
    moved = (1 - share) * meaning.vector + share * sounding
    length = float(np.linalg.norm(moved)) or 1.0
    return Expanded(replace(meaning, vector=(moved / length).astype(np.float32)))
