"""Binary encoding of facts, definitions, edges and keys.

Edges are stored as columns: the columns of all files are concatenated without decoding single edges, so a graph of
half a million edges loads quickly.
"""

import zlib
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from hashlib import blake2b
from typing import Any, TypeVar

import msgspec

from treering.code.facts import Definition, Edge, Facts, Key, SyntaxProblem, Unresolved
from treering.code.graph.kinds import KIND_CODE, KINDS, SOURCE_CODE, SOURCES, WEIGHTS
from treering.code.language_choice import load_language
from treering.core.errors import Unreadable
from treering.core.graph import GraphSource

HASH_BYTES = 8
_COMPRESSION_LEVEL = 1
_COMPRESSED = b"\x78"  # first byte of zlib's format; an encoded sequence begins with another one


class _StoredFacts(msgspec.Struct, frozen=True, array_like=True):
    """Facts whose body is left encoded."""

    path: str
    definitions: tuple[Definition, ...]
    body: msgspec.Raw
    problems: tuple[SyntaxProblem, ...] = ()


class PackedEdges(msgspec.Struct, frozen=True, array_like=True):
    """The edges of a file as columns; origins and targets are indices into `names`."""

    names: list[str]
    origin: bytes
    target: bytes
    kind: bytes
    flow: bytes
    line: bytes
    confidence: bytes

    def __len__(self) -> int:
        return len(self.kind)


T = TypeVar("T")


def _checked_decoder(decode: Callable[[bytes], T]) -> Callable[[bytes], T]:
    """Wrap a decoder so that corrupt data raises one error that says how to repair it."""

    def decoded(packed: bytes) -> T:
        try:
            return decode(packed)
        except (msgspec.DecodeError, zlib.error) as exc:
            raise Unreadable(
                "the stored code graph is damaged; run `treering index --forget`, then `treering index`"
            ) from exc

    return decoded


_encode = msgspec.msgpack.Encoder().encode
_decompress = _checked_decoder(zlib.decompress)
_facts = _checked_decoder(msgspec.msgpack.Decoder(_StoredFacts).decode)
_definitions = _checked_decoder(msgspec.msgpack.Decoder(tuple[Definition, ...]).decode)
_edges = _checked_decoder(msgspec.msgpack.Decoder(PackedEdges).decode)
_further = _checked_decoder(msgspec.msgpack.Decoder(dict[int, PackedEdges]).decode)
_unresolved = _checked_decoder(msgspec.msgpack.Decoder(tuple[Unresolved, ...]).decode)

NO_EDGES = PackedEdges([], b"", b"", b"", b"", b"", b"")


@cache
def _body(language: str) -> Any:
    return _checked_decoder(msgspec.msgpack.Decoder(load_language(language).body).decode)


@cache
def _surface_body(language: str) -> Any:
    return _checked_decoder(msgspec.msgpack.Decoder(load_language(language).surface_body).decode)


def pack_facts(facts: Facts) -> bytes:
    """Compressed, because facts repeat names and are sent to every resolving process."""
    return zlib.compress(_encode(facts), _COMPRESSION_LEVEL)


def unpack_facts(language: str, packed: bytes) -> Facts:
    stored = _facts(_decompress(packed))
    return Facts(stored.path, stored.definitions, _body(language)(stored.body), stored.problems)


def unpack_surface(language: str, packed: bytes) -> Mapping[Key, Any]:
    """The surface of a file from its packed facts; the parts that it does not need are not decoded."""
    stored = _facts(_decompress(packed))
    facts = Facts(stored.path, stored.definitions, _surface_body(language)(stored.body), stored.problems)
    return load_language(language).surface(facts)


def pack_definitions(definitions: Sequence[Definition]) -> bytes:
    return _encode(definitions)


def unpack_definitions(packed: bytes) -> tuple[Definition, ...]:
    return _definitions(packed) if packed else ()


def pack_edges(edges: Sequence[Edge]) -> bytes:
    return _encode(_columns(edges)) if edges else b""


def unpack_edges(packed: bytes) -> PackedEdges:
    return _edges(packed) if packed else NO_EDGES


def pack_further(edges: Mapping[GraphSource, Sequence[Edge]]) -> bytes:
    return _encode({SOURCE_CODE[source]: _columns(each) for source, each in edges.items() if each})


def unpack_further(packed: bytes) -> Mapping[GraphSource, PackedEdges]:
    return {SOURCES[code]: edges for code, edges in _further(packed).items()} if packed else {}


def pack_unresolved(uses: Sequence[Unresolved]) -> bytes:
    """Compressed, because every use repeats the path of the file."""
    return zlib.compress(_encode(uses), _COMPRESSION_LEVEL) if uses else b""


def unpack_unresolved(packed: bytes) -> tuple[Unresolved, ...]:
    """Indexes of earlier versions, which are read until they are indexed again, have uncompressed ones."""
    if not packed:
        return ()
    return _unresolved(_decompress(packed) if packed.startswith(_COMPRESSED) else packed)


def _columns(edges: Sequence[Edge]) -> PackedEdges:
    indices: dict[str, int] = {}
    for edge in edges:
        indices.setdefault(edge.origin, len(indices))
        indices.setdefault(edge.target, len(indices))
    return PackedEdges(
        list(indices),
        array("i", [indices[edge.origin] for edge in edges]).tobytes(),
        array("i", [indices[edge.target] for edge in edges]).tobytes(),
        bytes(KIND_CODE[edge.kind] for edge in edges),
        bytes(edge.flow for edge in edges),
        array("i", [edge.line for edge in edges]).tobytes(),
        array("f", [edge.confidence for edge in edges]).tobytes(),
    )


def edges_in(packed: PackedEdges) -> list[Edge]:
    """Decode packed edges."""
    numbers = zip("iiif", (packed.origin, packed.target, packed.line, packed.confidence), strict=True)
    origins, targets, lines, confidences = (array(kind, column) for kind, column in numbers)
    names = packed.names
    return [
        Edge(names[origin], names[target], KINDS[kind], confidence, line, flow)
        for origin, target, kind, flow, line, confidence in zip(
            origins, targets, packed.kind, packed.flow, lines, confidences, strict=True
        )
    ]


def file_weights(path: str, edges: Iterable[Edge]) -> Mapping[str, float]:
    """Return the other files that a file uses, each with the weight of the strongest edge to it."""
    weights: dict[str, float] = {}
    for edge in edges:
        target = edge.target.partition("::")[0]
        if target != path:
            weight = WEIGHTS[edge.kind] * edge.confidence
            if weight > weights.get(target, 0.0):
                weights[target] = weight
    return weights


def hash_of(key: Key) -> int:
    """Hash a key identically in every process, unlike `hash()`."""
    return int.from_bytes(blake2b("\x1f".join(key).encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def pack_keys(keys: Iterable[Key]) -> bytes:
    return pack_hashes(sorted(map(hash_of, keys)))


def pack_hashes(hashes: Sequence[int]) -> bytes:
    return array("Q", hashes).tobytes()


def unpack_hashes(packed: bytes) -> Sequence[int]:
    return array("Q", packed)
