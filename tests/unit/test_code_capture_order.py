"""Facts do not depend on the order of captures: tree-sitter returns them in another one in each run."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module

import pytest
from tree_sitter import Node, Query
from tree_sitter import QueryCursor as Cursor

from treering.code.encoding import pack_facts
from treering.code.facts import Facts
from treering.code.language_choice import load_language

PYTHON = b"""
import contextlib
from errors import First, Second


@contextlib.contextmanager
def opened(): ...


class Store:
    def get(self, key):
        with opened() as one, opened():
            try:
                if key:
                    raise First(key)
                raise First
            except (First, Second):
                raise Second(self.size.total)
            except First as again:
                raise self.wrapped(again) or First
        return [each for each in self.items if (found := each.name)]


def sizes():
    raise Second(Store().get("a"), lambda: [Store.get(x) for x in y])
"""
GO = b"""
package shelf

type Book struct{ Title string }

func (b *Book) Name() string { return b.Title }

func find(all []Book) (Book, error) {
	for _, one := range all {
		if one.Name() == "x" { return one, nil }
	}
	return Book{}, errors.New(fmt.Sprint("x", len(all)))
}
"""
RUST = b"""
fn app() -> Router { Router::new().route("/a", get(first).post(second)).route("/b", get(first)) }
async fn first() -> String { helper(1) }
async fn second() -> String { helper(2) }
fn helper(n: u8) -> String { n.to_string() }
"""
JAVA = b"class Shelf { int size() { return count + items.length(); } int count; Shelf other() { return new Shelf(); } }"


class _Reversed:
    def __init__(self, query: Query) -> None:
        self._cursor = Cursor(query)

    def captures(self, node: Node) -> dict[str, list[Node]]:
        return {name: nodes[::-1] for name, nodes in self._cursor.captures(node).items()}


@pytest.mark.parametrize(
    ("language", "module", "path", "source"),
    [
        ("python", "python.statements", "a.py", PYTHON),
        ("go", "go.extraction", "a.go", GO),
        ("rust", "rust.extraction", "a.rs", RUST),
        ("java", "definitions_only.used_names", "Shelf.java", JAVA),
    ],
)
def test_facts_are_the_same_whatever_the_order_of_captures(
    monkeypatch: pytest.MonkeyPatch, language: str, module: str, path: str, source: bytes
) -> None:
    extract: Callable[[str, bytes], Facts] = load_language(language).extract
    before = extract(path, source)
    monkeypatch.setattr(import_module(f"treering.code.languages.{module}"), "QueryCursor", _Reversed)
    assert pack_facts(extract(path, source)) == pack_facts(before)


_DIGEST = """
import sys
from treering.code.encoding import pack_facts, pack_keys
from treering.code.index.resolution import resolve_file
from treering.code.index.stored_symbols import StoredSymbols
from treering.code.language_choice import load_language
from treering.ports.code import FileKeys

language = load_language("python")
sources = {"errors.py": b"class First(Exception): ...\\nclass Second(First): ...\\n", "a.py": sys.stdin.buffer.read()}
facts = {path: language.extract(path, source) for path, source in sources.items()}
surfaces = {path: language.surface(each) for path, each in facts.items()}
symbols = StoredSymbols([FileKeys(path, pack_keys(each), b"") for path, each in surfaces.items()], surfaces.__getitem__)
print([pack_facts(each) for each in facts.values()], [resolve_file("python", each, symbols) for each in facts.values()])
"""


def test_facts_edges_and_keys_are_the_same_in_every_process() -> None:
    runs = [
        subprocess.run(
            [sys.executable, "-c", _DIGEST],
            input=PYTHON,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert len(set(runs)) == 1
    assert len(runs[0]) > len(PYTHON)
