"""Output of a subtask (text, bytes or JSON) as text that both engines can store, restored byte for byte."""

import json
from base64 import b64decode, b64encode
from typing import Any, Literal

from treering.core.errors import InvalidInput
from treering.core.secrets import redact
from treering.core.time_limit import time_limit
from treering.core.values import Text, Value, is_storable

# Shorter than any secret format.
_CHUNK_CHARACTERS = 8


class Content(Value):
    """`data` is the text, or its bytes in base64 if the store cannot hold the text."""

    form: Literal["text", "json", "bytes"] = "text"
    encoding: Literal["plain", "base64"] = "plain"
    data: Text

    @property
    def value(self) -> Any:
        """The original value. JSON that redaction made invalid is returned as text."""
        if self.form == "json":
            return _json_value(self.data)
        raw = self.raw
        return raw if self.form == "bytes" else raw.decode("utf-8", "surrogatepass")

    @property
    def raw(self) -> bytes:
        return self.data.encode() if self.encoding == "plain" else b64decode(self.data)

    @property
    def is_binary(self) -> bool:
        return self.form == "bytes" and self.encoding == "base64"

    @property
    def shown(self) -> str:
        """Readable text; for binary data, a description."""
        if self.is_binary:
            return f"{len(self.raw):,} bytes that are not text"
        return self.data if self.encoding == "plain" else self.raw.decode("utf-8", "replace").replace("\0", "\ufffd")


def content_of(output: object) -> Content:
    """`output` as content. Raises `InvalidInput` unless it is text, bytes or JSON."""
    if isinstance(output, str):
        plain, raw = output, None
        if not is_storable(output):
            raw = output.encode("utf-8", "surrogatepass")
        return _content("text", plain, raw)
    if isinstance(output, (bytes, bytearray, memoryview)):
        raw = bytes(output)
        try:
            plain = raw.decode()
        except UnicodeDecodeError:
            return _content("bytes", "", raw)
        return _content("bytes", plain, None if is_storable(plain) else raw)
    return _content("json", _json_text(output), None)


def without_encoded_secrets(content: Content) -> Content:
    """Redact base64 content, whose secrets the store cannot see; the store redacts plain content itself."""
    if content.encoding == "plain":
        return content
    charset, errors = ("latin-1", "strict") if content.form == "bytes" else ("utf-8", "surrogatepass")
    found = redact(content.raw.decode(charset, errors), time_limit())
    if found.findings:
        content = _content(content.form, "", found.text.encode(charset, errors))
    if redact(content.data, time_limit()).findings:
        pieces = (
            content.data[place : place + _CHUNK_CHARACTERS] for place in range(0, len(content.data), _CHUNK_CHARACTERS)
        )
        return content.replace(data="\n".join(pieces))
    return content


def extract_of(text: str, characters: int) -> str:
    """One line that identifies a text: its first line and, if there are several, its last."""
    lines = [line for raw in text.splitlines() if (line := " ".join(raw.split()))]
    if not lines:
        return ""
    if len(lines) == 1:
        return _short(lines[0], characters)
    return f"{_short(lines[0], characters // 2)} … {_short(lines[-1], characters // 2)}"


def _short(line: str, characters: int) -> str:
    return line if len(line) <= characters else f"{line[: characters - 1].rstrip()}…"


def _content(form: str, plain: str, raw: bytes | None) -> Content:
    if raw is None:
        return Content.make(form=form, data=plain)
    return Content.make(form=form, encoding="base64", data=b64encode(raw).decode())


def _json_text(output: object) -> str:
    try:
        text = json.dumps(output, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text if is_storable(text) else json.dumps(output, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidInput(
            f"cannot store an output of type {type(output).__name__} ({exc}); convert it to text, bytes or JSON"
        ) from exc


def _json_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
