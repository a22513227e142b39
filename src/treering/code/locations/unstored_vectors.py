"""Chunk vectors that could not be stored yet because another process was writing."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from treering.core.errors import StoreError

if TYPE_CHECKING:
    from treering.code.locations.embedding import ChunkEmbedding


class UnstoredChunkVectors:
    """Vectors of one project and one model, by digest. Thread-safe: mappings are replaced, never changed."""

    def __init__(self, work: ChunkEmbedding) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._held: tuple[str, Mapping[str, bytes]] = ("", {})

    def of(self, model: str) -> Mapping[str, bytes]:
        held_model, vectors = self._held
        return vectors if held_model == model else {}

    def add(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Add vectors; those of another model are dropped."""
        with self._lock:
            self._held = model, {**self.of(model), **vectors}
        self.store()

    def store(self, seconds: float = 0.0) -> str:
        """Store the vectors, waiting at most `seconds` for another writer.

        Returns the reason if storing failed, otherwise an empty string.
        """
        model, vectors = self._held
        try:
            stored = bool(vectors) and self._work.add_if_free(model, vectors, seconds=seconds)
        except StoreError as exc:
            return str(exc)
        if stored:
            with self._lock:
                left = {digest: each for digest, each in self.of(model).items() if digest not in vectors}
                self._held = (model, left) if self._held[0] == model else self._held
        return ""
