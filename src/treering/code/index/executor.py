"""Executes the reading and resolving of a run: in this process for few files, in a worker pool for many.

A file that once ended a process is never read in this process again, which may be a user's agent: it is read in a
worker, and skipped as long as it does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from treering.code.files.source_file import SourceFile, read_file, read_skipped_file
from treering.code.index.resolution import Resolution, unresolved_file
from treering.code.index.worker_pool import ENDED_ITS_RESOLVER, FileBatches, WorkerPool, can_start_workers, do_nothing
from treering.code.limits import CHUNK_LIMITS

if TYPE_CHECKING:
    from treering.code.files.folder_listings import DiscoveredFile
    from treering.core.settings import CodeSettings
    from treering.ports.code import ListedFile

InThisProcess = Callable[[Sequence[str]], Iterator[Resolution]]


class FileExecutor:
    """Usable as a context manager; worker processes start on demand and end with the block."""

    def __init__(
        self,
        root: Path,
        settings: CodeSettings,
        fatal: Mapping[str, str],
        *,
        many: bool,
        meanwhile: Callable[[], None] = do_nothing,
    ) -> None:
        """`fatal` maps files that ended a process to the phase in which they did.

        `many` uses worker processes for all files, if they can be started. `meanwhile` is called repeatedly while
        workers run.
        """
        self._root, self._settings, self._meanwhile = root, settings, meanwhile
        # A copy: files that end a process during this run are reported, not retried.
        self._fatal = dict(fatal)
        self.shared = many and can_start_workers()
        """Whether all reading and resolving happens in worker processes."""
        self._pool: WorkerPool | None = None
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        if self.shared:
            self._pool = self._ending.enter_context(WorkerPool(self._root, self._settings, self._meanwhile))
            self.shared = self._can_use_workers()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.__exit__(kind, error, trace)

    def read(self, files: Sequence[DiscoveredFile], known: Mapping[str, ListedFile]) -> Iterator[SourceFile]:
        """Read each file, in any order."""
        largest, chunks = self._settings.largest_file, CHUNK_LIMITS
        plain = [file for file in files if file.path not in self._fatal]
        if self.shared:
            yield from self._workers().read(plain)
        else:
            yield from (read_file(self._root, file.path, file.language, largest, chunks) for file in plain)
        changed = []
        for file in (file for file in files if file.path in self._fatal):
            seen = read_skipped_file(self._root, file.path, file.language, largest, self._fatal[file.path])
            if not _is_same(seen, known.get(file.path)) and self._can_use_workers():
                changed.append(file)
            else:
                yield seen
        if changed:
            yield from self._workers().read(changed)

    def resolve(self, paths: Sequence[str], here: InThisProcess | None, batches: FileBatches) -> Iterator[Resolution]:
        """Resolve each file, in any order; with `here` in this process, if loading workers would cost more."""
        if here is None:
            yield from self._workers().resolve(paths, batches)
            return
        yield from here([path for path in paths if path not in self._fatal])
        fatal = [path for path in paths if path in self._fatal]
        if fatal and self._can_use_workers():
            yield from self._workers().resolve(fatal, batches)
        else:
            yield from (unresolved_file(path, ENDED_ITS_RESOLVER) for path in fatal)

    def _can_use_workers(self) -> bool:
        """With `processes=1`, workers are optional and used only if they start; otherwise a failure to start raises."""
        return can_start_workers() and (self._settings.processes > 1 or self._workers().can_start())

    def _workers(self) -> WorkerPool:
        if self._pool is None:
            alone = WorkerPool(self._root, self._settings.replace(processes=1), self._meanwhile)
            self._pool = self._ending.enter_context(alone)
        return self._pool


def _is_same(seen: SourceFile, known: ListedFile | None) -> bool:
    """Whether the file is unchanged since it ended a process."""
    return known is not None and (known.skipped, known.digest) == (seen.skipped, seen.digest)
