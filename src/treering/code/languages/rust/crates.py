"""Crates as Cargo defines them: their root files, and the crate that a name refers to in a file."""

import posixpath
from collections.abc import Iterator

from treering.code.facts import SymbolLookup
from treering.code.languages.paths import joined
from treering.code.languages.rust.body import Dependency, Manifest
from treering.code.languages.rust.surface import ROOT_NAMES

_AUTOMATIC = {"bin": "src/bin", "example": "examples", "test": "tests", "bench": "benches"}
"""Directories in which Cargo makes every file a crate, by kind of target."""

_BUILTIN_CRATES = frozenset({"std", "core", "alloc", "proc_macro", "test"})


class Crates:
    def __init__(self, lookup: SymbolLookup) -> None:
        self._lookup = lookup
        self._manifests: dict[str, tuple[str, Manifest] | None] = {}
        self._reached: dict[str, frozenset[str]] = {}
        self._libraries: dict[tuple[str, str], str | None] = {}

    def is_root(self, path: str) -> bool:
        """Whether `mod x;` in this file refers to a sibling file."""
        if posixpath.basename(path) in ROOT_NAMES:
            return True
        place = self._manifest(path)
        if place is None:
            return False
        directory, manifest = place
        places = (joined(directory, _AUTOMATIC[kind]) for kind in manifest.automatic)
        return path == manifest.library_path or path in manifest.roots or posixpath.dirname(path) in places

    def library_name(self, root: str) -> str:
        """Return the name of the library with this root; empty if it is not the root of a library."""
        place = self._manifest(root)
        return place[1].library if place is not None and place[1].library_path == root else ""

    def library(self, path: str, name: str) -> str | None:
        """Return the root of the crate that a name refers to in a file; empty if external, `None` if there is none."""
        key = (path, name)
        if key not in self._libraries:
            self._libraries[key] = self._library(path, name)
        return self._libraries[key]

    def programs(self, path: str, name: str = "") -> list[str]:
        """Return the root files of the binaries of a file's package; with a name, only of that one."""
        place = self._manifest(path)
        if place is None:
            return []
        directory, manifest = place
        declared = [root for named, root in manifest.programs if not name or named == name]
        automatic = ["src/main.rs"] if name in ("", manifest.package) else []
        automatic += [f"src/bin/{name}.rs", f"src/bin/{name}/main.rs"] if name else []
        roots = dict.fromkeys([*declared, *(joined(directory, one) for one in automatic if not declared)])
        return [root for root in roots if self._lookup("rs.item", root, "", "main")]

    def is_test_of_programs(self, path: str) -> bool:
        """Whether a file is an integration test of a package without a library: it can only run its binaries."""
        place = self._manifest(path)
        if place is None or not path.startswith(joined(place[0], "tests/")):
            return False
        return not self._lookup("rs.file", place[1].library_path)

    def reaches(self, path: str, other: str) -> bool:
        """Whether both files have the same package, or the first depends on the second, transitively."""
        there = self._manifest(other)
        return there is None or there[0] in self._dependencies(path)

    def _dependencies(self, path: str) -> frozenset[str]:
        """Return the directories of a file's package and of its transitive dependencies."""
        own = self._manifest(path)
        key = own[0] if own is not None else ""
        if key not in self._reached:
            found = {} if own is None else {own[0]: own}
            pending = list(found.values())
            for directory, manifest in pending:
                roots = [self._dependency_root(directory, dependency) for dependency in manifest.dependencies]
                places = [place for root in roots if root and (place := self._manifest(root)) is not None]
                pending += [place for place in places if place[0] not in found]
                found.update((place[0], place) for place in places)
            self._reached[key] = frozenset(found)
        return self._reached[key]

    def _library(self, path: str, name: str) -> str | None:
        if name in _BUILTIN_CRATES:
            return ""
        place = self._manifest(path)
        if place is None:
            return None
        directory, manifest = place
        if name == manifest.library and self._lookup("rs.file", manifest.library_path):
            return manifest.library_path
        for dependency in manifest.dependencies:
            if dependency.name == name:
                return self._dependency_root(directory, dependency)
        return None

    def _manifest(self, path: str) -> tuple[str, Manifest] | None:
        """Return the nearest manifest above a file that declares a package."""
        directory = posixpath.dirname(path)
        if directory not in self._manifests:
            self._manifests[directory] = next(
                (
                    (above, manifest)
                    for above in _directories(directory)
                    for _, manifest in self._lookup("rs.cargo", above)
                    if manifest.package
                ),
                None,
            )
        return self._manifests[directory]

    def _dependency_root(self, directory: str, dependency: Dependency) -> str:
        if dependency.inherited:
            shared = (
                given
                for above in _directories(directory)
                for _, manifest in self._lookup("rs.cargo", above)
                for given in manifest.shared
                if given.name == dependency.name
            )
            dependency = next(shared, dependency)
        if dependency.path:
            manifests = self._lookup("rs.cargo", joined("", dependency.path))
        else:
            manifests = self._lookup("rs.package", dependency.package)
        roots = (manifest.library_path for _, manifest in manifests if manifest.library_path)
        return next((root for root in roots if self._lookup("rs.file", root)), "")


def _directories(directory: str) -> Iterator[str]:
    yield directory
    while directory:
        directory = posixpath.dirname(directory)
        yield directory
