"""A result on its way to the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.search.answer import StoredRecord


@dataclass(frozen=True, slots=True)
class Ranked:
    """A record with its relevance (0 to 1), what multiplied it, and the score that came out.

    `row` is its place among the candidates, `age` what the age of a stated record leaves of its score, `superseded_by`
    the id of what took its place.
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
