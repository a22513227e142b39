"""Encoding of a file's chunks, for transfer from the process that read it."""

from collections.abc import Sequence

import msgspec

from treering.ports.code_chunks import StoredChunk

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[tuple[str, int, int, str, int, bytes, bytes]]).decode


def pack_chunks(chunks: Sequence[StoredChunk]) -> bytes:
    return _encode(
        [
            (each.symbol, each.start_line, each.end_line, each.digest, each.length, each.codes, each.counts)
            for each in chunks
        ]
    )


def unpack_chunks(path: str, packed: bytes) -> tuple[StoredChunk, ...]:
    return tuple(StoredChunk(path, place, *each) for place, each in enumerate(_decode(packed) if packed else ()))
