"""What indexing knows of a project between two changes: the files that are stored, and the world that they make."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from treering.index.crew_process import Lesson
from treering.index.discovering import Discovery, Found
from treering.index.facts import Facts, Key
from treering.index.ignoring import IGNORE_FILE
from treering.index.packing import unpack_facts
from treering.index.stored_world import StoredWorld
from treering.index.which_language import language_named, load_language
from treering.ports.code import CodeIndex, CodeState, CodeTotals, FileFacts, ListedFile

Reading = Callable[[], AbstractContextManager[CodeIndex]]

_TICK = 2_000_000_000
"""Nanoseconds in which a file may change without another time of change: the coarsest file systems count seconds."""


_AT_ONCE = 500
"""Files whose facts are fetched together."""


def is_doubtful(stamp: str, read_at: int) -> bool:
    """Whether a file may have changed after it was read without getting another stamp."""
    return int(stamp.split(":")[1]) > read_at - _TICK


class Changes(NamedTuple):
    """What is on disk, against what is stored."""

    changed: tuple[Found, ...]
    gone: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone)

    def __len__(self) -> int:
        return len(self.changed) + len(self.gone)


class Shelf:
    """Filled from the store once; whoever changes the store changes it in the same way."""

    def __init__(self, state: CodeState | None, index: CodeIndex, reading: Reading, version: str) -> None:
        self.generation = 0 if state is None else state.generation
        self.outdated = state is not None and state.version != version
        """Whether something else has read what is stored: it must all go."""
        usable = not self.outdated
        self.complete = state is not None and state.complete and usable
        self.told: Mapping[str, Any] = {} if state is None else json.loads(state.told)
        """What is told of the index beside its files."""
        self.files: dict[str, ListedFile] = {file.path: file for file in (index.listed() if usable else ())}
        self.waiting = {file.path for file in self.files.values() if not file.resolved}
        """Files whose uses are not known."""
        self.world = StoredWorld(index.keys() if usable else (), self._surface)
        self._unsaved: dict[str, FileFacts] = {}
        self._reading = reading
        self._open: CodeIndex | None = None

    @contextmanager
    def at_one_time(self) -> Iterator[None]:
        """Read what is stored as it is now until the end of the block, in which nobody writes."""
        with self._reading() as index:
            self._open = index
            try:
                yield
            finally:
                self._open = None

    def changes(self, discovery: Discovery, *, doubt: bool) -> Changes:
        """`doubt` also names files that may have changed within the moment in which they were read."""
        found = {file.path for file in discovery.found}
        changed = (file for file in discovery.found if self._is_changed(file, doubt=doubt))
        gone = [path for path in self.files.keys() - found if discovery.covers(path)]
        return Changes(tuple(changed), tuple(sorted(gone)))

    def _is_changed(self, found: Found, *, doubt: bool) -> bool:
        known = self.files.get(found.path)
        if known is None or known.stamp != found.stamp or known.language != found.language:
            return True
        return doubt and is_doubtful(found.stamp, known.read_at)

    def folders_of(self, paths: Collection[str], root: Path) -> frozenset[str] | None:
        """The folders of changed files, where looking at them is enough; None where folders came, went or changed."""
        if len(paths) > _AT_ONCE:
            return None
        folders = set()
        for path in paths:
            name = path[path.rfind("/") + 1 :]
            if name == IGNORE_FILE or (root / path).is_dir() or any(held.startswith(f"{path}/") for held in self.files):
                return None
            if language_named(name) is not None:
                folders.add(path[: -len(name)])
        return frozenset(folders)

    def keep(self, path: str, facts: FileFacts) -> None:
        """Facts that are not stored yet."""
        self._unsaved[path] = facts

    def saved(self, generation: int, *, complete: bool) -> None:
        """What changed is stored."""
        self._unsaved.clear()
        self.generation, self.complete, self.outdated = generation, complete, False

    def totals(self) -> CodeTotals:
        """What the graph holds."""
        read = [file for file in self.files.values() if not file.skipped]
        return CodeTotals(
            files=len(read),
            definitions=sum(file.defined for file in read),
            edges=sum(file.used for file in read),
            unresolved=sum(file.unknown for file in read),
            problems=sum(file.problems for file in read),
            languages=dict(sorted(Counter(file.language for file in read).items())),
            waiting=len(self.waiting),
        )

    def facts(self, paths: Sequence[str]) -> Mapping[str, tuple[str, Facts]]:
        """Language and facts of files, by path."""
        packed = ((path, self.files[path].language, held.facts) for path, held in self._packed(paths).items())
        return {path: (language, unpack_facts(language, facts)) for path, language, facts in packed}

    def lessons(self) -> Iterator[Lesson]:
        """Every file of the project that has something to say."""
        said = sorted(path for path, file in self.files.items() if not file.skipped)
        for start in range(0, len(said), _AT_ONCE):
            for path, held in self._packed(said[start : start + _AT_ONCE]).items():
                yield Lesson(path, self.files[path].language, held.given, held.facts)

    def _packed(self, paths: Sequence[str]) -> Mapping[str, FileFacts]:
        unsaved = {path: self._unsaved[path] for path in paths if path in self._unsaved}
        missing = [path for path in paths if path not in unsaved]
        if not missing:
            return unsaved
        if self._open is not None:
            return {**self._open.facts(missing), **unsaved}
        with self._reading() as index:
            return {**index.facts(missing), **unsaved}

    def _surface(self, path: str) -> Mapping[Key, Any]:
        language, facts = self.facts([path])[path]
        return load_language(language).surface(facts)
