"""The graph in memory, kept in step with the store: loaded once, then updated file by file."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from treering.code.encoding import edges_in, unpack_definitions, unpack_edges, unpack_further
from treering.code.graph import CodeGraph
from treering.code.language_choice import is_in_graph
from treering.code.live.columns import load

if TYPE_CHECKING:
    from treering.ports.code import CodeIndex, CodeState


class LiveGraph:
    """One project's graph; `refresh` is called by one thread at a time."""

    def __init__(self, in_place: int) -> None:
        self.graph = CodeGraph()
        self._in_place = in_place
        self._generation: int | None = None
        self._seen: dict[str, int] = {}
        self._stale: set[str] = set()

    @property
    def stored(self) -> Mapping[str, int]:
        """Files in the graph, with the generations in which they were stored."""
        return self._seen

    def refresh(self, index: CodeIndex, state: CodeState) -> None:
        """Apply what was stored since the last call; a file that is not resolved has no edges."""
        if state.generation == self._generation:
            return
        changed, gone = self._changes(index)
        if self._generation is None or len(changed) + len(gone) > self._in_place:
            self._load(index)
        else:
            for path in sorted(gone):
                self.graph.remove_file(path)
            self._replace(list(changed), index)
        self._stale -= {*changed, *gone}
        self._generation = state.generation
        self._seen.update(changed)
        for path in gone:
            del self._seen[path]

    def _changes(self, index: CodeIndex) -> tuple[Mapping[str, int], Collection[str]]:
        """Files stored since, with their generations, and files removed since."""
        changed = index.generations(after=self._generation or 0)
        new = sum(path not in self._seen for path in changed)
        # All paths are compared only if the counts disagree.
        left = len(self._seen) + new != index.count()
        return changed, self._seen.keys() - index.generations().keys() if left else ()

    def set_condition(self, *, going_on: bool, notes: tuple[str, ...]) -> None:
        """Set whether files are still missing, and what else limits every answer."""
        self.graph.set_indexing(going_on)
        self.graph.set_notes(notes)

    def mark_stale(self, changed: Collection[str], index: CodeIndex) -> None:
        """Mark exactly these files as stale: their edges are not served."""
        self._replace(sorted(self._stale.difference(changed)), index)
        for path in set(changed) - self._stale:
            self.graph.mark_stale(path)
        self._stale = set(changed)

    def _load(self, index: CodeIndex) -> None:
        self.graph, self._stale = load(file for file in index.contents() if is_in_graph(file.path)), set()

    def _replace(self, paths: list[str], index: CodeIndex) -> None:
        found = {file.path: file for file in index.contents(paths) if is_in_graph(file.path)}
        for path in paths:
            file = found.get(path)
            if file is None:
                # It is text, or nothing was read from it: it is binary, generated or could not be parsed.
                self.graph.remove_file(path)
                continue
            further = {source: edges_in(packed) for source, packed in unpack_further(file.further).items()}
            edges = edges_in(unpack_edges(file.edges))
            self.graph.replace_file(path, unpack_definitions(file.definitions), edges, further)
            if not file.resolved:
                self.graph.mark_stale(path)
