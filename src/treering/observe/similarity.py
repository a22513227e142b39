"""Similarity of two short texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from treering.core.errors import ModelUnavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from treering.ports.models import Models


def similarity(models: Models, one: str, other: str) -> float:
    """Cosine by the local model; without it, the share of common words."""
    try:
        first, second = models.local_embedder().documents([one, other])
    except ModelUnavailable:
        words, others = set(one.casefold().split()), set(other.casefold().split())
        return len(words & others) / max(1, len(words | others))
    return cosine(first, second)


def cosine(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Cosine of two vectors; 0 if one of them is zero."""
    norm = float((first @ first) ** 0.5 * (second @ second) ** 0.5)
    return float(first @ second) / norm if norm else 0.0
