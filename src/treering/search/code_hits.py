"""Code locations as results, ranked together with stored records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from treering.core.errors import InvalidInput, NotFound, TreeringError
from treering.core.queries import ALL_CODE, CODE
from treering.search.answer import Answer, Confidence, Explanation, Hit, RankExplanation
from treering.search.location_questions import asks_for_location, mentions_code

if TYPE_CHECKING:
    from treering.core.code_locations import CodeLocation
    from treering.core.queries import CodeFilter, SearchFilter
    from treering.core.settings import Settings

MAX_LOCATIONS = 100  # in one answer
MAX_CODE_HITS = 3  # code locations among the results of a search that is not about code alone
# Relevance of a location beside a record, unless the query is about code: "where are orders kept?" may ask for a
# decision.
CODE_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """Which code locations may be results: at most `max_locations` of `limit`, with at least `min_relevance`.

    A location with `certain` relevance answers the query. `share` weighs its relevance against that of a record.
    """

    where: CodeFilter
    limit: int
    max_locations: int
    min_relevance: float
    certain: float
    share: float


@dataclass(frozen=True, slots=True)
class CodeMatches:
    """Code locations found for a query; `missing` maps unavailable parts of the code search to reasons."""

    places: Sequence[CodeLocation]
    complete: bool
    missing: Mapping[str, str]


SearchCode = Callable[[str, CodeRequest, bool], CodeMatches]
"""Searches the code. If the last argument is true, the query is not sent to models on other machines."""

_MISSING_IN_CODE = {
    "meaning": "meaning of code",
    "meaning of some": "meaning of some code",
    "stored vectors": "stored vectors of code",
}
"""Names of unavailable parts of a code search in an answer that also covers records."""


def with_code(answer: Answer, find: SearchCode, request: CodeRequest, *, private: bool) -> Answer:
    """The answer with code locations ranked among its results; on failure, the answer without them."""
    began, missing = perf_counter(), dict(answer.missing)
    try:
        found = find(answer.query, request, private)
    except NotFound:
        return answer
    except TreeringError as exc:
        return replace(answer, missing={**missing, "code": str(exc)})
    if not found.complete:
        missing["some code"] = "the code index is incomplete, or files changed since it was built"
    missing |= {_MISSING_IN_CODE[part]: reason for part, reason in found.missing.items()}
    milliseconds = {**answer.milliseconds, "code": 1_000 * (perf_counter() - began)}
    answer = replace(answer, missing=missing, milliseconds=milliseconds)
    return rank_together(answer, found.places, request)


def code_request(
    query: str, where: SearchFilter | None, *, code: bool | None, limit: int, settings: Settings
) -> CodeRequest | None:
    """Request for the code search; None if the query does not ask for a location or the filters exclude code.

    Unless the request names code, only a few likely locations join the records.
    """
    allowed = ALL_CODE if where is None else where.of_code()
    named = bool(code) or names_code(where)
    if code is False or allowed is None or not (named or asks_for_location(query)):
        return None
    certain = settings.search.certain
    return CodeRequest(
        where=allowed,
        limit=limit,
        max_locations=min(limit, MAX_LOCATIONS if named else MAX_CODE_HITS),
        min_relevance=0.0 if named else certain,
        certain=certain,
        share=1.0 if named or mentions_code(query) else CODE_SHARE,
    )


def check_code_option(where: SearchFilter | None, *, code: bool | None) -> None:
    """Raise `InvalidInput` if `code` and the kinds of the filter contradict each other."""
    if code and where is not None and where.kinds and CODE not in where.kinds:
        raise InvalidInput(
            f"`code` includes code locations, but only the kind {', '.join(where.kinds)} is requested; "
            "add the kind code, or leave `code` out"
        )
    if code is False and names_code(where):
        raise InvalidInput("the kind code is requested, but `code` excludes code locations; leave one of them out")


def names_code(where: SearchFilter | None) -> bool:
    """Whether a filter names code as a kind."""
    return where is not None and CODE in where.kinds


def rank_together(answer: Answer, places: Sequence[CodeLocation], request: CodeRequest) -> Answer:
    """Records and code locations in one ranking: a record's strength and a location's relevance share one scale."""
    best = places[0].relevance if places else 0.0
    if not places or best < request.min_relevance:
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


def _hit(place: CodeLocation) -> Hit:
    text = "\n".join(filter(None, (place.symbol, place.text)))
    return Hit(place.id, CODE, text or place.path, place.score, "code", place)


def _explained(explanation: Explanation, hits: Sequence[Hit], chosen: Sequence[tuple[float, Hit]]) -> Explanation:
    """The explanation extended by the code locations, without the details of the code search."""
    by_id = {each.id: each for each in explanation.results}
    places = [hit for hit in hits if hit.kind == CODE]
    results = [
        by_id[hit.id]
        if hit.id in by_id
        else RankExplanation(hit.id, hit.kind, hit.text, {"code": places.index(hit) + 1}, (), score, {}, score)
        for (score, _), hit in zip(chosen, hits, strict=True)
    ]
    return replace(explanation, results=tuple(results))
