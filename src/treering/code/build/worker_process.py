"""A process that reads and resolves files for another: orders on stdin, answers on stdout, until stdin ends."""

import gc
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import msgspec

from treering.code.limits import ChunkLimits
from treering.code.build.resolution import Resolution, resolve_file
from treering.code.build.stored_symbols import StoredWorld
from treering.code.facts import Facts, Key
from treering.code.files.source_file import read_file
from treering.code.encoding import unpack_facts
from treering.code.language_choice import load_language
from treering.ports.code import FileKeys

_LENGTH = 4
_YOUNG_OBJECTS = 50_000
"""Made before Python looks for circles among them: facts and terms are many and have none; a tenth of the time."""


class ReadThese(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Files to read, each by path and language."""

    root: str
    largest: int
    files: list[tuple[str, str]]
    cutting: dict[str, int] = {}
    """How chunks are cut, as `ChunkLimits` has it."""


class Lesson(msgspec.Struct, frozen=True, array_like=True):
    """A file of the project, as it was read."""

    path: str
    language: str
    given: bytes
    facts: bytes


class LearnThese(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """More files of the project that is to be resolved; there is nothing to answer."""

    files: list[Lesson]


class ResolveThese(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """Files to resolve, in the world of all that were learned."""

    paths: list[str]


Order = ReadThese | LearnThese | ResolveThese

_encode = msgspec.msgpack.Encoder().encode
_order = msgspec.msgpack.Decoder(Order).decode


def send(stream: IO[bytes], message: object) -> None:
    packed = _encode(message)
    stream.write(len(packed).to_bytes(_LENGTH, "little"))
    stream.write(packed)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """None where the other process is gone."""
    head = stream.read(_LENGTH)
    if len(head) < _LENGTH:
        return None
    size = int.from_bytes(head, "little")
    packed = stream.read(size)
    return packed if len(packed) == size else None


def serve() -> None:
    """Work until nobody orders anything any more. Ctrl-C is for whoever orders: that ends stdin."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(_YOUNG_OBJECTS)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a library prints must not stand among the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    known = _Known()
    while (packed := receive(sys.stdin.buffer)) is not None:
        order = _order(packed)
        if isinstance(order, ReadThese):
            root, cutting = Path(order.root), ChunkLimits(**order.cutting)
            send(answers, [read_file(root, path, language, order.largest, cutting) for path, language in order.files])
        elif isinstance(order, LearnThese):
            known.learn(order.files)
        else:
            send(answers, known.resolve(order.paths))


class _Known:
    """The project as far as it was learned; the world is made when the first question comes."""

    def __init__(self) -> None:
        self._lessons: dict[str, Lesson] = {}
        self._world: StoredWorld | None = None
        self._read: Facts | None = None
        """Those of the file that is being resolved, which asks for its own surface first of all."""

    def learn(self, files: Sequence[Lesson]) -> None:
        self._lessons.update({lesson.path: lesson for lesson in files})
        self._world = self._read = None

    def resolve(self, paths: Sequence[str]) -> list[Resolution]:
        if self._world is None:
            keys = [FileKeys(lesson.path, lesson.given, b"") for lesson in self._lessons.values()]
            self._world = StoredWorld(keys, self._surface)
        return [resolve_file(self._lessons[path].language, self._facts(path), self._world) for path in paths]

    def _facts(self, path: str) -> Facts:
        if self._read is None or self._read.path != path:
            lesson = self._lessons[path]
            self._read = unpack_facts(lesson.language, lesson.facts)
        return self._read

    def _surface(self, path: str) -> Mapping[Key, Any]:
        return load_language(self._lessons[path].language).surface(self._facts(path))
