"""The third path: from the files and names in play, along what belongs together, to the records about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from treering.core.errors import InvalidInput
from treering.core.graph import GraphNode, NodeKind
from treering.core.queries import (
    CoAccessFilter,
    EdgeFilter,
    EpisodeFilter,
    KnowledgeFilter,
    NodeFilter,
    Order,
    PatternFilter,
    ShareRange,
    TurnFilter,
)
from treering.core.records import Knowledge, RelationKind
from treering.core.values import PATH_BYTES, Record
from treering.search.entity_names import MAX_LINKS, Named, records_of, tied_entities

if TYPE_CHECKING:
    from treering.ports.collections import RecordMatches
    from treering.ports.store import Transaction

MAX_FILES_IN_PLAY = 20  # a caller that names more files works on none in particular
MAX_COUPLED_FILES = 30  # coupled files that are followed, the closest first: twice as many as there are ties to choose
MAX_NODES = 150  # symbols of the files in play whose edges are read; a thousand nodes and edges take 30 ms to read
MAX_EDGES = 150  # edges of each kind and direction; a file with more neighbours is coupled to none in particular
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
"""What is worth knowing about a file because of a change to another."""


@dataclass(frozen=True, slots=True)
class Hold:
    """How firmly a relation leads from the record that has it to its target, and from the target back."""

    forth: float
    back: float


RELATION_HOLD: Mapping[RelationKind, Hold] = MappingProxyType(
    {
        RelationKind.REQUIRED_WITH: Hold(0.8, 0.8),
        RelationKind.VALIDATES: Hold(0.6, 0.6),
        RelationKind.DERIVED_FROM: Hold(0.5, 0.5),
        # From the old to the new, hardly from the new to the old.
        RelationKind.SUPERSEDES: Hold(0.2, 0.9),
    }
)
"""Relations that are followed; a contradiction leads nowhere."""


@dataclass(frozen=True, slots=True)
class Tie:
    """A record reached through the graph: how firmly, from just above 0 to 1, and by which way."""

    kind: str
    id: str
    weight: float
    why: str


@dataclass(frozen=True, slots=True)
class Reached:
    """A tie with the record it leads to."""

    tie: Tie
    record: Record


_Ties = dict[tuple[str, str], Reached]


def ties(tx: Transaction, query: str, files: Sequence[str], *, most: int = 15) -> tuple[Tie, ...]:
    """The records most firmly tied to the files in play and to what the query names; of equals, the newest first.

    Files in play are those given and those that the query names; a path that leaves the project is an `InvalidInput`.
    Ties of several ways add up. Whatever is deleted, or not visible in this scope, is not tied.
    """
    in_play = _in_play([*files, *files_in(query)])
    reached: _Ties = {}
    if in_play:
        _add(reached, about_files(tx, in_play))
        _add(reached, _about_coupled(tx, in_play, coupled_files(tx, in_play)))
    _add(reached, _about_named(tx, tied_entities(tx, query)))
    if reached:
        _add(reached, related(tx, _firmest(reached, most)))
    return tuple(each.tie for each in _firmest(reached, most) if each.tie.weight >= MIN_TIE)


def coupled_files(tx: Transaction, files: Sequence[str]) -> Mapping[str, float]:
    """Files one hop from those in play and how closely they belong together, the closest first.

    Two files belong together where they are touched together or where code in one uses code in the other; the
    strongest reason counts. Stale nodes and edges give none.
    """
    in_play = _in_play(files)
    if not in_play:
        return {}
    closest: dict[str, float] = {}
    ways = (_touched_together, _used_together, _used_in_code)
    for file, weight in (tie for way in ways for tie in way(tx, in_play)):
        if file not in in_play and weight >= MIN_TIE:
            closest[file] = max(weight, closest.get(file, 0.0))
    return dict(sorted(closest.items(), key=lambda tie: (-tie[1], tie[0]))[:MAX_COUPLED_FILES])


def files_in(query: str) -> tuple[str, ...]:
    """Paths relative to the repository that a text names, as records keep them; line numbers are left off.

    `and/or`, web addresses and paths that lead out of the project are none.
    """
    pieces = (piece for piece in _BETWEEN_PATHS.split(query) if len(piece) <= PATH_BYTES)
    bare = (_LINE.sub("", piece.lstrip("([{*").rstrip(")]}*.:!?")) for piece in pieces)
    paths = (piece.replace("\\", "/") for piece in bare if _PATH.fullmatch(piece))
    return tuple(dict.fromkeys(path for each in paths for path in _normal(each)))


def neighbourhood_boost(
    ranked: Sequence[tuple[str, float, frozenset[str]]], neighbours: Mapping[str, float]
) -> dict[str, float]:
    """What to add to the normalised scores of results behind the leaders that touch the leaders' neighbourhood.

    `ranked` holds id, score and files, best first; `neighbours` are the coupled files of the leaders' files. Only those
    that gain are in the answer.
    """
    leaders, followers = ranked[:BOOST_LEADERS], ranked[BOOST_LEADERS:MAX_BOOSTED_RANK]
    led = {file for _, _, files in leaders for file in files}
    touched = {id: len(files & neighbours.keys()) for id, _, files in followers}
    return {id: BOOST * min(1.0, count / len(led)) for id, count in touched.items() if count and led}


def changed_top(before: Sequence[str], after: Sequence[str], n: int = 8) -> bool:
    """Whether the first `n` ids differ, or their order."""
    return tuple(before[:n]) != tuple(after[:n])


def _in_play(files: Iterable[str]) -> tuple[str, ...]:
    first = tuple(dict.fromkeys(files))[:MAX_FILES_IN_PLAY]
    return NodeFilter.make(files=first).files if first else ()


def _add(reached: _Ties, found: Iterable[Reached]) -> None:
    """Independent reasons add up without passing 1; the firmest one is named."""
    for each in found:
        key = each.tie.kind, each.tie.id
        before = reached.get(key)
        if before is None:
            reached[key] = each
            continue
        firmer = max(before.tie, each.tie, key=lambda tie: tie.weight)
        weight = 1 - (1 - before.tie.weight) * (1 - each.tie.weight)
        reached[key] = Reached(replace(firmer, weight=weight), each.record)


def _firmest(reached: _Ties, most: int) -> list[Reached]:
    return sorted(reached.values(), key=lambda each: -each.tie.weight)[:most]


def about_files(tx: Transaction, files: tuple[str, ...]) -> Iterator[Reached]:
    for record in _knowledge(tx, KnowledgeFilter(files=files)):
        about = ", ".join(file for file in record.files if file in files)
        yield Reached(Tie("knowledge", record.id, 1.0, f"about {about}"), record)


def _about_coupled(tx: Transaction, in_play: tuple[str, ...], coupled: Mapping[str, float]) -> Iterator[Reached]:
    """What is known about files that are coupled with those in play, but not about these themselves."""
    close = tuple(file for file, weight in coupled.items() if weight > COUPLED)
    wanted = (
        KnowledgeFilter(files=close, types=CAUSAL_TYPES) if close else None,
        KnowledgeFilter(files=tuple(coupled)) if coupled else None,
    )
    found = {record.id: record for where in wanted if where for record in _knowledge(tx, where)}
    for record in found.values():
        if not set(record.files) & set(in_play):
            file = max(record.files, key=lambda file: coupled.get(file, 0.0))
            weight = _expanded(coupled[file], record.type)
            yield Reached(Tie("knowledge", record.id, weight, f"about {file}, coupled {coupled[file]:.2f}"), record)


def _expanded(coupling: float, type: str) -> float:
    if coupling > COUPLED and type in CAUSAL_TYPES:
        return coupling + (1 - coupling) * CAUSAL_BONUS
    return coupling * LOOSE_FACTOR


def _about_named(tx: Transaction, named: Sequence[Named]) -> Iterator[Reached]:
    linked = sorted((tie for each in named for tie in _links(tx, each)), key=lambda tie: -tie.weight)
    return _readable(tx, linked)


def _readable(tx: Transaction, ties: Sequence[Tie]) -> Iterator[Reached]:
    """The ties whose records are there: neither deleted nor out of sight."""
    for kind, read in _READ.items():
        ids = tuple(dict.fromkeys(tie.id for tie in ties if tie.kind == kind))[:MAX_RECORDS]
        alive = {record.id: record for record in read(tx, ids)} if ids else {}
        yield from (Reached(tie, alive[tie.id]) for tie in ties if tie.kind == kind and tie.id in alive)


def _links(tx: Transaction, named: Named) -> Iterator[Tie]:
    """One tie for each record that speaks of the entity; none where too many do."""
    surest = records_of(tx, named)
    if not surest:
        return
    rarity = log(1 + MAX_LINKS / len(surest)) / log(1 + MAX_LINKS)
    for (kind, id), confidence in surest.items():
        yield Tie(kind, id, confidence * rarity, f"speaks of {named.entity.name}")


def related(tx: Transaction, firmest: Sequence[Reached]) -> Iterator[Reached]:
    """What the relations of knowledge lead to, one hop, either way."""
    ends = {each.record.id: each.tie.weight for each in firmest if isinstance(each.record, Knowledge)}
    known = [each.record for each in firmest if isinstance(each.record, Knowledge)]
    forth = [tie for record in known for tie in _targets(record, ends[record.id])]
    yield from _readable(tx, forth)
    for record in _knowledge(tx, KnowledgeFilter(related_to=tuple(ends))) if ends else ():
        yield from (Reached(tie, record) for tie in _origins(record, ends))


def _targets(record: Knowledge, weight: float) -> Iterator[Tie]:
    for relation in record.relations:
        if relation.record is not None and relation.kind in RELATION_HOLD:
            hold = RELATION_HOLD[relation.kind].forth * relation.confidence
            yield Tie("knowledge", relation.record, weight * hold, f"{record.id} {relation.kind} it")


def _origins(record: Knowledge, ends: Mapping[str, float]) -> Iterator[Tie]:
    for relation in record.relations:
        if relation.record is not None and relation.record in ends and relation.kind in RELATION_HOLD:
            hold = RELATION_HOLD[relation.kind].back * relation.confidence
            yield Tie("knowledge", record.id, ends[relation.record] * hold, f"{relation.kind} {relation.record}")


def _knowledge(tx: Transaction, where: KnowledgeFilter) -> tuple[Knowledge, ...]:
    return _values(tx.knowledge.newest(where, limit=MAX_RECORDS))


def _values(found: RecordMatches[V]) -> tuple[V, ...]:
    """What could be read: one damaged record does not cut the path."""
    return tuple(match.value for match in found)


_READ: Mapping[str, Callable[[Transaction, tuple[str, ...]], Sequence[Record]]] = {
    "knowledge": lambda tx, ids: _values(tx.knowledge.newest(KnowledgeFilter(ids=ids), limit=len(ids))),
    "turn": lambda tx, ids: _values(tx.turns.newest(TurnFilter(ids=ids), limit=len(ids))),
    "episode": lambda tx, ids: _values(tx.episodes.newest(EpisodeFilter(ids=ids), limit=len(ids))),
    "pattern": lambda tx, ids: _values(tx.patterns.newest(PatternFilter(ids=ids), limit=len(ids))),
}
"""What an entity can be linked with; the scope and the filter leave out what may not be seen."""


def _touched_together(tx: Transaction, files: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    where = CoAccessFilter(files=files, weight=ShareRange(at_least=MIN_TIE))
    for edge in tx.co_access.find(where, order=Order(by="weight"), limit=MAX_EDGES).items:
        yield edge.first, edge.weight
        yield edge.second, edge.weight


def _used_together(tx: Transaction, files: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    inside = _nodes_of(tx, files)
    if not inside:
        return
    out = tx.edges.find(EdgeFilter(origins=inside, stale=False), limit=MAX_EDGES).items
    back = tx.edges.find(EdgeFilter(targets=inside, stale=False), limit=MAX_EDGES).items
    strength: dict[str, float] = {}
    for id, edge in [(edge.target, edge) for edge in out] + [(edge.origin, edge) for edge in back]:
        strength[id] = max(edge.weight * edge.confidence, strength.get(id, 0.0))
    outside = sorted(strength.keys() - set(inside), key=lambda id: (-strength[id], id))[:MAX_EDGES]
    for node in tx.nodes.get_many(outside).values():
        if node.file is not None and node.stale_at is None:
            yield node.file, strength[node.id]


def _used_in_code(tx: Transaction, files: tuple[str, ...]) -> Iterator[tuple[str, float]]:
    """What the code of these files uses, and whose code uses them."""
    for tie in tx.code.ties(files, limit=MAX_EDGES):
        for file in _normal(tie.target if tie.origin in files else tie.origin):
            yield file, tie.weight


def _nodes_of(tx: Transaction, files: tuple[str, ...]) -> tuple[str, ...]:
    """The nodes of files and what is in them; where these are too many, the files themselves come first."""
    page = tx.nodes.find(NodeFilter(files=files, stale=False), limit=MAX_NODES)
    nodes: Sequence[GraphNode] = page.items
    if page.next is not None:
        whole = NodeFilter(files=files, stale=False, kinds=(NodeKind.FILE,))
        nodes = (*tx.nodes.find(whole, limit=MAX_NODES).items, *nodes)
    return tuple(dict.fromkeys(node.id for node in nodes))[:MAX_NODES]


def _normal(path: str) -> Iterator[str]:
    try:
        yield from NodeFilter.make(files=(path,)).files
    except InvalidInput:
        return
