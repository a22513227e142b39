"""Similarity of two short texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treering.core.errors import ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.ports.models import Models


class TextSimilarity:
    """Cosine by the local model; without it, the share of common words. Embeds each text once."""

    def __init__(self, models: Models) -> None:
        self._models = models
        self._vectors: dict[str, NDArray[Any]] = {}

    def __call__(self, one: str, other: str) -> float:
        try:
            return float(self._vector(one) @ self._vector(other))
        except ModelUnavailable:
            words, others = set(one.casefold().split()), set(other.casefold().split())
            return len(words & others) / max(1, len(words | others))

    def _vector(self, text: str) -> NDArray[Any]:
        """The vector with length 1, or all zeros if the model knows nothing of the text."""
        vector = self._vectors.get(text)
        if vector is None:
            (found,) = self._models.local_embedder().documents([text])
            vector = self._vectors[text] = found / (float(found @ found) ** 0.5 or 1.0)
        return vector


def cosine(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Cosine of two vectors; 0 if one of them is zero."""
    norm = float((first @ first) ** 0.5 * (second @ second) ** 0.5)
    return float(first @ second) / norm if norm else 0.0
