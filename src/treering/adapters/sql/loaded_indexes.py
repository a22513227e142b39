"""The indexes that this process has loaded of one database file, and the folder of their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakMethod

from treering.ports.store import Check

if TYPE_CHECKING:
    from treering.adapters.sql.context import TransactionContext
    from treering.adapters.sql.project_index import ProjectIndex
    from treering.core.scope import Scope
    from treering.ports.index import SearchIndex


class LoadedIndexes:
    """One index per project, loaded when it is first used."""

    def __init__(self, database: Path) -> None:
        self._folder = database.with_name(f"{database.name}-index")
        self._loaded: dict[tuple[str, str], ProjectIndex] = {}

    def index(self, context: TransactionContext) -> SearchIndex:
        """The index of the context's project."""
        from treering.adapters.sql.embedded_index import EmbeddedIndex
        from treering.adapters.sql.index_files import IndexFiles
        from treering.adapters.sql.project_index import ProjectIndex

        project, saves = (context.scope.tenant, context.scope.project), context.dialect.read_only is None
        if project not in self._loaded:
            # Weak: the handling of forks refers to this object, and must not keep an abandoned engine.
            files, connect = IndexFiles(self._folder, project), WeakMethod(context.connection.engine.connect)
            self._loaded.setdefault(project, ProjectIndex(project, files, connect, saves=saves))
        return EmbeddedIndex(context, self._loaded[project])

    def has_unstored_vectors(self, scope: Scope) -> bool:
        loaded = self._loaded.get((scope.tenant, scope.project))
        return loaded is not None and bool(loaded.unstored.models())

    def wait(self) -> None:
        """Wait until nothing is being saved."""
        for loaded in list(self._loaded.values()):
            loaded.wait()

    def size(self) -> int:
        """Bytes of the files of all projects."""
        from treering.adapters.sql.index_files import size_of

        return size_of(self._folder) if self._folder.is_dir() else 0

    def remove_files(self, seconds: float) -> None:
        """They hold the codes and vectors of what was removed; the next search writes them again without."""
        from treering.adapters.sql.index_files import remove_all

        self.wait()
        remove_all(self._folder, seconds=seconds)
        for loaded in list(self._loaded.values()):
            loaded.forget_files()

    def check(self, scope: Scope) -> Check:
        from treering.adapters.sql.index_files import IndexFiles

        project = (scope.tenant, scope.project)
        files, loaded = IndexFiles(self._folder, project), self._loaded.get(project)
        if problem := files.problem():
            return Check("index files", False, f"damaged ({problem})", "the next search writes them again")
        if loaded is not None and loaded.problem:
            advice = "make room or give this user the right to write; until then, first searches are slower"
            return Check("index files", False, f"cannot be written ({loaded.problem})", advice)
        size = files.size()
        return Check("index files", True, f"{size / 1e6:,.1f} MB" if size else "none needed yet")

    def after_fork(self) -> None:
        self._loaded = {}
