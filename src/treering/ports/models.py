"""Models: embedders, rerankers and text generators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treering.core.errors import ModelUnavailable
    from treering.core.privacy import ModelLocation

Vectors: TypeAlias = "NDArray[np.float32]"
"""One row for each text, of length 1; the row of a text without content is zero."""


class Embedder(Protocol):
    """Maps texts to vectors whose proximity reflects similar meaning. Vectors of different models are never mixed.

    `ModelUnavailable` if it cannot answer.
    """

    @property
    def model(self) -> str:
        """Name of the vector space: provider, model and options that change the vectors. Stored with each vector."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def location(self) -> ModelLocation: ...

    @property
    def local(self) -> bool:
        """Whether it runs in this process and takes less than a millisecond per text."""
        ...

    def documents(self, texts: Sequence[str]) -> Vectors: ...

    def query(self, text: str) -> Vectors:
        """One row. A remote embedder may cache recent queries; `documents` never uses the cache."""
        ...

    @property
    def contextual(self) -> bool:
        """Whether surrounding text improves a vector; an embedder that averages words is better without it."""
        ...

    def reliability(self, text: str) -> float:
        """Reliability of its vectors for such a text, from 0 to 1."""
        ...

    def forget_queries(self) -> None:
        """Clear the cache of queries, if any."""
        ...

    def close(self) -> None: ...


class Reranker(Protocol):
    """Scores query and text together. `ModelUnavailable` if it cannot answer."""

    @property
    def model(self) -> str: ...

    @property
    def location(self) -> ModelLocation: ...

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """One score from 0 to 1 for each text, in their order."""
        ...

    def close(self) -> None: ...


class Writer(Protocol):
    """A language model that completes a prompt. `ModelUnavailable` if it cannot answer."""

    @property
    def model(self) -> str: ...

    @property
    def location(self) -> ModelLocation: ...

    @property
    def spent(self) -> int:
        """Tokens that this thread's last answer used, as the server reports them; 0 if it does not."""
        ...

    def write(self, prompt: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        """Complete the prompt; `UnusableAnswer` if the model refuses.

        A JSON `schema` requests an answer of that form. Not every model enforces it, so the prompt must describe the
        form, too, and the caller must validate the answer. An answer that the token limit cuts off raises
        `AnswerCutOff` with a schema, and is returned truncated without one.
        """
        ...

    def stream(self, prompt: str, *, max_tokens: int) -> Iterator[str]:
        """Complete the prompt, in pieces as the model writes them; errors are those of `write`.

        A server that does not stream gives one piece. `spent` is known when the last piece was read.
        """
        ...

    def close(self) -> None: ...


class Models(Protocol):
    """The configured or detected models, each created on first use.

    Callers send them only the data that `treering.core.privacy` allows at their location.

    `ModelUnavailable`, with the reason, if a model is not configured or failed recently.
    """

    def embedder(self, known: Sequence[str], *, hurried: bool) -> Embedder:
        """Embedder for a project with vectors of the `known` models; `hurried` if a caller waits for the answer."""
        ...

    def local_embedder(self) -> Embedder:
        """An in-process embedder for text that must not leave this machine."""
        ...

    def reranker(self) -> Reranker: ...

    def writer(self, *, hurried: bool) -> Writer:
        """Set `hurried` if a caller waits for the answer."""
        ...

    def failed(self, part: str, error: ModelUnavailable) -> None:
        """Suspend `part` (embedder, reranker, writer) for a while."""
        ...

    def forget_queries(self) -> None:
        """Clear the caches of queries."""
        ...

    def close(self) -> None: ...
