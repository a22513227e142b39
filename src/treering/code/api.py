"""The code graph of a project: `memory.code`."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Unpack

from treering.code.facts import EntryPoint, Unresolved
from treering.code.graph.cycles import CycleLevel
from treering.code.graph.limits import CAP, FLOW_DEPTH
from treering.code.index.project import IndexedProject
from treering.code.index.report import IndexPhase, IndexProgress, IndexReport, ignore_progress
from treering.code.limits import HISTORY_LIMITS
from treering.code.live.current import CurrentGraph
from treering.code.live.path_names import NodeName, from_root, needs_root
from treering.code.status import CodeStatus, status_of
from treering.core.errors import InvalidInput, NotFound, RepositoryUnavailable, TreeringError
from treering.core.queries import ALL_CODE, CodeFilter

if TYPE_CHECKING:
    from treering.code.file_map import FileMap
    from treering.code.graph import (
        CodeAnswers,
        CodeEntries,
        CodeGraph,
        Cycles,
        DataFlow,
        Dependencies,
        DependencyPath,
        ModuleMap,
        NameMatches,
    )
    from treering.code.history.relatives import Relations
    from treering.code.history.stored_history import CoChangeHistory
    from treering.code.index.update import OnProgress
    from treering.code.linked_memories import AnnotationKind, CodeImpact
    from treering.code.live.targets import ResolvedName
    from treering.code.live.unresolved_names import UnresolvedNames
    from treering.code.locations.search import CodeLocations, LocationSearch
    from treering.code.scip.merge import ScipFile
    from treering.code.sources import CodeSources
    from treering.core.fields import KnowledgeFields
    from treering.core.records import Knowledge
    from treering.core.scope import Scope
    from treering.core.settings import CodeSettings
    from treering.ports.clock import Clock
    from treering.ports.store import Store

COMMIT_SECONDS = 5.0  # a watcher asks git for new commits this often; it takes a hundredth of a second

MAX_LINKED_MEMORIES = 20  # records about the files that a change reaches


class StoreRecord(Protocol):
    """Stores a piece of knowledge, as `Memory.remember` does."""

    def __call__(self, text: str, *, type: str, **fields: Unpack[KnowledgeFields]) -> Knowledge: ...


class Code:
    """One project's code graph. Thread-safe.

    A node is named as users write it: `verify_jwt`, `AuthService.login`, `auth/tokens.py:verify_jwt`, `tokens.py:42`, a
    folder, an absolute path. An unknown name raises `NotFound`; an ambiguous one, or one that leads out of the project,
    raises `InvalidInput`. If a name had to be guessed, the answer's `status.guessed` lists it.
    """

    def __repr__(self) -> str:
        return f"Code(project={self._scope.project!r})"

    def __init__(
        self,
        scope: Scope,
        store: Store,
        clock: Clock,
        settings: CodeSettings,
        sources: CodeSources,
        *,
        location_search: LocationSearch,
        remember: StoreRecord,
    ) -> None:
        self._scope, self._store, self._clock, self._settings = scope, store, clock, settings
        self._sources = sources
        self._default_root = sources.root or sources.around
        roots = [each.resolve() for each in (sources.root, sources.around) if each is not None]
        self._project = IndexedProject(scope, store, clock, settings, Path(), sources.owner, sources.ended, sources.git)
        self._current = CurrentGraph(self._project, roots)
        self._location_search = location_search
        self._remember = remember

    @cached_property
    def _unresolved(self) -> UnresolvedNames:
        from treering.code.live.unresolved_names import UnresolvedNames

        return UnresolvedNames()

    @cached_property
    def _history(self) -> CoChangeHistory:
        from treering.code.history.stored_history import CoChangeHistory

        repository = self._sources.repository
        return CoChangeHistory(self._scope, self._store, self._clock, HISTORY_LIMITS, repository)

    # Indexing

    def index(
        self,
        path: str | Path | None = None,
        *,
        history: bool = True,
        scip: str | Path | Sequence[str | Path] = (),
        replace: bool = False,
        on_progress: OnProgress = ignore_progress,
    ) -> IndexReport:
        """Index new and changed files below `path`, or else in the surrounding repository.

        With `history`, new commits update which files change together, which searches follow. `scip` names SCIP indexes
        of the same files; their edges replace those added before. A project holds the code of one folder: another one
        raises `InvalidInput` unless `replace` is set or the old folder is gone. Raises `Conflict` while another process
        indexes the project.
        """
        from treering.code.files.roots import resolve_root

        root = resolve_root(path, self._default_root)
        precise = self._open_scip([scip] if isinstance(scip, str | Path) else scip)
        done = self._current.index(root, on_progress, replace=replace)
        notes = list(done.notes)
        if precise:
            from treering.code.scip.merge import add_scip

            notes += add_scip(self._project.at(root), precise)
        if history:
            notes += self._seed(root, on_progress)
        self._location_search.queue()
        return dataclasses.replace(done, notes=tuple(notes))

    def _open_scip(self, files: Sequence[str | Path]) -> list[ScipFile]:
        """Open SCIP indexes before other work begins. The reader is imported only if there are any."""
        if not files:
            return []
        from treering.code.scip.merge import read_scip_files

        return read_scip_files([Path(file).expanduser() for file in files], self._project.settings.scip_bytes)

    def _seed(self, root: Path, on_progress: OnProgress) -> Iterator[str]:
        """Update co-access from the history if there are new commits; yields notes."""
        from treering.code.live.commit_watch import seeds_note

        try:
            pairs = self._history.seed(root, lambda read: on_progress(IndexProgress(IndexPhase.HISTORY, read)))
        except RepositoryUnavailable as exc:
            yield f"no history: {exc}"
            return
        if pairs is not None:
            yield seeds_note(pairs)

    def watch(
        self,
        path: str | Path | None = None,
        *,
        stop: threading.Event,
        history: bool = True,
        replace: bool = False,
        on_progress: OnProgress = ignore_progress,
        on_indexed: Callable[[IndexReport], object] = lambda _indexed: None,
        on_trouble: Callable[[TreeringError], object] = lambda _error: None,
        on_history: Callable[[str], object] = lambda _note: None,
    ) -> None:
        """Index, then follow every change until `stop` is set. `on_indexed` is called after each run that read
        something.

        With `history`, new commits are followed as well, and reported to `on_history`.

        Temporary failures are reported once to `on_trouble` and tried again with growing pauses: another process
        indexes, the store is busy, the folder is being moved. An index that another process forgot or replaced is not
        rebuilt: that raises `NotFound` or `InvalidInput`.
        """
        from treering.code.files.roots import resolve_root
        from treering.code.live.commit_watch import do_nothing, follow_history
        from treering.code.live.file_watch import WatchStopped, follow, with_polling

        root = resolve_root(path, self._default_root)

        def check_stop(progress: IndexProgress) -> None:
            if stop.is_set():
                raise WatchStopped
            on_progress(progress)

        def read(hints: Collection[str] | None) -> bool:
            done = self._current.catch_up(root, hints, check_stop, replace=replace and not self._current.watched)
            if done.changed or hints is None:
                self._location_search.queue()
                on_indexed(done)
            begin_history()
            return done.complete

        pause = COMMIT_SECONDS
        commits = follow_history(self._history, root, stop, pause, on_history) if history else nullcontext(do_nothing)
        try:
            with commits as begin_history:
                follow(
                    root,
                    with_polling(
                        self._sources.watcher,
                        lambda: self._current.check_still_indexed(root),
                        self._settings.look_seconds,
                    ),
                    stop,
                    self._settings.debounce_ms,
                    changed=self._current.mark_changed,
                    read=read,
                    trouble=on_trouble,
                )
        except WatchStopped:
            return
        finally:
            self._current.end_watch()

    def status(self) -> CodeStatus:
        """Status of the index. Raises `NotFound` if nothing is indexed."""
        with self._project.reading() as index:
            found = status_of(index, self._project.ended)
        if found is None:
            raise NotFound(f"no code is indexed in project {self._scope.project!r}; run `treering index`")
        return found

    def forget(self) -> CodeStatus:
        """Remove the index and what was derived from git's history; memories stay. Returns the status before."""
        from treering.code.removal import forget_code

        gone = forget_code(self._project)
        self._history.release()
        return gone

    # Queries

    @property
    def root(self) -> Path:
        """The indexed folder. Raises `NotFound` if nothing is indexed."""
        return self._current.indexed_root()

    def find(self, name: str, *, limit: int = 50) -> NameMatches:
        """Files and definitions that a name may refer to."""
        from treering.code.live.targets import find_name

        _check_limits(cap=limit)
        return find_name(self._current.graph(), self._parse_name(name), limit)

    def where(
        self,
        query: str,
        *,
        limit: int = 5,
        where: CodeFilter = ALL_CODE,
        hurried: bool = False,
        private: bool = False,
        on_progress: OnProgress = ignore_progress,
    ) -> CodeLocations:
        """Locations in the code that answer a question such as "where are redirects followed?".

        `where` restricts them to files or folders. The built-in model first makes missing vectors for a few seconds; a
        `hurried` search makes only a few. A `private` query is never sent to a model on another machine.
        """
        snapshot = self._current.snapshot()
        return self._location_search.find(
            query, limit, snapshot, where=where, hurried=hurried, private=private, on_progress=on_progress
        )

    def store_vectors(self, seconds: float) -> None:
        """Store vectors held in memory, waiting at most `seconds` for another writer."""
        self._location_search.store_vectors(seconds)

    def impact(
        self, node: str, *, depth: int | None = None, cap: int | None = CAP, min_confidence: float = 0.0
    ) -> CodeImpact:
        """What breaks if this changes, the tests that reach it, and the memories about it."""
        from treering.code.co_access import co_access_weights
        from treering.code.graph.nodes import file_of
        from treering.code.linked_memories import with_memories

        _check_limits(depth, cap, min_confidence)
        graph, target = self._resolve(node)
        found = target.annotate(graph.impact(target.id, depth=depth, cap=cap, min_confidence=min_confidence))
        with self._store.reading(self._scope, self._clock()) as tx:
            found = dataclasses.replace(
                found,
                unresolved=self._unresolved.of(tx.code, graph, target.id),
                together=tuple(co_access_weights(tx, file_of(target.id)).items()),
            )
            return with_memories(tx, found, MAX_LINKED_MEMORIES, frozenset(graph.paths), self._current_path)

    def annotate(
        self, node: str, text: str, /, *, kind: AnnotationKind | str = "invariant", **fields: Unpack[KnowledgeFields]
    ) -> Knowledge:
        """Attach an invariant, a decision or a pattern to a file, folder or definition; `impact` shows it.

        It is a record like any other, with `fields` as for `remember`: correct it, or remove it with `forget`. It
        stays when the code is indexed again, and follows the file through renames that git's history knows. A name
        that would have to be guessed raises `NotFound`.
        """
        from treering.code.linked_memories import RECORD_TYPES, AnnotationKind

        if kind not in tuple(AnnotationKind):
            raise InvalidInput(f"{kind!r} is not a kind of annotation; use one of {', '.join(AnnotationKind)}")
        fields["tags"] = (*fields.get("tags", ()), str(kind))
        return self.remember(node, text, type=RECORD_TYPES[AnnotationKind(kind)], **fields)

    def remember(self, node: str, text: str, /, *, type: str, **fields: Unpack[KnowledgeFields]) -> Knowledge:
        """Store a record of any type about a file, folder or definition; `impact` shows it among the memories.

        A name that would have to be guessed raises `NotFound`.
        """
        from treering.code.graph.folders import is_folder
        from treering.code.graph.nodes import file_of

        if not text.strip():
            raise InvalidInput("the text is empty; say in a sentence what holds for the code")
        _, target = self._resolve(node)
        if target.guess is not None:
            raise NotFound(f"no file or definition {node!r} is indexed; did you mean {target.id}?")
        fields["node"], fields["impacted_nodes"] = target.id, (target.id,)
        if not is_folder(target.id):
            fields["files"] = (*fields.get("files", ()), file_of(target.id))
        return self._remember(text, type=type, **fields)

    def _current_path(self, path: str) -> str | None:
        """The present path of a file that git's history knows under a former one."""
        try:
            known = self._history.counts_at(None)
        except RepositoryUnavailable:
            return None
        if known is None:
            return None
        lineage, inside = known.counts.lineage, known.inside
        number = lineage.numbers.get(inside + path)
        if number is None or number not in lineage.alive:
            return None
        now = lineage.paths[number]
        return now.removeprefix(inside) if now.startswith(inside) else None

    def dependencies(
        self, node: str, *, depth: int | None = None, cap: int | None = CAP, min_confidence: float = 0.0
    ) -> Dependencies:
        """What a node depends on."""
        from treering.code.live.unresolved_names import counted_names, uses_in

        _check_limits(depth, cap, min_confidence)
        graph, target = self._resolve(node)
        found = graph.dependencies(target.id, depth=depth, cap=cap, min_confidence=min_confidence)
        with self._project.reading() as index:
            names = counted_names(uses_in(index, graph, target.id))
        return target.annotate(dataclasses.replace(found, unresolved=names))

    def data_flow(self, node: str, *, depth: int = FLOW_DEPTH, cap: int = CAP) -> DataFlow:
        """Where the data of a node goes, and where it comes from."""
        _check_limits(depth, cap)
        graph, target = self._resolve(node)
        return target.annotate(graph.data_flow(target.id, depth=depth, cap=cap))

    def path(self, origin: str, target: str) -> DependencyPath:
        """A shortest dependency path from `origin` to `target`; without steps, and false, if there is none."""
        graph, first = self._resolve(origin)
        _, last = self._resolve(target)
        return last.annotate(first.annotate(graph.path(first.id, last.id)))

    def entry_points(self, node: str | None = None, *, kind: EntryPoint | str | None = None) -> CodeEntries:
        """Entry points of the code, or those that lead to a node."""
        wanted = None if kind is None else _entry_point(kind)
        if node is None:
            return self._current.graph().entry_points(kind=wanted)
        graph, target = self._resolve(node)
        return target.annotate(graph.entry_points(target.id, kind=wanted))

    def cycles(self, level: CycleLevel | str = CycleLevel.FILE) -> Cycles:
        """Files, or symbols, that depend on each other."""
        if level not in tuple(CycleLevel):
            raise InvalidInput(f"{level!r} is not a level of cycles; use one of {', '.join(CycleLevel)}")
        return self._current.graph().cycles(level)

    def module_map(self) -> ModuleMap:
        """The modules that the files form by their uses."""
        return self._current.graph().module_map()

    def file_map(self) -> FileMap:
        """Every indexed file with its module, its memories and its changes, and the uses between files."""
        from treering.code.file_map import FileChanges, changes_by_file, file_map, records_by_file
        from treering.code.history.relatives import NO_REPOSITORY

        graph = self._current.graph()
        try:
            history = self._history.counts_at(self._current.root())
            changes = FileChanges({}, NO_REPOSITORY) if history is None else changes_by_file(history)
        except RepositoryUnavailable as exc:
            changes = FileChanges({}, str(exc))
        files = graph.file_graph()
        with self._store.reading(self._scope, self._clock()) as tx:
            records = records_by_file(tx, files.paths)
        return file_map(graph.module_map(), files, records, changes)

    def map_html(self, modules: ModuleMap, title: str = "Module map") -> str:
        """A module map as an HTML document that needs no network access."""
        from treering.code.map_drawing import page

        return page(modules, title)

    def map_svg(self, modules: ModuleMap, title: str = "Module map") -> str:
        """A module map as an SVG document."""
        from treering.code.map_drawing import drawing

        return drawing(modules, title)

    def name_from(self, folder: Path, name: str) -> str:
        """A node name as typed in `folder`, usable from anywhere: a path relative to the folder becomes absolute."""
        from treering.code.live.path_names import from_folder

        return from_folder(name, folder, self._name_root())

    def related(self, path: str, *, limit: int = 10) -> Relations:
        """Files related to a file: changed together, used together in sessions, imported, or named alike.

        With a git history the file need not exist yet; without one, an unknown file raises `NotFound`. If the code is
        not indexed, only sessions count.
        """
        from treering.code.history.relatives import missing_note, relations, relations_by_sessions
        from treering.code.live.targets import nearest_files, resolve_file_name

        _check_limits(cap=limit)
        try:
            graph = self._current.graph()
        except NotFound:
            name = self._parse_name(path).asked
            if not (ties := self._session_ties(name)):
                raise
            return relations_by_sessions(name, limit, ties, self._default_root)
        target = resolve_file_name(graph, self._parse_name(path))
        root, ties = self._current.root(), self._session_ties(target.id)
        related = relations(self._history, root, target.id, limit, graph.file_graph(), ties=ties)
        status = graph.status
        if related.missing:
            alike = (
                ()
                if related.known_before
                else nearest_files([each.path for each in related.related] + list(graph.paths), target.id)
            )
            status = dataclasses.replace(status, notes=(*status.notes, missing_note(related, alike)))
        return target.annotate(dataclasses.replace(related, status=status))

    def unresolved(self, node: str, *, inside: bool = False) -> CodeAnswers[Unresolved]:
        """Uses without a known target: those that may be of a definition, anywhere, or those in a file or folder.

        With `inside`, those in the definition instead. Files that changed since are left out.
        """
        from treering.code.graph import CodeAnswers
        from treering.code.live.unresolved_names import uses_in

        graph, target = self._resolve(node)
        within = inside or graph.definition(target.id) is None
        with self._project.reading() as index:
            uses = uses_in(index, graph, target.id) if within else self._unresolved.uses_of(index, graph, target.id)
            return target.annotate(CodeAnswers(tuple(uses), graph.status))

    def _session_ties(self, path: str) -> dict[str, float]:
        from treering.code.history.session_ties import session_ties

        with self._store.reading(self._scope, self._clock()) as tx:
            return session_ties(tx, path)

    def _resolve(self, name: str) -> tuple[CodeGraph, ResolvedName]:
        """The graph, and the node that a name refers to."""
        from treering.code.live.targets import resolve_name

        graph = self._current.graph()
        try:
            return graph, resolve_name(graph, self._parse_name(name))
        except NotFound as exc:
            raise NotFound("; ".join((str(exc), *self._current.missing_grammars()))) from None

    def _parse_name(self, name: str) -> NodeName:
        if not isinstance(name, str):
            raise InvalidInput(f"the name of a node is a {type(name).__name__}; give a string")
        return from_root(name, self._name_root()) if needs_root(name.strip()) else NodeName(name.strip(), placed=False)

    def _name_root(self) -> Path:
        """The folder that paths are relative to: the indexed one, else the surrounding repository."""
        try:
            return self.root
        except NotFound:
            if self._default_root is None:
                raise
            return self._default_root.resolve()


def _check_limits(depth: int | None = None, cap: int | None = None, min_confidence: float = 0.0) -> None:
    """Validate the limits of a query."""
    for name, value in (("depth", depth), ("the number of results", cap)):
        if value is not None and (type(value) is not int or value < 1):
            raise InvalidInput(f"{name} is {value!r}; give an integer of at least 1, or omit it")
    if not 0.0 <= min_confidence <= 1.0:
        raise InvalidInput(f"min_confidence is {min_confidence!r}; give a number from 0 to 1")


def _entry_point(kind: EntryPoint | str) -> EntryPoint:
    if kind not in tuple(EntryPoint):
        raise InvalidInput(f"{kind!r} is not a kind of entry point; use one of {', '.join(EntryPoint)}")
    return EntryPoint(kind)
