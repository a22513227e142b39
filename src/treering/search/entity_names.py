"""The entities that a query names, and the records that speak of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from treering.core.language.folding import bare
from treering.core.language.scripts import SPACELESS
from treering.core.queries import EntityFilter, EntityLinkFilter, Order
from treering.core.statements import same_name
from treering.core.values import LABEL_BYTES, LABELS

if TYPE_CHECKING:
    from treering.core.entities import Entity
    from treering.ports.store import Transaction

MAX_NAMES = 250  # word sequences of a query looked up as names: all of them in a query of sixty words
MAX_ENTITIES = 8  # named entities that are followed, the longest names first; each costs a look-up
MAX_LINKS = 100  # an entity that more records mention says nothing about any of them
MAX_MERGES = 5  # merges from an entity to the one that remains; more is a cycle

# In this order an index gives the first at once.
_ANY = Order(by="name")
_NAME_WORDS = 4
_NAME_CHARACTERS = 8
# As `same_name` reads words: whatever else stands between letters is a gap, but `next.js`, `c++` and `c#` are words.
_WORD = re.compile(r"[^\W_]+(?:\.[^\W_]+)*(?:\+\+|#)?")


@cache
def _spaceless() -> re.Pattern[str]:
    return re.compile(f"[{SPACELESS}]{{2,}}")


@dataclass(frozen=True, slots=True)
class Run:
    """Words in a row that may be a name, without the marks around them; where they begin and end, counted in words."""

    text: str
    start: float
    end: float

    def is_inside(self, other: Run) -> bool:
        """Whether the other one holds it and more."""
        own, outer = (self.start, self.end), (other.start, other.end)
        return own != outer and outer[0] <= own[0] and own[1] <= outer[1]


Spell = Callable[[Run], Iterable[str]]
"""The keys, as `same_name` makes them, under which an entity may be found that a text calls so."""


@dataclass(frozen=True, slots=True)
class Named:
    """An entity that a query names, the ids it went by before it was merged, and the query's words for it."""

    entity: Entity
    ids: tuple[str, ...]
    runs: tuple[Run, ...]


def tied_entities(tx: Transaction, query: str) -> tuple[Named, ...]:
    """The entities that a query names, by name or alias, each once; a name inside a longer one does not count."""
    return entities_named(tx, runs_in(query, MAX_NAMES), as_written, MAX_ENTITIES)


def as_written(run: Run) -> tuple[str, ...]:
    key = same_name(run.text)
    return (key,) if any(map(str.isalnum, key)) else ()


def entities_named(tx: Transaction, runs: Sequence[Run], spell: Spell, most: int) -> tuple[Named, ...]:
    """The entities that some of the runs name, at most `most`, those with the longest names first."""
    if not runs or not tx.entities.find(order=_ANY, limit=1).items:
        return ()
    keys: dict[str, list[Run]] = {}
    for run in runs:
        for key in spell(run):
            keys.setdefault(key, []).append(run)
    found = _looked_up(tx, keys)
    called = {id: _runs_for(entity, keys) for id, entity in found.items()}
    used = {run for own in called.values() for run in own}
    outer = {id: tuple(run for run in own if not any(map(run.is_inside, used))) for id, own in called.items()}
    longest = sorted((id for id in outer if outer[id]), key=lambda id: -_length(outer[id]))
    named: dict[str, Named] = {}
    for entity, survivor in _survivors(tx, [found[id] for id in longest]):
        before = named.get(survivor.id, Named(survivor, (survivor.id,), ()))
        ids, own = dict.fromkeys((*before.ids, entity.id)), dict.fromkeys((*before.runs, *outer[entity.id]))
        named[survivor.id] = replace(before, ids=tuple(ids), runs=tuple(own))
    return _with_merged(tx, tuple(named.values())[:most])


def records_of(tx: Transaction, named: Named) -> Mapping[tuple[str, str], float]:
    """Kind and id of each record that speaks of the entity, and how surely; none where too many do."""
    page = tx.entity_links.find(EntityLinkFilter(entities=named.ids), limit=MAX_LINKS)
    surest: dict[tuple[str, str], float] = {}
    for link in page.items if page.next is None else ():
        key = link.record_kind, link.record
        surest[key] = max(link.confidence, surest.get(key, 0.0))
    return surest


def runs_in(text: str, most: int) -> tuple[Run, ...]:
    """Whatever in a text may be a name: runs of up to four words, from its beginning.

    Scripts without spaces come in runs of characters. The marks around a name go, as does what grammar adds to it.
    """
    return tuple(run for run in islice(_runs(bare(text), most), most) if _may_be_a_name(run.text))


def _looked_up(tx: Transaction, keys: Iterable[str]) -> Mapping[str, Entity]:
    """By id. Only so many keys are asked for at a time as a filter holds."""
    found: dict[str, Entity] = {}
    asked = iter([key for key in keys if len(key.encode()) <= LABEL_BYTES])
    while some := tuple(islice(asked, LABELS)):
        page = tx.entities.find(EntityFilter(same_names=some), limit=LABELS)
        found |= {entity.id: entity for entity in page.items}
    return found


def _runs_for(entity: Entity, keys: Mapping[str, Sequence[Run]]) -> tuple[Run, ...]:
    """The runs that name it; of two that differ by an article only, the shorter."""
    own = dict.fromkeys(same_name(name) for name in (entity.name, *entity.aliases))
    found: dict[Run, None] = {}
    for key in own:
        runs = keys.get(key, ())
        found.update(dict.fromkeys(run for run in runs if not any(other.is_inside(run) for other in runs)))
    return tuple(found)


def _length(runs: Iterable[Run]) -> int:
    return max(len(run.text) for run in runs)


def _survivors(tx: Transaction, entities: Sequence[Entity]) -> Iterator[tuple[Entity, Entity]]:
    """Each entity with the one it was merged into in the end; none where that is deleted, or a circle."""
    ends = {entity.id: entity for entity in entities}
    for _ in range(MAX_MERGES):
        merged = {id: entity.merged_into for id, entity in ends.items() if entity.merged_into}
        if not merged:
            break
        into = tx.entities.get_many(merged.values())
        ends = {id: into.get(merged[id], end) if id in merged else end for id, end in ends.items()}
    for entity in entities:
        end = ends[entity.id]
        if end.merged_into is None and end.deleted_at is None:
            yield entity, end


def _with_merged(tx: Transaction, named: Sequence[Named]) -> tuple[Named, ...]:
    """Each with whatever was merged into it: what speaks of that speaks of it."""
    of = {id: place for place, each in enumerate(named) for id in each.ids}
    asked = tuple(of)
    for _ in range(MAX_MERGES if named else 0):
        merged = tx.entities.find(EntityFilter(merged_into=asked), limit=LABELS).items
        fresh = {each.id: of[each.merged_into] for each in merged if each.merged_into and each.id not in of}
        of, asked = of | fresh, tuple(fresh)
        if not asked:
            break
    return tuple(replace(each, ids=tuple(id for id in of if of[id] == place)) for place, each in enumerate(named))


def _runs(text: str, most: int) -> Iterator[Run]:
    words = list(islice(_WORD.finditer(text), most))
    for place, word in enumerate(words):
        for last in range(place, min(place + _NAME_WORDS, len(words))):
            yield Run(" ".join(text[word.start() : words[last].end()].split()), place, last + 1)
        if word[0].isascii():
            continue
        for found in _spaceless().finditer(word[0]):
            run, first, whole = found[0], found.start(), len(word[0])
            for at in range(len(run) - 1):
                for length in range(2, min(_NAME_CHARACTERS, len(run) - at) + 1):
                    start = place + (first + at) / whole
                    yield Run(run[at : at + length], start, start + length / whole)


def _may_be_a_name(text: str) -> bool:
    return len(text) > 1 and text.isprintable() and len(text.encode()) <= LABEL_BYTES
