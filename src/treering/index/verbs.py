"""The code of a project, as it can be asked: `memory.code`."""

import json
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import Conflict, InvalidInput, NotFound, RepositoryUnavailable
from treering.core.scope import Scope
from treering.core.settings import IndexSettings
from treering.index.current import Current, chosen_root
from treering.index.desk import Desk
from treering.index.facts import EntryPoint, Unresolved
from treering.index.graph import Cycle, DataFlow, Dependencies, Entry, Found, Level, ModuleMap, Route
from treering.index.graph.code_graph import CAP, FLOW_DEPTH
from treering.index.linked import CodeImpact, with_memories
from treering.index.packing import unpack_unresolved
from treering.index.pipeline import nobody
from treering.index.relatives import Relations, Relatives, Repository
from treering.index.summary import Indexed, Phase, Progress
from treering.index.updating import Tell
from treering.index.watching import Stopped, follow
from treering.ports.clock import Clock
from treering.ports.code import CodeTotals
from treering.ports.store import Store
from treering.ports.watching import Watcher

if TYPE_CHECKING:
    from treering.index.graph import CodeGraph

_NAMED = 8
"""What a name may mean that means too much: more are not listed."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What code is read from, and with what."""

    root: Path | None
    """The repository that the memory belongs to, where one was named."""
    around: Path | None
    """The repository around the working directory."""
    repository: Callable[[Path], Repository]
    watcher: Watcher
    owner: str
    """Who writes: no other memory, in this process or another, is called so."""


@dataclass(frozen=True, slots=True)
class CodeStatus:
    """How the index of a project stands."""

    root: str
    complete: bool
    totals: CodeTotals
    skipped: Mapping[str, int]
    """What was left out by its name or its size when all folders were looked at last, by reason."""


class Code:
    """One project's code graph. Safe to share between threads.

    A node is named as people write it: `verify_jwt`, `AuthService.login`, `auth/tokens.py:verify_jwt`, `tokens.py:42`.
    A name that means nothing is `NotFound`, one that means several things `InvalidInput`, which lists them.
    """

    def __init__(
        self, scope: Scope, store: Store, clock: Clock, settings: IndexSettings, surroundings: Surroundings
    ) -> None:
        self._scope, self._store, self._clock, self._settings = scope, store, clock, settings
        self._watcher = surroundings.watcher
        self._usual = surroundings.root or surroundings.around
        roots = [each.resolve() for each in (surroundings.root, surroundings.around) if each is not None]
        self._desk = Desk(scope, store, clock, settings, Path(), surroundings.owner)
        self._current = Current(self._desk, roots)
        self._relatives = Relatives(surroundings.repository)

    # Keeping it current

    def index(
        self,
        path: str | Path | None = None,
        *,
        history: bool = True,
        scip: str | Path | None = None,
        on_progress: Tell = nobody,
    ) -> Indexed:
        """Read what is new or changed below `path`, else in the repository around, and store the graph of it.

        Where there are new commits, `history` says which files change together, which recall follows. `scip` is an
        index that a compiler's tools made of the same files: what it knows beyond that is added. `Conflict` where
        another process indexes the project now.
        """
        root = chosen_root(path, self._usual)
        done = self._current.index(root, on_progress)
        notes = list(done.notes)
        if scip is not None:
            from treering.index.adding_scip import add_scip

            notes.append(add_scip(self._desk.at(root), self._current.graph(), Path(scip).expanduser()))
        if history:
            notes += self._seed(root, on_progress)
        return replace(done, notes=tuple(notes))

    def _seed(self, root: Path, tell: Tell) -> Iterator[str]:
        """What changed together in the history becomes co-access, again when there are new commits."""
        try:
            newest = self._relatives.newest(root)
            with self._desk.reading() as index:
                state = index.state()
            if state is not None and json.loads(state.told).get("history") == newest:
                return
            seeds = self._relatives.seeds(root, lambda read: tell(Progress(Phase.HISTORY, read)))
        except RepositoryUnavailable as exc:
            yield f"without history: {exc}"
            return
        with self._store.transaction(self._scope, self._clock()) as tx:
            tx.co_access.put_many(seeds)
        # Where somebody else indexes now, the history is counted once more the next time.
        with suppress(Conflict):
            self._desk.at(root).note(history=newest)
        yield f"history: {len(seeds):,} pairs of files that change together"

    def watch(
        self,
        path: str | Path | None = None,
        *,
        stop: threading.Event,
        on_progress: Tell = nobody,
        on_indexed: Callable[[Indexed], object] = lambda _indexed: None,
    ) -> None:
        """Index, then follow every change until `stop` is set. `on_indexed` hears of each time something was read."""
        root = chosen_root(path, self._usual)

        def tell(progress: Progress) -> None:
            if stop.is_set():
                raise Stopped
            on_progress(progress)

        def read(hints: Collection[str] | None) -> bool:
            done = self._current.catch_up(root, hints, tell)
            if done is not None and (done.changed or hints is None):
                on_indexed(done)
            return done is not None and done.complete

        try:
            follow(root, self._watcher, stop, self._settings.debounce_ms, changed=self._current.heard, read=read)
        except Stopped:
            return
        finally:
            self._current.unwatched()

    def status(self) -> CodeStatus:
        """What is indexed; `NotFound` where nothing is."""
        with self._desk.reading() as index:
            state = index.state()
            if state is None or not state.generation:
                raise NotFound(f"no code is indexed in project {self._scope.project!r}; run `treering index`")
            return CodeStatus(state.root, state.complete, index.totals(), json.loads(state.told).get("skipped", {}))

    # Asking

    def find(self, name: str, *, limit: int = 50) -> Found:
        """The files and definitions that somebody may mean by a name."""
        return self._current.graph().find(name, limit=limit)

    def impact(
        self, node: str, *, depth: int | None = None, cap: int | None = CAP, min_confidence: float = 0.0
    ) -> CodeImpact:
        """What breaks if this changes, the tests that reach it, and what is remembered about it all."""
        graph, id = self._meant(node)
        found = graph.impact(id, depth=depth, cap=cap, min_confidence=min_confidence)
        with self._store.reading(self._scope, self._clock()) as tx:
            return with_memories(tx, found, self._settings.linked_memories)

    def dependencies(
        self, node: str, *, depth: int | None = None, cap: int | None = CAP, min_confidence: float = 0.0
    ) -> Dependencies:
        """What this rests on."""
        graph, id = self._meant(node)
        return graph.dependencies(id, depth=depth, cap=cap, min_confidence=min_confidence)

    def data_flow(self, node: str, *, depth: int = FLOW_DEPTH, cap: int = CAP) -> DataFlow:
        """Where data of this goes, and where it comes from."""
        graph, id = self._meant(node)
        return graph.data_flow(id, depth=depth, cap=cap)

    def path(self, origin: str, target: str) -> Route | None:
        """How `origin` comes to depend on `target`; None if it does not."""
        graph, first = self._meant(origin)
        _, last = self._meant(target)
        return graph.path(first, last)

    def entry_points(self, node: str | None = None, *, kind: EntryPoint | str | None = None) -> tuple[Entry, ...]:
        """Where something outside the code comes in, or comes to a node."""
        wanted = None if kind is None else _entry_point(kind)
        graph, id = (self._current.graph(), None) if node is None else self._meant(node)
        return graph.entry_points(id, kind=wanted)

    def cycles(self, level: Level | str = Level.FILE) -> tuple[Cycle, ...]:
        """Files, or symbols, that depend on each other in a circle."""
        if level not in tuple(Level):
            raise InvalidInput(f"{level!r} is no level of cycles; use one of {', '.join(Level)}")
        return self._current.graph().cycles(level)

    def module_map(self) -> ModuleMap:
        """The modules that the files form by what they use."""
        return self._current.graph().module_map()

    def related(self, path: str, *, limit: int = 10) -> Relations:
        """The files that belong to a file: changed together, imported, or named alike. It may be one not yet there."""
        graph = self._current.graph()
        found = graph.find(path)
        file = found.only.partition("::")[0] if found.only is not None else path
        return self._relatives.related(self._current.root(), file, limit, graph.file_graph())

    def unresolved(self, path: str) -> tuple[Unresolved, ...]:
        """The uses in a file whose targets are not known."""
        _, id = self._meant(path)
        file = id.partition("::")[0]
        with self._desk.reading() as index:
            return unpack_unresolved(index.unresolved([file]).get(file, b""))

    def _meant(self, name: str) -> "tuple[CodeGraph, str]":
        """The graph, and the node of it that a name means."""
        graph = self._current.graph()
        found = graph.find(name)
        # A module and a function in it often have one name: who gives no path means the function.
        named = [match.id for match in found.matches if match.kind is not None or len(found.matches) == 1]
        if len(named) == 1 and not found.left_out:
            return graph, named[0]
        if not found.matches:
            raise NotFound(
                f"nothing that is indexed is called {name!r}; try a part of the name, or `treering index` if it is new"
            )
        listed = ", ".join(match.id for match in found.matches[:_NAMED])
        more = len(found.matches) + found.left_out - _NAMED
        raise InvalidInput(f"{name!r} may be {listed}{f' and {more} more' if more > 0 else ''}; name one of them")


def _entry_point(kind: EntryPoint | str) -> EntryPoint:
    if kind not in tuple(EntryPoint):
        raise InvalidInput(f"{kind!r} is no kind of entry point; use one of {', '.join(EntryPoint)}")
    return EntryPoint(kind)
