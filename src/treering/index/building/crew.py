"""Reads and resolves many files in several processes.

The processes are our own children with a pipe each, not a pool of `multiprocessing`: such a pool runs the main script
of whoever uses this library a second time, and its workers outlive a parent that is killed. Ours end with their pipe.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

import msgspec

from treering.core.errors import TreeringError
from treering.core.settings import IndexSettings
from treering.index.building.crew_process import LearnThese, Lesson, ReadThese, ResolveThese, receive, send
from treering.index.building.resolving import Resolution, unresolved_file
from treering.index.files.discovering import Found
from treering.index.files.reading import Reading, left_unread

ENDED_ITS_READER = "ended the process that read it"
ENDED_ITS_RESOLVER = "ended the process that resolved it"
_CHUNK = 20
_AHEAD = 3
"""Chunks that wait for each process: it is never idle, and whoever leaves early leaves soon."""
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from treering.index.building.crew_process import serve; serve()"
)
_SECONDS = 5.0

Lessons = Callable[[], Iterable[Sequence[Lesson]]]
"""All files of a project, some at a time; asked for again where a process has to learn them anew."""

T = TypeVar("T")
A = TypeVar("A")
_NOTHING = ReadThese("", 0, [])
_readings = msgspec.msgpack.Decoder(list[Reading]).decode
_resolutions = msgspec.msgpack.Decoder(list[Resolution]).decode


def may_start() -> bool:
    """Whether processes like this one can be started: a program that holds Python inside would start itself."""
    return Path(sys.executable or "").name.startswith(("python", "pypy")) and not hasattr(sys, "frozen")


class _Again(NamedTuple):
    """What nobody resolved: a process ended over it, or had not learned the project."""

    chunks: Sequence[Sequence[str]]


class Crew:
    """Some processes, from the time they are needed until the end of the block."""

    def __init__(self, root: Path, settings: IndexSettings) -> None:
        self._root, self._settings = root, settings
        self._members: list[_Member] = []
        self._free: SimpleQueue[_Member] = SimpleQueue()
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        for _ in range(self._settings.processes):
            member = self._ending.enter_context(_Member())
            self._members.append(member)
            self._free.put(member)
        self._threads = self._ending.enter_context(ThreadPoolExecutor(self._settings.processes))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.__exit__(kind, error, trace)

    def read(self, files: Sequence[Found]) -> Iterator[Reading]:
        """Each file as it is read, in any order. One that ends its process is told of."""

        def ask(member: _Member, chunk: Sequence[Found]) -> list[Reading]:
            answer = member.ask(self._order(chunk))
            if answer is not None:
                return _readings(answer)
            alone = ((file, member.ask(self._order([file]))) for file in chunk)
            return [self._ended(file) if told is None else _readings(told)[0] for file, told in alone]

        for readings in self._shared_out(ask, _chunks(files)):
            yield from readings

    def resolve(self, paths: Sequence[str], lessons: Lessons) -> Iterator[Resolution]:
        """What each file uses, in any order, in the world of all lessons. One that ends its process is told of."""

        def ask(member: _Member, chunk: Sequence[str]) -> list[Resolution] | _Again:
            if not member.taught:
                return _Again([chunk])
            answer = member.ask(ResolveThese(list(chunk)))
            if answer is not None:
                return _resolutions(answer)
            if len(chunk) > 1:
                return _Again([[path] for path in chunk])
            return [unresolved_file(chunk[0], ENDED_ITS_RESOLVER)]

        for member in self._members:
            member.taught = False
        chunks: Sequence[Sequence[str]] = list(_chunks(paths))
        while chunks:
            self._teach(lessons)
            again: list[Sequence[str]] = []
            for told in self._shared_out(ask, chunks):
                if isinstance(told, _Again):
                    again += told.chunks
                else:
                    yield from told
            chunks = again

    def _teach(self, lessons: Lessons) -> None:
        """Let every process know these files that does not yet."""
        learning = [member for member in self._members if not member.taught]
        for some in lessons():
            for member in learning:
                member.tell(LearnThese(list(some)))
        for member in learning:
            member.taught = True

    def _order(self, files: Sequence[Found]) -> ReadThese:
        listed = [(file.path, file.language) for file in files]
        return ReadThese(str(self._root), self._settings.largest_file, listed, self._settings.chunks.model_dump())

    def _ended(self, file: Found) -> Reading:
        return left_unread(self._root, file.path, file.language, self._settings.largest_file, ENDED_ITS_READER)

    def _shared_out(self, ask: "Callable[[_Member, Sequence[T]], A]", chunks: Iterable[Sequence[T]]) -> Iterator[A]:
        def by_whoever_is_free(chunk: Sequence[T]) -> A:
            member = self._free.get()
            try:
                return ask(member, chunk)
            finally:
                self._free.put(member)

        waiting = iter(chunks)
        first = islice(waiting, _AHEAD * self._settings.processes)
        asked: set[Future[A]] = {self._threads.submit(by_whoever_is_free, chunk) for chunk in first}
        try:
            while asked:
                done, asked = wait(asked, return_when=FIRST_COMPLETED)
                asked |= {self._threads.submit(by_whoever_is_free, chunk) for chunk in islice(waiting, len(done))}
                for each in done:
                    yield each.result()
        finally:
            for each in asked:
                each.cancel()


def _chunks(items: Sequence[T]) -> Iterator[Sequence[T]]:
    return (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))


class _Member:
    """One process. One that was ended is replaced."""

    def __init__(self) -> None:
        self._process = self._started()
        self.taught = False
        """Whether it knows the files of the project."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._end()

    def tell(self, order: LearnThese) -> None:
        assert self._process.stdin is not None
        # Where it was ended, the next question finds out.
        with suppress(OSError):
            send(self._process.stdin, order)

    def ask(self, order: ReadThese | ResolveThese) -> bytes | None:
        """None where the process was ended, and is replaced by one that has learned nothing."""
        answer = self._answer(order)
        if answer is None:
            self._end()
            self._process, self.taught = self._started(), False
            if self._answer(_NOTHING) is None:
                raise TreeringError(
                    f"{sys.executable} starts no process that reads code; set `index.processes` to 1 to do without"
                )
        return answer

    def _answer(self, order: ReadThese | ResolveThese) -> bytes | None:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(OSError):
            send(process.stdin, order)
            return receive(process.stdout)
        return None

    @staticmethod
    def _started() -> "subprocess.Popen[bytes]":
        # Stderr is dropped: what a grammar prints belongs on nobody's terminal.
        return subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def _end(self) -> None:
        process = self._process
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        try:
            process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
