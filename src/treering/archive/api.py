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
    from treering.archive.rule_files.rule_export import RuleExport
    from treering.archive.rule_files.rule_import import RuleImport
    from treering.core.scope import Scope
    from treering.knowledge.api import KnowledgeBase
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
    knowledge: Callable[[], KnowledgeBase]
    commit_of: Callable[[Path], str | None]
    """The commit that is checked out in a folder; None outside a repository."""

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

    def import_rules(
        self, path: str | Path, *, root: str | Path | None = None, dry_run: bool = False, retire: bool = False
    ) -> RuleImport:
        """Import a rule file such as CLAUDE.md as records; see `Memory.import_rules`."""
        from treering.archive.rule_files.rule_import import RuleImporter

        importer = RuleImporter(self.scope, self.store, self.clock, self.knowledge(), self.commit_of)
        folder = Path.cwd() if root is None else Path(root)
        return importer.run(Path(path).expanduser(), folder.resolve(), dry_run=dry_run, retire=retire)

    def export_rules(self, path: str | Path | None, *, budget: int | None = None) -> RuleExport:
        """Write rules, decisions, gotchas and recipes into a block of a rule file; see `Memory.export_rules`."""
        from treering.archive.rule_files import rule_export

        target, content = None if path is None else Path(path).expanduser(), None
        if target is not None:
            content = rule_export.file_content(target)
        stated = frozenset[str]() if content is None else rule_export.stated_digests(content, str(target))
        with self.store.reading(self.scope, self.clock()) as tx:
            made = rule_export.rule_block(tx, rule_export.DEFAULT_BUDGET if budget is None else budget, stated)
        self.note(Action.EXPORT, file=None if target is None else target.name, records=made.records)
        return made if target is None else rule_export.write_block(target, made, content, self._database)

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
