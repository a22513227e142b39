"""What one file says that nobody can write down: it costs that file, in this process and in others."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.code_projects import code_of, stored, written
from treering.code.encoding import unpack_facts
from treering.code.facts import Edge, Facts, Resolved, Unresolved
from treering.code.files import source_file as reading
from treering.code.files.discovery import discover
from treering.code.files.source_file import NOT_UNDERSTOOD, SourceFile, read_file
from treering.code.index.resolution import resolve_file
from treering.code.index.stored_symbols import StoredSymbols
from treering.code.index.worker_pool import WorkerPool
from treering.code.language_choice import MANIFESTS, load_language
from treering.core.graph import EdgeKind
from treering.core.settings import IndexSettings
from treering.memory import Memory

HALF = '"\\ud800"'
HOSTILE = {
    "tsconfig.json": f'{{"compilerOptions": {{"baseUrl": {HALF}, "paths": {{{HALF}: [{HALF}]}}}}, "extends": {HALF}}}',
    "package.json": f'{{"name": {HALF}, "main": {HALF}, "imports": {{{HALF}: {HALF}}}, "exports": {{"./\\udfff": 1}}}}',
    "jsconfig.json": f'{{"references": [{{"path": {HALF}}}]}}',
    "pyproject.toml": '[project]\nname = "\\ud800"\n',
    "Cargo.toml": '[package]\nname = "\\ud800"\n',
    "b.py": '__all__ = ["\\ud800"]\n@app.route("/\\ud800")\ndef f(x: "\\ud800"): getattr(x, "\\ud800")()\n',
    "b.ts": 'export const o = {"\\ud800": () => 1}; app.get("\\ud800", o); class A {"\\ud800"() {} "x\\0y"() {}}\n',
    "c.go": 'package p\nimport "\\ud800"\nfunc f() { http.HandleFunc("\\ud800", g) }\n',
    "d.rs": '#[get("\\u{d800}")]\nfn f() {}\n#[path = "\\u{d800}"]\nmod x;\n',
}
FINE = {"fine.py": "def fine():\n    fine()\n", "fine.ts": 'import "./b";\nexport function fine() {}\n'}

TEXTS = st.lists(
    st.sampled_from(["\\ud800", "\\udfff", "\\u0000", "\\ud83d\\ude00", "é", "./a", "*", "@a/", ""]), max_size=3
)
STRINGS = TEXTS.map(lambda parts: f'"{"".join(parts)}"')
KEYS = STRINGS | st.sampled_from(
    [
        json.dumps(name)
        for name in ("compilerOptions", "baseUrl", "paths", "extends", "references", "path", "name", "main")
    ]
    + [json.dumps(name) for name in ("exports", "imports", "types", ".", "./a")]
)
VALUES = st.recursive(
    STRINGS | st.sampled_from(["1", "null", "1e999", "99999999999999999999999", "NaN"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(st.tuples(KEYS, inner), max_size=4).map(
            lambda items: f"{{{', '.join(f'{key}: {item}' for key, item in items)}}}"
        )
    ),
    max_leaves=12,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz").resolve()


@pytest.mark.parametrize("name", ["tsconfig.json", "package.json"])
@given(VALUES)
@example(HOSTILE["tsconfig.json"])
@example(HOSTILE["package.json"])
def test_any_manifest_is_read_encoded_and_resolved(folder: Path, name: str, text: str) -> None:
    written(folder, {name: text})
    found = read_file(folder, name, "typescript", 1_000_000)
    assert found.skipped == ""
    facts = unpack_facts("typescript", found.facts)
    resolved = resolve_file("typescript", facts, StoredSymbols([], lambda _path: {}))
    assert resolved.problem == ""


@pytest.mark.parametrize("many_files", [1, 1_000], ids=["crew", "one process"])
def test_half_a_character_ends_no_run(memory: Memory, tmp_path: Path, many_files: int) -> None:
    root = written(tmp_path / "project", HOSTILE | FINE)
    done = code_of(memory, many_files=many_files, processes=2).index(root)
    assert done.complete
    assert stored(memory).keys() == (HOSTILE | FINE).keys()
    assert stored(memory)["fine.py"].edges
    assert code_of(memory).index(root).read == 0


def test_the_pool_reads_the_same_as_this_process(tmp_path: Path) -> None:
    root = written(tmp_path / "project", HOSTILE | FINE).resolve()
    files = discover(root, IndexSettings()).found
    with WorkerPool(root, IndexSettings(processes=2)) as crew:
        apart = {each.path: _said(each) for each in crew.read(files)}
    assert apart == {each.path: _said(read_file(root, each.path, each.language, 1_000_000)) for each in files}
    assert {Path(path).name for path in apart} & MANIFESTS


def _said(found: SourceFile) -> tuple[object, ...]:
    return found.path, found.digest, found.skipped, found.facts, found.definitions, found.problems


@pytest.mark.parametrize(
    "part", ["pack_facts", "pack_definitions", "pack_keys", "pack_chunks", "stored_chunks", "chunks_of"]
)
def test_facts_that_cannot_be_encoded_cost_only_their_file(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    root, begun = written(tmp_path / "project", FINE | {"b.py": "def b(): ...\n"}), list[int]()
    packs: Callable[..., Any] = getattr(reading, part)

    def fails_first(*given: Any) -> Any:
        begun.append(1)
        return "\ud800".encode() if len(begun) == 1 else packs(*given)

    monkeypatch.setattr(reading, part, fails_first)
    done = code_of(memory).index(root)
    assert done.complete
    assert done.totals.files == len(FINE)
    assert NOT_UNDERSTOOD in str(done.problems)


class _Hostile:
    """Resolves a file to what nobody can write down."""

    def __init__(self, found: Resolved | Exception) -> None:
        self._found = found

    def resolve(self, _facts: Facts, _ask: object) -> Resolved:
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


@pytest.mark.parametrize(
    "found",
    [
        Resolved((Edge("a.py", "\ud800", EdgeKind.CALLS, 1.0, 1),), ()),
        Resolved((Edge("a.py", "b.py", EdgeKind.CALLS, 1.0, 2**40),), ()),
        Resolved((), (Unresolved("a.py", "\ud800", 1),)),
        ValueError("\ud800" * 1_000),
    ],
    ids=["a target", "a line", "a text", "an error"],
)
def test_resolutions_that_cannot_be_encoded_cost_only_their_file(
    found: Resolved | Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.code.index.resolution.load_language", lambda _name: _Hostile(found))
    facts = load_language("python").extract("a.py", b"f()\n")
    resolution = resolve_file("python", facts, StoredSymbols([], lambda _path: {}))
    assert resolution.problem.startswith("its uses cannot be resolved: ")
    assert (resolution.edges, resolution.unresolved, resolution.ties) == (b"", b"", {})
    resolution.problem.encode()
