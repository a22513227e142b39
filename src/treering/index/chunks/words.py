"""Chunks as they are stored: by which words they are found, and what of them a model reads."""

from collections.abc import Sequence

from treering.core.language.terms import analyse
from treering.index.chunks.chunk import Chunk
from treering.ports.code_chunks import StoredChunk

_LANGUAGE = "en"
"""Names in programs are mostly English words; a text of names alone is of no language that could be told."""
_NAMED = 2
"""How often the words of a symbol and its file count: whoever asks where something is asks for its name."""


def stored_chunks(chunks: Sequence[Chunk]) -> tuple[StoredChunk, ...]:
    """The chunks of one file without their text."""
    return tuple(_stored(chunk, place) for place, chunk in enumerate(chunks))


def embedded_text(chunk: Chunk) -> str:
    """What a model reads: without the lines, so that a chunk that only moved keeps its vector."""
    return f"{chunk.path} {chunk.symbol}\n{chunk.text}"


def _stored(chunk: Chunk, place: int) -> StoredChunk:
    named = f"{chunk.path} {chunk.symbol}\n" * _NAMED
    words = analyse(named + chunk.text, _LANGUAGE)
    return StoredChunk(
        chunk.path,
        place,
        chunk.symbol,
        chunk.start_line,
        chunk.end_line,
        chunk.digest,
        words.length,
        words.codes.tobytes(),
        words.counts,
    )
