"""Embeddings and written text from any server that speaks OpenAI's API: OpenAI, vLLM, LM Studio, llama.cpp, …"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from threading import local
from typing import TYPE_CHECKING, Any

from treering.adapters.models.http import ModelEndpoint, Patience, _Refusal
from treering.adapters.models.remote import Limits, RemoteEmbedder
from treering.adapters.models.texts import encodable
from treering.core.errors import AnswerCutOff, ModelUnavailable, UnusableAnswer

if TYPE_CHECKING:
    import httpx

    from treering.core.privacy import ModelLocation

WRITING_TAKES_LONG = Patience(silence=120.0, whole=180.0)
"""An answer arrives as a whole, when its last token is written."""
_NOT_TAKEN = frozenset({400, 422})
# What a refusal says that is about this part: models that think take no temperature, and call the limit otherwise.
_SIGNS = {"max_tokens": "max_completion_tokens", "temperature": "temperature"}


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


class TokenCount(local):
    """Tokens of the last answer, for each thread its own."""

    last = 0

    def read(self, answer: object, *fields: str) -> None:
        """Add up what the server reports in these fields of `usage`."""
        usage = answer.get("usage") if isinstance(answer, dict) else None
        counts = [usage.get(name) for name in fields] if isinstance(usage, dict) else []
        self.last = sum(count for count in counts if type(count) is int and count > 0)


class ChatWriter:
    """`POST {url}/chat/completions`, with the most likely words (temperature 0) wherever a server lets us choose."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        *,
        patience: Patience = WRITING_TAKES_LONG,
    ) -> None:
        self._endpoint = _ChatEndpoint(
            "the writing server", url, key, instead="choose another writer in the settings", patience=patience
        )
        self._name = model
        self._given_up: frozenset[str] = frozenset()
        self._tokens = TokenCount()

    @property
    def model(self) -> str:
        return f"openai/{self._name}"

    @property
    def location(self) -> ModelLocation:
        return self._endpoint.location

    @property
    def spent(self) -> int:
        return self._tokens.last

    def write(self, prompt: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        body: dict[str, Any] = {
            "model": self._name,
            "messages": [{"role": "user", "content": encodable(prompt)}],
            "temperature": 0,
            "max_tokens": max_tokens,
        }
        if schema is None:
            return self._message(self._answer(body))[0]
        form = {"name": schema.get("title", "Answer"), "strict": True, "schema": schema}
        text, cut_off = self._message(
            self._answer({**body, "response_format": {"type": "json_schema", "json_schema": form}})
        )
        if cut_off:
            told = self._endpoint.unusable("more than its tokens allow", "allow it more tokens, or ask for less")
            raise AnswerCutOff(str(told), text)
        if not text.lstrip().startswith(("{", "[")):
            # It took the schema and did not heed it; the prompt alone does as much.
            self._given_up |= {"response_format"}
        return text

    def _answer(self, body: Mapping[str, Any]) -> object:
        """What a server answers once it is asked the way it takes; it is remembered, and nothing is tried twice."""
        given_up = self._given_up
        self._tokens.last = 0
        while True:
            try:
                answer = self._endpoint.post("/chat/completions", _without(given_up, body))
            except ModelUnavailable as exc:
                blamed = _blamed(exc.__cause__, body.keys() - given_up)
                if blamed is None:
                    raise
                given_up |= {blamed}
            else:
                self._given_up |= given_up
                self._tokens.read(answer, "prompt_tokens", "completion_tokens")
                return answer

    def _message(self, answer: Any) -> tuple[str, bool]:
        """What was written, and whether its end is missing."""
        try:
            choice = answer["choices"][0]
            message = choice["message"]
            text, refusal = message.get("content"), message.get("refusal")
        except (KeyError, IndexError, TypeError, AttributeError) as exc:
            raise self._endpoint.unusable("no message") from exc
        ended = choice.get("finish_reason")
        if refusal or ended == "content_filter":
            told = self._endpoint.unusable("that it will not", "choose another model")
            raise UnusableAnswer(str(told))
        written = text if isinstance(text, str) and text.strip() else ""
        if not written:
            told = self._endpoint.unusable("an empty message", "allow it more tokens, or choose another model")
            raise AnswerCutOff(str(told)) if ended == "length" else UnusableAnswer(str(told))
        return written, ended == "length"

    def close(self) -> None:
        self._endpoint.close()


class _NotTaken(Exception):
    """The server does not take a request such as this; it may say why."""


class _ChatEndpoint(ModelEndpoint):
    """Tells, as the cause of an error, where another request might be taken."""

    def _refused(self, response: httpx.Response, data: bytes) -> _Refusal:
        refusal = super()._refused(response, data)
        if response.status_code in _NOT_TAKEN:
            refusal.__cause__ = _NotTaken(refusal.what)
        return refusal


def _blamed(cause: BaseException | None, sent: Set[str]) -> str | None:
    """What to leave out of the next request: what the refusal names, else the schema, which fewest servers take."""
    if not isinstance(cause, _NotTaken):
        return None
    named = [part for part, sign in _SIGNS.items() if part in sent and sign in str(cause)]
    return next(iter(named), "response_format" if "response_format" in sent else None)


def _without(given_up: Set[str], body: Mapping[str, Any]) -> dict[str, Any]:
    kept = {part: value for part, value in body.items() if part not in given_up}
    return kept | {"max_completion_tokens": body["max_tokens"]} if "max_tokens" in given_up else kept
