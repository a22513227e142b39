"""Chunks as they are stored: the words they are found by, and the text that is embedded."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from treering.ports.code_chunks import StoredChunk

if TYPE_CHECKING:
    from treering.code.chunks.chunk import CodeChunk

_LANGUAGE = "en"
"""Names in programs are mostly English words, and names alone are too little text to detect a language."""
_NAMED = 2
"""Weight of the words of a symbol and its path: questions often contain the name of what they look for."""
_MAX_COUNT = 255
# Replaces everything that cannot be part of a name by spaces; much faster than a regular expression.
_NO_NAME = str.maketrans({char: " " for char in map(chr, range(128)) if not (char.isalnum() or char == "_")})


def stored_chunks(chunks: Sequence[CodeChunk]) -> tuple[StoredChunk, ...]:
    """The chunks of one file without their text."""
    return tuple(_stored(chunk, place) for place, chunk in enumerate(chunks))


def embedded_text(chunk: CodeChunk) -> str:
    """Text to embed: without line numbers, so that a chunk that only moved keeps its vector."""
    return f"{chunk.path} {chunk.symbol}\n{chunk.text}"


def name_codes(name: str) -> frozenset[int]:
    """Codes of the words in a name, such as a symbol."""
    return frozenset(chain.from_iterable(map(_codes().__getitem__, _names(name))))


def _codes() -> Mapping[str, Sequence[int]]:
    # `impact` compares the digest of a file that was just written, and needs no words.
    from treering.core.language.terms import codes_by_piece

    return codes_by_piece(_LANGUAGE)


def _names(text: str) -> list[str]:
    return text.translate(_NO_NAME).split()


def _stored(chunk: CodeChunk, place: int) -> StoredChunk:
    codes_of = _codes().__getitem__
    names = _names(f"{chunk.path} {chunk.symbol}") * _NAMED + _names(chunk.text)
    counted = Counter(chain.from_iterable(map(codes_of, names)))
    counts: Collection[int] = counted.values()
    if max(counts, default=0) > _MAX_COUNT:
        counts = [min(count, _MAX_COUNT) for count in counts]
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
