"""Keeps the stored graph of a project as its files are."""

import json
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from time import monotonic

from treering.core.errors import InvalidInput, StoreError
from treering.index.desk import Desk
from treering.index.discovering import Discovery, Found, discover
from treering.index.reading import digest_of
from treering.index.shelf import Changes, Shelf
from treering.index.summary import Indexed, Phase, Progress
from treering.index.updating import Tell, Update
from treering.index.version import reading_version


def nobody(_progress: Progress) -> None:
    """Where nobody wants to hear of it."""


class Indexer:
    """One project's files, looked at again and again. One thread at a time; the world is remembered between runs."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self._shelf: Shelf | None = None

    def pending(self) -> Changes:
        """What changed on disk since it was stored."""
        shelf = self._loaded()
        changes = shelf.changes(self._discover(None), doubt=True)
        return Changes(tuple(file for file in changes.changed if not self._is_as_stored(file, shelf)), changes.gone)

    def _is_as_stored(self, found: Found, shelf: Shelf) -> bool:
        """Whether a file has the content that is stored, whatever its stamp."""
        known = shelf.files.get(found.path)
        if known is None or known.language != found.language:
            return False
        return digest_of(self.desk.root, found.path, self.desk.settings.largest_file) == known.digest

    def run(self, tell: Tell = nobody, *, hints: Collection[str] | None = None) -> Indexed:
        """Read what changed, resolve what that concerns, store both.

        `hints` are the only paths that changed, as a watcher tells them. `Conflict` where another process indexes now.
        """
        if not self.desk.root.is_dir():
            raise InvalidInput(f"{self.desk.root} is no folder that can be read; name the root of a project")
        began = monotonic()
        tell(Progress(Phase.LOOKING))
        shelf = self._loaded()
        known = hints is not None and shelf.complete and not shelf.waiting
        folders = shelf.folders_of(hints or (), self.desk.root) if known else None
        update = Update(self.desk, shelf, tell)
        try:
            discovery, complete = self._follow(update, shelf, folders)
        except BaseException:
            # What the shelf says was not stored.
            self._shelf = None
            with suppress(StoreError):
                self.desk.give_back()
            raise
        if update.was_large:
            # What it took to read so much is better let go than kept until the next change.
            self._shelf = None
        counts, shelf = update.counts, update.shelf
        skipped = discovery.skipped + counts.reasons + Counter(file.skipped for file in shelf.files.values())
        del skipped[""]
        return Indexed(
            root=str(self.desk.root),
            read=counts.read,
            unchanged=len(shelf.files) - counts.read,
            removed=counts.removed,
            resolved=counts.resolved,
            skipped=dict(sorted(skipped.items())),
            problems=tuple(counts.problems[: self.desk.settings.told_problems]),
            problems_total=len(counts.problems),
            totals=shelf.totals(),
            seconds=round(monotonic() - began, 3),
            complete=complete,
        )

    def _follow(self, update: Update, shelf: Shelf, folders: frozenset[str] | None) -> tuple[Discovery, bool]:
        """Until nothing changed while the last changes were stored."""
        discovery = self._discover(folders)
        changes = shelf.changes(discovery, doubt=True)
        for _ in range(self.desk.settings.rounds):
            update.apply(changes, json.dumps({**shelf.told, "skipped": discovery.skipped}) if folders is None else None)
            if not changes:
                break
            discovery = self._discover(folders)
            refused = update.counts.refused
            changes = shelf.changes(discovery, doubt=False)
            still = tuple(file for file in changes.changed if refused.get(file.path) != file.stamp)
            changes = Changes(still, changes.gone)
            if changes and update.was_large:
                self._shelf = None
                update.shelf = shelf = self._loaded()
        return discovery, not changes

    def _discover(self, folders: frozenset[str] | None) -> Discovery:
        return discover(self.desk.root, self.desk.settings, folders)

    def _loaded(self) -> Shelf:
        """As it is stored now: another process may have changed it since."""
        with self.desk.reading() as index:
            state = index.state()
            if self._shelf is None or state is None or self._shelf.generation != state.generation:
                self._shelf = Shelf(state, index, self.desk.reading, reading_version())
            return self._shelf
