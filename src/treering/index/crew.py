"""Reads and resolves many files in several processes.

The processes are our own children with a pipe each, not a pool of `multiprocessing`: such a pool runs the main script
of whoever uses this library a second time, and its workers outlive a parent that is killed. Ours end with their pipe.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from treering.core.errors import TreeringError
from treering.core.settings import IndexSettings
from treering.index.crew_process import LearnThese, Lesson, ReadThese, ResolveThese, receive, send
from treering.index.discovering import Found
from treering.index.reading import Reading
from treering.index.resolving import Resolution

ENDED_ITS_READER = "ended the process that read it"
_CHUNK = 20
_AHEAD = 3
"""Chunks that wait for each process: it is never idle, and whoever leaves early leaves soon."""
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from treering.index.crew_process import serve; serve()"
)
_SECONDS = 5.0

T = TypeVar("T")
A = TypeVar("A")
_readings = msgspec.msgpack.Decoder(list[Reading]).decode
_resolutions = msgspec.msgpack.Decoder(list[Resolution]).decode


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
            return [
                reading
                for file, told in alone
                for reading in (
                    [Reading(file.path, file.language, skipped=ENDED_ITS_READER)] if told is None else _readings(told)
                )
            ]

        return self._shared_out(ask, files)

    def teach(self, lessons: Sequence[Lesson]) -> None:
        """Let every process know these files."""
        for member in self._members:
            member.tell(LearnThese(list(lessons)))

    def resolve(self, paths: Sequence[str]) -> Iterator[Resolution]:
        """What each file uses, in any order, in the world of all that was taught."""

        def ask(member: _Member, chunk: Sequence[str]) -> list[Resolution]:
            answer = member.ask(ResolveThese(list(chunk)))
            if answer is None:
                raise TreeringError("a process that resolves code was ended from outside; run `treering index` again")
            return _resolutions(answer)

        return self._shared_out(ask, paths)

    def _order(self, files: Sequence[Found]) -> ReadThese:
        listed = [(file.path, file.language) for file in files]
        return ReadThese(str(self._root), self._settings.largest_file, listed)

    def _shared_out(self, ask: "Callable[[_Member, Sequence[T]], list[A]]", items: Sequence[T]) -> Iterator[A]:
        def by_whoever_is_free(chunk: Sequence[T]) -> list[A]:
            member = self._free.get()
            try:
                return ask(member, chunk)
            finally:
                self._free.put(member)

        chunks = (items[start : start + _CHUNK] for start in range(0, len(items), _CHUNK))
        first = islice(chunks, _AHEAD * self._settings.processes)
        asked: set[Future[list[A]]] = {self._threads.submit(by_whoever_is_free, chunk) for chunk in first}
        try:
            while asked:
                done, asked = wait(asked, return_when=FIRST_COMPLETED)
                asked |= {self._threads.submit(by_whoever_is_free, chunk) for chunk in islice(chunks, len(done))}
                for each in done:
                    yield from each.result()
        finally:
            for each in asked:
                each.cancel()


class _Member:
    """One process. One that was ended is replaced."""

    def __init__(self) -> None:
        self._process = self._started()

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
        """None where the process was ended, and is replaced."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        answer = None
        with suppress(OSError):
            send(process.stdin, order)
            answer = receive(process.stdout)
        if answer is None:
            self._end()
            self._process = self._started()
        return answer

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
