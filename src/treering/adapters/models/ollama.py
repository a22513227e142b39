"""Embeddings from Ollama, and which of its installed models to use."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from treering.adapters.models.http import ModelEndpoint, Patience
from treering.adapters.models.remote import Limits, RemoteEmbedder

_NAME = "ollama"
_INSTEAD = "choose another embedder in the settings"
_GB = 10**9  # Decimal: a machine of 32 GiB shows its programs less than that.


@dataclass(frozen=True, slots=True)
class _Candidate:
    family: str
    tags: tuple[str, ...] = ()
    memory_bytes: int = 0


# Best first. What Ollama installs as `qwen3-embedding:latest` is the 8b.
_CANDIDATES = (
    _Candidate("qwen3-embedding", ("8b", "latest"), 32 * _GB),
    _Candidate("qwen3-embedding", ("4b",), 16 * _GB),
    _Candidate("qwen3-embedding", ("0.6b",)),
    _Candidate("nomic-embed-text"),
    _Candidate("mxbai-embed-large"),
    _Candidate("bge-m3"),
    _Candidate("snowflake-arctic-embed2"),
    _Candidate("all-minilm"),
    _Candidate("embeddinggemma"),
)

SMALL_BATCHES = Limits(texts=32, characters=32_000)
"""A laptop without a graphics card reads some thousand tokens a second."""
LOADING_TAKES_LONG = Patience(silence=60.0, whole=120.0)
"""The first request waits until the model is read from the disk."""


class OllamaEmbedder(RemoteEmbedder):
    """`POST /api/embed`. Ollama itself shortens texts to what the model can read."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        limits: Limits = SMALL_BATCHES,
        patience: Patience = LOADING_TAKES_LONG,
    ) -> None:
        super().__init__(ModelEndpoint(_NAME, url, instead=_INSTEAD, patience=patience), "ollama", model, limits)

    def _rows(self, texts: Sequence[str]) -> object:
        answer = self._endpoint.post("/api/embed", {"model": self._name, "input": list(texts), "truncate": True})
        return answer.get("embeddings") if isinstance(answer, dict) else None


def installed(url: str, timeout: float) -> tuple[str, ...]:
    """The names of the models that Ollama has; `ModelUnavailable` where it does not say within `timeout` seconds."""
    endpoint = ModelEndpoint(_NAME, url, instead=_INSTEAD, patience=Patience.once(timeout))
    try:
        answer = endpoint.get("/api/tags")
    finally:
        endpoint.close()
    models = answer.get("models") if isinstance(answer, dict) else None
    if not isinstance(models, list):
        raise endpoint.unusable("no list of models", "check that the URL is that of Ollama")
    names = (entry.get("name") for entry in models if isinstance(entry, dict))
    return tuple(name for name in names if isinstance(name, str))


def choose_model(installed: Iterable[str], memory_bytes: int) -> str | None:
    """The best installed embedding model that a machine with so much memory can run; None where there is none."""
    names = sorted(installed)
    affordable = (candidate for candidate in _CANDIDATES if candidate.memory_bytes <= memory_bytes)
    return next((name for candidate in affordable for name in names if _is(candidate, name)), None)


def _is(candidate: _Candidate, name: str) -> bool:
    family, _, tag = name.lower().partition(":")
    if family != candidate.family:
        return False
    # `8b-q4_K_M` is an 8b as well.
    return not candidate.tags or (tag or "latest").partition("-")[0] in candidate.tags
