"""Matches of the TypeScript, TSX and JavaScript queries: imports, exports and heritage."""

import re
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treering.code.languages import typescript
from treering.code.languages.typescript import LANGUAGE
from treering.code.languages.typescript.query_parts import QUERIES
from treering.code.languages.typescript.terms import TYPE, TsBody

PATHS = ("a.ts", "a.tsx", "a.js")


def _body(path: str, source: str) -> TsBody:
    body = LANGUAGE.extract(path, source.encode()).body
    assert isinstance(body, TsBody)
    return body


def _bound(body: TsBody) -> list[str]:
    return [name for name in body.scopes[0].names if not name.startswith(TYPE)]


@pytest.mark.parametrize("path", PATHS)
@given(names=st.lists(st.from_regex(r"v[a-z0-9]{1,8}", fullmatch=True), unique=True, min_size=1, max_size=30))
def test_imported_names_are_bound_in_the_order_of_the_text(path: str, names: list[str]) -> None:
    listed = ", ".join(f"{name} as {name}_" if len(name) % 2 else name for name in names)
    body = _body(path, f"import first, {{ {listed} }} from './other'")
    assert _bound(body) == ["first", *(name + "_" if len(name) % 2 else name for name in names)]
    assert body.imports == (("./other", 1),)


@pytest.mark.parametrize("path", PATHS)
def test_an_import_binds_the_names_in_it(path: str) -> None:
    body = _body(
        path, "import one, * as /* all */ two from './m'\nimport { default as three, 'a b' as four } from './n'"
    )
    named = [body.cells[body.scopes[0].names[name]] for name in ("one", "three", "four")]
    assert _bound(body) == ["one", "two", "three", "four"]
    assert [(text, body.cells[parts[0]][1]) for _, text, _, parts in named] == [
        ("./m", "default"),
        ("./n", "default"),
        ("./n", "a b"),
    ]


@pytest.mark.parametrize("path", PATHS)
def test_a_re_export_keeps_its_new_name(path: str) -> None:
    body = _body(path, "export { a, b as c, default as d } from './m'\nexport * as e from './n'\nexport * from './o'")
    assert [name for name in body.exports if not name.startswith(TYPE)] == ["a", "c", "d", "e"]
    assert body.stars == ("./o",)
    assert [specifier for specifier, _ in body.imports] == ["./m", "./n", "./o"]


def test_an_import_by_require_is_the_whole_module() -> None:
    body = _body("a.ts", "import whole = require('./m')")
    assert _bound(body) == ["whole"]
    assert body.imports == (("./m", 1),)


@pytest.mark.parametrize("head", ["class A", "abstract class A", "const A = class B"])
def test_class_heritage(head: str) -> None:
    body = _body("a.ts", f"{head} extends Base<T> /* and */ implements One, space.Two<T> {{}}")
    assert [(body.cells[each.base][0], each.implements) for each in body.heritage] == [
        ("extends", False),
        ("type", True),
        ("type", True),
    ]


def test_interface_heritage() -> None:
    body = _body("a.ts", "interface A extends One, Two<T> {}")
    assert [body.cells[each.base][1] for each in body.heritage] == ["One", "Two"]


def test_a_comment_is_not_a_base_class() -> None:
    assert len(_body("a.js", "class A extends /* soon another */ mixed(B) {}").heritage) == 1


def test_every_capture_of_the_queries_is_used() -> None:
    queries = files("treering.code.languages.queries")
    captured = {
        name
        for query in {query for queries in QUERIES.values() for query in queries}
        for name in re.findall(r"@(\w+)", queries.joinpath(f"{query}.scm").read_text("utf-8"))
    }
    readers = "".join(files(typescript).joinpath(name).read_text("utf-8") for name in ("modules.py", "classes.py"))
    assert {name for name in captured if f'"{name}"' not in readers} == set()
