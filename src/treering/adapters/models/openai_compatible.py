"""Embeddings and written text from any server that speaks OpenAI's API: OpenAI, vLLM, LM Studio, llama.cpp, …"""

from collections.abc import Sequence
from typing import Any

from treering.adapters.models.http import ModelEndpoint, Patience
from treering.adapters.models.remote import Limits, RemoteEmbedder
from treering.adapters.models.texts import encodable

WRITING_TAKES_LONG = Patience(silence=120.0, whole=180.0)
"""An answer arrives as a whole, when its last token is written."""


class OpenAIEmbedder(RemoteEmbedder):
    """`POST {url}/embeddings`; the URL usually ends in /v1. `dimension` asks for shorter vectors (Matryoshka)."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        dimension: int | None = None,
        *,
        limits: Limits | None = None,
        patience: Patience | None = None,
    ) -> None:
        endpoint = ModelEndpoint(
            "the embedding server", url, key, instead="choose another embedder in the settings", patience=patience
        )
        super().__init__(endpoint, "openai", model, limits or Limits(), dimension)

    def _rows(self, texts: Sequence[str]) -> object:
        body: dict[str, Any] = {"model": self._name, "input": list(texts), "encoding_format": "float"}
        if self._reduced_to:
            body["dimensions"] = self._reduced_to
        answer = self._endpoint.post("/embeddings", body)
        entries = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise self._endpoint.unusable("no list of embeddings")
        # Servers that leave the index out answer in order.
        places = [entry.get("index", at) for at, entry in enumerate(entries)]
        if not all(type(place) is int for place in places) or sorted(places) != list(range(len(entries))):
            raise self._endpoint.unusable("embeddings whose places are not those of the texts")
        placed = dict(zip(places, entries, strict=True))
        return [placed[at].get("embedding") for at in range(len(entries))]


class ChatWriter:
    """`POST {url}/chat/completions`, always with the most likely words (temperature 0)."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        *,
        patience: Patience = WRITING_TAKES_LONG,
    ) -> None:
        self._endpoint = ModelEndpoint(
            "the writing server", url, key, instead="choose another writer in the settings", patience=patience
        )
        self._name = model

    @property
    def model(self) -> str:
        return f"openai/{self._name}"

    def write(self, prompt: str, *, most_tokens: int) -> str:
        answer = self._endpoint.post(
            "/chat/completions",
            {
                "model": self._name,
                "messages": [{"role": "user", "content": encodable(prompt)}],
                "temperature": 0,
                "max_tokens": most_tokens,
            },
        )
        try:
            text = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as exc:
            raise self._endpoint.unusable("no message") from exc
        if not isinstance(text, str) or not text.strip():
            raise self._endpoint.unusable("an empty message", "allow it more tokens, or choose another model")
        return text

    def close(self) -> None:
        self._endpoint.close()
