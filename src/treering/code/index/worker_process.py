"""Worker process that reads and resolves files: requests on stdin, answers on stdout, until stdin closes."""

import gc
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from treering.code.encoding import unpack_facts, unpack_surface
from treering.code.facts import Facts, Key
from treering.code.files.source_file import SourceFile, read_file
from treering.code.graph.memory_release import release_memory
from treering.code.index.resolution import Resolution, resolve_file
from treering.code.index.stored_symbols import KeyColumn, StoredSymbols
from treering.code.language_choice import load_language
from treering.code.limits import ChunkLimits
from treering.core.language.terms import forget_pieces

_LENGTH = 4
_YOUNG_OBJECTS = 50_000
"""Allocations between garbage collections within one file. Facts and terms form no reference cycles, and this saves
nine tenths of the collector's time."""


class ReadFiles(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Request to read files, each given by path and language."""

    root: str
    max_bytes: int
    files: list[tuple[str, str]]
    chunk_settings: dict[str, int] = {}
    """Chunk settings, as `ChunkLimits` defines them."""


class LoadedFile(NamedTuple):
    """Facts of one file of the project, and the keys that it defines."""

    path: str
    language: str
    given: bytes
    facts: bytes


class LoadFiles(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Request to load more files of the project; has no answer."""

    files: list[tuple[str, str, bytes]]
    """Path, language and facts of each."""


class LoadKeys(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Request to load the keys that all files define, which ends loading; has no answer."""

    paths: list[str]
    numbers: bytes


class ResolveFiles(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Request to resolve files against all loaded files."""

    paths: list[str]


Order = ReadFiles | LoadFiles | LoadKeys | ResolveFiles

_encode = msgspec.msgpack.Encoder().encode
_order = msgspec.msgpack.Decoder(Order).decode


def send(stream: IO[bytes], message: object) -> None:
    packed = _encode(message)
    stream.write(len(packed).to_bytes(_LENGTH, "little"))
    stream.write(packed)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """None if the other process has closed the stream."""
    head = stream.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    size = int.from_bytes(head, "little")
    packed = stream.read(size)
    return packed if len(packed) == size else None


def serve() -> None:
    """Process requests until stdin closes. SIGINT is ignored: the parent handles Ctrl-C and closes stdin."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(_YOUNG_OBJECTS)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Output that libraries print must not mix with the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    project = _LoadedProject()
    while (packed := receive(sys.stdin.buffer)) is not None:
        order = _order(packed)
        if isinstance(order, ReadFiles):
            send(answers, _read_files(order))
        elif isinstance(order, LoadFiles):
            if not project.loaded:
                forget_pieces()
                release_memory()
            project.load(order.files)
        elif isinstance(order, LoadKeys):
            project.finish_loading(KeyColumn(order.paths, order.numbers))
        else:
            send(answers, project.resolve(order.paths))


def _read_files(order: ReadFiles) -> list[SourceFile]:
    """Read each file, and collect its garbage before the next one.

    The scopes of a file refer to each other. Left to pile up over several files, they spread what is cached for later
    over more memory (97 instead of 58 MB for `sympy/core`). What is left is frozen, so that the next collection does
    not look at it again.
    """
    root, chunk_settings = Path(order.root), ChunkLimits(**order.chunk_settings)
    files = []
    for path, language in order.files:
        files.append(read_file(root, path, language, order.max_bytes, chunk_settings))
        gc.collect()
        gc.freeze()
    return files


class _LoadedProject:
    """The loaded files and their symbols."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[str, bytes]] = {}
        """Language and facts by path."""
        self.loaded = False
        self._symbols = StoredSymbols((), self._surface)
        self._facts_in_use: Facts | None = None
        """Facts of the file being resolved, whose own surface is queried first."""

    def load(self, files: Sequence[tuple[str, str, bytes]]) -> None:
        self._files.update({path: (language, facts) for path, language, facts in files})
        self.loaded, self._facts_in_use = True, None

    def finish_loading(self, keys: KeyColumn) -> None:
        self._symbols = StoredSymbols.of_column(keys, self._surface)

    def resolve(self, paths: Sequence[str]) -> list[Resolution]:
        return [resolve_file(self._files[path][0], self._facts(path), self._symbols) for path in paths]

    def _facts(self, path: str) -> Facts:
        if self._facts_in_use is None or self._facts_in_use.path != path:
            self._facts_in_use = unpack_facts(*self._files[path])
        return self._facts_in_use

    def _surface(self, path: str) -> Mapping[Key, Any]:
        language, facts = self._files[path]
        if self._facts_in_use is not None and self._facts_in_use.path == path:
            return load_language(language).surface(self._facts_in_use)
        return unpack_surface(language, facts)
