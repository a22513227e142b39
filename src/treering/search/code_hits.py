"""Places in the code as results, in one ranking with what is remembered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from treering.core.errors import NotFound, TreeringError
from treering.core.queries import ALL_CODE, CODE
from treering.search.answer import Answer, Confidence, Explanation, Hit, Reasons
from treering.search.location_questions import asks_for_place, speaks_of_code

if TYPE_CHECKING:
    from treering.core.code_locations import CodePlace
    from treering.core.queries import CodeFilter, SearchFilter
    from treering.core.settings import Settings

MAX_CODE_HITS = 3  # code locations among the results of a search that is not about code alone
# Relevance of a location beside a record, unless the query is about code: "where are orders kept?" may ask for a
# decision.
CODE_SHARE = 0.5

MOST = 100
"""Places of one answer."""


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """Which places may be results: at most `most` of `limit` results, from a relevance of `least` on.

    With `certain` relevance a place answers the query. `share` is what relevance counts beside that of a record.
    """

    where: CodeFilter
    limit: int
    most: int
    least: float
    certain: float
    share: float


@dataclass(frozen=True, slots=True)
class FoundCode:
    """Code locations found for a query; `missing` says what the code was searched without."""

    places: Sequence[CodePlace]
    complete: bool
    missing: Mapping[str, str]


FindCode = Callable[[str, CodeRequest, bool], FoundCode]
"""Find code locations for a query; the last argument keeps a private query away from models on other machines."""

_MISSING_IN_CODE = {
    "meaning": "meaning of code",
    "meaning of some": "meaning of some code",
    "stored vectors": "stored vectors of code",
}
"""Names of what a code search was missing, in an answer about more than code."""


def with_code(answer: Answer, find: FindCode, request: CodeRequest, *, private: bool) -> Answer:
    """The answer with code locations ranked among its results; a failure costs only the locations."""
    began, missing = perf_counter(), dict(answer.missing)
    try:
        found = find(answer.query, request, private)
    except NotFound:
        return answer
    except TreeringError as exc:
        return replace(answer, missing={**missing, "code": str(exc)})
    if not found.complete:
        missing["some code"] = "its index is not complete, or files changed and were not read again yet"
    missing |= {_MISSING_IN_CODE[part]: reason for part, reason in found.missing.items()}
    milliseconds = {**answer.milliseconds, "code": 1_000 * (perf_counter() - began)}
    answer = replace(answer, missing=missing, milliseconds=milliseconds)
    return ranked_together(answer, found.places, request)


def code_request(
    query: str, where: SearchFilter | None, *, code: bool | None, limit: int, settings: Settings
) -> CodeRequest | None:
    """What to look for in the code; None where the query does not ask for a place, or the filters leave code out.

    Where code is not named in the request, few places stand among the records, and only likely ones.
    """
    allowed = ALL_CODE if where is None else where.of_code()
    named = bool(code) or names_code(where)
    if code is False or allowed is None or not (named or asks_for_place(query)):
        return None
    certain = settings.search.certain
    return CodeRequest(
        where=allowed,
        limit=limit,
        most=min(limit, MOST if named else MAX_CODE_HITS),
        least=0.0 if named else certain,
        certain=certain,
        share=1.0 if named or speaks_of_code(query) else CODE_SHARE,
    )


def names_code(where: SearchFilter | None) -> bool:
    """Whether a filter asks for places in the code by their kind."""
    return where is not None and CODE in where.kinds


def ranked_together(answer: Answer, places: Sequence[CodePlace], request: CodeRequest) -> Answer:
    """The results by how much speaks for each: the signs of a record and the relevance of a place have one scale."""
    best = places[0].relevance if places else 0.0
    if not places or best < request.least:
        return answer
    found = [(hit.score * answer.strength, hit) for hit in answer.hits]
    found += [(request.share * best * place.score, _hit(place)) for place in places]
    chosen = sorted(found, key=lambda each: -each[0])[: request.limit]
    first = chosen[0][0] or 1.0
    hits = tuple(replace(hit, score=score / first) for score, hit in chosen)
    return replace(
        answer,
        hits=hits,
        code=tuple(place for place in places if any(hit.record is place for hit in hits)),
        confidence=Confidence.HIGH if best >= request.certain else answer.confidence,
        strength=first,
        explanation=answer.explanation and _explained(answer.explanation, hits, chosen),
    )


def _hit(place: CodePlace) -> Hit:
    text = "\n".join(filter(None, (place.symbol, place.text)))
    return Hit(place.id, CODE, text or place.path, place.score, "code", place)


def _explained(told: Explanation, hits: Sequence[Hit], chosen: Sequence[tuple[float, Hit]]) -> Explanation:
    """With the places among the results; how they were found stays with the code."""
    known = {reasons.id: reasons for reasons in told.results}
    places = [hit for hit in hits if hit.kind == CODE]
    results = [
        known[hit.id]
        if hit.id in known
        else Reasons(hit.id, hit.kind, hit.text, {"code": places.index(hit) + 1}, (), score, {}, score)
        for (score, _), hit in zip(chosen, hits, strict=True)
    ]
    return replace(told, results=tuple(results))
