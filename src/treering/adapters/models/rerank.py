"""Rerankers on a server: Cohere, Jina, vLLM and what speaks like them."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from treering.adapters.models.http import ModelEndpoint, Patience
from treering.adapters.models.remote import Limits
from treering.adapters.models.scores import from_0_to_1
from treering.adapters.models.texts import clipped, in_batches
from treering.core.privacy import ModelLocation

DialectName = Literal["cohere", "jina", "vllm"]

CANDIDATES = Limits(texts=200, characters=400_000)
"""Cohere advises against more than 1,000 texts; a search hands over some dozens."""
_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class _Dialect:
    path: str
    body: Callable[[str, str, Sequence[str]], Mapping[str, Any]]
    read: Callable[[Any], Iterable[tuple[Any, Any]]]
    """Index and score of each result; any of LookupError, TypeError and AttributeError where there are none."""


def _plain_body(model: str, query: str, texts: Sequence[str]) -> Mapping[str, Any]:
    return {"model": model, "query": query, "documents": list(texts), "top_n": len(texts)}


def _body_without_echo(model: str, query: str, texts: Sequence[str]) -> Mapping[str, Any]:
    return {**_plain_body(model, query, texts), "return_documents": False}


def _results(answer: Any) -> Iterable[tuple[Any, Any]]:
    return [(each["index"], each["relevance_score"]) for each in answer["results"]]


_DIALECTS: Mapping[DialectName, _Dialect] = {
    "cohere": _Dialect("/v2/rerank", _plain_body, _results),
    "jina": _Dialect("/v1/rerank", _body_without_echo, _results),
    "vllm": _Dialect("/v1/rerank", _plain_body, _results),
}


class HttpReranker:
    """Scores from a server. A URL that ends in /rerank is used as it is; otherwise the dialect's path is added.

    A text that the answer leaves out has 0, as has one that says nothing.
    """

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        dialect: DialectName = "cohere",
        *,
        limits: Limits = CANDIDATES,
        patience: Patience | None = None,
    ) -> None:
        base, self._path = _split(url, _DIALECTS[dialect].path)
        self._endpoint = ModelEndpoint(
            "the reranker", base, key, instead="choose another reranker in the settings", patience=patience
        )
        self._dialect = _DIALECTS[dialect]
        self._provider = dialect
        self._name = model
        self._limits = limits

    @property
    def model(self) -> str:
        return f"{self._provider}/{self._name}"

    @property
    def location(self) -> ModelLocation:
        return self._endpoint.location

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        asked = clipped(query, self._limits.text_bytes)
        readable = [clipped(text, self._limits.text_bytes) for text in texts]
        said = [at for at, text in enumerate(readable) if text.strip()] if asked.strip() else []
        batches = in_batches([readable[at] for at in said], self._limits.texts, self._limits.characters)
        given = [score for batch in batches for score in self._batch_scores(asked, batch)]
        known = [at for at, score in zip(said, given, strict=True) if score is not None]
        scores = [0.0] * len(texts)
        for at, score in zip(known, from_0_to_1([each for each in given if each is not None]), strict=True):
            scores[at] = score
        return scores

    def close(self) -> None:
        self._endpoint.close()

    def _batch_scores(self, query: str, texts: Sequence[str]) -> list[float | None]:
        """As the server gives them; None for a text that it leaves out."""
        answer = self._endpoint.post(self._path, self._dialect.body(self._name, query, texts))
        try:
            results = list(self._dialect.read(answer))
        except (LookupError, TypeError, AttributeError) as exc:
            raise self._endpoint.unusable("no list of scores") from exc
        scores: list[float | None] = [None] * len(texts)
        for index, score in results:
            if type(index) is not int or not 0 <= index < len(texts) or scores[index] is not None:
                raise self._endpoint.unusable(f"a score for text {index!r}, which was not asked for or has one already")
            if type(score) not in (int, float) or not abs(score) <= _LARGEST:
                raise self._endpoint.unusable("a score that is not a number")
            scores[index] = float(score)
        return scores


def _split(url: str, path: str) -> tuple[str, str]:
    """Base and path of the address to ask, for a URL with or without the path, or with its version only."""
    base = url.strip().rstrip("/")
    if base.endswith("/rerank"):
        return base.removesuffix("/rerank"), "/rerank"
    version, _, _ = path.rpartition("/")
    return base.removesuffix(version), path
