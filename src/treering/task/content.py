"""What a subtask gave: text, bytes or JSON, held as text that both engines can store, and given back byte for byte."""

import json
from base64 import b64decode, b64encode
from typing import Any, Literal

from treering.core.errors import InvalidInput
from treering.core.secrets import redact
from treering.core.time_limit import time_limit
from treering.core.values import Text, Value, is_storable

# No format of a secret is this short.
_HARMLESS = 8


class Content(Value):
    """`data` is the text itself, or its bytes in base64 where no store could hold it."""

    form: Literal["text", "json", "bytes"] = "text"
    encoding: Literal["plain", "base64"] = "plain"
    data: Text

    @property
    def value(self) -> Any:
        """What was given. JSON that lost a secret, and with it its form, comes back as text."""
        if self.form == "json":
            return _loaded(self.data)
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
        """What a reader sees of it; of bytes that are not text, what they are."""
        if self.is_binary:
            return f"{len(self.raw):,} bytes that are not text"
        return self.data if self.encoding == "plain" else self.raw.decode("utf-8", "replace").replace("\0", "\ufffd")


def content_of(output: object) -> Content:
    """The content that holds `output`; what is neither text, bytes nor JSON is `InvalidInput`."""
    if isinstance(output, str):
        plain, raw = output, None
        if not is_storable(output):
            raw = output.encode("utf-8", "surrogatepass")
        return _held("text", plain, raw)
    if isinstance(output, (bytes, bytearray, memoryview)):
        raw = bytes(output)
        try:
            plain = raw.decode()
        except UnicodeDecodeError:
            return _held("bytes", "", raw)
        return _held("bytes", plain, None if is_storable(plain) else raw)
    return _held("json", _dumped(output), None)


def cleaned(content: Content) -> Content:
    """The content without secrets where base64 would hide them from the store, which looks through the rest itself."""
    if content.encoding == "plain":
        return content
    charset, errors = ("latin-1", "strict") if content.form == "bytes" else ("utf-8", "surrogatepass")
    found = redact(content.raw.decode(charset, errors), time_limit())
    if found.findings:
        content = _held(content.form, "", found.text.encode(charset, errors))
    if redact(content.data, time_limit()).findings:
        pieces = (content.data[place : place + _HARMLESS] for place in range(0, len(content.data), _HARMLESS))
        return content.replace(data="\n".join(pieces))
    return content


def extract_of(text: str, characters: int) -> str:
    """One line that tells a text from others: its beginning and, of several lines, its end."""
    lines = [line for raw in text.splitlines() if (line := " ".join(raw.split()))]
    if not lines:
        return ""
    if len(lines) == 1:
        return _short(lines[0], characters)
    return f"{_short(lines[0], characters // 2)} … {_short(lines[-1], characters // 2)}"


def _short(line: str, characters: int) -> str:
    return line if len(line) <= characters else f"{line[: characters - 1].rstrip()}…"


def _held(form: str, plain: str, raw: bytes | None) -> Content:
    if raw is None:
        return Content.make(form=form, data=plain)
    return Content.make(form=form, encoding="base64", data=b64encode(raw).decode())


def _dumped(output: object) -> str:
    try:
        text = json.dumps(output, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text if is_storable(text) else json.dumps(output, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as exc:
        raise InvalidInput(
            f"an output is text, bytes or JSON, and this {type(output).__name__} is none of them ({exc}); "
            "convert it first"
        ) from exc


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
