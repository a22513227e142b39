"""Who reads and resolves the files of a run: this process where they are few, a crew where they are many.

What ended a process once never comes into this one again, which may be somebody's agent: it is read in a process of
its own, and left alone as long as it does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from treering.code.build.worker_pool import ENDED_ITS_RESOLVER, Crew, Lessons, may_start, nothing_else
from treering.code.build.resolution import Resolution, unresolved_file
from treering.code.files.source_file import Reading, left_unread, read_file
from treering.code.limits import CHUNK_LIMITS

if TYPE_CHECKING:
    from treering.core.settings import IndexSettings
    from treering.code.files.discovery import Found
    from treering.ports.code import ListedFile

InThisProcess = Callable[[Sequence[str]], Iterator[Resolution]]


class Hands:
    """From the time they are needed until the end of the block."""

    def __init__(
        self,
        root: Path,
        settings: IndexSettings,
        deadly: Mapping[str, str],
        *,
        many: bool,
        meanwhile: Callable[[], None] = nothing_else,
    ) -> None:
        """`deadly` ended processes, with what those were at. `many`: all is shared out where processes can start.

        `meanwhile` is called again and again while others work.
        """
        self._root, self._settings, self._meanwhile = root, settings, meanwhile
        # What ends a process from now on is told of in this run, and not looked at twice.
        self._deadly = dict(deadly)
        self.shared = many and may_start()
        """Whether nothing is read or resolved in this process."""
        self._crew: Crew | None = None
        self._ending = ExitStack()

    def __enter__(self) -> Self:
        if self.shared:
            self._crew = self._ending.enter_context(Crew(self._root, self._settings, self._meanwhile))
            self.shared = self._may_ask_others()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ending.__exit__(kind, error, trace)

    def read(self, files: Sequence[Found], known: Mapping[str, ListedFile]) -> Iterator[Reading]:
        """Each file as it is, in any order."""
        largest, chunks = self._settings.largest_file, CHUNK_LIMITS
        plain = [file for file in files if file.path not in self._deadly]
        if self.shared:
            yield from self._others().read(plain)
        else:
            yield from (read_file(self._root, file.path, file.language, largest, chunks) for file in plain)
        changed = []
        for file in (file for file in files if file.path in self._deadly):
            seen = left_unread(self._root, file.path, file.language, largest, self._deadly[file.path])
            if not _is_same(seen, known.get(file.path)) and self._may_ask_others():
                changed.append(file)
            else:
                yield seen
        if changed:
            yield from self._others().read(changed)

    def resolve(self, paths: Sequence[str], here: InThisProcess | None, lessons: Lessons) -> Iterator[Resolution]:
        """What each file uses, in any order; looked up `here` where that is less work than teaching others."""
        if here is None:
            yield from self._others().resolve(paths, lessons)
            return
        yield from here([path for path in paths if path not in self._deadly])
        deadly = [path for path in paths if path in self._deadly]
        if deadly and self._may_ask_others():
            yield from self._others().resolve(deadly, lessons)
        else:
            yield from (unresolved_file(path, ENDED_ITS_RESOLVER) for path in deadly)

    def _may_ask_others(self) -> bool:
        """Who wants one process does without others where none can be started; everybody else is told so."""
        return may_start() and (self._settings.processes > 1 or self._others().starts())

    def _others(self) -> Crew:
        if self._crew is None:
            alone = Crew(self._root, self._settings.replace(processes=1), self._meanwhile)
            self._crew = self._ending.enter_context(alone)
        return self._crew


def _is_same(seen: Reading, known: ListedFile | None) -> bool:
    """Whether this is what ended a process, and was left alone before."""
    return known is not None and (known.skipped, known.digest) == (seen.skipped, seen.digest)
