"""Changes on disk become changes of the stored graph.

Whatever is stored is right at every moment: a file is either resolved against exactly the facts that are stored, or
it waits and has no edges. A run that ends half-way leaves files waiting, and the next one goes on there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from treering.code.build.worker_pool import ENDED_ITS_READER, ENDED_ITS_RESOLVER
from treering.code.build.executor import Hands
from treering.code.build.resolution import Resolution, resolve_file
from treering.code.build.file_cache import Changes, Shelf, is_doubtful
from treering.code.build.report import FileProblem, Phase, Progress
from treering.code.build.version import reading_version
from treering.code.chunks.encoding import unpack_chunks
from treering.code.facts import Key, Problem
from treering.code.files.source_file import PASSING, Reading
from treering.code.encoding import unpack_facts, unpack_hashes
from treering.code.language_choice import load_language
from treering.ports.code import FileFacts, ListedFile, ReadFile, ResolvedFile

from treering.code.build.project import LEASE_SECONDS
from treering.code.limits import CHUNK_LIMITS

if TYPE_CHECKING:
    from treering.code.build.worker_process import Lesson
    from treering.code.build.project import Desk
    from treering.code.files.discovery import Found

MIN_PARALLEL_FILES = 150  # starting a process takes as long as reading a hundred files
BATCH_FILES = 400  # files stored in one transaction: the most that a crash costs

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

    read: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    resolved: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    """Stamps of files that could not be read now, by path."""
    reasons: Counter[str] = field(default_factory=Counter)
    problems: list[FileProblem] = field(default_factory=list)

    def forget(self, path: str, *, known_before: bool) -> None:
        """Whatever was done with a file that is not there any more."""
        self.read.discard(path)
        self.resolved.discard(path)
        if known_before:
            self.removed.add(path)

    def tell(self, path: str, problems: Iterable[Problem]) -> None:
        """One broken file must not fill the list: its first problem stands for all."""
        all_of_it = list(problems)
        if all_of_it:
            self.problems.append(FileProblem(path, all_of_it[0].line, all_of_it[0].what, len(all_of_it)))


class Update:
    """One run's changes. The shelf follows what is stored; where a transaction fails it is of no use any more."""

    def __init__(self, desk: Desk, shelf: Shelf, tell: Tell) -> None:
        self._desk, self.shelf, self._hear = desk, shelf, tell
        self.counts = Counts()
        self.was_large = False
        """Whether the shelf is of no use any more: its world was left behind, or has grown too much."""
        self.careful = False
        """Whether something may be among the files that ends processes: then it is not to be this one."""
        self._in_parts = self._blind = self._holding = False
        self._known_before = frozenset(shelf.files)
        self._step = _Step()
        self._renewed = desk.clock()
        """When it was last put down that this is the one who writes."""

    def apply(self, changes: Changes, told: str | None) -> None:
        """Read, resolve and store: little at once, much batch by batch, with the index marked incomplete meanwhile."""
        settings = self._desk.settings
        work = len(changes) + len(self.shelf.waiting)
        self._begin(work)
        self._in_parts = work > BATCH_FILES
        self.was_large |= self._in_parts
        with ExitStack() as ending:
            # A process takes as long to start as a hundred files to read.
            several = len(changes.changed) >= MIN_PARALLEL_FILES and settings.processes > 1
            apart = several or (self.careful and work > 0)
            hands = Hands(self._desk.root, settings, self.shelf.deadly, many=apart, meanwhile=self._renew)
            ending.enter_context(hands)
            if not self._in_parts:
                ending.enter_context(self.shelf.at_one_time())
            # Where nothing was asked yet nobody is concerned: what is read need not be understood here.
            self._blind = hands.shared and not self.shelf.files
            self._take_away(changes.gone)
            self._pause()
            self._read(changes.changed, hands)
            self._resolve_waiting(hands)
        self._write(complete=True, told=told)

    def _begin(self, work: int) -> None:
        """Before anything is read, be the only one who writes; of a first run others see that it has begun.

        Who finds the lease of a process that ended knows that one of these files may have ended it.
        """
        desk, shelf = self._desk, self.shelf
        if shelf.root and not work:
            return
        with desk.writing() as index:
            if not shelf.root:
                here, seen = str(desk.root), shelf.generation
                version = reading_version()
                begun = index.describe(desk.owner, seen=seen, root=here, version=version, complete=False)
                shelf.saved(begun, here, complete=False)
        self._holding, self._renewed = True, desk.clock()

    def _tell(self, progress: Progress) -> None:
        self._renew()
        self._hear(progress)

    def _renew(self) -> None:
        """Stay the only one who writes, however long it takes until the next batch is stored."""
        half = timedelta(seconds=LEASE_SECONDS / 2)
        if self._holding and self._desk.clock() - self._renewed > half:
            with self._desk.writing():
                self._renewed = self._desk.clock()

    def _pause(self) -> None:
        """Where much is to be done, what is done so far is stored."""
        if self._in_parts:
            self._write(complete=False)

    # What files say

    def _read(self, files: Sequence[Found], hands: Hands) -> None:
        stamps = {file.path: file.stamp for file in files}
        done = 0
        for batch in _batches(hands.read(files, self.shelf.files), BATCH_FILES):
            for reading in batch:
                self._take_in(reading, stamps[reading.path])
                done += 1
                self._tell(Progress(Phase.READING, done, len(files)))
            self._pause()

    def _take_away(self, paths: Iterable[str]) -> None:
        for path in paths:
            self._forget(path)

    def _forget(self, path: str) -> None:
        if path not in self.shelf.files:
            return
        changed = self.shelf.world.remove(path)
        del self.shelf.files[path]
        self.counts.forget(path, known_before=path in self._known_before)
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
        if reading.skipped:
            self._mark(reading.path, reading.skipped)
        known = self.shelf.files.get(reading.path)
        seen = (reading.digest, reading.language, reading.skipped)
        if known is not None and (known.digest, known.language, known.skipped) == seen:
            self._touch(known, reading)
            return
        self.counts.read.add(reading.path)
        self.counts.removed.discard(reading.path)
        self._replace(reading)

    def _mark(self, path: str, what: str) -> None:
        """Remember a file that ended a process; forget that of one that did not any more."""
        self.shelf.deadly.pop(path, None)
        if what in (ENDED_ITS_READER, ENDED_ITS_RESOLVER):
            self.shelf.deadly[path] = what

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

    def _resolve_waiting(self, hands: Hands) -> None:
        waiting, size = sorted(self.shelf.waiting), BATCH_FILES
        done = 0
        shared = hands.shared and (self._blind or self.careful or len(waiting) >= MIN_PARALLEL_FILES)
        # What others ask is not told to the world here, which is let go.
        self.was_large |= shared
        for batch in _batches(hands.resolve(waiting, None if shared else self._alone, self._lessons), size):
            for resolution in batch:
                self._keep(resolution, known=not shared)
                done += 1
                self._tell(Progress(Phase.RESOLVING, done, len(waiting)))
            self._pause()

    def _alone(self, paths: Sequence[str]) -> Iterator[Resolution]:
        for some in _batches(paths, BATCH_FILES):
            for language, facts in self.shelf.facts(some):
                yield resolve_file(language, facts, self.shelf.world)

    def _lessons(self) -> Iterator[Sequence[Lesson]]:
        for some in _batches(self.shelf.lessons(), BATCH_FILES):
            self._renew()
            yield some

    def _keep(self, found: Resolution, *, known: bool) -> None:
        path, shelf = found.path, self.shelf
        if known:
            shelf.world.asked(path, unpack_hashes(found.asked).tolist())
        if found.problem:
            self.counts.tell(path, [Problem(1, found.problem)])
        self._mark(path, found.problem)
        shelf.waiting.discard(path)
        self._step.waiting.discard(path)
        self._step.resolved.append(
            ResolvedFile(path, found.edges, found.unresolved, found.asked, found.used, found.unknown, found.ties)
        )
        shelf.files[path] = replace(shelf.files[path], resolved=True, used=found.used, unknown=found.unknown)
        self.counts.resolved.add(path)

    # What is stored

    def _write(self, *, complete: bool, told: str | None = None) -> None:
        step, shelf, desk = self._step, self.shelf, self._desk
        told = shelf.with_deadly(told, all_seen=complete)
        is_told = told is None or json.loads(told) == shelf.told
        if not step and is_told and complete is shelf.complete and shelf.root == str(desk.root):
            if complete and self._holding:
                desk.give_back()
                self._holding = False
            return
        with desk.ending() if complete and self._holding else desk.writing() as index:
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
                if shelf.outdated or self._in_parts:
                    index.drop_unused()
                index.give_back(desk.owner)
        shelf.saved(generation, str(desk.root), complete=complete, told=told)
        self._step, self._renewed = _Step(), desk.clock()
        self._holding &= not complete


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
        unpack_chunks(reading.path, reading.chunks),
    )


def _batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
