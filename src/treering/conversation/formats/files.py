"""Files in messages, converted between the providers' formats."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from treering.conversation.formats.content import image_fields
from treering.core.messages import OtherPart
from treering.core.values import thaw

PDF = "application/pdf"


@dataclass(frozen=True, slots=True)
class MessageFile:
    """A file: its bytes in base64, its text, or its URL, as far as known."""

    name: str | None = None
    media_type: str | None = None
    data: str | None = None
    text: str | None = None
    url: str | None = None

    @property
    def label(self) -> str:
        """Text that replaces the file if the target cannot hold it."""
        shown = f"[document: {self.name or self.url or 'unnamed'}]"
        return f"{shown}\n{self.text}" if self.text else shown


def file_in(part: OtherPart) -> MessageFile | None:
    """The file in an opaque part of any provider, or None."""
    reader = _READERS.get(part.type)
    return reader(thaw(part.data)) if reader else None


def to_chat(file: MessageFile) -> OtherPart | None:
    if file.data is None or file.media_type is None:
        return None
    fields = {"filename": file.name or "document", "file_data": f"data:{file.media_type};base64,{file.data}"}
    return OtherPart.make(type="file", data={"file": fields})


def to_responses(file: MessageFile) -> OtherPart | None:
    if file.url is not None:
        return OtherPart.make(type="input_file", data={"file_url": file.url})
    if file.data is None or file.media_type is None:
        return None
    fields = {"filename": file.name or "document", "file_data": f"data:{file.media_type};base64,{file.data}"}
    return OtherPart.make(type="input_file", data=fields)


def to_anthropic(file: MessageFile) -> OtherPart | None:
    """A document block, for a PDF or a text."""
    title = {"title": file.name} if file.name else {}
    if file.media_type == PDF and file.data:
        source = {"type": "base64", "media_type": PDF, "data": file.data}
    elif file.url is not None and file.url.lower().endswith(".pdf"):
        source = {"type": "url", "url": file.url}
    elif file.text:
        source = {"type": "text", "media_type": "text/plain", "data": file.text}
    else:
        return None
    return OtherPart.make(type="document", data={"source": source, **title})


def _from_openai(fields: Mapping[str, Any]) -> MessageFile:
    data = _text(fields, "file_data")
    data_fields = image_fields(data) if data else {}
    return MessageFile(
        name=_text(fields, "filename") or _text(fields, "file_id"),
        media_type=data_fields.get("media_type"),
        data=data_fields.get("data"),
        url=_text(fields, "file_url"),
    )


def _from_chat(data: Mapping[str, Any]) -> MessageFile:
    fields = data.get("file")
    return _from_openai(fields if isinstance(fields, dict) else {})


def _from_anthropic(data: Mapping[str, Any]) -> MessageFile:
    found = data.get("source")
    source = found if isinstance(found, dict) else {}
    is_text = source.get("type") == "text"
    return MessageFile(
        name=_text(data, "title") or _text(source, "file_id"),
        media_type=_text(source, "media_type"),
        data=None if is_text else _text(source, "data"),
        text=_text(source, "data") if is_text else _words(source.get("content")),
        url=_text(source, "url"),
    )


def _from_search(data: Mapping[str, Any]) -> MessageFile:
    return MessageFile(name=_text(data, "title") or _text(data, "source"), text=_words(data.get("content")))


def _words(content: Any) -> str | None:
    """The text of content that is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return "\n".join(filter(None, (_text(block, "text") for block in blocks))) or None


def _text(fields: Mapping[str, Any], key: str) -> str | None:
    value = fields.get(key)
    return value if isinstance(value, str) and value.strip() else None


_READERS: Mapping[str, Callable[[Mapping[str, Any]], MessageFile]] = {
    "document": _from_anthropic,
    "search_result": _from_search,
    "file": _from_chat,
    "input_file": _from_openai,
}
