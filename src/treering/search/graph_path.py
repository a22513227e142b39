"""The graph path of a search: from files and named entities, along coupled files and relations, to records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from treering.core.errors import InvalidInput
from treering.core.queries import (
    CoAccessFilter,
    KnowledgeFilter,
    Order,
    ShareRange,
)
from treering.core.records import Knowledge, RelationKind
from treering.core.values import PATH_BYTES, Record
from treering.search.entity_names import MAX_LINKS, EntityMatch, entities_in_query, mentions_of

if TYPE_CHECKING:
    from treering.ports.collections import RecordMatches, Searchable
    from treering.ports.store import Transaction

MAX_FILES_IN_PLAY = 20  # a caller that names more files works on none in particular
MAX_COUPLED_FILES = 30  # coupled files that are followed, the closest first: twice as many as there are ties to choose
MAX_EDGES = 150  # ties of each kind; a file with more neighbours is coupled to none in particular
MAX_RECORDS = 50  # records that each way through the graph finds before the best are chosen
MIN_TIE = 0.1  # a weaker tie is chance
COUPLED = 0.6  # above this a change to one file affects the other: its gotchas, patterns and errors are found as well
CAUSAL_BONUS = 0.25  # their share of what is missing to certainty; a record about the file itself stays above them
LOOSE_FACTOR = 0.5  # weight of the tie for everything else that is known about a coupled file
BOOST = 0.3  # gain of a result that touches as many neighbours of the leading results as these have files
BOOST_LEADERS = 10  # results whose neighbours count
MAX_BOOSTED_RANK = 50  # results behind this rank were found by chance


V = TypeVar("V", bound=Record)

_BETWEEN_PATHS = re.compile(r"[\s\"'`<>,;|=]+|\]\(")
_LINE = re.compile(r"(?:::\w.*|(?::\d+)+(?:-\d+)?|#L\d+(?:-L?\d+)?)$")
_STEP, _LAST = r"[^\s:/\\]+[/\\]", r"[^\s:/\\]*"
_EXTENSIONS = (
    "astro|bash|bat|c|cc|cfg|clj|conf|cpp|cs|css|csv|cu|cxx|dart|env|erl|ex|exs|go|gradle|graphql|h|hpp|hs|htm|html|"
    "ini|ipynb|java|js|json|jsonl|jsx|kt|kts|less|lock|lua|m|md|mdx|mjs|ml|mm|php|pl|proto|ps1|py|pyi|pyx|r|rb|rs|rst|"
    "sass|scala|scm|scss|sh|sol|sql|svelte|svg|swift|tf|toml|ts|tsx|txt|vue|xml|yaml|yml|zig|zsh"
)
_PATH_SHAPES = (
    rf"(?:{_STEP})+{_LAST}\.[A-Za-z]\w{{0,9}}",  # src/auth.py
    rf"(?:{_STEP})*[A-Za-z_.]{_LAST}/",  # src/
    rf"(?:{_STEP}){{2,}}{_LAST}[A-Za-z]{_LAST}",  # src/auth/login
    rf"[\w.-]+\.(?:{_EXTENSIONS})",  # auth.py
    r"\.[a-z][\w-]+",  # .gitignore
    rf"(?:{_STEP})*(?:Make|Docker|Proc|Gem|Rake|Just)file",
)
_PATH = re.compile("|".join(_PATH_SHAPES))

CAUSAL_TYPES = ("gotcha", "error_pattern", "causal_dependency", "pattern", "prefetch_pattern")
"""Types of knowledge about a file that matter when a coupled file changes."""


@dataclass(frozen=True, slots=True)
class RelationWeight:
    """Weight of a relation from its record to the target, and from the target back."""

    forward: float
    backward: float


RELATION_WEIGHTS: Mapping[RelationKind, RelationWeight] = MappingProxyType(
    {
        RelationKind.REQUIRED_WITH: RelationWeight(0.8, 0.8),
        RelationKind.VALIDATES: RelationWeight(0.6, 0.6),
        RelationKind.DERIVED_FROM: RelationWeight(0.5, 0.5),
        # A superseded record leads to its successor, hardly the other way round.
        RelationKind.SUPERSEDES: RelationWeight(0.2, 0.9),
    }
)
"""Relations that are followed; contradictions are not."""


@dataclass(frozen=True, slots=True)
class GraphMatch:
    """A record reached through the graph, with a weight above 0 and up to 1 and the reason."""

    kind: str
    id: str
    weight: float
    why: str


@dataclass(frozen=True, slots=True)
class MatchedRecord:
    """A match together with its record."""

    match: GraphMatch
    record: Record


_Matches = dict[tuple[str, str], MatchedRecord]


def graph_matches(tx: Transaction, query: str, files: Sequence[str], *, limit: int = 15) -> tuple[GraphMatch, ...]:
    """Records with the strongest connection to the files in play and the entities named; of equals, the newest first.

    Files in play are those given and those that the query names. Several connections to one record add up. Deleted
    records and records outside the scope are left out. Raises `InvalidInput` for a path outside the project.
    """
    in_play = _in_play([*files, *files_in(query)])
    reached: _Matches = {}
    if in_play:
        _add(reached, about_files(tx, in_play))
        _add(reached, _about_coupled(tx, in_play, coupled_files(tx, in_play)))
    _add(reached, _about_entities(tx, entities_in_query(tx, query)))
    if reached:
        _add(reached, related(tx, _strongest(reached, limit)))
    return tuple(each.match for each in _strongest(reached, limit) if each.match.weight >= MIN_TIE)


def coupled_files(tx: Transaction, files: Sequence[str]) -> Mapping[str, float]:
    """Files one hop from those in play with the weight of their coupling, the strongest first.

    Two files are coupled if they are accessed together or if code in one uses code in the other; the strongest reason
    counts.
    """
    in_play = _in_play(files)
    if not in_play:
        return {}
    closest: dict[str, float] = {}
    ways = (_accessed_together, _used_in_code)
    for file, weight in (coupling for way in ways for coupling in way(tx, in_play)):
        if file not in in_play and weight >= MIN_TIE:
            closest[file] = max(weight, closest.get(file, 0.0))
    return dict(sorted(closest.items(), key=lambda item: (-item[1], item[0]))[:MAX_COUPLED_FILES])


def files_in(query: str) -> tuple[str, ...]:
    """Paths named in a text, relative to the repository and without line numbers, as records store them.

    `and/or`, web addresses and paths outside the project are ignored.
    """
    pieces = (piece for piece in _BETWEEN_PATHS.split(query) if len(piece) <= PATH_BYTES)
    bare = (_LINE.sub("", piece.lstrip("([{*").rstrip(")]}*.:!?")) for piece in pieces)
    paths = (piece.replace("\\", "/") for piece in bare if _PATH.fullmatch(piece))
    return tuple(dict.fromkeys(path for each in paths for path in _project_path(each)))


def neighbourhood_boost(
    ranked: Sequence[tuple[str, float, frozenset[str]]], neighbours: Mapping[str, float]
) -> dict[str, float]:
    """Score increase, by id, of results below the leaders that concern files coupled with the leaders' files.

    `ranked` holds id, score and files, best first; `neighbours` are the coupled files of the leaders' files. Results
    without an increase are omitted.
    """
    leaders, followers = ranked[:BOOST_LEADERS], ranked[BOOST_LEADERS:MAX_BOOSTED_RANK]
    led = {file for _, _, files in leaders for file in files}
    touched = {id: len(files & neighbours.keys()) for id, _, files in followers}
    return {id: BOOST * min(1.0, count / len(led)) for id, count in touched.items() if count and led}


def changed_top(before: Sequence[str], after: Sequence[str], n: int = 8) -> bool:
    """Whether the first `n` ids differ in content or order."""
    return tuple(before[:n]) != tuple(after[:n])


def _in_play(files: Iterable[str]) -> tuple[str, ...]:
    first = tuple(dict.fromkeys(files))[:MAX_FILES_IN_PLAY]
    return KnowledgeFilter.make(files=first).files if first else ()


def _add(reached: _Matches, found: Iterable[MatchedRecord]) -> None:
    """Add matches; independent reasons add up to at most 1, and the strongest one is named."""
    for each in found:
        key = each.match.kind, each.match.id
        before = reached.get(key)
        if before is None:
            reached[key] = each
            continue
        stronger = max(before.match, each.match, key=lambda match: match.weight)
        weight = 1 - (1 - before.match.weight) * (1 - each.match.weight)
        reached[key] = MatchedRecord(replace(stronger, weight=weight), each.record)


def _strongest(reached: _Matches, limit: int) -> list[MatchedRecord]:
    return sorted(reached.values(), key=lambda each: -each.match.weight)[:limit]


def about_files(tx: Transaction, files: tuple[str, ...]) -> Iterator[MatchedRecord]:
    for record in _knowledge(tx, KnowledgeFilter(files=files)):
        about = ", ".join(file for file in record.files if file in files)
        yield MatchedRecord(GraphMatch("knowledge", record.id, 1.0, f"about {about}"), record)


def _about_coupled(tx: Transaction, in_play: tuple[str, ...], coupled: Mapping[str, float]) -> Iterator[MatchedRecord]:
    """Knowledge about files coupled with those in play, except knowledge about the files in play."""
    close = tuple(file for file, weight in coupled.items() if weight > COUPLED)
    wanted = (
        KnowledgeFilter(files=close, types=CAUSAL_TYPES) if close else None,
        KnowledgeFilter(files=tuple(coupled)) if coupled else None,
    )
    found = {record.id: record for where in wanted if where for record in _knowledge(tx, where)}
    for record in found.values():
        if not set(record.files) & set(in_play):
            file = max(record.files, key=lambda file: coupled.get(file, 0.0))
            weight = _coupled_weight(coupled[file], record.type)
            yield MatchedRecord(
                GraphMatch("knowledge", record.id, weight, f"about {file}, coupled {coupled[file]:.2f}"), record
            )


def _coupled_weight(coupling: float, type: str) -> float:
    if coupling > COUPLED and type in CAUSAL_TYPES:
        return coupling + (1 - coupling) * CAUSAL_BONUS
    return coupling * LOOSE_FACTOR


def _about_entities(tx: Transaction, named: Sequence[EntityMatch]) -> Iterator[MatchedRecord]:
    linked = sorted((match for each in named for match in _mentions(tx, each)), key=lambda match: -match.weight)
    return _with_records(tx, linked)


def _with_records(tx: Transaction, matches: Sequence[GraphMatch]) -> Iterator[MatchedRecord]:
    """The matches whose records exist and are visible, with their records."""
    for kind, collection in COLLECTIONS.items():
        ids = tuple(dict.fromkeys(match.id for match in matches if match.kind == kind))[:MAX_RECORDS]
        found = _values(collection(tx).readable(ids)) if ids else ()
        visible = {record.id: record for record in found if record.deleted_at is None}
        yield from (
            MatchedRecord(match, visible[match.id]) for match in matches if match.kind == kind and match.id in visible
        )


def _mentions(tx: Transaction, named: EntityMatch) -> Iterator[GraphMatch]:
    """One match for each record that mentions the entity; none if too many do."""
    confidences = mentions_of(tx, named)
    if not confidences:
        return
    rarity = log(1 + MAX_LINKS / len(confidences)) / log(1 + MAX_LINKS)
    for (kind, id), confidence in confidences.items():
        yield GraphMatch(kind, id, confidence * rarity, f"mentions {named.entity.name}")


def related(tx: Transaction, strongest: Sequence[MatchedRecord]) -> Iterator[MatchedRecord]:
    """Records one relation away from the given knowledge, in either direction."""
    ends = {each.record.id: each.match.weight for each in strongest if isinstance(each.record, Knowledge)}
    known = [each.record for each in strongest if isinstance(each.record, Knowledge)]
    forward = [match for record in known for match in _targets(record, ends[record.id])]
    yield from _with_records(tx, forward)
    for record in _values(tx.knowledge.related_to(tuple(ends), limit=MAX_RECORDS)) if ends else ():
        yield from (MatchedRecord(match, record) for match in _origins(record, ends))


def _targets(record: Knowledge, weight: float) -> Iterator[GraphMatch]:
    for relation in record.relations:
        if relation.record is not None and relation.kind in RELATION_WEIGHTS:
            strength = RELATION_WEIGHTS[relation.kind].forward * relation.confidence
            yield GraphMatch("knowledge", relation.record, weight * strength, f"{record.id} {relation.kind} it")


def _origins(record: Knowledge, ends: Mapping[str, float]) -> Iterator[GraphMatch]:
    for relation in record.relations:
        if relation.record is not None and relation.record in ends and relation.kind in RELATION_WEIGHTS:
            strength = RELATION_WEIGHTS[relation.kind].backward * relation.confidence
            yield GraphMatch(
                "knowledge", record.id, ends[relation.record] * strength, f"{relation.kind} {relation.record}"
            )


def _knowledge(tx: Transaction, where: KnowledgeFilter) -> tuple[Knowledge, ...]:
    return _values(tx.knowledge.newest(where, limit=MAX_RECORDS))


def _values(found: RecordMatches[V]) -> tuple[V, ...]:
    """The readable records: one damaged record does not fail the search."""
    return tuple(match.value for match in found)


COLLECTIONS: Mapping[str, Callable[[Transaction], Searchable[Any, Any]]] = {
    "knowledge": lambda tx: tx.knowledge,
    "turn": lambda tx: tx.turns,
    "episode": lambda tx: tx.episodes,
    "pattern": lambda tx: tx.patterns,
}
"""Collections by kind of record; the scope excludes what the principal may not see."""


def _accessed_together(tx: Transaction, files: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    where = CoAccessFilter(files=files, weight=ShareRange(at_least=MIN_TIE))
    for edge in tx.co_access.find(where, order=Order(by="weight"), limit=MAX_EDGES).items:
        yield edge.first, edge.weight
        yield edge.second, edge.weight


def _used_in_code(tx: Transaction, files: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    """Files whose code is used by these files, or uses them."""
    for tie in tx.code.ties(files, limit=MAX_EDGES):
        for file in _project_path(tie.target if tie.origin in files else tie.origin):
            yield file, tie.weight


def _project_path(path: str) -> Iterator[str]:
    try:
        yield from KnowledgeFilter.make(files=(path,)).files
    except InvalidInput:
        return
