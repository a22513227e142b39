"""Rerankers on a server: Cohere, Jina, vLLM and compatible ones."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from treering.adapters.models.http import ModelEndpoint, RequestTimeouts
from treering.adapters.models.remote import BatchLimits
from treering.adapters.models.scores import from_0_to_1
from treering.adapters.models.texts import clipped, in_batches
from treering.core.privacy import ModelLocation

DialectName = Literal["cohere", "jina", "vllm"]

CANDIDATES = BatchLimits(texts=200, characters=400_000)
"""Cohere advises against more than 1,000 texts; a search passes a few dozen."""
_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class _RerankApi:
    path: str
    body: Callable[[str, str, Sequence[str]], Mapping[str, Any]]
    read: Callable[[Any], Iterable[tuple[Any, Any]]]
    """Index and score of each result; raises LookupError, TypeError or AttributeError for a malformed answer."""


def _plain_body(model: str, query: str, texts: Sequence[str]) -> Mapping[str, Any]:
    return {"model": model, "query": query, "documents": list(texts), "top_n": len(texts)}


def _body_without_echo(model: str, query: str, texts: Sequence[str]) -> Mapping[str, Any]:
    return {**_plain_body(model, query, texts), "return_documents": False}


def _results(answer: Any) -> Iterable[tuple[Any, Any]]:
    return [(each["index"], each["relevance_score"]) for each in answer["results"]]


_APIS: Mapping[DialectName, _RerankApi] = {
    "cohere": _RerankApi("/v2/rerank", _plain_body, _results),
    "jina": _RerankApi("/v1/rerank", _body_without_echo, _results),
    "vllm": _RerankApi("/v1/rerank", _plain_body, _results),
}


class HttpReranker:
    """Scores from a server. A URL that ends in /rerank is used unchanged; otherwise the API's path is appended.

    A text that the answer omits scores 0, as does an empty text.
    """

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        dialect: DialectName = "cohere",
        *,
        limits: BatchLimits = CANDIDATES,
        timeouts: RequestTimeouts | None = None,
    ) -> None:
        base, self._path = _split(url, _APIS[dialect].path)
        self._endpoint = ModelEndpoint(
            "the reranker", base, key, instead="choose another reranker in the settings", timeouts=timeouts
        )
        self._dialect = _APIS[dialect]
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
        """Scores as the server returns them; None for a text that it omits."""
        answer = self._endpoint.post(self._path, self._dialect.body(self._name, query, texts))
        try:
            results = list(self._dialect.read(answer))
        except (LookupError, TypeError, AttributeError) as exc:
            raise self._endpoint.unusable("no list of scores") from exc
        scores: list[float | None] = [None] * len(texts)
        for index, score in results:
            if type(index) is not int or not 0 <= index < len(texts) or scores[index] is not None:
                raise self._endpoint.unusable(f"a score for text {index!r}, which was not sent or already has one")
            if type(score) not in (int, float) or not abs(score) <= _LARGEST:
                raise self._endpoint.unusable("a score that is not a number")
            scores[index] = float(score)
        return scores


def _split(url: str, path: str) -> tuple[str, str]:
    """Base URL and path of requests, for a URL with or without the path, or with its version only."""
    base = url.strip().rstrip("/")
    if base.endswith("/rerank"):
        return base.removesuffix("/rerank"), "/rerank"
    version, _, _ = path.rpartition("/")
    return base.removesuffix(version), path
