"""A pool of processes that read and resolve files.

The processes are direct children with a pipe each, not a `multiprocessing` pool: such a pool runs the user's main
script a second time, and its workers outlive a killed parent. These end with their pipe. They start without the current
folder on their path, which may be the repository: nothing in it is ever imported.
"""

import json
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Timer
from types import TracebackType
from typing import Generic, NamedTuple, Self, TypeVar

import msgspec

from treering.code.files.folder_listings import DiscoveredFile
from treering.code.files.source_file import SourceFile, read_skipped_file
from treering.code.index.resolution import Resolution, unresolved_file
from treering.code.index.stored_symbols import KeyIndex
from treering.code.index.worker_process import (
    LoadedFile,
    LoadFiles,
    LoadKeys,
    ReadFiles,
    ResolveFiles,
    receive,
    send,
)
from treering.code.limits import CHUNK_LIMITS
from treering.core.errors import TreeringError
from treering.core.settings import CodeSettings

ENDED_ITS_READER = "ended the process that read it"
ENDED_ITS_RESOLVER = "ended the process that resolved it"
_CHUNK_FILES = 20
_QUEUED_CHUNKS = 3
"""Chunks queued per process: enough to keep it busy, few enough to stop early."""
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from treering.code.index.worker_process import serve; serve()"
)
_END_SECONDS = 5.0
_START_SECONDS = 120.0
"""Seconds until a new process must answer, on a busy machine."""
_POLL_SECONDS = 1.0
"""Seconds between two calls of `meanwhile`."""

FileBatches = Callable[[], Iterable[Sequence[LoadedFile]]]
"""All files of a project in batches; called again if a process has to load them again."""

T = TypeVar("T")
A = TypeVar("A")
_NOTHING = ReadFiles("", 0, [])
_readings = msgspec.msgpack.Decoder(list[SourceFile]).decode
_resolutions = msgspec.msgpack.Decoder(list[Resolution]).decode


def can_start_workers() -> bool:
    """Whether `sys.executable` is a Python interpreter: an application that embeds Python would start itself."""
    return Path(sys.executable or "").name.startswith(("python", "pypy")) and not hasattr(sys, "frozen")


class _Retry(NamedTuple):
    """Chunks to resolve again: their process ended, or had not loaded the project."""

    chunks: Sequence[Sequence[str]]


class _Shares(Generic[T]):
    """Chunks divided among processes. Neighbours go to the same one, because they use the same symbols."""

    def __init__(self, chunks: Sequence[T], processes: int) -> None:
        size = -(-len(chunks) // processes)
        self._shares = [deque(chunks[start : start + size]) for start in range(0, size * processes, size or 1)]
        self._taking = Lock()

    def take(self, process: int) -> T:
        """The next chunk of a process, or after its last one, the last chunk of another."""
        with self._taking:
            own = self._shares[process]
            return own.popleft() if own else max(self._shares, key=len).pop()


class _PoolClosed(Exception):
    """The pool was closed while an answer was pending."""


def do_nothing() -> None:
    """Default of `meanwhile`."""


class WorkerPool:
    """Usable as a context manager, which starts the processes and ends them without waiting for answers."""

    def __init__(self, root: Path, settings: CodeSettings, meanwhile: Callable[[], None] = do_nothing) -> None:
        """`meanwhile` is called repeatedly in the thread that waits for answers."""
        self._root, self._settings, self._meanwhile = root, settings, meanwhile
        self._workers: list[_WorkerHandle] = []
        self._free: SimpleQueue[_WorkerHandle] = SimpleQueue()

    def __enter__(self) -> Self:
        with ExitStack() as ending:
            for _ in range(self._settings.processes):
                worker = ending.enter_context(_WorkerHandle())
                self._workers.append(worker)
                self._free.put(worker)
            self._threads = ThreadPoolExecutor(self._settings.processes)
            ending.callback(self._threads.shutdown, cancel_futures=True)
            for worker in self._workers:
                # Ended first: threads that wait for an answer must not block the shutdown.
                ending.callback(worker.close)
            self._ending = ending.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.__exit__(kind, error, trace)

    def can_start(self) -> bool:
        """Whether worker processes can be started."""
        return self._workers[0].is_ready()

    def read(self, files: Sequence[DiscoveredFile]) -> Iterator[SourceFile]:
        """Read each file, in any order. A file that ends its process or takes too long is reported as such."""
        seconds = self._settings.seconds_a_file

        def ask(worker: _WorkerHandle, chunk: Sequence[DiscoveredFile]) -> list[SourceFile]:
            answer = worker.ask(self._read_request(chunk), seconds)
            if answer is not None:
                return _readings(answer)
            alone = ((file, worker.ask(self._read_request([file]), seconds)) for file in chunk)
            return [self._fatal_reading(file) if each is None else _readings(each)[0] for file, each in alone]

        for readings in self._distribute(ask, _chunks(files)):
            yield from readings

    def resolve(self, paths: Sequence[str], batches: FileBatches) -> Iterator[Resolution]:
        """Resolve each file, in any order, against all files of the project. A file that ends its process is
        reported."""

        def ask(worker: _WorkerHandle, chunk: Sequence[str]) -> list[Resolution] | _Retry:
            if not worker.loaded:
                return _Retry([chunk])
            answer = worker.ask(ResolveFiles(list(chunk)), self._settings.seconds_a_file)
            if answer is not None:
                return _resolutions(answer)
            if len(chunk) > 1:
                return _Retry([[path] for path in chunk])
            return [unresolved_file(chunk[0], ENDED_ITS_RESOLVER)]

        for worker in self._workers:
            worker.loaded = False
        chunks: Sequence[Sequence[str]] = _chunks(paths)
        while chunks:
            self._load(batches)
            again: list[Sequence[str]] = []
            for answer in self._distribute(ask, chunks):
                if isinstance(answer, _Retry):
                    again += answer.chunks
                else:
                    yield from answer
            chunks = again

    def _load(self, batches: FileBatches) -> None:
        """Send the project's files to every process that does not have them."""
        unloaded, keys = [worker for worker in self._workers if not worker.loaded], KeyIndex()
        for some in batches():
            loaded = LoadFiles([(file.path, file.language, file.facts) for file in some])
            for file in some:
                keys.append(file.path, file.given)
            for worker in unloaded:
                worker.send_files(loaded)
        column = keys.sort().column()
        for worker in unloaded:
            worker.send_files(LoadKeys(list(column.paths), bytes(column.numbers)))
            worker.loaded = True

    def _read_request(self, files: Sequence[DiscoveredFile]) -> ReadFiles:
        listed = [(file.path, file.language) for file in files]
        return ReadFiles(str(self._root), self._settings.largest_file, listed, asdict(CHUNK_LIMITS))

    def _fatal_reading(self, file: DiscoveredFile) -> SourceFile:
        return read_skipped_file(self._root, file.path, file.language, self._settings.largest_file, ENDED_ITS_READER)

    def _distribute(
        self, ask: "Callable[[_WorkerHandle, Sequence[T]], A]", chunks: Sequence[Sequence[T]]
    ) -> Iterator[A]:
        shares = _Shares(chunks, len(self._workers))

        def run_on_free_worker() -> A:
            worker = self._free.get()
            try:
                return ask(worker, shares.take(self._workers.index(worker)))
            finally:
                self._free.put(worker)

        waiting = iter(chunks)
        first = islice(waiting, _QUEUED_CHUNKS * self._settings.processes)
        asked: set[Future[A]] = {self._threads.submit(run_on_free_worker) for _ in first}
        try:
            while asked:
                done, asked = wait(asked, _POLL_SECONDS, FIRST_COMPLETED)
                self._meanwhile()
                asked |= {self._threads.submit(run_on_free_worker) for _ in islice(waiting, len(done))}
                for each in done:
                    yield each.result()
        finally:
            for each in asked:
                each.cancel()


def _chunks(items: Sequence[T]) -> list[Sequence[T]]:
    return [items[start : start + _CHUNK_FILES] for start in range(0, len(items), _CHUNK_FILES)]


class _WorkerHandle:
    """One worker process; replaced after it ends."""

    def __init__(self) -> None:
        self._changing = Lock()
        self._closed = self._ready = False
        self._process = self._start_process()
        self.loaded = False
        """Whether it has loaded the files of the project."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self._end_process()

    def close(self) -> None:
        """Kill the process for good, and unblock the thread that waits for its answer."""
        with self._changing:
            self._closed = True
            self._process.kill()

    def send_files(self, request: LoadFiles | LoadKeys) -> None:
        assert self._process.stdin is not None
        # If the process has ended, the next request notices.
        with suppress(OSError):
            send(self._process.stdin, request)

    def is_ready(self) -> bool:
        """Whether the process answers; if it ends later, the request caused it."""
        self._ready = self._ready or self._answer(_NOTHING, _START_SECONDS) is not None
        return self._ready

    def ask(self, request: ReadFiles | ResolveFiles, seconds: float) -> bytes | None:
        """The answer; None if the process ended or timed out, after which a new one replaces it."""
        if not self.is_ready():
            raise TreeringError(
                f"{sys.executable} could not start a process that reads code; set `code.processes` to 1 to read code "
                "in this process"
            )
        answer = self._answer(request, seconds)
        if answer is None:
            self._replace()
        return answer

    def _replace(self) -> None:
        self._end_process()
        with self._changing:
            if self._closed:
                raise _PoolClosed
            self._process = self._start_process()
        self._ready = self.loaded = False

    def _answer(self, request: ReadFiles | ResolveFiles, seconds: float) -> bytes | None:
        process, answer = self._process, None
        assert process.stdin is not None
        assert process.stdout is not None
        with _killed_after(seconds, process) as late, suppress(OSError):
            send(process.stdin, request)
            answer = receive(process.stdout)
        return None if late.is_set() else answer

    @staticmethod
    def _start_process() -> "subprocess.Popen[bytes]":
        # Isolated mode, because otherwise the current folder comes first on the path and a `json.py` in it would be
        # run. Relative entries of the path lead there as well.
        entries = [entry for entry in sys.path if os.path.isabs(entry)]
        # Stderr is dropped: messages printed by a grammar are of no use to the user.
        return subprocess.Popen(
            [sys.executable, "-I", "-c", _START, json.dumps(entries)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def _end_process(self) -> None:
        process = self._process
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def _killed_after(seconds: float, process: "subprocess.Popen[bytes]") -> Iterator[Event]:
    """Kill a process that has not finished within the block in time; the yielded event is set if that happens."""
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
