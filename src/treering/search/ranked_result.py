"""A candidate result inside the search pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.search.answer import StoredRecord


@dataclass(frozen=True, slots=True)
class RankedResult:
    """A record with its relevance (0 to 1), the factors applied to it, and the resulting score.

    `row` is its row among the candidates, `age` the factor by which age lowered the score of a stated record,
    `superseded_by` the id of the record that replaced it.
    """

    row: int
    number: int
    kind: str
    record: StoredRecord
    relevance: float
    factors: Mapping[str, float]
    score: float
    age: float = 1.0
    also: tuple[str, ...] = ()
    superseded_by: str | None = None
