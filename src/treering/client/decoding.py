"""Values of the library from the JSON of the API."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from treering.core.code_locations import CodeLocation
from treering.core.episodes import Episode
from treering.core.patterns import Pattern
from treering.core.phases import Phase
from treering.core.records import Knowledge
from treering.core.turns import Turn
from treering.core.values import Value
from treering.maintenance.stats import Stats
from treering.render.budget import ContextItem, RenderedContext
from treering.search.answer import Answer, Confidence, Explanation, Hit, RankExplanation, ScorePart

V = TypeVar("V", bound=Value)
Json = Mapping[str, Any]

_KINDS: Mapping[str, type[Knowledge | Turn | Episode | Pattern]] = {
    "knowledge": Knowledge,
    "turn": Turn,
    "episode": Episode,
    "pattern": Pattern,
}


def value(cls: type[V], found: Json) -> V:
    return cls.from_json(json.dumps(found))


def values(cls: type[V], found: Iterable[Json]) -> tuple[V, ...]:
    return tuple(value(cls, each) for each in found)


def record(found: Json) -> Knowledge | Turn | Episode | Pattern:
    """A record of any kind."""
    return value(_KINDS[found["kind"]], found["record"])


def answer(found: Json) -> Answer:
    hits = tuple(map(_hit, found["hits"]))
    explained = found["explanation"]
    return Answer(
        query=found["query"],
        hits=hits,
        missing=found["missing"],
        unreadable=tuple(found["unreadable"]),
        milliseconds=found["milliseconds"],
        embedder=found["embedder"],
        explanation=None if explained is None else _explanation(explained),
        confidence=Confidence(found["confidence"]),
        code=tuple(hit.record for hit in hits if isinstance(hit.record, CodeLocation)),
        strength=found["strength"],
    )


def _hit(found: Json) -> Hit:
    kind, stored = found["kind"], found["record"]
    if kind == "code":
        place: Any = CodeLocation(**{name: each for name, each in stored.items() if name != "id"})
    else:
        place = value(_KINDS[kind], stored)
    also = tuple(found["also"])
    fields = {name: found[name] for name in ("id", "kind", "text", "score", "source", "superseded_by")}
    return Hit(**fields, record=place, also=also)


def _explanation(found: Json) -> Explanation:
    return Explanation(
        found["understood"],
        tuple(map(_rank, found["results"])),
        tuple(map(_rank, found["runners_up"])),
    )


def _rank(found: Json) -> RankExplanation:
    return RankExplanation(**{**found, "parts": tuple(ScorePart(**part) for part in found["parts"])})


def context(found: Json) -> RenderedContext:
    return RenderedContext(
        text=found["text"],
        tokens=found["tokens"],
        items=tuple(ContextItem(**{**each, "also": tuple(each["also"])}) for each in found["items"]),
        left_out=tuple((id, reason) for id, reason in found["left_out"]),
        budget=found["budget"],
        phase=None if found["phase"] is None else Phase(found["phase"]),
    )


def stats(found: Json) -> Stats:
    latest = {kind: datetime.fromisoformat(at) for kind, at in found["latest"].items()}
    return Stats(**{**found, "latest": latest})
