"""Output of commands: one JSON document, or a rendering for people."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime
from io import StringIO
from pathlib import Path
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from treering.core.errors import InvalidInput, StoreFull
from treering.core.visible_text import visible, visible_json
from treering.interfaces.cli.pending_jobs import pending_document, pending_lines

if TYPE_CHECKING:
    from rich.console import RenderableType

    from treering.core.values import Record

View = Callable[[], "RenderableType"]


def emit(document: object, view: View, *, as_json: bool) -> None:
    """Print the document as JSON, or the view with notes about pending jobs."""
    if as_json:
        write_lines([json.dumps(_with_jobs(document), default=_plain, ensure_ascii=False)])
    else:
        _print(view())
        for line in pending_lines():
            _print(_faint(f"  {line}"))


def _with_jobs(document: object) -> object:
    pending = pending_document()
    return {**_plain(document), **pending} if pending else document


def _faint(line: str) -> "RenderableType":
    from rich.text import Text

    return Text(visible(line), "dim")


def emit_text(document: object, text: str, *, as_json: bool) -> None:
    """Print a text unchanged for programs; on a terminal, with control characters escaped."""
    if as_json:
        write_lines([json.dumps(document, default=_plain, ensure_ascii=False)])
        return
    if sys.stdout.isatty():
        text = visible(text)
    _write(text.encode(errors="backslashreplace"))


def _print(view: "RenderableType") -> None:
    """Print with colours if the terminal has them; without trailing spaces if stdout is not a terminal."""
    from rich.console import Console

    buffer = StringIO()
    on_terminal = True if sys.stdout.isatty() else None
    console = Console(file=buffer, force_terminal=on_terminal, highlight=False, markup=False, emoji=False)
    # Not cropped: an id that is cut cannot be copied.
    console.print(view, crop=False)
    drawn = buffer.getvalue()
    if not console.is_terminal:
        drawn = "".join(f"{line.rstrip()}\n" for line in drawn.splitlines())
    _write(drawn.encode(sys.stdout.encoding or "utf-8", errors="replace"))


def write_lines(lines: Iterable[str]) -> None:
    """Write lines of JSON in UTF-8, whatever the encoding of the terminal; lone surrogates are escaped.

    On a terminal, control characters inside the values are escaped as well.
    """
    for line in map(visible_json, lines) if sys.stdout.isatty() else lines:
        _write(line.encode(errors="backslashreplace") + b"\n", flush=False)
    _write(b"")


def _write(data: bytes, *, flush: bool = True) -> None:
    try:
        sys.stdout.buffer.write(data)
        if flush:
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as exc:
        raise StoreFull(f"cannot write to stdout ({exc.strerror}); free some space, or redirect the output") from exc


def record_document(record: "Record") -> dict[str, Any]:
    """The kind of a record, and its fields."""
    return {"kind": type(record).__name__.lower(), **record.model_dump(mode="json")}


def text_or_stdin(text: str) -> str:
    """The argument, or for `-` all of stdin without its last line break."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode().removesuffix("\n")
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"stdin is not UTF-8 text ({exc.reason} at byte {exc.start}); convert it to UTF-8") from exc


def json_object(name: str, text: str) -> dict[str, Any]:
    """The JSON object in the value of an option."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise InvalidInput(f'{name} is not JSON ({exc}); write an object such as \'{{"reason": "slow"}}\'') from exc
    if not isinstance(found, dict):
        raise InvalidInput(f'{name} is JSON, but not an object; write one such as \'{{"reason": "slow"}}\'')
    return found


@contextmanager
def file_or_stdin(path: Path) -> Iterator[Path]:
    """The file, or for `-` a temporary file with all of stdin."""
    if str(path) != "-":
        yield path
        return
    with NamedTemporaryFile(prefix="treering-stdin-") as spooled:
        copyfileobj(sys.stdin.buffer, spooled)
        spooled.flush()
        yield Path(spooled.name)


def _plain(value: object) -> Any:
    from treering.core.values import Value

    if isinstance(value, Value):
        return value.model_dump(mode="json")
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
