"""Chunks as they are stored: by which words they are found, and what of them a model reads."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from treering.core.language.terms import codes_by_piece
from treering.ports.code_chunks import StoredChunk

if TYPE_CHECKING:
    from treering.code.chunks.chunk import Chunk

_LANGUAGE = "en"
"""Names in programs are mostly English words; a text of names alone is of no language that could be told."""
_NAMED = 2
"""How often the words of a symbol and its file count: whoever asks where something is asks for its name."""
_MOST_COUNTED = 255
# Between two spaces code has what no other line has; its names come again and again. Far quicker than an expression.
_NO_NAME = str.maketrans({char: " " for char in map(chr, range(128)) if not (char.isalnum() or char == "_")})


def stored_chunks(chunks: Sequence[Chunk]) -> tuple[StoredChunk, ...]:
    """The chunks of one file without their text."""
    return tuple(_stored(chunk, place) for place, chunk in enumerate(chunks))


def embedded_text(chunk: Chunk) -> str:
    """What a model reads: without the lines, so that a chunk that only moved keeps its vector."""
    return f"{chunk.path} {chunk.symbol}\n{chunk.text}"


def name_codes(name: str) -> frozenset[int]:
    """The codes of the words in a name, such as a symbol."""
    return frozenset(chain.from_iterable(map(codes_by_piece(_LANGUAGE).__getitem__, _names(name))))


def _names(text: str) -> list[str]:
    return text.translate(_NO_NAME).split()


def _stored(chunk: Chunk, place: int) -> StoredChunk:
    codes_of = codes_by_piece(_LANGUAGE).__getitem__
    names = _names(f"{chunk.path} {chunk.symbol}") * _NAMED + _names(chunk.text)
    counted = Counter(chain.from_iterable(map(codes_of, names)))
    counts: Collection[int] = counted.values()
    if max(counts, default=0) > _MOST_COUNTED:
        counts = [min(count, _MOST_COUNTED) for count in counts]
    return StoredChunk(
        chunk.path,
        place,
        chunk.symbol,
        chunk.start_line,
        chunk.end_line,
        chunk.digest,
        counted.total(),
        array("I", counted).tobytes(),
        bytes(counts),
    )
