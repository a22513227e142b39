"""Cargo.toml: crate roots, and the names of dependencies."""

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any

from treering.code.facts import SyntaxProblem
from treering.code.languages.paths import joined
from treering.code.languages.rust.body import Dependency, Manifest
from treering.code.languages.toml import read_toml

_TARGETS = {"bin": "autobins", "example": "autoexamples", "test": "autotests", "bench": "autobenches"}
_DEPENDENCIES = ("dependencies", "dev-dependencies", "build-dependencies", "dev_dependencies", "build_dependencies")


def read_manifest(path: str, source: bytes) -> tuple[Manifest | None, tuple[SyntaxProblem, ...]]:
    """Return the manifest, or the reason why it cannot be read."""
    data = read_toml(source)
    if isinstance(data, SyntaxProblem):
        return None, (data,)
    place = posixpath.dirname(path)
    package = _table(data, "package")
    workspace = _table(data, "workspace")
    library = _table(data, "lib")
    name = _text(package, "name")
    return Manifest(
        package=name,
        library=(_text(library, "name") or name).replace("-", "_"),
        library_path=joined(place, _text(library, "path") or "src/lib.rs") if package else "",
        roots=tuple(sorted(set(_roots(place, data, package)))),
        automatic=tuple(kind for kind, switch in _TARGETS.items() if package.get(switch, True) is not False),
        dependencies=tuple(_dependencies(place, data)),
        workspace="workspace" in data,
        shared=tuple(_named(place, workspace, "dependencies")),
        programs=tuple((_text(target, "name"), root) for target, root in _placed_targets(place, data, "bin")),
    ), ()


def _roots(place: str, data: Mapping[str, Any], package: Mapping[str, Any]) -> Iterator[str]:
    build = package.get("build", "build.rs")
    if isinstance(build, str):
        yield joined(place, build)
    for kind in _TARGETS:
        yield from (root for _, root in _placed_targets(place, data, kind))


def _placed_targets(place: str, data: Mapping[str, Any], kind: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Yield the targets that name their root file, with its path."""
    targets = data.get(kind)
    for target in targets if isinstance(targets, list) else ():
        if isinstance(target, dict) and isinstance(target.get("path"), str):
            yield target, joined(place, target["path"])


def _dependencies(place: str, data: Mapping[str, Any]) -> Iterator[Dependency]:
    tables = [data, *(table for table in _table(data, "target").values() if isinstance(table, dict))]
    for table in tables:
        for kind in _DEPENDENCIES:
            yield from _named(place, table, kind)


def _named(place: str, table: Mapping[str, Any], kind: str) -> Iterator[Dependency]:
    for name, entry in _table(table, kind).items():
        details = entry if isinstance(entry, dict) else {}
        path = _text(details, "path")
        yield Dependency(
            name.replace("-", "_"),
            _text(details, "package") or name,
            joined(place, path) or "." if path else "",
            details.get("workspace") is True,
        )


def _table(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = table.get(name)
    return found if isinstance(found, dict) else {}


def _text(table: Mapping[str, Any], name: str) -> str:
    found = table.get(name)
    return found if isinstance(found, str) else ""
