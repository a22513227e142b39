"""Text generation with Anthropic's Messages API or a compatible server."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from treering.adapters.models.http import ModelEndpoint, RequestTimeouts
from treering.adapters.models.openai_compatible import WRITING_TIMEOUTS, TokenCount
from treering.adapters.models.texts import encodable
from treering.core.errors import AnswerCutOff, UnusableAnswer
from treering.core.privacy import ModelLocation

_VERSION = "2023-06-01"
_TOOL = "answer"


class AnthropicWriter:
    """`POST {url}/messages`; the URL usually ends in /v1. A schema becomes the input of a mandatory tool call."""

    def __init__(
        self, url: str, model: str, key: str | None = None, *, timeouts: RequestTimeouts = WRITING_TIMEOUTS
    ) -> None:
        self._endpoint = ModelEndpoint(
            "the writing server",
            url,
            key,
            instead="choose another writer in the settings",
            timeouts=timeouts,
            headers=lambda key: {"anthropic-version": _VERSION, **({"x-api-key": key} if key else {})},
        )
        self._name = model
        self._tokens = TokenCount()

    @property
    def model(self) -> str:
        return f"anthropic/{self._name}"

    @property
    def location(self) -> ModelLocation:
        return self._endpoint.location

    @property
    def spent(self) -> int:
        return self._tokens.last

    def write(self, prompt: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        body = self._body(prompt, max_tokens)
        if schema is not None:
            tool = {"name": _TOOL, "description": "Gives the answer.", "input_schema": schema}
            body |= {"tools": [tool], "tool_choice": {"type": "tool", "name": _TOOL}}
        self._tokens.last = 0
        answer = self._endpoint.post("/messages", body)
        self._tokens.read(answer, "input_tokens", "output_tokens")
        text = self._text(answer)
        if answer.get("stop_reason") == "max_tokens" and schema is not None:
            error = self._endpoint.unusable("more than the token limit allows", "raise the token limit")
            raise AnswerCutOff(str(error), text)
        return text

    def stream(self, prompt: str, *, max_tokens: int) -> Iterator[str]:
        usage: dict[str, Any] = {}
        is_empty = True
        self._tokens.last = 0
        for event in self._endpoint.stream("/messages", {**self._body(prompt, max_tokens), "stream": True}):
            if isinstance(event, dict) and event.get("type") == "message":
                text = self._text(event)
                usage |= event.get("usage") or {}
            else:
                text = self._piece(event, usage)
            if text:
                is_empty = False
                yield text
        self._tokens.read({"usage": usage}, "input_tokens", "output_tokens")
        if is_empty:
            raise UnusableAnswer(str(self._endpoint.unusable("an empty message", "choose another model")))

    def _piece(self, event: Any, usage: dict[str, Any]) -> str:
        """The text of one event; what it says about tokens is added to `usage`."""
        try:
            kind, delta = event.get("type"), event.get("delta") or {}
            usage |= (event.get("message") or event).get("usage") or {}
            text, ended = delta.get("text"), delta.get("stop_reason")
        except (TypeError, AttributeError) as exc:
            raise self._endpoint.unusable("no message") from exc
        if kind == "error":
            raise self._endpoint.unusable("with an error while it wrote")
        if ended == "refusal":
            raise UnusableAnswer(str(self._endpoint.unusable("with a refusal", "choose another model")))
        return text if kind == "content_block_delta" and isinstance(text, str) else ""

    def _body(self, prompt: str, max_tokens: int) -> dict[str, Any]:
        return {
            "model": self._name,
            "messages": [{"role": "user", "content": encodable(prompt)}],
            "max_tokens": max_tokens,
        }

    def _text(self, answer: Any) -> str:
        """The tool's input as JSON, or the text."""
        try:
            blocks = [block for block in answer["content"] if block["type"] in ("text", "tool_use")]
            called = [block["input"] for block in blocks if block["type"] == "tool_use"]
            text = json.dumps(called[0], ensure_ascii=False) if called else "".join(block["text"] for block in blocks)
        except (KeyError, TypeError, AttributeError) as exc:
            raise self._endpoint.unusable("no message") from exc
        if answer.get("stop_reason") == "refusal":
            raise UnusableAnswer(str(self._endpoint.unusable("with a refusal", "choose another model")))
        if not text.strip():
            raise UnusableAnswer(str(self._endpoint.unusable("an empty message", "choose another model")))
        return text

    def close(self) -> None:
        self._endpoint.close()
