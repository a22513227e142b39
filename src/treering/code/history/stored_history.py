"""What a repository's commits say, kept in the store: only new commits are ever read."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from treering.code.files.roots import still_indexed
from treering.code.history.co_access_seeds import put_in_place, seeded
from treering.code.history.counts import CoChange
from treering.code.history.encoding import FORMAT, pack, unpack
from treering.code.history.update import Report, Standing, follow, nobody
from treering.code.language_choice import KNOWN, language_named
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
class Repository:
    """The history of the repository that a project lies in, and where in it: nothing, or a folder with a slash."""

    history: CommitHistory
    inside: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """What the commits say, and where in the repository the project lies."""

    counts: CoChange
    inside: str


@dataclass(frozen=True, slots=True)
class _Known:
    """What the commits say up to where; `packed` where the store does not have it yet."""

    state: HistoryState
    counts: Callable[[], CoChange]
    packed: bytes | None = None


class Chronicle:
    """The counts of one project. Safe to share between threads; several processes may keep them at once."""

    def __init__(
        self,
        scope: Scope,
        store: Store,
        clock: Clock,
        settings: HistoryLimits,
        repository: Callable[[Path], Repository],
    ) -> None:
        self._scope, self._store, self._clock, self._settings = scope, store, clock, settings
        self._repository = repository
        self._version = version_of(settings)
        self._lock = threading.Lock()
        self._held: tuple[HistoryState, CoChange] | None = None

    def told(self, root: Path | None) -> Told | None:
        """With all that is new at `root`, or as it was counted last where there is none; None where nothing was.

        `RepositoryUnavailable` where there is no history at the root.
        """
        with self._lock:
            known = self._stored() if root is None else self._caught_up(root, nobody)
            if known is None:
                return None
            counts = known.counts()
            if known.packed is not None:
                # A store that cannot be written answers all the same; the next question counts once more.
                with suppress(StoreError), self._writing() as tx:
                    index = tx.code.hold()
                    # What somebody forgot meanwhile stays forgotten.
                    if index is not None and index.root == known.state.root:
                        tx.code_history.put(known.state, known.packed)
            self._held = replace(known.state, seeded=""), counts
            return Told(counts, known.state.inside)

    def seed(self, root: Path, report: Report = nobody) -> int | None:
        """Let co-access follow the history at `root`: how many pairs there are now; None where it did already.

        What no longer follows leaves in the same transaction. `RepositoryUnavailable` where there is no history,
        `NotFound` or `InvalidInput` where what is indexed is not this folder, or not any more.
        """
        with self._lock:
            with self._store.reading(self._scope, self._clock()) as tx:
                self._require(tx.code.state(), root)
            was_held = self._held is not None
            known = self._caught_up(root, report)
            source = _source(known.state)
            if known.state.seeded == source:
                return None
            counts = known.counts()
            seeds = seeded(counts, known.state.inside)
            with self._writing() as tx:
                self._require(tx.code.hold(), root)
                if known.packed is None and tx.code_history.state() != known.state:
                    return None
                tx.code_history.put(replace(known.state, seeded=source), known.packed)
                put_in_place(tx.co_access, seeds)
            # Counts take memory, which only questions need.
            self._held = (replace(known.state, seeded=""), counts) if was_held else None
            return len(seeds)

    def let_go(self) -> None:
        """Give back the memory that counts take."""
        with self._lock:
            self._held = None

    def _require(self, index: CodeState | None, root: Path) -> None:
        still_indexed("" if index is None else index.root, root, self._scope.project)

    def _caught_up(self, root: Path, report: Report) -> _Known:
        repository, known = self._repository(root), self._stored()
        here = HistoryState(str(root), repository.inside, self._version, {})
        if known is not None and replace(known.state, seen={}, seeded="") != here:
            known = None
        standing = None if known is None else Standing(known.state.seen, known.counts)
        followed = follow(repository.history, standing, self._fresh, report)
        if followed is None:
            assert known is not None
            return known
        counts, seeded_by = followed.counts, "" if known is None else known.state.seeded
        return _Known(replace(here, seen=followed.seen, seeded=seeded_by), lambda: counts, pack(counts))

    def _stored(self) -> _Known | None:
        """What this version counted. State and counts are of one moment, though somebody else may write now."""
        with self._store.reading(self._scope, self._clock()) as tx:
            state = tx.code_history.state()
            if state is None or state.version != self._version:
                return None
            held = self._held
            if held is not None and held[0] == replace(state, seeded=""):
                return _Known(state, lambda: self._taken(held[1]))
            packed = tx.code_history.counts()
        return _Known(state, lambda: unpack(packed, takes_part, self._settings))

    def _taken(self, counts: CoChange) -> CoChange:
        """Whoever takes the counts that are held owns them: they are held again when they are right."""
        self._held = None
        return counts

    def _writing(self) -> AbstractContextManager[Transaction]:
        return self._store.transaction(self._scope, self._clock())

    def _fresh(self) -> CoChange:
        return CoChange(takes_part, self._settings)


def takes_part(path: str) -> bool:
    """Whether a file is counted: code and manifests are."""
    return language_named(path[path.rfind("/") + 1 :]) is not None


def version_of(settings: HistoryLimits) -> str:
    """What counts, as one short text: counts that something else made are made anew."""
    told = f"{FORMAT} {settings.model_dump_json(exclude={'look_seconds'})} {KNOWN}"
    return blake2b(told.encode(), digest_size=12).hexdigest()


def _source(state: HistoryState) -> str:
    """What seeds follow from, as one short text."""
    told = (state.root, state.inside, state.version, sorted(state.seen.items()))
    return blake2b(repr(told).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
