"""Reads and resolves many files in several processes.

The processes are our own children with a pipe each, not a pool of `multiprocessing`: such a pool runs the main script
of whoever uses this library a second time, and its workers outlive a parent that is killed. Ours end with their pipe.
They begin without the folder that they are started in, which may be the repository: nothing of it is ever imported.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Timer
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

import msgspec

from treering.core.errors import TreeringError
from treering.core.settings import IndexSettings
from treering.code.build.worker_process import LearnThese, Lesson, ReadThese, ResolveThese, receive, send
from treering.code.build.resolution import Resolution, unresolved_file
from treering.code.files.discovery import Found
from treering.code.files.source_file import Reading, left_unread
from treering.code.limits import CHUNK_LIMITS

ENDED_ITS_READER = "ended the process that read it"
ENDED_ITS_RESOLVER = "ended the process that resolved it"
_CHUNK = 20
_AHEAD = 3
"""Chunks that wait for each process: it is never idle, and whoever leaves early leaves soon."""
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from treering.code.build.worker_process import serve; serve()"
)
_SECONDS = 5.0
_TO_START = 120.0
"""Seconds that a process may take before it answers at all, on a machine that is busy with others."""
_PULSE = 1.0
"""Seconds between two looks at what else is to be done while files are read."""

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


class _Left(Exception):
    """Nobody waits for an answer any more."""


def nothing_else() -> None:
    """Where there is nothing to be done meanwhile."""


class Crew:
    """Some processes, from the time they are needed until the end of the block, which does not wait for any of them."""

    def __init__(self, root: Path, settings: IndexSettings, meanwhile: Callable[[], None] = nothing_else) -> None:
        """`meanwhile` is called again and again in the thread that waits for them."""
        self._root, self._settings, self._meanwhile = root, settings, meanwhile
        self._members: list[_Member] = []
        self._free: SimpleQueue[_Member] = SimpleQueue()

    def __enter__(self) -> Self:
        with ExitStack() as ending:
            for _ in range(self._settings.processes):
                member = ending.enter_context(_Member())
                self._members.append(member)
                self._free.put(member)
            self._threads = ThreadPoolExecutor(self._settings.processes)
            ending.callback(self._threads.shutdown, cancel_futures=True)
            for member in self._members:
                # First of all: threads that wait for an answer must not be waited for.
                ending.callback(member.leave)
            self._ending = ending.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.__exit__(kind, error, trace)

    def starts(self) -> bool:
        """Whether a process like this one can be started."""
        return self._members[0].wakes()

    def read(self, files: Sequence[Found]) -> Iterator[Reading]:
        """Each file as it is read, in any order. One that ends its process, or takes too long, is told of."""
        seconds = self._settings.seconds_a_file

        def ask(member: _Member, chunk: Sequence[Found]) -> list[Reading]:
            answer = member.ask(self._order(chunk), seconds)
            if answer is not None:
                return _readings(answer)
            alone = ((file, member.ask(self._order([file]), seconds)) for file in chunk)
            return [self._ended(file) if told is None else _readings(told)[0] for file, told in alone]

        for readings in self._shared_out(ask, _chunks(files)):
            yield from readings

    def resolve(self, paths: Sequence[str], lessons: Lessons) -> Iterator[Resolution]:
        """What each file uses, in any order, in the world of all lessons. One that ends its process is told of."""

        def ask(member: _Member, chunk: Sequence[str]) -> list[Resolution] | _Again:
            if not member.taught:
                return _Again([chunk])
            answer = member.ask(ResolveThese(list(chunk)), self._settings.seconds_a_file)
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
        return ReadThese(str(self._root), self._settings.largest_file, listed, CHUNK_LIMITS.model_dump())

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
                done, asked = wait(asked, _PULSE, FIRST_COMPLETED)
                self._meanwhile()
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
        self._changing = Lock()
        self._left = self._awake = False
        self._process = self._started()
        self.taught = False
        """Whether it knows the files of the project."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._end()

    def leave(self) -> None:
        """End it whatever it does, for good: whoever waits for its answer waits no more."""
        with self._changing:
            self._left = True
            self._process.kill()

    def tell(self, order: LearnThese) -> None:
        assert self._process.stdin is not None
        # Where it was ended, the next question finds out.
        with suppress(OSError):
            send(self._process.stdin, order)

    def wakes(self) -> bool:
        """Whether it has begun to answer: what ends it from then on is what it was asked."""
        self._awake = self._awake or self._answer(_NOTHING, _TO_START) is not None
        return self._awake

    def ask(self, order: ReadThese | ResolveThese, seconds: float) -> bytes | None:
        """None where the process was ended, or took longer, and is replaced by one that has learned nothing."""
        if not self.wakes():
            raise TreeringError(
                f"{sys.executable} starts no process that reads code; set `index.processes` to 1 to do without"
            )
        answer = self._answer(order, seconds)
        if answer is None:
            self._replace()
        return answer

    def _replace(self) -> None:
        self._end()
        with self._changing:
            if self._left:
                raise _Left
            self._process = self._started()
        self._awake = self.taught = False

    def _answer(self, order: ReadThese | ResolveThese, seconds: float) -> bytes | None:
        process, answer = self._process, None
        assert process.stdin is not None
        assert process.stdout is not None
        with _ended_after(seconds, process) as late, suppress(OSError):
            send(process.stdin, order)
            answer = receive(process.stdout)
        return None if late.is_set() else answer

    @staticmethod
    def _started() -> "subprocess.Popen[bytes]":
        # Isolated: else the folder that it is started in comes before everything that is installed, and any name there
        # that is one of Python's (`json.py`) is run. Relative places on the path lead into it as well.
        places = [place for place in sys.path if os.path.isabs(place)]
        # Stderr is dropped: what a grammar prints belongs on nobody's terminal.
        return subprocess.Popen(
            [sys.executable, "-I", "-c", _START, json.dumps(places)],
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


@contextmanager
def _ended_after(seconds: float, process: "subprocess.Popen[bytes]") -> Iterator[Event]:
    """End a process that is not done with the block in time; whether that came about."""
    late = Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield late
    finally:
        timer.cancel()
        timer.join()
