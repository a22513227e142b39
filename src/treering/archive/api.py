"""Export, import and backup of one project."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.history import Action

if TYPE_CHECKING:
    from treering.archive.backup import OpenEmbedded
    from treering.archive.restore import ImportReport
    from treering.core.scope import Scope
    from treering.ports.blobs import Blobs
    from treering.ports.clock import Clock
    from treering.ports.store import Store


@dataclass(frozen=True)
class Archive:
    """One project as files. Each export and backup has an entry in the audit log."""

    scope: Scope
    store: Store
    blobs: Blobs
    clock: Clock
    import_line_bytes: int
    open_embedded: OpenEmbedded
    note: Callable[..., None]

    def export(self, path: str | Path, *, history: bool = False, force: bool = False) -> int:
        """Write everything to a portable file (`.gz` compresses); return the number of lines.

        An earlier export is replaced; any other file only with `force`.
        """
        from treering.archive.export import export_to

        return export_to(Path(path), self.lines(history=history), force=force, database=self._database)

    def lines(self, *, history: bool = False) -> Iterator[str]:
        """The lines of an export, one by one. The audit log gets its entry when the first of them is read."""
        from treering.archive.export import export_lines

        self.note(Action.EXPORT, history=history)
        yield from export_lines(self.scope, self.store, self.blobs, self.clock(), history=history)

    def import_(self, path: str | Path) -> ImportReport:
        """Read an export into this project: all of it or nothing. Existing records stay as they are."""
        from treering.archive.file_lines import lines_of
        from treering.archive.restore import import_lines

        lines = lines_of(Path(path), self.import_line_bytes)
        return import_lines(self.scope, self.store, self.blobs, self.clock(), lines)

    def backup(self, path: str | Path, *, force: bool = False) -> Path:
        """Copy the memory to a SQLite file that can be opened on its own; from a server, the records of this principal.

        An existing file is replaced only with `force`.
        """
        from treering.archive.backup import backup

        return backup(
            self.scope,
            self.store,
            self.blobs,
            self.clock(),
            target=Path(path),
            open_embedded=self.open_embedded,
            force=force,
            database=self._database,
            begun=partial(self.note, Action.BACKUP, file=Path(path).name),
        )

    @property
    def _database(self) -> Path | None:
        """The file of this memory; None if it is on a server."""
        return Path(self.store.location) if self.store.engine == "sqlite" else None
