"""What a command prints: one JSON document, or a picture for people."""

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

Picture = Callable[[], "RenderableType"]


def emit(document: object, picture: Picture, *, as_json: bool) -> None:
    """Print the answer in the form that was asked for."""
    if as_json:
        write_lines([json.dumps(_with_jobs(document), default=_plain, ensure_ascii=False)])
    else:
        _print(picture())
        for line in pending_lines():
            _print(_faint(f"  {line}"))


def _with_jobs(document: object) -> object:
    left = pending_document()
    return {**_plain(document), **left} if left else document


def _faint(line: str) -> "RenderableType":
    from rich.text import Text

    return Text(visible(line), "dim")


def emit_text(document: object, text: str, *, as_json: bool) -> None:
    """Print a text as it is, for a program that reads on; a terminal is spared what it would obey."""
    if as_json:
        write_lines([json.dumps(document, default=_plain, ensure_ascii=False)])
        return
    if sys.stdout.isatty():
        text = visible(text)
    _write(text.encode(errors="backslashreplace"))


def _print(picture: "RenderableType") -> None:
    """Colours only where they are wanted; no spaces at the ends of lines where a program reads on."""
    from rich.console import Console

    paper = StringIO()
    on_terminal = True if sys.stdout.isatty() else None
    console = Console(file=paper, force_terminal=on_terminal, highlight=False, markup=False, emoji=False)
    # A line that is too long was meant to be: an id that is cut cannot be copied.
    console.print(picture, crop=False)
    drawn = paper.getvalue()
    if not console.is_terminal:
        drawn = "".join(f"{line.rstrip()}\n" for line in drawn.splitlines())
    _write(drawn.encode(sys.stdout.encoding or "utf-8", errors="replace"))


def write_lines(lines: Iterable[str]) -> None:
    """JSON is UTF-8 whatever the terminal's encoding is; what is not text (an odd file name) is escaped.

    A terminal gets the same values, with what it would obey escaped; a program gets them as they are.
    """
    for line in map(visible_json, lines) if sys.stdout.isatty() else lines:
        _write(line.encode(errors="backslashreplace") + b"\n", at_once=False)
    _write(b"")


def _write(data: bytes, *, at_once: bool = True) -> None:
    try:
        sys.stdout.buffer.write(data)
        if at_once:
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as exc:
        raise StoreFull(f"stdout cannot be written ({exc.strerror}); free some room, or send it elsewhere") from exc


def record_document(record: "Record") -> dict[str, Any]:
    """A record's own fields, after the kind it is."""
    return {"kind": type(record).__name__.lower(), **record.model_dump(mode="json")}


def text_or_stdin(text: str) -> str:
    """The argument itself, or all of stdin (without its last line break) where it is `-`."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode().removesuffix("\n")
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"stdin is not UTF-8 text ({exc.reason} at byte {exc.start}); convert it first") from exc


def json_object(name: str, text: str) -> dict[str, Any]:
    """What an option says in JSON."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise InvalidInput(f'{name} is not JSON ({exc}); write an object such as \'{{"reason": "slow"}}\'') from exc
    if not isinstance(found, dict):
        raise InvalidInput(f'{name} is JSON, but not an object; write one such as \'{{"reason": "slow"}}\'')
    return found


@contextmanager
def file_or_stdin(path: Path) -> Iterator[Path]:
    """The file itself, or all of stdin in a temporary one where it is `-`."""
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
