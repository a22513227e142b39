"""Finds records and turns by their words and by filters."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import overload

from treering.core.errors import InvalidInput
from treering.core.queries import KnowledgeFilter, TurnFilter
from treering.core.records import Knowledge
from treering.core.scope import Scope
from treering.core.settings import RecallSettings
from treering.core.turns import Turn
from treering.ports.store import Found, Match, Store, Transaction


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. `score` compares it with the best of its answer, which has 1; `source` cites it."""

    id: str
    kind: str
    text: str
    score: float
    source: str
    record: Knowledge | Turn


@dataclass(frozen=True, slots=True)
class Answer(Sequence[Hit]):
    """The results, best first.

    `missing` says which ways of finding were not available, and what was found but cannot be read.
    """

    query: str
    hits: tuple[Hit, ...]
    missing: tuple[str, ...]

    @property
    def unreadable(self) -> tuple[str, ...]:
        """What was found but cannot be shown; `doctor` says more."""
        return tuple(name for name in self.missing if name not in MISSING)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


@dataclass(frozen=True, slots=True)
class Recall:
    """What to look for. An empty query lists the newest; None for a filter leaves that kind out."""

    query: str
    knowledge: KnowledgeFilter | None
    turns: TurnFilter | None
    limit: int


ALL_KNOWLEDGE = KnowledgeFilter()
ALL_TURNS = TurnFilter()


def standing(where: KnowledgeFilter) -> KnowledgeFilter:
    """Only what still holds: neither corrected nor doubted, unless the filter itself asks for such records."""
    return where.replace(
        deprecated=False if where.deprecated is None else where.deprecated,
        flagged=False if where.flagged is None else where.flagged,
    )


MISSING = ("meaning", "graph", "reranker")
"""Ways of finding that this version does not have: it looks at words and filters."""


def recall(scope: Scope, store: Store, now: datetime, wanted: Recall, settings: RecallSettings) -> Answer:
    """The best records and turns that hold any of the query's words, within the filters."""
    if not isinstance(wanted.query, str):
        raise InvalidInput(f"the query is a {type(wanted.query).__name__}; ask in words")
    if type(wanted.limit) is not int or not 1 <= wanted.limit <= settings.limit_max:
        raise InvalidInput(f"limit is {wanted.limit}; ask for 1 to {settings.limit_max}, or use export")
    with store.reading(scope, now) as tx:
        found = _by_words(tx, wanted) if wanted.query.strip() else _newest(tx, wanted)
    matches = [match for each in found for match in each]
    unreadable = tuple(name for each in found for name in each.unreadable)
    best = sorted(matches, key=lambda match: (-match.score, match.value.id))[: wanted.limit]
    highest = max((match.score for match in best), default=1.0)
    return Answer(wanted.query, tuple(_hit(match, highest) for match in best), (*MISSING, *unreadable))


def _by_words(tx: Transaction, wanted: Recall) -> list[Found[Knowledge] | Found[Turn]]:
    found: list[Found[Knowledge] | Found[Turn]] = []
    if wanted.knowledge is not None:
        found.append(tx.knowledge.search(wanted.query, wanted.knowledge, limit=wanted.limit))
    if wanted.turns is not None:
        found.append(tx.turns.search(wanted.query, wanted.turns, limit=wanted.limit))
    return found


def _newest(tx: Transaction, wanted: Recall) -> list[Found[Knowledge] | Found[Turn]]:
    found: list[Found[Knowledge] | Found[Turn]] = []
    if wanted.knowledge is not None:
        found.append(tx.knowledge.newest(wanted.knowledge, limit=wanted.limit))
    if wanted.turns is not None:
        found.append(tx.turns.newest(wanted.turns, limit=wanted.limit))
    return found


def _hit(match: Match[Knowledge] | Match[Turn], highest: float) -> Hit:
    text, kind, source = _cite(match.value)
    return Hit(match.value.id, kind, text, max(0.0, match.score) / (highest or 1.0), source, match.value)


def _cite(record: Knowledge | Turn) -> tuple[str, str, str]:
    if isinstance(record, Turn):
        who = record.speaker or record.role.value
        return (
            record.text,
            "turn",
            f"{who}, turn {record.seq + 1} of session {record.session}, {record.at:%Y-%m-%d %H:%M}",
        )
    where = f" in {', '.join(record.files[:2])}" if record.files else ""
    return record.content, "knowledge", f"{record.type}, {record.source.value}{where}, {record.created_at:%Y-%m-%d}"
