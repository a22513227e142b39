"""What Treering needs from models: texts to vectors, a better order of results, and written text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treering.core.errors import ModelUnavailable
    from treering.core.privacy import ModelLocation

Vectors: TypeAlias = "NDArray[np.float32]"
"""One row a text, each of length 1; a text that says nothing is a row of zeros."""


class Embedder(Protocol):
    """Places texts in a space where nearness is likeness of meaning. Spaces of different models never mix.

    `ModelUnavailable` where it cannot answer.
    """

    @property
    def model(self) -> str:
        """Names the space: provider, model and what else changes its vectors. Stored with each vector."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def location(self) -> ModelLocation: ...

    @property
    def local(self) -> bool:
        """Whether it answers in this process, in less than a millisecond a text."""
        ...

    def documents(self, texts: Sequence[str]) -> Vectors: ...

    def query(self, text: str) -> Vectors:
        """One row. An embedder on a server may remember those of the last queries; `documents` always asks."""
        ...

    @property
    def contextual(self) -> bool:
        """Whether a text is understood from what stands around it. One that averages words is better off without."""
        ...

    def reliance(self, text: str) -> float:
        """From 0 to 1: how far its vectors can be relied on for a text such as this."""
        ...

    def forget_queries(self) -> None:
        """Drop what was remembered of queries, if anything."""
        ...

    def close(self) -> None: ...


class Reranker(Protocol):
    """Reads query and text together. `ModelUnavailable` where it cannot answer."""

    @property
    def model(self) -> str: ...

    @property
    def location(self) -> ModelLocation: ...

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """From 0 to 1, one a text, in their order."""
        ...

    def close(self) -> None: ...


class Writer(Protocol):
    """A language model that continues a prompt. `ModelUnavailable` where it cannot answer."""

    @property
    def model(self) -> str: ...

    @property
    def location(self) -> ModelLocation: ...

    @property
    def spent(self) -> int:
        """Tokens of the last `write` of this thread, as the server counts them; 0 if it does not say."""
        ...

    def write(self, prompt: str, *, most_tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        """The continuation. `UnusableAnswer` where the model refuses.

        A JSON `schema` asks for an answer of that form, as far as the model can be held to it: the prompt must ask for
        it as well, and the answer be checked. With one, an answer that ran out of tokens is `AnswerCutOff`; without,
        it is given as far as it came.
        """
        ...

    def close(self) -> None: ...


class Models(Protocol):
    """The models that are configured or found, each made when it is first asked for.

    A caller sends them only what `treering.core.privacy` allows at their location.

    Where there is none, or it failed a moment ago, `ModelUnavailable` says why.
    """

    def embedder(self, known: Sequence[str], *, hurried: bool) -> Embedder:
        """For a project that has vectors of the `known` models; `hurried` where somebody waits for the answer."""
        ...

    def local_embedder(self) -> Embedder:
        """One in this process, for what a model elsewhere may not read."""
        ...

    def reranker(self) -> Reranker: ...

    def writer(self, *, hurried: bool) -> Writer:
        """`hurried` where somebody waits for the answer."""
        ...

    def failed(self, part: str, error: ModelUnavailable) -> None:
        """Leave `part` (embedder, reranker, writer) alone for a while."""
        ...

    def forget_queries(self) -> None:
        """Drop what was remembered of queries."""
        ...

    def close(self) -> None: ...
