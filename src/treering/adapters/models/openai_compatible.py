"""Embeddings and text generation with OpenAI's API: OpenAI, vLLM, LM Studio, llama.cpp and other servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import chain
from threading import local
from typing import TYPE_CHECKING, Any, TypeVar

from treering.adapters.models.http import FailedAttempt, ModelEndpoint, RequestTimeouts
from treering.adapters.models.remote import BatchLimits, RemoteEmbedder
from treering.adapters.models.texts import encodable
from treering.core.errors import AnswerCutOff, ModelUnavailable, UnusableAnswer

if TYPE_CHECKING:
    import httpx

    from treering.core.privacy import ModelLocation

WRITING_TIMEOUTS = RequestTimeouts(silence=120.0, total=180.0)
"""An answer arrives in one piece, when its last token is written."""
T = TypeVar("T")
_REJECTED_STATUSES = frozenset({400, 422})
# Words in an error that refer to this parameter: reasoning models reject a temperature, and rename the token limit.
_PARAMETER_WORDS = {
    "max_tokens": "max_completion_tokens",
    "temperature": "temperature",
    "stream_options": "stream_options",
}


class OpenAIEmbedder(RemoteEmbedder):
    """`POST {url}/embeddings`; the URL usually ends in /v1. `dimension` requests shorter vectors (Matryoshka)."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        dimension: int | None = None,
        *,
        limits: BatchLimits | None = None,
        timeouts: RequestTimeouts | None = None,
    ) -> None:
        endpoint = ModelEndpoint(
            "the embedding server", url, key, instead="choose another embedder in the settings", timeouts=timeouts
        )
        super().__init__(endpoint, "openai", model, limits or BatchLimits(), dimension)

    def _rows(self, texts: Sequence[str]) -> object:
        body: dict[str, Any] = {"model": self._name, "input": list(texts), "encoding_format": "float"}
        if self._reduced_to:
            body["dimensions"] = self._reduced_to
        answer = self._endpoint.post("/embeddings", body)
        entries = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise self._endpoint.unusable("no list of embeddings")
        # Servers that omit the index answer in order.
        places = [entry.get("index", at) for at, entry in enumerate(entries)]
        if not all(type(place) is int for place in places) or sorted(places) != list(range(len(entries))):
            raise self._endpoint.unusable("embeddings whose indexes do not match the texts")
        placed = dict(zip(places, entries, strict=True))
        return [placed[at].get("embedding") for at in range(len(entries))]


class TokenCount(local):
    """Tokens of the last answer, per thread."""

    last = 0

    def read(self, answer: object, *fields: str) -> None:
        """Sum these fields of the server's `usage`."""
        usage = answer.get("usage") if isinstance(answer, dict) else None
        counts = [usage.get(name) for name in fields] if isinstance(usage, dict) else []
        self.last = sum(count for count in counts if type(count) is int and count > 0)


class ChatWriter:
    """`POST {url}/chat/completions`, at temperature 0 where the server allows it."""

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        *,
        timeouts: RequestTimeouts = WRITING_TIMEOUTS,
    ) -> None:
        self._endpoint = _ChatEndpoint(
            "the writing server", url, key, instead="choose another writer in the settings", timeouts=timeouts
        )
        self._name = model
        self._omitted: frozenset[str] = frozenset()
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

    def _body(self, prompt: str, max_tokens: int) -> dict[str, Any]:
        return {
            "model": self._name,
            "messages": [{"role": "user", "content": encodable(prompt)}],
            "temperature": 0,
            "max_tokens": max_tokens,
        }

    def stream(self, prompt: str, *, max_tokens: int) -> Iterator[str]:
        body = {**self._body(prompt, max_tokens), "stream": True, "stream_options": {"include_usage": True}}
        is_empty = True
        for event in self._accepted(body, self._begun):
            if isinstance(event, dict) and event.get("usage"):
                self._tokens.read(event, "prompt_tokens", "completion_tokens")
            if text := self._piece(event):
                is_empty = False
                yield text
        if is_empty:
            raise UnusableAnswer(str(self._endpoint.unusable("an empty message", "choose another model")))

    def _begun(self, body: Mapping[str, Any]) -> Iterator[Any]:
        """The events of an answer, the first of which has arrived: a rejected request fails here."""
        events = self._endpoint.stream("/chat/completions", body)
        first = next(events, None)
        return chain(() if first is None else (first,), events)

    def _piece(self, event: Any) -> str:
        """The text of one event, or of the whole answer of a server that does not stream."""
        try:
            if event.get("error"):
                raise self._endpoint.unusable("with an error while it wrote")
            choice = (event.get("choices") or [{}])[0]
            part = choice.get("delta") or choice.get("message") or {}
            text, refusal = part.get("content"), part.get("refusal")
        except (IndexError, KeyError, TypeError, AttributeError) as exc:
            raise self._endpoint.unusable("no message") from exc
        if refusal or choice.get("finish_reason") == "content_filter":
            raise UnusableAnswer(str(self._endpoint.unusable("with a refusal", "choose another model")))
        return text if isinstance(text, str) else ""

    def write(self, prompt: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        body = self._body(prompt, max_tokens)
        if schema is None:
            return self._message(self._answer(body))[0]
        form = {"name": schema.get("title", "Answer"), "strict": True, "schema": schema}
        text, cut_off = self._message(
            self._answer({**body, "response_format": {"type": "json_schema", "json_schema": form}})
        )
        if cut_off:
            error = self._endpoint.unusable("more than the token limit allows", "raise the token limit")
            raise AnswerCutOff(str(error), text)
        if not text.lstrip().startswith(("{", "[")):
            # The server accepted the schema but ignored it, so the prompt alone is enough from now on.
            self._omitted |= {"response_format"}
        return text

    def _answer(self, body: Mapping[str, Any]) -> object:
        answer = self._accepted(body, lambda sent: self._endpoint.post("/chat/completions", sent))
        self._tokens.read(answer, "prompt_tokens", "completion_tokens")
        return answer

    def _accepted(self, body: Mapping[str, Any], send: Callable[[Mapping[str, Any]], T]) -> T:
        """Send the request without parameters that the server rejects; rejected ones are remembered."""
        omitted = self._omitted
        self._tokens.last = 0
        while True:
            try:
                answer = send(_without(omitted, body))
            except ModelUnavailable as exc:
                rejected = _rejected_parameter(exc.__cause__, body.keys() - omitted)
                if rejected is None:
                    raise
                omitted |= {rejected}
            else:
                self._omitted |= omitted
                return answer

    def _message(self, answer: Any) -> tuple[str, bool]:
        """The text, and whether the token limit cut it off."""
        try:
            choice = answer["choices"][0]
            message = choice["message"]
            text, refusal = message.get("content"), message.get("refusal")
        except (KeyError, IndexError, TypeError, AttributeError) as exc:
            raise self._endpoint.unusable("no message") from exc
        ended = choice.get("finish_reason")
        if refusal or ended == "content_filter":
            error = self._endpoint.unusable("with a refusal", "choose another model")
            raise UnusableAnswer(str(error))
        written = text if isinstance(text, str) and text.strip() else ""
        if not written:
            error = self._endpoint.unusable("an empty message", "raise the token limit, or choose another model")
            raise AnswerCutOff(str(error)) if ended == "length" else UnusableAnswer(str(error))
        return written, ended == "length"

    def close(self) -> None:
        self._endpoint.close()


class _RequestRejected(Exception):
    """The server rejects the form of a request, possibly with a reason."""


class _ChatEndpoint(ModelEndpoint):
    """Marks, as the cause of an error, that a different request may be accepted."""

    def _failed_attempt(self, response: httpx.Response, data: bytes) -> FailedAttempt:
        refusal = super()._failed_attempt(response, data)
        if response.status_code in _REJECTED_STATUSES:
            refusal.__cause__ = _RequestRejected(refusal.what)
        return refusal


def _rejected_parameter(cause: BaseException | None, sent: Set[str]) -> str | None:
    """The parameter to omit next: one that the error names, else the schema, which the fewest servers support."""
    if not isinstance(cause, _RequestRejected):
        return None
    named = [part for part, sign in _PARAMETER_WORDS.items() if part in sent and sign in str(cause)]
    return next(iter(named), "response_format" if "response_format" in sent else None)


def _without(omitted: Set[str], body: Mapping[str, Any]) -> dict[str, Any]:
    kept = {part: value for part, value in body.items() if part not in omitted}
    return kept | {"max_completion_tokens": body["max_tokens"]} if "max_tokens" in omitted else kept
