"""Co-change counts of a repository, stored so that only new commits are read."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from treering.code.files.discovery import GENERATED_NAMES
from treering.code.files.roots import check_still_indexed
from treering.code.history.co_access_seeds import co_access_edges, replace_seeds
from treering.code.history.counts import CoChange
from treering.code.history.encoding import FORMAT, pack, unpack
from treering.code.history.update import CountedHistory, Report, count_new_commits, ignore_report
from treering.code.limits import limits_text
from treering.core.errors import StoreError
from treering.ports.code_history import HistoryState

if TYPE_CHECKING:
    from treering.code.limits import HistoryLimits
    from treering.core.scope import Scope
    from treering.ports.clock import Clock
    from treering.ports.code import CodeState
    from treering.ports.commits import CommitHistory
    from treering.ports.store import Store, Transaction


@dataclass(frozen=True, slots=True)
class ProjectRepository:
    """History of the repository that contains a project, and the project's folder in it (empty, or with a trailing
    slash)."""

    history: CommitHistory
    inside: str = ""


@dataclass(frozen=True, slots=True)
class RepositoryCounts:
    """The counts, and the project's folder in the repository."""

    counts: CoChange
    inside: str


@dataclass(frozen=True, slots=True)
class _StoredCounts:
    """Counts up to a state; `packed` if they are not stored yet."""

    state: HistoryState
    counts: Callable[[], CoChange]
    packed: bytes | None = None


class CoChangeHistory:
    """The counts of one project. Thread-safe; several processes may update them at once."""

    def __init__(
        self,
        scope: Scope,
        store: Store,
        clock: Clock,
        settings: HistoryLimits,
        repository: Callable[[Path], ProjectRepository],
    ) -> None:
        self._scope, self._store, self._clock, self._settings = scope, store, clock, settings
        self._repository = repository
        self._version = version_of(settings)
        self._lock = threading.Lock()
        self._cached: tuple[HistoryState, CoChange] | None = None

    def counts_at(self, root: Path | None) -> RepositoryCounts | None:
        """Counts including all new commits at `root`, or as last stored for None; None if there are none.

        Raises `RepositoryUnavailable` if there is no history at the root.
        """
        with self._lock:
            known = self._stored() if root is None else self._caught_up(root, ignore_report)
            if known is None:
                return None
            counts = known.counts()
            if known.packed is not None:
                # A read-only store still gives an answer; the next query counts again.
                with suppress(StoreError), self._writing() as tx:
                    index = tx.code.lock_state()
                    # An index that was forgotten meanwhile stays forgotten.
                    if index is not None and index.root == known.state.root:
                        tx.code_history.put(known.state, known.packed)
            self._cached = replace(known.state, seeded=""), counts
            return RepositoryCounts(counts, known.state.inside)

    def seed(self, root: Path, report: Report = ignore_report) -> int | None:
        """Update the co-access edges from the history at `root`; returns their number, or None if they are current.

        Outdated edges are removed in the same transaction. Raises `RepositoryUnavailable` if there is no history,
        `NotFound` or `InvalidInput` if this folder is not, or no longer, indexed.
        """
        with self._lock:
            with self._store.reading(self._scope, self._clock()) as tx:
                self._require(tx.code.state(), root)
            was_cached = self._cached is not None
            known = self._caught_up(root, report)
            source = _source(known.state)
            if known.state.seeded == source:
                return None
            counts = known.counts()
            seeds = co_access_edges(counts, known.state.inside)
            with self._writing() as tx:
                self._require(tx.code.lock_state(), root)
                if known.packed is None and tx.code_history.state() != known.state:
                    return None
                tx.code_history.put(replace(known.state, seeded=source), known.packed)
                replace_seeds(tx.co_access, seeds)
            # Counts take memory and are needed for queries only.
            self._cached = (replace(known.state, seeded=""), counts) if was_cached else None
            return len(seeds)

    def release(self) -> None:
        """Release the memory of the counts."""
        with self._lock:
            self._cached = None

    def _require(self, index: CodeState | None, root: Path) -> None:
        check_still_indexed("" if index is None else index.root, root, self._scope.project)

    def _caught_up(self, root: Path, report: Report) -> _StoredCounts:
        repository, known = self._repository(root), self._stored()
        here = HistoryState(str(root), repository.inside, self._version, {})
        if known is not None and replace(known.state, seen={}, seeded="") != here:
            known = None
        counted = None if known is None else CountedHistory(known.state.seen, known.counts)
        followed = count_new_commits(repository.history, counted, self._fresh, report)
        if followed is None:
            assert known is not None
            return known
        counts, seeded_by = followed.counts, "" if known is None else known.state.seeded
        return _StoredCounts(replace(here, seen=followed.seen, seeded=seeded_by), lambda: counts, pack(counts))

    def _stored(self) -> _StoredCounts | None:
        """Counts stored by this version. State and counts come from one snapshot."""
        with self._store.reading(self._scope, self._clock()) as tx:
            state = tx.code_history.state()
            if state is None or state.version != self._version:
                return None
            cached = self._cached
            if cached is not None and cached[0] == replace(state, seeded=""):
                return _StoredCounts(state, lambda: self._hand_over(cached[1]))
            packed = tx.code_history.counts()
        return _StoredCounts(state, lambda: unpack(packed, is_counted, self._settings))

    def _hand_over(self, counts: CoChange) -> CoChange:
        """Hand over the cached counts to a caller that changes them, and caches them again on success."""
        self._cached = None
        return counts

    def _writing(self) -> AbstractContextManager[Transaction]:
        return self._store.transaction(self._scope, self._clock())

    def _fresh(self) -> CoChange:
        return CoChange(is_counted, self._settings)


def is_counted(path: str) -> bool:
    """Whether a file is counted: all are, whatever their language, but generated and lock files."""
    return GENERATED_NAMES.search(path[path.rfind("/") + 1 :]) is None


def version_of(settings: HistoryLimits) -> str:
    """Version of the counting rules: counts from another version are discarded."""
    rules = f"{FORMAT} {limits_text(settings)} {GENERATED_NAMES.pattern}"
    return blake2b(rules.encode(), digest_size=12).hexdigest()


def _source(state: HistoryState) -> str:
    """Digest of everything that the co-access edges depend on."""
    parts = (state.root, state.inside, state.version, sorted(state.seen.items()))
    return blake2b(repr(parts).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
