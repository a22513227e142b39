"""Crates as Cargo sees them: which files are roots, and which crate a name stands for in a file."""

import posixpath
from collections.abc import Iterator

from treering.index.facts import Ask
from treering.index.languages.paths import joined
from treering.index.languages.rust.body import Dependency, Manifest
from treering.index.languages.rust.surface import ROOT_NAMES

_AUTOMATIC = {"bin": "src/bin", "example": "examples", "test": "tests", "bench": "benches"}
"""Where Cargo makes a crate of every file, by kind of target."""

_ALWAYS_THERE = frozenset({"std", "core", "alloc", "proc_macro", "test"})


class Crates:
    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._manifests: dict[str, tuple[str, Manifest] | None] = {}
        self._libraries: dict[tuple[str, str], str | None] = {}

    def is_root(self, path: str) -> bool:
        """Whether `mod x;` in this file looks beside it."""
        if posixpath.basename(path) in ROOT_NAMES:
            return True
        place = self._manifest(path)
        if place is None:
            return False
        directory, manifest = place
        places = (joined(directory, _AUTOMATIC[kind]) for kind in manifest.automatic)
        return path == manifest.library_path or path in manifest.roots or posixpath.dirname(path) in places

    def library_name(self, root: str) -> str:
        """The name by which others know the library with this root; empty if it is no library's."""
        place = self._manifest(root)
        return place[1].library if place is not None and place[1].library_path == root else ""

    def library(self, path: str, name: str) -> str | None:
        """The root of the crate a name stands for in a file; empty if outside the project, `None` if there is none."""
        key = (posixpath.dirname(path), name)
        if key not in self._libraries:
            self._libraries[key] = self._library(path, name)
        return self._libraries[key]

    def _library(self, path: str, name: str) -> str | None:
        if name in _ALWAYS_THERE:
            return ""
        place = self._manifest(path)
        if place is None:
            return None
        directory, manifest = place
        if name == manifest.library and self._ask("rs.file", manifest.library_path):
            return manifest.library_path
        for dependency in manifest.dependencies:
            if dependency.name == name:
                return self._depended(directory, dependency)
        return None

    def _manifest(self, path: str) -> tuple[str, Manifest] | None:
        """The nearest manifest above a file that is a package's."""
        directory = posixpath.dirname(path)
        if directory not in self._manifests:
            self._manifests[directory] = next(
                (
                    (above, manifest)
                    for above in _directories(directory)
                    for _, manifest in self._ask("rs.cargo", above)
                    if manifest.package
                ),
                None,
            )
        return self._manifests[directory]

    def _depended(self, directory: str, dependency: Dependency) -> str:
        if dependency.inherited:
            shared = (
                given
                for above in _directories(directory)
                for _, manifest in self._ask("rs.cargo", above)
                for given in manifest.shared
                if given.name == dependency.name
            )
            dependency = next(shared, dependency)
        if dependency.path:
            manifests = self._ask("rs.cargo", joined("", dependency.path))
        else:
            manifests = self._ask("rs.package", dependency.package)
        roots = (manifest.library_path for _, manifest in manifests if manifest.library_path)
        return next((root for root in roots if self._ask("rs.file", root)), "")


def _directories(directory: str) -> Iterator[str]:
    yield directory
    while directory:
        directory = posixpath.dirname(directory)
        yield directory
