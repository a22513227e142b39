"""Uses whose target is not known, by name: the part of an answer about a definition that is not certain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from threading import Lock
from typing import TYPE_CHECKING

from treering.code.encoding import unpack_unresolved
from treering.code.facts import DefinitionKind, Unresolved
from treering.code.files.secrets import redact_use
from treering.code.graph.answers import NameCount
from treering.code.graph.folders import is_folder
from treering.code.graph.nodes import SEPARATOR, file_of
from treering.code.language_choice import language_of, name_group

if TYPE_CHECKING:
    from treering.code.graph import CodeGraph
    from treering.ports.code import CodeIndex

_CALLABLE = frozenset({DefinitionKind.FUNCTION, DefinitionKind.METHOD})


class UnresolvedNames:
    """The names that each file uses without a known target; files stored since are read again. Thread-safe."""

    def __init__(self) -> None:
        self._generation = 0
        self._counts: dict[str, Mapping[str, int]] = {}
        self._lock = Lock()

    def of(self, index: CodeIndex, graph: CodeGraph, node: str) -> tuple[NameCount, ...]:
        """Uses that may be of the node: of its name and, for a class, of the names of its methods; most frequent first.

        Empty for a file or folder: what imports it is known.
        """
        names = names_of(graph, node)
        if not names:
            return ()
        found: Counter[str] = Counter()
        for counts in self._beside(index, graph, node).values():
            for name in names & counts.keys():
                found[name] += counts[name]
        return _sorted(found)

    def uses_of(self, index: CodeIndex, graph: CodeGraph, node: str) -> Iterator[Unresolved]:
        """Those uses, by file and line."""
        names = names_of(graph, node)
        files = self._beside(index, graph, node) if names else {}
        chosen = sorted(path for path, counts in files.items() if names & counts.keys())
        for use in _uses(index, chosen):
            if use.used_name in names:
                yield redact_use(use)

    def _beside(self, index: CodeIndex, graph: CodeGraph, node: str) -> Mapping[str, Mapping[str, int]]:
        """The counts of the current files whose language uses the names of the node's."""
        with self._lock:
            self._refresh(index)
            counts, stale = dict(self._counts), frozenset(graph.status.stale)
        group = _group(file_of(node))
        return {path: each for path, each in counts.items() if path not in stale and _group(path) == group}

    def _refresh(self, index: CodeIndex) -> None:
        state = index.state()
        if state is None or state.generation == self._generation:
            return
        every = index.generations()
        for path in self._counts.keys() - every.keys():
            del self._counts[path]
        changed = [path for path, generation in every.items() if generation > self._generation]
        packed = index.unresolved(changed)
        for path in changed:
            counts = Counter(use.used_name for use in unpack_unresolved(packed.get(path, b"")))
            self._counts.pop(path, None)
            if counts:
                self._counts[path] = counts
        self._generation = state.generation


def _group(path: str) -> str:
    return name_group(language_of(path) or "")


def uses_in(index: CodeIndex, graph: CodeGraph, node: str) -> Iterator[Unresolved]:
    """Uses without a known target inside a definition, file or folder, except in files that changed since."""
    stale = frozenset(graph.status.stale)
    files = graph.below(node) if is_folder(node) else (file_of(node),)
    inside = node if SEPARATOR in node else ""
    for use in _uses(index, [file for file in files if file not in stale]):
        if not inside or use.origin == inside or use.origin.startswith(f"{inside}."):
            yield redact_use(use)


def counted_names(uses: Iterable[Unresolved]) -> tuple[NameCount, ...]:
    """The names of some uses, most frequent first."""
    return _sorted(Counter(use.used_name for use in uses))


def names_of(graph: CodeGraph, node: str) -> frozenset[str]:
    """The names under which a definition is used; empty for a file or folder."""
    definition = graph.definition(node)
    if definition is None:
        return frozenset()
    names = {definition.qualname}
    if definition.kind not in _CALLABLE:
        prefix = f"{definition.qualname}."
        inside = graph.definitions(file_of(node))
        names |= {
            one.qualname for one in inside if one.kind is DefinitionKind.METHOD and one.qualname.startswith(prefix)
        }
    last = {name.rpartition(".")[2] for name in names}
    return frozenset(name for name in last if not (name.startswith("__") and name.endswith("__")))


def _uses(index: CodeIndex, files: list[str]) -> Iterator[Unresolved]:
    packed = index.unresolved(files)
    return (use for file in files for use in unpack_unresolved(packed.get(file, b"")))


def _sorted(counts: Counter[str]) -> tuple[NameCount, ...]:
    counts.pop("", None)
    return tuple(NameCount(name, count) for name, count in sorted(counts.items(), key=lambda one: (-one[1], one[0])))
