"""Keeps the stored graph of a project as its files are."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from treering.core.errors import StoreError
from treering.code.build.file_cache import Changes, Shelf
from treering.code.build.report import Indexed, Phase, Progress, nobody
from treering.code.build.version import reading_version
from treering.code.files.discovery import Discovery, Found, discover
from treering.code.files.outer_ignore_rules import rules_around
from treering.code.files.roots import put_in_place_of, readable, still_indexed
from treering.code.limits import CHUNK_LIMITS

if TYPE_CHECKING:
    from treering.code.build.project import Desk
    from treering.code.build.update import Tell, Update
    from treering.ports.code import CodeState, Lease

MAX_ROUNDS = 5  # how often files that changed meanwhile are read again before they are left to the next run
MAX_LISTED_PROBLEMS = 50  # problems that a summary lists; all are counted


class Pending(NamedTuple):
    """What a run would have to do."""

    changes: Changes
    generation: int
    """The one that is stored."""
    waiting: int
    """Files whose uses are not known."""
    complete: bool


Outstanding = Callable[[Changes, int], None]
"""Hears which files are not what is stored, and the generation of the store that was looked at."""


def _unheard(_changes: Changes, _generation: int) -> None:
    """Where nobody serves what is stored meanwhile."""


def _was_cut_short(state: CodeState) -> bool:
    """Whether somebody who indexed ended in the middle: it may have been for one of the files."""
    return bool(state.root) and (not state.complete or state.lease is not None)


class Indexer:
    """One project's files, looked at again and again. One thread at a time; the world is remembered between runs."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._shelf: Shelf | None = None
        self._seen: Discovery | None = None

    def pending(self) -> Pending:
        """What changed on disk since it was stored."""
        shelf, _ = self._loaded()
        changes = shelf.changes(self._discover(None), doubt=True)
        changed = tuple(file for file in changes.changed if not self._is_as_stored(file, shelf))
        changes = dataclasses.replace(changes, changed=changed)
        return Pending(changes, shelf.generation, len(shelf.waiting), shelf.complete)

    def _is_as_stored(self, found: Found, shelf: Shelf) -> bool:
        """Whether a file has the content that is stored, whatever its stamp."""
        from treering.code.files.source_file import digest_of, is_back

        known = shelf.files.get(found.path)
        if known is None or known.language != found.language:
            return False
        if is_back(self.desk.root, known.path, known.language, known.skipped):
            return False
        return digest_of(self.desk.root, found.path, self.desk.settings.largest_file) == known.digest

    def run(
        self,
        tell: Tell = nobody,
        *,
        hints: Collection[str] | None = None,
        replace: bool = False,
        keeping: bool = False,
        outstanding: Outstanding = _unheard,
    ) -> Indexed:
        """Read what changed, resolve what that concerns, store both.

        `hints` are the only paths that changed, as a watcher tells them. `outstanding` hears of what changed before it
        is read, and of what is left of that in the end. `Conflict` where another process indexes now, `InvalidInput`
        where another folder is indexed, unless this is to `replace` it. Whoever is `keeping` the index of this folder
        makes none where somebody forgot it: that is `NotFound`.
        """
        from treering.code.build.update import Update
        from treering.code.build.warnings import left_out, warnings

        readable(self.desk.root)
        began = monotonic()
        tell(Progress(Phase.LOOKING))
        shelf, state = self._loaded()
        known_root = "" if state is None else state.root
        if keeping:
            # What happens to it from here on is a conflict when something is to be stored.
            still_indexed(known_root, self.desk.root, self.desk.scope.project)
        notes = put_in_place_of(known_root, self.desk.root, self.desk.scope.project, replace=replace)
        known = hints is not None and shelf.complete and not shelf.waiting and self._hears_all()
        folders = shelf.folders_of(hints or (), self.desk.root) if known else None
        update = Update(self.desk, shelf, tell)
        update.careful = state is not None and _was_cut_short(state)
        try:
            told = None if folders is None else hints
            lease = None if state is None else state.lease
            discovery, complete = self._follow(update, folders, told, lease, outstanding)
        except BaseException:
            # What the shelf says was not stored.
            self._shelf = None
            with suppress(StoreError):
                self.desk.give_back()
            raise
        if update.was_large:
            # What it took to read so much is better let go than kept until the next change.
            self._shelf = None
        self._seen = discovery
        counts, shelf = update.counts, update.shelf
        skipped = left_out(shelf, discovery) + counts.reasons
        return Indexed(
            root=str(self.desk.root),
            read=len(counts.read),
            unchanged=len(shelf.files) - len(counts.read),
            removed=len(counts.removed),
            resolved=len(counts.resolved),
            skipped=dict(sorted(skipped.items())),
            problems=tuple(counts.problems[: MAX_LISTED_PROBLEMS]),
            problems_total=len(counts.problems),
            totals=shelf.totals(),
            seconds=round(monotonic() - began, 3),
            complete=complete,
            warnings=tuple(warnings(shelf, discovery)),
            notes=notes,
        )

    def _follow(
        self,
        update: Update,
        folders: frozenset[str] | None,
        told: Collection[str] | None,
        lease: Lease | None,
        outstanding: Outstanding,
    ) -> tuple[Discovery, bool]:
        """Until nothing changed while the last changes were stored. A watcher tells of such changes by itself."""
        shelf = update.shelf
        discovery = self._discover(folders)
        changes = shelf.changes(discovery, doubt=True, told=told)
        outstanding(shelf.certain(changes), shelf.generation)
        if changes or shelf.waiting or not shelf.complete:
            self.desk.refuse(lease)
        for _ in range(MAX_ROUNDS if folders is None else 1):
            update.apply(changes, json.dumps({**shelf.told, "skipped": discovery.skipped}) if folders is None else None)
            if folders is not None:
                changes = Changes(unseen=changes.unseen)
            if not changes:
                break
            discovery = self._discover(folders)
            refused = update.counts.refused
            changes = shelf.changes(discovery, doubt=False)
            still = tuple(file for file in changes.changed if refused.get(file.path) != file.stamp)
            changes = dataclasses.replace(changes, changed=still)
            if changes and update.was_large:
                self._shelf = None
                update.shelf = shelf = self._loaded()[0]
            outstanding(changes, shelf.generation)
        outstanding(changes, shelf.generation)
        return discovery, not changes

    def _hears_all(self) -> bool:
        """Whether nothing changed that no watcher tells of: rules outside the root, or what could not be looked at."""
        seen = self._seen
        return seen is not None and not seen.unseen and seen.around == rules_around(self.desk.root, self.desk.git)

    def _discover(self, folders: frozenset[str] | None) -> Discovery:
        return discover(self.desk.root, self.desk.settings, folders, self.desk.git)

    def _loaded(self) -> tuple[Shelf, CodeState | None]:
        """As it is stored now: another process may have changed it since."""
        with self.desk.reading() as index:
            state = index.state()
            if self._shelf is None or state is None or self._shelf.generation != state.generation:
                self._shelf = Shelf(state, index, self.desk.reading, reading_version())
            return self._shelf, state
