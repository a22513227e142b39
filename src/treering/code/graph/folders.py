"""The folders of a project as nodes. Their ids end with a slash."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from treering.code.graph.module_names import above, parent
from treering.code.graph.spelling import ends_with, normalized, parts_of

ROOT_ID = "./"
_PACKAGE_FILE = "/__init__.py"


def is_folder(id: str) -> bool:
    return id.endswith("/")


class CodeFolders:
    """The folders of one state of the graph."""

    def __init__(self, paths: Sequence[str]) -> None:
        """`paths` are all files, sorted."""
        self._paths = paths

    def below(self, id: str) -> Sequence[str]:
        """Files in a folder and its subfolders; empty for an unknown folder."""
        if id == ROOT_ID:
            return self._paths
        # Paths below a folder are contiguous in the sorted list; "0" is the character after "/".
        first, last = (bisect_left(self._paths, f"{id[:-1]}{end}") for end in "/0")
        return self._paths[first:last]

    def named(self, parts: tuple[str, ...], fold: Callable[[str], str]) -> Iterator[str]:
        """Ids of folders whose paths end with these parts."""
        folded = tuple(map(fold, parts))
        for folder in self._by_last.get(normalized(parts[-1]), ()) if parts else ():
            if ends_with(tuple(map(fold, parts_of(folder))), folded):
                yield f"{folder}/"

    def is_outermost_package(self, id: str) -> bool:
        """Whether a folder is a package that is not inside another package."""
        return id[:-1] in self._packages and parent(id[:-1]) not in self._packages

    @cached_property
    def _packages(self) -> frozenset[str]:
        return frozenset(parent(path) for path in self._paths if path.endswith(_PACKAGE_FILE))

    @cached_property
    def _by_last(self) -> dict[str, list[str]]:
        inner = {parent(path) for path in self._paths}
        every = {each for folder in inner for each in (folder, *above(folder))}
        by_last: defaultdict[str, list[str]] = defaultdict(list)
        for each in sorted(every):
            if parts := parts_of(each):
                by_last[normalized(parts[-1])].append(each)
        return by_last
