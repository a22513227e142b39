"""BM25, shared by both engines."""

from dataclasses import dataclass
from math import log
from typing import Any


@dataclass(frozen=True, slots=True)
class BM25:
    """BM25 with the statistics of one project."""

    documents: int
    average_length: float
    saturation_at: float
    length_share: float

    def weight(self, holding: int) -> float:
        """Weight of a word that occurs in `holding` documents; never below zero."""
        return log(1 + (self.documents - holding + 0.5) / (holding + 0.5))

    def saturation(self, counts: Any, lengths: Any) -> Any:
        """Contribution of term counts in documents of these lengths; numbers or arrays."""
        evened = 1 - self.length_share + self.length_share * lengths / max(self.average_length, 1.0)
        return counts * (self.saturation_at + 1) / (counts + self.saturation_at * evened)
