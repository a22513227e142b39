"""Vectors computed during a search and not stored yet."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from treering.adapters.vectors.signs import STORED

if TYPE_CHECKING:
    from numpy.typing import NDArray

MadeVector: TypeAlias = "tuple[int, str, NDArray[np.float32]]"
"""Number of the document, digest of the embedded text, vector."""


class PendingVectors:
    """Vectors of one project, by model and by number of their document, until a transaction stores them.

    For many threads. Dictionaries are replaced, never changed: a reader holds a consistent copy without a lock.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._by_model: Mapping[str, Mapping[int, MadeVector]] = {}

    def models(self) -> Collection[str]:
        return self._by_model.keys()

    def of(self, model: str) -> Mapping[int, MadeVector]:
        """Ordered by number."""
        return self._by_model.get(model, {})

    def add(self, model: str, made: Sequence[MadeVector]) -> None:
        """Rounded to the stored precision, so that a search gives equal results before and after."""
        rounded = {
            number: (number, digest, vector.astype(STORED).astype(np.float32)) for number, digest, vector in made
        }
        with self._lock:
            self._replace(model, dict(sorted({**self.of(model), **rounded}.items())))

    def discard(self, model: str, numbers: Collection[int]) -> None:
        gone = frozenset(numbers)
        with self._lock:
            self._replace(model, {number: each for number, each in self.of(model).items() if number not in gone})

    def discard_models(self, *, but: Collection[str]) -> None:
        with self._lock:
            self._by_model = {name: each for name, each in self._by_model.items() if name in but}

    def _replace(self, model: str, kept: Mapping[int, MadeVector]) -> None:
        others = {name: each for name, each in self._by_model.items() if name != model}
        self._by_model = {**others, model: kept} if kept else others
