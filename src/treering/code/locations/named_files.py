"""Files that a question names: by a path, in a traceback, or as a module."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from treering.code.locations.question import CodeQuestion

_MIN_PARTS = 2
"""Parts of a path that must fit where a path is longer than one name: `utils.py` alone is in many folders."""
_PACKAGE_FILES = frozenset(("__init__", "index", "mod"))
"""Names of files whose module has the name of the folder."""
_SOURCE_FOLDERS = frozenset(("src", "lib"))


class NamedFiles:
    """The files of a project by the ends of their paths and by their module names."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._by_name: dict[str, list[tuple[int, list[str]]]] = defaultdict(list)
        self._by_module: dict[str, list[int]] = defaultdict(list)
        self._count = len(paths)
        for file, path in enumerate(paths):
            parts = path.split("/")
            self._by_name[parts[-1]].append((file, parts))
            for name in _module_names(parts):
                self._by_module[name].append(file)

    def in_frames(self, question: CodeQuestion) -> NDArray[np.float64]:
        """How near each file is to the end of the tracebacks, where errors are raised; 1 for the last frame."""
        scores = np.zeros(self._count)
        found = [files for frame in question.frames if (files := self.with_path(frame))]
        for place, files in enumerate(found, 1):
            share = place / len(found) / len(files)
            scores[files] = np.maximum(scores[files], share)
        return scores

    def by_path(self, question: CodeQuestion) -> NDArray[np.float64]:
        """1 for files named by a path; less if the path fits several."""
        return self._shares(map(self.with_path, question.paths))

    def by_link(self, question: CodeQuestion) -> NDArray[np.float64]:
        """1 for files that the text links to in a hosted repository; less if the path fits several."""
        return self._shares(self.with_path(link.path) for link in question.links)

    def by_module(self, question: CodeQuestion) -> NDArray[np.float64]:
        """1 for files whose module begins a dotted name, such as `package.module.Class.method`."""
        return self._shares(map(self._with_module, question.dotted_names))

    def _shares(self, named: Iterator[Sequence[int]]) -> NDArray[np.float64]:
        scores = np.zeros(self._count)
        for files in named:
            if files:
                scores[files] = np.maximum(scores[files], 1 / len(files))
        return scores

    def with_path(self, path: str) -> list[int]:
        """The files whose paths share the most last parts with a path, which may be of another machine."""
        wanted = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..", "~")]
        best, longest = list[int](), 0
        for file, parts in self._by_name.get(wanted[-1], ()) if wanted else ():
            shared = _shared_end(parts, wanted)
            if shared >= min(_MIN_PARTS, len(wanted)) and shared >= longest:
                best, longest = [file] if shared > longest else [*best, file], shared
        return best

    def _with_module(self, name: str) -> list[int]:
        """The files of the longest module that begins the name, of at least two parts."""
        parts = name.split(".")
        for end in range(len(parts), 1, -1):
            if files := self._by_module.get(".".join(parts[:end])):
                return files
        return []


def _module_names(parts: Sequence[str]) -> Iterator[str]:
    """Dotted names of a file, from the root of the project and from within a folder of sources."""
    stem = parts[-1].partition(".")[0]
    names = [*parts[:-1], *(() if stem in _PACKAGE_FILES else (stem,))]
    yield ".".join(names)
    for place, name in enumerate(names[:-1], 1):
        if name in _SOURCE_FOLDERS:
            yield ".".join(names[place:])


def _shared_end(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for left, right in zip(reversed(one), reversed(other), strict=False):
        if left != right:
            break
        count += 1
    return count
