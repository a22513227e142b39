"""Outputs of tools as the versions of Codex write them."""

import json
import re

from treering.observe.readers.event_fields import amount, count, text_of
from treering.observe.readers.transcripts import Fields

# Lines that Codex puts before the output of a command.
_OUTPUT_HEADER = re.compile(
    r"\A(?:(?:Chunk ID|Exit code|Wall time|Process exited with code|Process running with session ID"
    r"|Original token count|Total output lines)\b[^\n]{0,200}\n){1,8}Output:\n?"
)
_EXIT_CODE = re.compile(r"^(?:Exit code:|Process exited with code) (-?\d{1,10})$", re.MULTILINE)
_WALL_TIME = re.compile(r"^Wall time: ([\d.]{1,20}) seconds", re.MULTILINE)


def json_object(text: str) -> Fields | None:
    """The JSON object in a text, if it is one."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def tool_output(output: object) -> tuple[str, bool, float | None]:
    """Text, failure and duration of a tool's output in the forms of all versions."""
    if isinstance(output, dict):
        is_error = output.get("success") is False or output.get("isError") is True
        text, failed, duration = _text_output(text_of(output.get("content")))
        return text, is_error or failed, duration
    return _text_output(text_of(output))


def _text_output(text: str) -> tuple[str, bool, float | None]:
    wrapped = json_object(text) if text.startswith('{"output":') else None
    if wrapped is not None and isinstance(wrapped.get("output"), str) and isinstance(wrapped.get("metadata"), dict):
        metadata = wrapped["metadata"]
        seconds = amount(metadata.get("duration_seconds"))
        is_error = metadata.get("exit_code", 0) != 0
        return wrapped["output"], is_error, None if seconds is None else seconds * 1000
    header = _OUTPUT_HEADER.match(text)
    if header is None:
        return text, False, None
    code, seconds_text = _EXIT_CODE.search(header[0]), _WALL_TIME.search(header[0])
    seconds = _number(seconds_text[1]) if seconds_text else None
    is_error = code is not None and int(code[1]) != 0
    return text[header.end() :], is_error, None if seconds is None else seconds * 1000


def _number(text: str) -> float | None:
    try:
        return amount(float(text))
    except ValueError:
        return None


def has_failed(payload: Fields) -> bool:
    """Whether the event stream says that a call failed."""
    result = payload.get("result")
    if isinstance(result, dict):
        answer = result.get("Ok")
        return "Err" in result or (isinstance(answer, dict) and answer.get("isError") is True)
    return payload.get("success") is False or (count(payload.get("exit_code")) != 0 and "exit_code" in payload)


def milliseconds(duration: object) -> float | None:
    """A duration as Rust serialises it: `{"secs": 1, "nanos": 500000000}`."""
    if not isinstance(duration, dict):
        return None
    seconds, nanos = amount(duration.get("secs")), amount(duration.get("nanos"))
    return None if seconds is None else seconds * 1000 + (nanos or 0) / 1e6
