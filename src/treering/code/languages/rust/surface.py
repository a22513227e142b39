"""The part of a Rust file or manifest that is visible to other files, by lookup key."""

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from treering.code.facts import Facts, Key
from treering.code.languages.paths import joined
from treering.code.languages.rust.body import FUNCTION_MARK, Declaration, Manifest, RustBody

ROOT_NAMES = frozenset({"mod.rs", "lib.rs", "main.rs"})


def surface(facts: Facts) -> Mapping[Key, Any]:
    body: RustBody = facts.body
    if body.manifest is not None:
        return _manifest_surface(facts.path, body.manifest)
    found: dict[Key, Any] = {("rs.file", facts.path): True}
    gathered: defaultdict[Key, list[Any]] = defaultdict(list)
    for item in body.items:
        for key, entry in _entries(facts.path, item.decl):
            gathered[key].append(entry)
    found.update((key, tuple(entries)) for key, entries in gathered.items())
    return found


def _manifest_surface(path: str, manifest: Manifest) -> Mapping[Key, Any]:
    found: dict[Key, Any] = {("rs.cargo", posixpath.dirname(path)): manifest}
    if manifest.package:
        found["rs.package", manifest.package] = manifest
    return found


def _entries(path: str, decl: Declaration) -> Iterator[tuple[Key, Any]]:
    if decl.header is not None:
        yield ("rs.member", decl.header.name, decl.name), decl
        if decl.kind == "fn" and decl.flag == "self":
            yield ("rs.method", decl.name), True
    elif decl.kind == "derive":
        yield ("rs.derive", decl.name), decl
    elif decl.kind == "impl":
        if len(decl.types) > 1:
            yield ("rs.traits", decl.name), decl
    elif FUNCTION_MARK not in decl.scope and decl.kind != "code":
        if decl.kind == "glob":
            yield ("rs.globs", path, decl.scope), decl
            if decl.flag == "directory":
                yield ("rs.directory", posixpath.dirname(path)), True
        else:
            yield ("rs.item", path, decl.scope, decl.name), decl
        if decl.kind == "macro":
            yield ("rs.macro", decl.name), decl
        if decl.kind == "mod" and decl.flag.startswith("file"):
            for candidate in sorted(
                {*module_files(path, decl, as_root=True), *module_files(path, decl, as_root=False)}
            ):
                yield ("rs.mod", candidate), (decl.scope, decl.name)


def module_files(path: str, decl: Declaration, *, as_root: bool) -> tuple[str, ...]:
    """Return the candidate files of `mod x;`: beside a crate root or `mod.rs`, else in the directory of that name."""
    place, file = posixpath.split(path)
    if not as_root and file not in ROOT_NAMES:
        place = joined(place, file.removesuffix(".rs"))
    if decl.text:
        return (joined(joined(place, decl.scope) if decl.scope else posixpath.dirname(path), decl.text),)
    place = joined(place, decl.scope) if decl.scope else place
    name = decl.name.removeprefix("r#")
    return joined(place, f"{name}.rs"), joined(place, f"{name}/mod.rs")
