"""What indexing knows of a project between two changes: the files that are stored, and the world that they make."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treering.core.errors import Conflict
from treering.code.build.stored_symbols import StoredWorld
from treering.code.files.discovery import ENVIRONMENT, REPOSITORY, Discovery, DiscoveredFile
from treering.code.files.ignore_rules import IGNORE_FILE
from treering.code.encoding import unpack_facts
from treering.code.language_choice import MANIFESTS, language_named, load_language
from treering.ports.code import CodeIndex, CodeState, CodeTotals, FileFacts, ListedFile

if TYPE_CHECKING:
    from treering.code.build.worker_process import Lesson
    from treering.code.facts import Facts, Key

Reading = Callable[[], AbstractContextManager[CodeIndex]]

_TICK = 2_000_000_000
"""Nanoseconds in which a file may change without another time of change: the coarsest file systems count seconds."""


_AT_ONCE = 500
"""Files whose facts are fetched together."""

_GONE_DEADLY = 100
"""Files that ended a process and are not there any more, of which that is remembered: they may come back, with a branch
or out of a stash, but not all that ever were."""

_DECIDING = frozenset({IGNORE_FILE, ENVIRONMENT, REPOSITORY})
"""Names that decide what is read of folders beside them."""
_CLONE_RULES = f"{REPOSITORY}/info/exclude"


def decides_for_others(path: str) -> bool:
    """Whether the name of a file says that it decides which others are read."""
    return path[path.rfind("/") + 1 :] in _DECIDING or path.endswith(_CLONE_RULES)


def is_doubtful(stamp: str, read_at: int) -> bool:
    """Whether a file may have changed after it was read without getting another stamp."""
    return int(stamp.split(":")[1]) > read_at - _TICK


@dataclass(frozen=True, slots=True)
class Changes:
    """What is on disk, against what is stored."""

    changed: tuple[DiscoveredFile, ...] = ()
    gone: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    """Stored files that nobody could look at: they are neither changed nor gone, and not known to be as they were."""

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone)

    def __len__(self) -> int:
        return len(self.changed) + len(self.gone)


class Shelf:
    """Filled from the store once; whoever changes the store changes it in the same way."""

    def __init__(self, state: CodeState | None, index: CodeIndex, reading: Reading, version: str) -> None:
        self.generation = 0 if state is None else state.generation
        self.root = "" if state is None else state.root
        self.outdated = state is not None and state.version != version
        """Whether something else has read what is stored: it must all go."""
        usable = not self.outdated
        self.complete = state is not None and state.complete and usable
        self.told: Mapping[str, Any] = {} if state is None else json.loads(state.told)
        """What is told of the index beside its files."""
        self.deadly: dict[str, str] = dict(self.told.get("deadly", {}))
        """Files that ended a process, with what it was at; whatever else is forgotten, this is not."""
        self.files: dict[str, ListedFile] = {file.path: file for file in (index.listed() if usable else ())}
        self.waiting = {file.path for file in self.files.values() if not file.resolved}
        """Files whose uses are not known."""
        self._world = None if self.files else StoredWorld((), self._surface)
        self._unsaved: dict[str, FileFacts] = {}
        self._reading = reading
        self._open: CodeIndex | None = None

    @property
    def world(self) -> StoredWorld:
        """What the files give and ask for, fetched when something changed. `Conflict` where others have changed it."""
        if self._world is None:
            with self._as_stored() as index:
                state = index.state()
                if state is None or state.generation != self.generation:
                    raise Conflict("another process has changed the index of this project; ask again")
                self._world = StoredWorld(index.keys(), self._surface)
        return self._world

    @contextmanager
    def _as_stored(self) -> Iterator[CodeIndex]:
        if self._open is not None:
            yield self._open
            return
        with self._reading() as index:
            yield index

    @contextmanager
    def at_one_time(self) -> Iterator[None]:
        """Read what is stored as it is now until the end of the block, in which nobody writes."""
        with self._reading() as index:
            self._open = index
            try:
                yield
            finally:
                self._open = None

    def changes(self, discovery: Discovery, *, doubt: bool, told: Collection[str] | None = None) -> Changes:
        """`doubt` also names files that may have changed within the moment in which they were read.

        Where all changes are `told`, there is no doubt about others.
        """
        found = {file.path for file in discovery.found}
        changed = (
            file
            for file in discovery.found
            if self._is_changed(file, discovery.root, doubt=doubt and (told is None or file.path in told))
        )
        missing = sorted(path for path in self._within(discovery.folders) if path not in found)
        return Changes(
            tuple(changed),
            tuple(path for path in missing if discovery.covers(path)),
            tuple(path for path in missing if discovery.is_uncertain(path)),
        )

    def _within(self, folders: frozenset[str] | None) -> Iterable[str]:
        """The files that stand in these folders, or all."""
        if folders is None:
            return self.files
        return (path for path in self.files if path[: path.rfind("/") + 1] in folders)

    def certain(self, changes: Changes) -> Changes:
        """Without the files that are only in doubt, because they were read in the moment in which they changed."""
        return replace(changes, changed=tuple(file for file in changes.changed if not self._has_stamp(file)))

    def _has_stamp(self, found: DiscoveredFile) -> bool:
        known = self.files.get(found.path)
        return known is not None and (known.stamp, known.language) == (found.stamp, found.language)

    def _is_changed(self, found: DiscoveredFile, root: Path, *, doubt: bool) -> bool:
        known = self.files.get(found.path)
        if known is None or known.stamp != found.stamp or known.language != found.language:
            return True
        if known.skipped:
            from treering.code.files.source_file import can_be_read_now

            if can_be_read_now(root, known.path, known.language, known.skipped):
                return True
        return doubt and is_doubtful(found.stamp, known.read_at)

    def folders_of(self, paths: Collection[str], root: Path) -> frozenset[str] | None:
        """The folders of changed files, where looking at them is enough; None where other files may be concerned."""
        if len(paths) > _AT_ONCE or any(self._decides(path, root) for path in paths):
            return None
        if not self._folders().isdisjoint(paths):
            return None
        named = ((path, path[path.rfind("/") + 1 :]) for path in paths)
        return frozenset(path[: -len(name)] for path, name in named if language_named(name) is not None)

    def _decides(self, path: str, root: Path) -> bool:
        """Whether other files may be concerned: a folder came, or something that decides what is read came or went."""
        name = path[path.rfind("/") + 1 :]
        if decides_for_others(path) or (root / path).is_dir():
            return True
        return name in MANIFESTS and (path in self.files) is not os.path.lexists(root / path)

    def _folders(self) -> set[str]:
        """Every folder that something is stored of: it is gone where it is told of and no folder any more."""
        folders: set[str] = set()
        for path in {path[: path.rfind("/") + 1] for path in self.files}:
            folder = path[:-1]
            while folder and folder not in folders:
                folders.add(folder)
                folder = folder[: max(0, folder.rfind("/"))]
        return folders

    def keep(self, path: str, facts: FileFacts) -> None:
        """Facts that are not stored yet."""
        self._unsaved[path] = facts

    def with_deadly(self, told: str | None, *, all_seen: bool) -> str | None:
        """What is to be told beside the files, with those that ended a process where they are others now.

        Where `all_seen`, most that are not there any more are forgotten.
        """
        gone = [path for path in self.deadly if path not in self.files] if all_seen else []
        for path in gone[:-_GONE_DEADLY]:
            del self.deadly[path]
        if self.deadly == self.told.get("deadly", {}):
            return told
        return json.dumps({**self.told, **json.loads(told or "{}"), "deadly": self.deadly})

    def saved(self, generation: int, root: str, *, complete: bool, told: str | None = None) -> None:
        """What changed is stored."""
        self.root = root
        if told is not None:
            self.told = json.loads(told)
        self._unsaved.clear()
        self.generation, self.complete, self.outdated = generation, complete, False

    def totals(self) -> CodeTotals:
        """What the graph holds."""
        languages: Counter[str] = Counter()
        definitions = edges = unresolved = problems = 0
        for file in self.files.values():
            if not file.skipped:
                languages[file.language] += 1
                definitions += file.defined
                edges += file.used
                unresolved += file.unknown
                problems += file.problems
        counts = (languages.total(), definitions, edges, unresolved, problems)
        return CodeTotals(*counts, dict(sorted(languages.items())), len(self.waiting))

    def facts(self, paths: Sequence[str]) -> Iterator[tuple[str, Facts]]:
        """Language and facts of files, each unpacked when it is looked at."""
        for path, held in self._packed(paths).items():
            language = self.files[path].language
            yield language, unpack_facts(language, held.facts)

    def lessons(self) -> Iterator[Lesson]:
        """Every file of the project that has something to say."""
        from treering.code.build.worker_process import Lesson

        said = sorted(path for path, file in self.files.items() if not file.skipped)
        for start in range(0, len(said), _AT_ONCE):
            for path, held in self._packed(said[start : start + _AT_ONCE]).items():
                yield Lesson(path, self.files[path].language, held.given, held.facts)

    def _packed(self, paths: Sequence[str]) -> Mapping[str, FileFacts]:
        unsaved = {path: self._unsaved[path] for path in paths if path in self._unsaved}
        missing = [path for path in paths if path not in unsaved]
        if not missing:
            return unsaved
        with self._as_stored() as index:
            return {**index.facts(missing), **unsaved}

    def _surface(self, path: str) -> Mapping[Key, Any]:
        language, facts = next(self.facts([path]))
        return load_language(language).surface(facts)
