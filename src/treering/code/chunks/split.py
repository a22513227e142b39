"""From a file to its chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from treering.code.chunks.chunk import Chunk
from treering.code.chunks.outline import outline_of
from treering.code.chunks.pieces import Cutter, Piece
from treering.code.chunks.sizes import bytes_of
from treering.code.limits import ChunkLimits

if TYPE_CHECKING:
    from treering.code.facts import Definition

_PREFIX_SHARE = 4
"""A prefix takes at most one part in so many of a chunk."""
SEPARATOR = ", "
"""Between the symbols of a joined chunk."""
_SYMBOLS = 8
"""Symbols of a joined chunk that its prefix names."""


def chunks_of(
    path: str, text: str, definitions: Sequence[Definition], settings: ChunkLimits | None = None
) -> tuple[Chunk, ...]:
    """The chunks of a file in order: together they are the file, and none is larger than allowed with its prefix.

    A function is in one chunk unless it alone is too large; so is a class, or else each of its members.
    """
    settings = settings or ChunkLimits()
    lines = text.split("\n")
    lines = [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    room = settings.most_bytes - settings.most_bytes // _PREFIX_SHARE
    pieces = Cutter(lines, room, settings).pieces(outline_of(lines, definitions))
    return tuple(
        _chunk(path, group, settings) for group in _joined(pieces, min(settings.joined_bytes, room), settings.group)
    )


def _joined(pieces: Iterable[Piece], most: int, one_in: int) -> Iterator[list[Piece]]:
    """Small neighbours together.

    Where a group begins is decided by the name of what begins it, and not by how large everything before is: an edit
    inside one function reaches its own group at most.
    """
    group, taken = list[Piece](), 0
    for piece in pieces:
        size = bytes_of(piece.text)
        apart = piece.is_part or _begins_group(piece.symbol, one_in)
        if group and (apart or taken + size > most or group[-1].is_part):
            yield group
            group, taken = [], 0
        group.append(piece)
        taken += size
    if group:
        yield group


def _begins_group(symbol: str, one_in: int) -> bool:
    return bool(symbol) and sha256(symbol.encode()).digest()[0] % one_in == 0


def _chunk(path: str, pieces: Sequence[Piece], settings: ChunkLimits) -> Chunk:
    text = "".join(piece.text for piece in pieces)
    symbols = list(dict.fromkeys(piece.symbol for piece in pieces if piece.symbol))
    named = _short(_storable(SEPARATOR.join(symbols[:_SYMBOLS]) + (", …" if len(symbols) > _SYMBOLS else "")), settings)
    start, end = pieces[0].start + 1, pieces[-1].end
    prefix = _short(f"{path}{f' · {named}' if named else ''} · lines {start}–{end}", settings)
    digest = sha256("\0".join((path, named, text)).encode("utf-8", "surrogatepass")).hexdigest()
    return Chunk(path, named, start, end, text, prefix, digest)


def _storable(name: str) -> str:
    """A name as every database takes it: what stands in a file as a name may be anything."""
    return name.replace("\0", "�").encode("utf-8", "replace").decode()


def _short(prefix: str, settings: ChunkLimits) -> str:
    """The end of a name that is too long: names get more particular towards the end."""
    room = settings.most_bytes // _PREFIX_SHARE - 1
    while bytes_of(prefix) > room:
        prefix = f"…{prefix[len(prefix) // 4 + 1 :]}"
    return prefix
