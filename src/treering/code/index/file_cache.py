"""Files of a project as stored, and their symbols, cached between two changes."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treering.code.encoding import unpack_facts, unpack_surface
from treering.code.files.discovery import ENVIRONMENT, REPOSITORY, Discovery
from treering.code.files.folder_listings import DiscoveredFile
from treering.code.files.ignore_rules import IGNORE_FILE
from treering.code.files.stamps import is_doubtful
from treering.code.index.stored_symbols import StoredSymbols
from treering.code.language_choice import PROJECT_MARKS, language_named
from treering.core.errors import Conflict
from treering.ports.code import CodeIndex, CodeState, CodeTotals, FileFacts, ListedFile

if TYPE_CHECKING:
    from treering.code.facts import Facts, Key
    from treering.code.index.worker_process import LoadedFile

OpenIndex = Callable[[], AbstractContextManager[CodeIndex]]

_AT_ONCE = 100
"""Files whose facts are fetched in one query."""
_MAX_HINTS = 500
"""Reported paths above which every folder is scanned."""

_MAX_GONE_FATAL = 100
"""How many deleted files that ended a process stay marked: they may return with a branch or a stash."""

_DECIDING = frozenset({IGNORE_FILE, ENVIRONMENT, REPOSITORY})
"""Names that decide which files beside them are read."""
_CLONE_RULES = f"{REPOSITORY}/info/exclude"


def decides_for_others(path: str) -> bool:
    """Whether a file decides, by its name, which other files are read."""
    return path[path.rfind("/") + 1 :] in _DECIDING or path.endswith(_CLONE_RULES)


@dataclass(frozen=True, slots=True)
class Changes:
    """Differences between disk and store."""

    changed: tuple[DiscoveredFile, ...] = ()
    gone: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    """Stored files that could not be examined: neither known to be changed nor to be unchanged."""

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone)

    def __len__(self) -> int:
        return len(self.changed) + len(self.gone)


class FileCache:
    """Loaded from the store once; each writer of the store applies the same changes here."""

    def __init__(self, state: CodeState | None, index: CodeIndex, reading: OpenIndex, version: str) -> None:
        self.generation = 0 if state is None else state.generation
        self.root = "" if state is None else state.root
        self.outdated = state is not None and state.version != version
        """Whether the stored facts were read by another version and have to be discarded."""
        usable = not self.outdated
        self.complete = state is not None and state.complete and usable
        self.report: Mapping[str, Any] = {} if state is None else json.loads(state.report)
        """Report of the last run, as stored beside the files."""
        self.fatal: dict[str, str] = dict(self.report.get("deadly", {}))
        """Files that ended a process, with the phase in which they did; kept even when everything else is discarded."""
        self.files: dict[str, ListedFile] = {file.path: file for file in (index.listed() if usable else ())}
        self.waiting = {file.path for file in self.files.values() if not file.resolved}
        """Files whose edges are not resolved."""
        self._symbols = None if self.files else StoredSymbols((), self._surface)
        self._unsaved: dict[str, FileFacts] = {}
        self._reading = reading
        self._open: CodeIndex | None = None

    @property
    def symbols(self) -> StoredSymbols:
        """Symbols that the files define and query, loaded on first use. Raises `Conflict` if another process changed
        them."""
        if self._symbols is None:
            with self._open_index() as index:
                state = index.state()
                if state is None or state.generation != self.generation:
                    raise Conflict("another process has changed the index of this project; try again")
                self._symbols = StoredSymbols(index.keys(), self._surface)
        return self._symbols

    @contextmanager
    def _open_index(self) -> Iterator[CodeIndex]:
        if self._open is not None:
            yield self._open
            return
        with self._reading() as index:
            yield index

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read from one consistent snapshot until the end of the block, in which nothing may be written."""
        with self._reading() as index:
            self._open = index
            try:
                yield
            finally:
                self._open = None

    def changes(self, discovery: Discovery, *, doubt: bool, reported: Collection[str] | None = None) -> Changes:
        """Compare discovered files with stored ones.

        `doubt` also returns files that may have changed in the moment they were read. With `reported`, the complete
        list of changed paths, only files in it are doubted.
        """
        found = {file.path for file in discovery.found}
        changed = (
            file
            for file in discovery.found
            if self._is_changed(file, discovery.root, doubt=doubt and (reported is None or file.path in reported))
        )
        missing = sorted(path for path in self._within(discovery.folders) if path not in found)
        return Changes(
            tuple(changed),
            tuple(path for path in missing if discovery.covers(path)),
            tuple(path for path in missing if discovery.is_uncertain(path)),
        )

    def _within(self, folders: frozenset[str] | None) -> Iterable[str]:
        """Stored files directly in these folders, or all."""
        if folders is None:
            return self.files
        return (path for path in self.files if path[: path.rfind("/") + 1] in folders)

    def certain(self, changes: Changes) -> Changes:
        """Without files that are only in doubt because they were read in the moment in which they changed."""
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
        """Folders to scan for these changed files; None if changes may affect files elsewhere."""
        if len(paths) > _MAX_HINTS or any(self._decides(path, root) for path in paths):
            return None
        if not self._folders().isdisjoint(paths):
            return None
        named = ((path, path[path.rfind("/") + 1 :]) for path in paths)
        return frozenset(path[: -len(name)] for path, name in named if language_named(name) is not None)

    def _decides(self, path: str, root: Path) -> bool:
        """Whether other files may be affected: a folder appeared, or a file that decides what is read came or went."""
        name = path[path.rfind("/") + 1 :]
        if decides_for_others(path) or (root / path).is_dir():
            return True
        return name in PROJECT_MARKS and (path in self.files) is not os.path.lexists(root / path)

    def _folders(self) -> set[str]:
        """Every folder with stored files. A reported path that equals one of them means that the folder is gone."""
        folders: set[str] = set()
        for path in {path[: path.rfind("/") + 1] for path in self.files}:
            folder = path[:-1]
            while folder and folder not in folders:
                folders.add(folder)
                folder = folder[: max(0, folder.rfind("/"))]
        return folders

    def hold_facts(self, path: str, facts: FileFacts) -> None:
        """Hold facts until they are stored."""
        self._unsaved[path] = facts

    def with_fatal(self, report: str | None, *, all_seen: bool) -> str | None:
        """The report to store, updated with the files that ended a process if those changed.

        With `all_seen`, all but the latest deleted ones are dropped.
        """
        gone = [path for path in self.fatal if path not in self.files] if all_seen else []
        for path in gone[:-_MAX_GONE_FATAL]:
            del self.fatal[path]
        if self.fatal == self.report.get("deadly", {}):
            return report
        return json.dumps({**self.report, **json.loads(report or "{}"), "deadly": self.fatal})

    def mark_saved(self, generation: int, root: str, *, complete: bool, report: str | None = None) -> None:
        """Record that the pending changes are stored."""
        self.root = root
        if report is not None:
            self.report = json.loads(report)
        self._unsaved.clear()
        self.generation, self.complete, self.outdated = generation, complete, False

    def totals(self) -> CodeTotals:
        """Totals of the stored graph."""
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
        """Language and facts of each file, decoded lazily."""
        for path, held in self._packed(paths).items():
            language = self.files[path].language
            yield language, unpack_facts(language, held.facts)

    def loaded_files(self) -> Iterator[Sequence[LoadedFile]]:
        """Every file of the project that has facts, a few at a time."""
        from treering.code.index.worker_process import LoadedFile

        readable = sorted(path for path, file in self.files.items() if not file.skipped)
        for start in range(0, len(readable), _AT_ONCE):
            packed = self._packed(readable[start : start + _AT_ONCE])
            yield [LoadedFile(path, self.files[path].language, held.given, held.facts) for path, held in packed.items()]

    def _packed(self, paths: Sequence[str]) -> Mapping[str, FileFacts]:
        unsaved = {path: self._unsaved[path] for path in paths if path in self._unsaved}
        missing = [path for path in paths if path not in unsaved]
        if not missing:
            return unsaved
        with self._open_index() as index:
            return {**index.facts(missing), **unsaved}

    def _surface(self, path: str) -> Mapping[Key, Any]:
        return unpack_surface(self.files[path].language, self._packed([path])[path].facts)
