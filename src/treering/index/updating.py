"""Changes on disk become changes of the stored graph.

Whatever is stored is right at every moment: a file is either resolved against exactly the facts that are stored, or
it waits and has no edges. A run that ends half-way leaves files waiting, and the next one goes on there.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

from treering.index.crew import Crew
from treering.index.desk import Desk
from treering.index.discovering import Found
from treering.index.facts import Key, Problem
from treering.index.packing import unpack_facts, unpack_hashes
from treering.index.reading import PASSING, Reading, read_file
from treering.index.resolving import Resolution, resolve_file
from treering.index.shelf import Changes, Shelf, is_doubtful
from treering.index.summary import FileProblem, Phase, Progress
from treering.index.version import reading_version
from treering.index.which_language import load_language
from treering.ports.code import FileFacts, ListedFile, ReadFile, ResolvedFile

Tell = Callable[[Progress], None]
T = TypeVar("T")


@dataclass
class _Step:
    """What the next transaction writes."""

    read: dict[str, ReadFile] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    waiting: set[str] = field(default_factory=set)
    resolved: list[ResolvedFile] = field(default_factory=list)
    touched: list[tuple[str, str, int]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.read or self.gone or self.waiting or self.resolved or self.touched)


@dataclass
class Counts:
    """What a run did."""

    read: int = 0
    removed: int = 0
    resolved: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    """Stamps of files that could not be read now, by path."""
    reasons: Counter[str] = field(default_factory=Counter)
    problems: list[FileProblem] = field(default_factory=list)

    def tell(self, path: str, problems: Iterable[Problem]) -> None:
        self.problems += (FileProblem(path, each.line, each.what) for each in problems)


class Update:
    """One run's changes. The shelf follows what is stored; where a transaction fails it is of no use any more."""

    def __init__(self, desk: Desk, shelf: Shelf, tell: Tell) -> None:
        self._desk, self.shelf, self._tell = desk, shelf, tell
        self.counts = Counts()
        self.was_large = False
        """Whether the shelf is of no use any more: its world was left behind, or has grown too much."""
        self._in_parts = self._blind = False
        self._step = _Step()

    def apply(self, changes: Changes, told: str | None) -> None:
        """Read, resolve and store: little at once, much batch by batch, with the index marked incomplete meanwhile."""
        settings = self._desk.settings
        self._in_parts = len(changes) + len(self.shelf.waiting) > settings.batch
        self.was_large |= self._in_parts
        with ExitStack() as ending:
            # A process takes as long to start as a hundred files to read.
            shared = len(changes.changed) >= settings.many_files and settings.processes > 1 and bool(sys.executable)
            crew = ending.enter_context(Crew(self._desk.root, settings)) if shared else None
            if not self._in_parts:
                ending.enter_context(self.shelf.at_one_time())
            # Where nothing was asked yet nobody is concerned: what is read need not be understood here.
            self._blind = crew is not None and not self.shelf.files
            self._take_away(changes.gone)
            self._pause()
            self._read(changes.changed, crew)
            self._resolve_waiting(crew)
        self._write(complete=True, told=told)

    def _pause(self) -> None:
        """Where much is to be done, what is done so far is stored."""
        if self._in_parts:
            self._write(complete=False)

    # What files say

    def _read(self, files: Sequence[Found], crew: Crew | None) -> None:
        settings, stamps = self._desk.settings, {file.path: file.stamp for file in files}
        alone = (read_file(self._desk.root, file.path, file.language, settings.largest_file) for file in files)
        done = 0
        for batch in _batches(alone if crew is None else crew.read(files), settings.batch):
            for reading in batch:
                self._take_in(reading, stamps[reading.path])
                done += 1
                self._tell(Progress(Phase.READING, done, len(files)))
            self._pause()

    def _take_away(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._forget(path)
            self.counts.removed += 1

    def _forget(self, path: str) -> None:
        if path not in self.shelf.files:
            return
        changed = self.shelf.world.remove(path)
        del self.shelf.files[path]
        self._step.gone.add(path)
        self._step.read.pop(path, None)
        self.shelf.waiting.discard(path)
        self._concern(changed)

    def _take_in(self, reading: Reading, stamp: str) -> None:
        self.counts.tell(reading.path, reading.problems)
        if reading.skipped in PASSING:
            self.counts.refused[reading.path] = stamp
            self.counts.reasons[reading.skipped] += 1
            self._forget(reading.path)
            return
        known = self.shelf.files.get(reading.path)
        if known is not None and (known.digest, known.language) == (reading.digest, reading.language):
            self._touch(known, reading)
            return
        self.counts.read += 1
        self._replace(reading)

    def _touch(self, known: ListedFile, reading: Reading) -> None:
        """The same content; what is still in doubt after this need not be put down."""
        if known.stamp == reading.stamp and is_doubtful(reading.stamp, reading.read_at):
            return
        self.shelf.files[reading.path] = replace(known, stamp=reading.stamp, read_at=reading.read_at)
        self._step.touched.append((reading.path, reading.stamp, reading.read_at))

    def _replace(self, reading: Reading) -> None:
        path, shelf = reading.path, self.shelf
        # What it said before is asked for here, before what it says now takes its place.
        changed = self._changed(reading)
        shelf.files[path] = _listed(reading)
        self._step.gone.discard(path)
        self._step.read[path] = _stored(reading)
        if reading.skipped:
            shelf.waiting.discard(path)
        else:
            shelf.keep(path, FileFacts(reading.given, reading.facts))
            shelf.waiting.add(path)
        self._concern(changed)

    def _changed(self, reading: Reading) -> set[Key]:
        """The keys whose answer is another from now on."""
        if reading.skipped:
            return self.shelf.world.remove(reading.path)
        if self._blind:
            return set()
        facts = unpack_facts(reading.language, reading.facts)
        return self.shelf.world.put(reading.path, load_language(reading.language).surface(facts))

    def _concern(self, changed: Iterable[Key]) -> None:
        """Whoever asked for one of these keys has to ask again; until then nothing of theirs is served."""
        for path in self.shelf.world.askers(changed):
            if path in self.shelf.files and path not in self.shelf.waiting:
                self.shelf.waiting.add(path)
                self._step.waiting.add(path)

    # What they use

    def _resolve_waiting(self, crew: Crew | None) -> None:
        waiting, size = sorted(self.shelf.waiting), self._desk.settings.batch
        done = 0
        shared = crew is not None and (self._blind or len(waiting) >= self._desk.settings.many_files)
        for batch in _batches(self._shared(crew, waiting) if crew and shared else self._alone(waiting), size):
            for resolution in batch:
                self._keep(resolution, known=not shared)
                done += 1
                self._tell(Progress(Phase.RESOLVING, done, len(waiting)))
            self._pause()

    def _alone(self, paths: Sequence[str]) -> Iterator[Resolution]:
        for some in _batches(paths, self._desk.settings.batch):
            for language, facts in self.shelf.facts(some).values():
                yield resolve_file(language, facts, self.shelf.world)

    def _shared(self, crew: Crew, paths: Sequence[str]) -> Iterator[Resolution]:
        """In processes that know all files; what was asked is not told to the world here, which is let go."""
        self.was_large = True
        for lessons in _batches(self.shelf.lessons(), self._desk.settings.batch):
            crew.teach(lessons)
        return crew.resolve(paths)

    def _keep(self, found: Resolution, *, known: bool) -> None:
        path, shelf = found.path, self.shelf
        if known:
            shelf.world.asked(path, unpack_hashes(found.asked).tolist())
        if found.problem:
            self.counts.tell(path, [Problem(1, found.problem)])
        shelf.waiting.discard(path)
        self._step.waiting.discard(path)
        self._step.resolved.append(
            ResolvedFile(path, found.edges, found.unresolved, found.asked, found.used, found.unknown, found.ties)
        )
        shelf.files[path] = replace(shelf.files[path], resolved=True, used=found.used, unknown=found.unknown)
        self.counts.resolved += 1

    # What is stored

    def _write(self, *, complete: bool, told: str | None = None) -> None:
        step, shelf, desk = self._step, self.shelf, self._desk
        if not step and (complete is shelf.complete):
            return
        with desk.writing() as index:
            generation = index.describe(
                desk.owner,
                seen=shelf.generation,
                root=str(desk.root),
                version=reading_version(),
                complete=complete,
                told=told,
            )
            if shelf.outdated:
                index.clear()
            index.remove(sorted(step.gone))
            index.put(list(step.read.values()), generation)
            index.unresolve(sorted(step.waiting), generation)
            index.resolve(step.resolved, generation)
            index.touch(step.touched)
            if complete:
                index.give_back(desk.owner)
        shelf.saved(generation, complete=complete)
        self._step = _Step()


def _listed(reading: Reading) -> ListedFile:
    return ListedFile(
        reading.path,
        reading.language,
        reading.digest,
        reading.stamp,
        reading.read_at,
        bool(reading.skipped),
        reading.skipped,
        0,
        defined=reading.defined,
        problems=len(reading.problems),
    )


def _stored(reading: Reading) -> ReadFile:
    return ReadFile(
        reading.path,
        reading.language,
        reading.digest,
        reading.stamp,
        reading.read_at,
        reading.skipped,
        reading.facts,
        reading.definitions,
        reading.given,
        reading.defined,
        len(reading.problems),
    )


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
