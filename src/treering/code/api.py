"""The code of a project, as it can be asked: `memory.code`."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from treering.code.build.project import Desk
from treering.code.build.report import Indexed, Phase, Progress, nobody
from treering.code.facts import EntryPoint, Unresolved
from treering.code.graph.cycles import Level
from treering.code.graph.limits import CAP, FLOW_DEPTH
from treering.code.limits import HISTORY_LIMITS
from treering.code.live.current import Current
from treering.code.live.path_names import Named, from_root, leads_somewhere
from treering.code.status import CodeStatus, status_of
from treering.core.errors import InvalidInput, NotFound, RepositoryUnavailable, TreeringError
from treering.core.queries import ALL_CODE, CodeFilter

if TYPE_CHECKING:
    from treering.code.build.update import Tell
    from treering.code.graph import (
        Answers,
        CodeGraph,
        Cycles,
        DataFlow,
        Dependencies,
        Entries,
        Found,
        ModuleMap,
        Route,
    )
    from treering.code.history.relatives import Relations
    from treering.code.history.stored_history import Chronicle
    from treering.code.linked_memories import CodeImpact
    from treering.code.live.targets import Meant
    from treering.code.locations.search import Places, Whereabouts
    from treering.code.scip.merge import ScipFile
    from treering.code.sources import Surroundings
    from treering.core.scope import Scope
    from treering.core.settings import IndexSettings
    from treering.ports.clock import Clock
    from treering.ports.store import Store

COMMIT_SECONDS = 5.0  # a watcher asks git for new commits this often; it takes a hundredth of a second

MAX_LINKED_MEMORIES = 20  # records about the files that a change reaches


class Code:
    """One project's code graph. Safe to share between threads.

    A node is named as people write it: `verify_jwt`, `AuthService.login`, `auth/tokens.py:verify_jwt`, `tokens.py:42`,
    a folder, an absolute path. A name that means nothing is `NotFound`, one that means several things, or leads out of
    the project, `InvalidInput`. Where it had to be guessed, the answer's `standing.guessed` says so.
    """

    def __init__(
        self,
        scope: Scope,
        store: Store,
        clock: Clock,
        settings: IndexSettings,
        surroundings: Surroundings,
        *,
        places: Places,
    ) -> None:
        self._scope, self._store, self._clock, self._settings = scope, store, clock, settings
        self._surroundings = surroundings
        self._usual = surroundings.root or surroundings.around
        roots = [each.resolve() for each in (surroundings.root, surroundings.around) if each is not None]
        self._desk = Desk(
            scope, store, clock, settings, Path(), surroundings.owner, surroundings.ended, surroundings.git
        )
        self._current = Current(self._desk, roots)
        self._places = places

    @cached_property
    def _chronicle(self) -> Chronicle:
        from treering.code.history.stored_history import Chronicle

        repository = self._surroundings.repository
        return Chronicle(self._scope, self._store, self._clock, HISTORY_LIMITS, repository)

    # Keeping it current

    def index(
        self,
        path: str | Path | None = None,
        *,
        history: bool = True,
        scip: str | Path | Sequence[str | Path] = (),
        replace: bool = False,
        on_progress: Tell = nobody,
    ) -> Indexed:
        """Read what is new or changed below `path`, else in the repository around, and store the graph of it.

        Where there are new commits, `history` says which files change together, which recall follows. `scip` names
        indexes that compilers' tools made of the same files: what they know beyond that is added, instead of what was
        added so before. A project holds the code of one folder: another one is `InvalidInput`, unless it is to
        `replace` that, or that is gone. `Conflict` where another process indexes the project now.
        """
        from treering.code.files.roots import chosen_root

        root = chosen_root(path, self._usual)
        precise = self._opened_scip([scip] if isinstance(scip, str | Path) else scip)
        done = self._current.index(root, on_progress, replace=replace)
        notes = list(done.notes)
        if precise:
            from treering.code.scip.merge import add_scip

            notes += add_scip(self._desk.at(root), precise)
        if history:
            notes += self._seed(root, on_progress)
        self._places.queue()
        return dataclasses.replace(done, notes=tuple(notes))

    def _opened_scip(self, files: Sequence[str | Path]) -> list[ScipFile]:
        """What can be read, before anything else is done. The reader is imported only if there is an index to read."""
        if not files:
            return []
        from treering.code.scip.merge import opened_scip

        return opened_scip([Path(file).expanduser() for file in files], self._desk.settings.scip_bytes)

    def _seed(self, root: Path, tell: Tell) -> Iterator[str]:
        """What changed together in the history becomes co-access, again when there are new commits."""
        from treering.code.live.commit_watch import seeds_told

        try:
            pairs = self._chronicle.seed(root, lambda read: tell(Progress(Phase.HISTORY, read)))
        except RepositoryUnavailable as exc:
            yield f"no history: {exc}"
            return
        if pairs is not None:
            yield seeds_told(pairs)

    def watch(
        self,
        path: str | Path | None = None,
        *,
        stop: threading.Event,
        history: bool = True,
        replace: bool = False,
        on_progress: Tell = nobody,
        on_indexed: Callable[[Indexed], object] = lambda _indexed: None,
        on_trouble: Callable[[TreeringError], object] = lambda _error: None,
        on_history: Callable[[str], object] = lambda _note: None,
    ) -> None:
        """Index, then follow every change until `stop` is set. `on_indexed` hears of each time something was read.

        With `history`, new commits are followed as well; `on_history` hears what came of them.

        What may pass is tried again, with growing pauses, and told to `on_trouble` once: somebody else indexes, the
        store is busy, the folder is being moved. What was forgotten or replaced by somebody else is not made again:
        that ends it with `NotFound` or `InvalidInput`.
        """
        from treering.code.files.roots import chosen_root
        from treering.code.live.commit_watch import history_followed, nothing
        from treering.code.live.file_watch import Stopped, asking, follow

        root = chosen_root(path, self._usual)

        def tell(progress: Progress) -> None:
            if stop.is_set():
                raise Stopped
            on_progress(progress)

        def read(hints: Collection[str] | None) -> bool:
            done = self._current.catch_up(root, hints, tell, replace=replace and not self._current.watched)
            if done.changed or hints is None:
                self._places.queue()
                on_indexed(done)
            begin_history()
            return done.complete

        pause = COMMIT_SECONDS
        commits = history_followed(self._chronicle, root, stop, pause, on_history) if history else nullcontext(nothing)
        try:
            with commits as begin_history:
                follow(
                    root,
                    asking(self._surroundings.watcher, lambda: self._current.keep(root), self._settings.look_seconds),
                    stop,
                    self._settings.debounce_ms,
                    changed=self._current.heard,
                    read=read,
                    trouble=on_trouble,
                )
        except Stopped:
            return
        finally:
            self._current.unwatched()

    def status(self) -> CodeStatus:
        """What is indexed; `NotFound` where nothing is."""
        with self._desk.reading() as index:
            found = status_of(index, self._desk.ended)
        if found is None:
            raise NotFound(f"no code is indexed in project {self._scope.project!r}; run `treering index`")
        return found

    def forget(self) -> CodeStatus:
        """Take the index away, with what git's history told; memories stay. What was there is returned."""
        from treering.code.removal import forget_code

        gone = forget_code(self._desk)
        self._chronicle.let_go()
        return gone

    # Asking

    @property
    def root(self) -> Path:
        """The folder whose code is indexed; `NotFound` where nothing is."""
        return self._current.held()

    def find(self, name: str, *, limit: int = 50) -> Found:
        """The files and definitions that somebody may mean by a name."""
        from treering.code.live.targets import found_by

        _check(cap=limit)
        return found_by(self._current.graph(), self._named(name), limit)

    def where(
        self,
        query: str,
        *,
        limit: int = 5,
        where: CodeFilter = ALL_CODE,
        hurried: bool = False,
        private: bool = False,
        on_progress: Tell = nobody,
    ) -> Whereabouts:
        """The places in the code that a question is about: "where are redirects followed?".

        `where` narrows them to files or folders.

        The model that comes with Treering first makes the vectors that are missing, for some seconds at most; `hurried`
        only a few, for who waits for more than this. A `private` query is sent to no model on another machine.
        """
        seen = self._current.seen()
        return self._places.find(query, limit, seen, where=where, hurried=hurried, private=private, tell=on_progress)

    def store_vectors(self, seconds: float) -> None:
        """Store vectors that are kept in memory, unless another writer has to be waited for longer than this."""
        self._places.store_vectors(seconds)

    def impact(
        self, node: str, *, depth: int | None = None, cap: int | None = CAP, min_confidence: float = 0.0
    ) -> CodeImpact:
        """What breaks if this changes, the tests that reach it, and what is remembered about it all."""
        from treering.code.linked_memories import with_memories

        _check(depth, cap, min_confidence)
        graph, meant = self._meant(node)
        found = meant.told(graph.impact(meant.id, depth=depth, cap=cap, min_confidence=min_confidence))
        with self._store.reading(self._scope, self._clock()) as tx:
            return with_memories(tx, found, MAX_LINKED_MEMORIES)

    def dependencies(
        self, node: str, *, depth: int | None = None, cap: int | None = CAP, min_confidence: float = 0.0
    ) -> Dependencies:
        """What this rests on."""
        _check(depth, cap, min_confidence)
        graph, meant = self._meant(node)
        return meant.told(graph.dependencies(meant.id, depth=depth, cap=cap, min_confidence=min_confidence))

    def data_flow(self, node: str, *, depth: int = FLOW_DEPTH, cap: int = CAP) -> DataFlow:
        """Where data of this goes, and where it comes from."""
        _check(depth, cap)
        graph, meant = self._meant(node)
        return meant.told(graph.data_flow(meant.id, depth=depth, cap=cap))

    def path(self, origin: str, target: str) -> Route:
        """How `origin` comes to depend on `target`; a route without steps, which is false, if it does not."""
        from treering.code.live.targets import meant_by

        graph, first = self._meant(origin)
        last = meant_by(graph, self._named(target))
        return last.told(first.told(graph.path(first.id, last.id)))

    def entry_points(self, node: str | None = None, *, kind: EntryPoint | str | None = None) -> Entries:
        """Where something outside the code comes in, or comes to a node."""
        wanted = None if kind is None else _entry_point(kind)
        if node is None:
            return self._current.graph().entry_points(kind=wanted)
        graph, meant = self._meant(node)
        return meant.told(graph.entry_points(meant.id, kind=wanted))

    def cycles(self, level: Level | str = Level.FILE) -> Cycles:
        """Files, or symbols, that depend on each other in a circle."""
        if level not in tuple(Level):
            raise InvalidInput(f"{level!r} is not a level of cycles; use one of {', '.join(Level)}")
        return self._current.graph().cycles(level)

    def module_map(self) -> ModuleMap:
        """The modules that the files form by what they use."""
        return self._current.graph().module_map()

    def related(self, path: str, *, limit: int = 10) -> Relations:
        """The files that belong to a file: changed together, imported, or named alike. It may be one not yet there."""
        from treering.code.history.relatives import relations
        from treering.code.live.targets import file_meant_by

        _check(cap=limit)
        graph = self._current.graph()
        meant = file_meant_by(graph, self._named(path))
        related = relations(self._chronicle, self._current.root(), meant.id, limit, graph.file_graph())
        return meant.told(dataclasses.replace(related, standing=graph.standing))

    def unresolved(self, path: str) -> Answers[Unresolved]:
        """The uses in a file whose targets are not known, or in all files of a folder; none of a file that has changed
        and was not read again yet."""
        from treering.code.encoding import unpack_unresolved
        from treering.code.files.secrets import without_secret
        from treering.code.graph import Answers
        from treering.code.graph.folders import is_folder
        from treering.code.graph.nodes import file_of

        graph, meant = self._meant(path)
        standing = graph.standing
        files = graph.below(meant.id) if is_folder(meant.id) else (file_of(meant.id),)
        with self._desk.reading() as index:
            packed = index.unresolved([file for file in files if file not in standing.stale])
        uses = (without_secret(use) for file in files for use in unpack_unresolved(packed.get(file, b"")))
        return meant.told(Answers(tuple(uses), standing))

    def _meant(self, name: str) -> tuple[CodeGraph, Meant]:
        """The graph, and the node of it that a name means."""
        from treering.code.live.targets import meant_by

        graph = self._current.graph()
        return graph, meant_by(graph, self._named(name))

    def _named(self, name: str) -> Named:
        if not isinstance(name, str):
            raise InvalidInput(f"a node is named in words, and not by a {type(name).__name__}")
        return from_root(name, self.root) if leads_somewhere(name.strip()) else Named(name.strip(), placed=False)


def _check(depth: int | None = None, cap: int | None = None, min_confidence: float = 0.0) -> None:
    """How far, how much and how sure an answer is to be."""
    for what, given in (("depth", depth), ("the number of results", cap)):
        if given is not None and (type(given) is not int or given < 1):
            raise InvalidInput(f"{what} is {given!r}; give a whole number from 1 on, or leave it out")
    if not 0.0 <= min_confidence <= 1.0:
        raise InvalidInput(f"min_confidence is {min_confidence!r}; give a number from 0 to 1")


def _entry_point(kind: EntryPoint | str) -> EntryPoint:
    if kind not in tuple(EntryPoint):
        raise InvalidInput(f"{kind!r} is not a kind of entry point; use one of {', '.join(EntryPoint)}")
    return EntryPoint(kind)
