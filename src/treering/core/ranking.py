"""BM25, shared by both engines."""

from dataclasses import dataclass
from math import log
from typing import Any

BM25_K1 = 0.9  # how soon another occurrence of a word stops counting; fitted on public conversations
BM25_B = 0.4  # how much length counts against a text; fitted on public conversations


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
