"""However a project is edited, the stored graph and the one in memory are those of a fresh build."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

import treering
from tests.code_projects import code_of, fresh, fresh_graph, stored, written
from tests.examples import examples
from treering.core.scope import Scope
from treering.memory import Memory

NAMES = ("alpha", "beta", "gamma")
FOLDERS = ("", "pkg/", "pkg/sub/")


def python(one: str, other: str, folder: str) -> list[str]:
    package = folder.rstrip("/").replace("/", ".")
    module = f"{package}.{other}" if package else other
    return [
        f"def {one}():\n    return {other}()\n",
        f"from {module} import {other}\ndef {one}():\n    return {other}()\n",
        f"import {module} as m\nclass {one.title()}:\n    def run(self):\n        return m.{other}(1)\n",
        f"from .{other} import *\nfrom .{other} import {other.title()}\n"
        f"class Sub({other.title()}):\n    def run(self): ...\n",
        f"from {module} import {other.title()}\nx = {other.title()}()\ndef test_{one}():\n    x.run()\n",
        f"from {module} import {other}, {other.title()}\nTABLE = [{other}]\n@{other}.register\n"
        f"def {one}(x: '{other.title()}', f={other}):\n    raise {other.title()}\n",
        f"from typing import Protocol\nclass {one.title()}(Protocol):\n    def run(self): ...\n"
        f"{one} = Made()\ndef user(it):\n    it.run()\n",
        f"def {one}(:\n  broken",
        "",
    ]


def typescript(one: str, other: str, folder: str) -> list[str]:
    return [
        f"export function {one}() {{ return 1 }}\n",
        f"import {{ {other} }} from './{other}'\nexport function {one}() {{ return {other}() }}\n",
        f"export * from './{other}'\nexport class {one.title()} {{ run() {{ return this.run() }} }}\n",
        f"import * as m from './{other}'\nimport {{ {other.title()} }} from './{other}'\n"
        f"export class {one.title()} extends {other.title()} {{ go() {{ m.{other}() }} }}\n",
        f"import {{ {other} }} from '@/{folder}{other}'\nexport const {one} = () => {other}(2)\n",
        "export function {",
    ]


def go(one: str, other: str, folder: str) -> list[str]:
    package = folder.rstrip("/").rpartition("/")[2] or "main"
    return [
        f"package {package}\n\nfunc {one.title()}() int {{ return {other.title()}() }}\n",
        f"package {package}\n\ntype {one.title()}T struct{{}}\n\n"
        f"func (t {one.title()}T) Run() {{ {other.title()}() }}\n",
        f'package {package}\n\nimport "example.com/app/pkg"\n\nfunc {one.title()}() {{ pkg.{other.title()}() }}\n',
        f"package {package}\n\ntype {one.title()}I interface{{ Run() }}\n\n"
        f"func {one.title()}(i {one.title()}I) {{ i.Run() }}\n",
        f"package {package}\n\nfunc {{",
    ]


def rust(one: str, other: str, folder: str) -> list[str]:
    return [
        f"pub fn {one}() -> u8 {{ 1 }}\n",
        f"use crate::{other}::{other};\npub fn {one}() {{ {other}(); }}\n",
        f"mod {other};\npub use {other}::*;\npub struct {one.title()};\n"
        f"impl {one.title()} {{ pub fn run(&self) {{ self.run() }} }}\n",
        f"use super::{other};\npub trait {one.title()}T {{ fn run(&self); }}\n"
        f"pub fn {one}() {{ {other}::{other}() }}\n",
        "pub fn {",
    ]


def java(one: str, other: str, folder: str) -> list[str]:
    package = folder.rstrip("/").replace("/", ".")
    return [
        f"class {one.title()} {{ void run() {{}} }}\n",
        f"import {package}.{other};\nimport sub.{other};\ninterface {one.title()} {{ int run(); }}\n",
        f"import static pkg.sub.{other}.Inner.make;\nclass {one.title()} {{ class Inner {{}} }}\n",
        "class {",
    ]


def header(one: str, other: str, folder: str) -> list[str]:
    return [
        f'#include "{other}.h"\nint {one}() {{ return 1; }}\n',
        f'#include "sub/{other}.h"\nstruct {one} {{ int x; }};\n',
        f'#include "../{folder}{other}.h"\n',
    ]


def markdown(one: str, other: str, folder: str) -> list[str]:
    return [f"# {one}\n\nSee {folder}{other}.\n", f"{one} {other}\n" * 300, ""]


KINDS = {".py": python, ".ts": typescript, ".go": go, ".rs": rust, ".java": java, ".h": header, ".md": markdown}
MANIFESTS = {
    "pyproject.toml": ['[project]\nname = "app"\n', '[tool.setuptools]\npackage-dir = {"" = "pkg"}\n', "[broken"],
    "tsconfig.json": ['{"compilerOptions": {"baseUrl": ".", "paths": {"@/*": ["./*"]}}}', "{}", "{broken"],
    "package.json": ['{"name": "app", "main": "alpha.ts"}', "{"],
    "go.mod": ["module example.com/app\n\ngo 1.22\n", "module example.com/other\n", "what?"],
    "Cargo.toml": ['[package]\nname = "app"\n', '[package]\nname = "other"\n[lib]\npath = "alpha.rs"\n', "[broken"],
}
FURTHER_NAMES = {".py": ("__init__",), ".ts": ("index",), ".rs": ("lib", "mod")}


@st.composite
def files(draw: st.DrawFn) -> tuple[str, str]:
    """A path, and what stands there."""
    if draw(st.integers(0, 7)) == 0:
        manifest = draw(st.sampled_from(sorted(MANIFESTS)))
        return manifest, draw(st.sampled_from(MANIFESTS[manifest]))
    suffix = draw(st.sampled_from(sorted(KINDS)))
    folder = draw(st.sampled_from(FOLDERS))
    name = draw(st.sampled_from((*NAMES, *FURTHER_NAMES.get(suffix, ()))))
    other = draw(st.sampled_from(NAMES))
    return f"{folder}{name}{suffix}", draw(st.sampled_from(KINDS[suffix](name, other, folder)))


@dataclass(frozen=True)
class Edit:
    """Files written, a file removed, a file or folder moved; then the project is indexed, told of it or not."""

    written: tuple[tuple[str, str], ...]
    removed: int | None
    moved: tuple[int, str] | None
    folder_gone: bool
    told: bool


EDITS = st.builds(
    Edit,
    written=st.lists(files(), max_size=4).map(tuple),
    removed=st.none() | st.integers(0, 20),
    moved=st.none() | st.tuples(st.integers(0, 20), st.sampled_from(NAMES)),
    folder_gone=st.integers(0, 9).map(lambda drawn: drawn == 0),
    told=st.booleans(),
)


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with tempfile.TemporaryDirectory() as folder, treering.open(Path(folder) / "x.db", project="p") as memory:
        yield memory


@pytest.fixture(scope="module")
def memory_of_server(postgres_url: str) -> Iterator[Memory]:
    with (
        tempfile.TemporaryDirectory() as folder,
        treering.open(postgres_url, project="p", tenant=f"t-{uuid4().hex[:12]}", blobs=Path(folder)) as memory,
    ):
        yield memory


PROJECTS = st.lists(files(), max_size=12)
MANY_EDITS = st.lists(EDITS, min_size=1, max_size=5)


@given(PROJECTS, MANY_EDITS, st.sampled_from((400, 2)))
def test_an_updated_graph_is_the_rebuilt_one(
    memory: Memory, first: list[tuple[str, str]], edits: list[Edit], batch: int
) -> None:
    _edit_and_compare(memory, first, edits, batch)


@given(PROJECTS, MANY_EDITS, st.sampled_from((400, 2)))
@examples(15)
def test_an_updated_graph_is_the_rebuilt_one_on_a_server(
    memory_of_server: Memory, first: list[tuple[str, str]], edits: list[Edit], batch: int
) -> None:
    _edit_and_compare(memory_of_server, first, edits, batch)


def _edit_and_compare(memory: Memory, first: list[tuple[str, str]], edits: list[Edit], batch: int) -> None:
    scope = Scope(tenant=memory.scope.tenant, project=uuid4().hex)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        root.mkdir()
        now: dict[str, str] = dict(first)
        written(root, now)
        code = code_of(memory, scope, batch=batch)
        code.index(root)
        for edit in edits:
            hints = _apply(edit, root, now)
            if edit.told:
                code._current.catch_up(root, hints)
            else:
                code.index(root)
            assert stored(memory, scope) == fresh(now)
            assert code._current.graph().edges() == fresh_graph(now).edges()


def _apply(edit: Edit, root: Path, now: dict[str, str]) -> set[str]:
    """Change the files and what is known of them; the paths that a watcher would tell of."""
    told = set()
    for path, content in edit.written:
        written(root, {path: content})
        now[path] = content
        told.add(path)
    if edit.removed is not None and now:
        path = sorted(now)[edit.removed % len(now)]
        (root / path).unlink()
        del now[path]
        told.add(path)
    if edit.moved is not None and now:
        path = sorted(now)[edit.moved[0] % len(now)]
        place = f"{path[: path.rfind('/') + 1]}{edit.moved[1]}{path[path.rfind('.') :]}"
        (root / path).rename(root / place)
        now[place] = now.pop(path)
        told |= {path, place}
    if edit.folder_gone and (root / "pkg").is_dir():
        shutil.rmtree(root / "pkg")
        for path in [path for path in now if path.startswith("pkg/")]:
            del now[path]
        told.add("pkg")
    return told
