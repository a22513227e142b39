"""Splitting of a file into chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from treering.code.chunks.chunk import CodeChunk
from treering.code.chunks.outline import outline_of
from treering.code.chunks.pieces import Piece, Splitter
from treering.code.chunks.sizes import bytes_of
from treering.core.settings import ChunkSettings

if TYPE_CHECKING:
    from treering.code.facts import Definition

_PREFIX_SHARE = 4
"""A prefix takes at most this fraction (one in four) of a chunk."""
SEPARATOR = ", "
"""Separator between the symbols of a joined chunk."""
_SYMBOLS = 8
"""Maximum number of symbols that the prefix of a joined chunk names."""


def chunks_of(
    path: str, text: str, definitions: Sequence[Definition], settings: ChunkSettings | None = None
) -> tuple[CodeChunk, ...]:
    """The chunks of a file in order. Together they are the file; none exceeds the size limit, prefix included.

    A function is in one chunk unless it alone is too large; so is a class, or else each of its members.
    """
    settings = settings or ChunkSettings()
    lines = text.split("\n")
    lines = [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    max_bytes = settings.most_bytes - settings.most_bytes // _PREFIX_SHARE
    pieces = Splitter(lines, max_bytes, settings).pieces(outline_of(lines, definitions))
    return tuple(
        _chunk(path, group, settings)
        for group in _joined(pieces, min(settings.joined_bytes, max_bytes), settings.group)
    )


def _joined(pieces: Iterable[Piece], max_bytes: int, one_in: int) -> Iterator[list[Piece]]:
    """Join small neighbouring pieces.

    The name of a piece decides whether it begins a group, not the size of everything before it: an edit inside one
    function affects at most its own group.
    """
    group, taken = list[Piece](), 0
    for piece in pieces:
        size = bytes_of(piece.text)
        apart = piece.is_part or _begins_group(piece.symbol, one_in)
        if group and (apart or taken + size > max_bytes or group[-1].is_part):
            yield group
            group, taken = [], 0
        group.append(piece)
        taken += size
    if group:
        yield group


def _begins_group(symbol: str, one_in: int) -> bool:
    return bool(symbol) and sha256(symbol.encode()).digest()[0] % one_in == 0


def _chunk(path: str, pieces: Sequence[Piece], settings: ChunkSettings) -> CodeChunk:
    text = "".join(piece.text for piece in pieces)
    symbols = list(dict.fromkeys(piece.symbol for piece in pieces if piece.symbol))
    named = _short(_storable(SEPARATOR.join(symbols[:_SYMBOLS]) + (", …" if len(symbols) > _SYMBOLS else "")), settings)
    start, end = pieces[0].start + 1, pieces[-1].end
    prefix = _short(f"{path}{f' · {named}' if named else ''} · lines {start}–{end}", settings)
    digest = sha256("\0".join((path, named, text)).encode("utf-8", "surrogatepass")).hexdigest()
    return CodeChunk(path, named, start, end, text, prefix, digest)


def _storable(name: str) -> str:
    """A name that every database can store: names in source files may contain any character."""
    return name.replace("\0", "�").encode("utf-8", "replace").decode()


def _short(prefix: str, settings: ChunkSettings) -> str:
    """The end of a name that is too long: names are most specific at the end."""
    max_bytes = settings.most_bytes // _PREFIX_SHARE - 1
    while bytes_of(prefix) > max_bytes:
        prefix = f"…{prefix[len(prefix) // 4 + 1 :]}"
    return prefix
