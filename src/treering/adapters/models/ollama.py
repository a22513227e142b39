"""Embeddings from Ollama, and the choice among its installed models."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from treering.adapters.models.http import ModelEndpoint, RequestTimeouts
from treering.adapters.models.remote import BatchLimits, RemoteEmbedder

_NAME = "ollama"
_INSTEAD = "choose another embedder in the settings"
_GB = 10**9  # Decimal: the operating system reports less than 32 GiB on a machine of 32 GiB.


@dataclass(frozen=True, slots=True)
class _OllamaModel:
    family: str
    tags: tuple[str, ...] = ()
    memory_bytes: int = 0


# Best first. `qwen3-embedding:latest` is the 8b.
_CANDIDATES = (
    _OllamaModel("qwen3-embedding", ("8b", "latest"), 32 * _GB),
    _OllamaModel("qwen3-embedding", ("4b",), 16 * _GB),
    _OllamaModel("qwen3-embedding", ("0.6b",)),
    _OllamaModel("nomic-embed-text"),
    _OllamaModel("mxbai-embed-large"),
    _OllamaModel("bge-m3"),
    _OllamaModel("snowflake-arctic-embed2"),
    _OllamaModel("all-minilm"),
    _OllamaModel("embeddinggemma"),
)

SMALL_BATCHES = BatchLimits(texts=32, characters=32_000)
"""A laptop without a GPU processes about a thousand tokens a second."""
LOADING_TIMEOUTS = RequestTimeouts(silence=60.0, total=120.0)
"""The first request waits until the model is loaded from disk."""


class OllamaEmbedder(RemoteEmbedder):
    """`POST /api/embed`. Ollama truncates texts to the model's limit."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        limits: BatchLimits = SMALL_BATCHES,
        timeouts: RequestTimeouts = LOADING_TIMEOUTS,
    ) -> None:
        super().__init__(ModelEndpoint(_NAME, url, instead=_INSTEAD, timeouts=timeouts), "ollama", model, limits)

    def _rows(self, texts: Sequence[str]) -> object:
        answer = self._endpoint.post("/api/embed", {"model": self._name, "input": list(texts), "truncate": True})
        return answer.get("embeddings") if isinstance(answer, dict) else None


def installed(url: str, timeout: float) -> tuple[str, ...]:
    """Names of the installed models; `ModelUnavailable` if Ollama does not answer within `timeout` seconds."""
    endpoint = ModelEndpoint(_NAME, url, instead=_INSTEAD, timeouts=RequestTimeouts.once(timeout))
    try:
        answer = endpoint.get("/api/tags")
    finally:
        endpoint.close()
    models = answer.get("models") if isinstance(answer, dict) else None
    if not isinstance(models, list):
        raise endpoint.unusable("no list of models", "check that the URL belongs to Ollama")
    names = (entry.get("name") for entry in models if isinstance(entry, dict))
    return tuple(name for name in names if isinstance(name, str))


def choose_model(installed: Iterable[str], memory_bytes: int) -> str | None:
    """The best installed embedding model for a machine with this much memory; None if there is none."""
    names = sorted(installed)
    affordable = (candidate for candidate in _CANDIDATES if candidate.memory_bytes <= memory_bytes)
    return next((name for candidate in affordable for name in names if _is(candidate, name)), None)


def _is(candidate: _OllamaModel, name: str) -> bool:
    family, _, tag = name.lower().partition(":")
    if family != candidate.family:
        return False
    # `8b-q4_K_M` is an 8b, too.
    return not candidate.tags or (tag or "latest").partition("-")[0] in candidate.tags
