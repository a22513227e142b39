"""Common part of all remote embedders: batches, prefixes and validation of the answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from treering.adapters.models.prefixes import prefixes_of
from treering.adapters.models.query_vectors import QueryVectors
from treering.adapters.models.texts import clipped, in_batches
from treering.adapters.models.vectors import read_vectors

if TYPE_CHECKING:
    from treering.adapters.models.http import ModelEndpoint
    from treering.core.privacy import ModelLocation
    from treering.ports.models import Vectors

_TINY = "a"


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Maximum size of a request."""

    texts: int = 128
    # OpenAI accepts 300,000 tokens per request, and a character of a rare script is more than one token.
    characters: int = 100_000
    # OpenAI's embedders accept 8,192 tokens. Given in bytes, because a text never has more tokens than bytes.
    text_bytes: int = 8_000


class RemoteEmbedder(ABC):
    """Vectors from a server. Every answer is validated: one vector per text, equal dimensions, finite numbers."""

    def __init__(
        self, endpoint: ModelEndpoint, provider: str, model: str, limits: BatchLimits, dimension: int | None = None
    ) -> None:
        """`dimension` requests shorter vectors than the model's own."""
        self._endpoint = endpoint
        self._name = model
        self._space = f"{provider}/{model}" + (f"@{dimension}" if dimension else "")
        self._limits = limits
        self._prefixes = prefixes_of(model)
        self._reduced_to = dimension
        self._dimension = dimension
        self._learning = Lock()
        self._queries = QueryVectors()

    @property
    def model(self) -> str:
        return self._space

    @property
    def dimension(self) -> int:
        """Sends a request unless an earlier answer has shown it."""
        return self._dimension or self._vectors([_TINY]).shape[1]

    @property
    def location(self) -> ModelLocation:
        return self._endpoint.location

    def reliability(self, text: str) -> float:
        return 1.0

    @property
    def contextual(self) -> bool:
        return True

    @property
    def local(self) -> bool:
        return False

    def documents(self, texts: Sequence[str]) -> Vectors:
        return self._embedded(self._prefixes.document, texts)

    def query(self, text: str) -> Vectors:
        known = self._queries.get(text)
        if known is None:
            known = self._embedded(self._prefixes.query, [text])
            self._queries.put(text, known)
        return known

    def forget_queries(self) -> None:
        self._queries.clear()

    def close(self) -> None:
        self.forget_queries()
        self._endpoint.close()

    @abstractmethod
    def _rows(self, texts: Sequence[str]) -> object:
        """The server's answer for these texts, in their order; not validated."""

    def _embedded(self, prefix: str, texts: Sequence[str]) -> Vectors:
        readable = [clipped(text, self._limits.text_bytes) for text in texts]
        # Some servers reject a whole batch for one empty text.
        said = [at for at, text in enumerate(readable) if text.strip()]
        batches = in_batches([prefix + readable[at] for at in said], self._limits.texts, self._limits.characters)
        parts = [self._vectors(batch) for batch in batches]
        vectors = np.zeros((len(texts), self.dimension if len(texts) else self._dimension or 0), np.float32)
        if parts:
            vectors[said] = np.concatenate(parts)
        return vectors

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        rows = self._rows(texts)
        try:
            vectors = read_vectors(rows, len(texts))
        except ValueError as exc:
            raise self._endpoint.unusable(str(exc)) from exc
        self._require_dimension(vectors.shape[1])
        return vectors

    def _require_dimension(self, found: int) -> None:
        with self._learning:
            expected = self._dimension
            self._dimension = expected or found
        if expected in (None, found):
            return
        answered = f"{found} numbers for a text where {expected} are expected"
        if self._reduced_to:
            raise self._endpoint.unusable(
                answered, f"{self._name} does not support this dimension; remove it from the settings"
            )
        raise self._endpoint.unusable(
            answered, f"{self._name} is a different model than before; restore it, or run `treering embed`"
        )
