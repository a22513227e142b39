"""Vectors of chunks that were made while another process was writing, until they are stored."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from treering.core.errors import StoreError

if TYPE_CHECKING:
    from treering.code.locations.embedding import ChunkEmbedding


class UnstoredVectors:
    """Of one project and one model, by digest. For many threads: mappings are replaced, never changed."""

    def __init__(self, work: ChunkEmbedding) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._kept: tuple[str, Mapping[str, bytes]] = ("", {})

    def of(self, model: str) -> Mapping[str, bytes]:
        kept_model, vectors = self._kept
        return vectors if kept_model == model else {}

    def add(self, model: str, vectors: Mapping[str, bytes]) -> None:
        """Instead of those of another model."""
        with self._lock:
            self._kept = model, {**self.of(model), **vectors}
        self.store()

    def store(self, seconds: float = 0.0) -> str:
        """Store them, unless another writer has to be waited for longer than this.

        The reason is returned if they cannot be stored for another cause.
        """
        model, vectors = self._kept
        try:
            stored = bool(vectors) and self._work.add_if_free(model, vectors, seconds=seconds)
        except StoreError as exc:
            return str(exc)
        if stored:
            with self._lock:
                left = {digest: each for digest, each in self.of(model).items() if digest not in vectors}
                self._kept = (model, left) if self._kept[0] == model else self._kept
        return ""
