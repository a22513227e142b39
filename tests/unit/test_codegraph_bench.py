"""The measures and the readers of the benches of the code graph: a wrong one would flatter or slander the graph."""

import ast
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.codegraph_found import indexed, naive_calls
from bench.codegraph_packages import Package, Unavailable, fetched
from bench.codegraph_python import calls, definitions, imports
from bench.codegraph_scoring import Rate, Site, Truth, folded, score_calls, score_imports
from bench.made_up_code import make_up, source
from tests.code_projects import written

KINDS = {
    "a.py::Shop": "class",
    "a.py::Shop.sell": "method",
    "a.py::Shop.sell.round": "function",
    "b.py::total": "function",
    "b.py::other": "function",
}
FILES = frozenset(("a.py", "b.py"))


def truth(calls: set[tuple[str, str]], **more: object) -> Truth:
    return Truth(FILES, KINDS, frozenset(), frozenset(calls), **more)  # type: ignore[arg-type]


def test_a_nested_function_counts_as_the_method_around_it_and_a_constructor_as_its_class() -> None:
    assert folded("a.py::Shop.sell.round", KINDS) == "a.py::Shop.sell"
    assert folded("a.py::Shop.__init__", KINDS, constructor=True) == "a.py::Shop"
    assert folded("a.py::Shop.__init__", KINDS) == "a.py::Shop.__init__"
    assert folded("a.py", KINDS) == "a.py"


def test_calls_are_scored_over_all_and_between_files() -> None:
    right = {("a.py::Shop.sell", "b.py::total"), ("b.py::total", "b.py::other")}
    found = {("a.py::Shop.sell.round", "b.py::total"), ("b.py::other", "b.py::total")}
    score = score_calls(truth(right), found)
    assert score.all == Rate(expected=2, found=2, right=1)
    assert score.across == Rate(expected=1, found=1, right=1)
    assert score.judged is None


def test_what_leads_to_itself_or_out_of_the_files_does_not_count() -> None:
    found = {("b.py::total", "b.py::total"), ("b.py::total", "vendored.py::other")}
    assert score_calls(truth({("b.py::total", "b.py::other")}), found).all == Rate(1, 0, 0)


def test_an_optional_call_is_neither_asked_for_nor_held_against() -> None:
    optional = frozenset({("b.py::other", "b.py::total")})
    wanted = {("b.py::total", "b.py::other")}
    assert score_calls(truth(wanted, optional=optional), {*wanted, *optional}).all == Rate(1, 1, 1)


@pytest.mark.parametrize(
    ("statuses", "judged"), [(("ext",), 0.5), (("in",), 0.5), (("none",), 1.0), (("var",), 1.0), (("in", "none"), 1.0)]
)
def test_a_false_call_is_judged_where_the_oracle_knew_all_calls_of_that_name(
    statuses: tuple[str, ...], judged: float
) -> None:
    right = {("a.py::Shop.sell", "b.py::total")}
    sites = (Site("a.py::Shop.sell", "total", "in"), *(Site("b.py::total", "other", status) for status in statuses))
    score = score_calls(truth(right, sites=sites), {*right, ("b.py::total", "b.py::other")})
    assert score.judged == judged


@given(st.sets(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"))))
def test_what_agrees_with_the_truth_is_perfect(pairs: set[tuple[str, str]]) -> None:
    known = Truth(frozenset("abc"), {}, frozenset(pairs), frozenset())
    rate = score_imports(known, pairs)
    assert rate.expected == rate.found == rate.right == len({pair for pair in pairs if pair[0] != pair[1]})
    assert rate.f1 == (1.0 if rate.right else 0.0)


def test_imports_reach_the_submodule_where_there_is_one() -> None:
    trees = {
        path: ast.parse(text)
        for path, text in {
            "shop/__init__.py": "from .till import open_till\nfrom . import till, names_nothing",
            "shop/till.py": "import shop.parts.coin\nimport os",
            "shop/parts/__init__.py": "",
            "shop/parts/coin.py": "from ..till import close\nfrom shop import parts\nfrom .. import open_till",
            "shop/late.py": "import importlib\nif 1:\n    importlib.import_module('shop.till')",
        }.items()
    }
    assert imports(trees) == {
        ("shop/__init__.py", "shop/till.py"),
        ("shop/till.py", "shop/parts/coin.py"),
        ("shop/parts/coin.py", "shop/till.py"),
        ("shop/parts/coin.py", "shop/parts/__init__.py"),
        ("shop/parts/coin.py", "shop/__init__.py"),
        ("shop/late.py", "shop/till.py"),
    }


def test_calls_belong_to_the_code_that_runs_them() -> None:
    tree = ast.parse(
        "@mark(given())\n"
        "@bare.decorator\n"
        "def outer(x=default()):\n"
        "    class Inner(base()):\n"
        "        field = made()\n"
        "        def method(self):\n"
        "            return é.called()\n"
    )
    found = {call.name: call for call in calls("a.py", tree)}
    assert {name: call.caller.partition("::")[2] for name, call in found.items()} == {
        "mark": "<module>",
        "given": "<module>",
        "decorator": "<module>",
        "default": "<module>",
        "base": "outer",
        "made": "outer.Inner",
        "called": "outer.Inner.method",
    }
    assert {name for name, call in found.items() if call.decorates == "a.py::outer"} == {"mark", "given", "decorator"}
    assert (found["called"].line, found["called"].column) == (7, len("            return é.".encode()))


def test_definitions_are_told_with_their_kind_and_line() -> None:
    tree = ast.parse("class A:\n    def b(self):\n        def c(): ...\nif 1:\n    async def d(): ...\n")
    assert set(definitions("a.py", tree)) == {
        ("a.py::A", "class", 1),
        ("a.py::A.b", "method", 2),
        ("a.py::A.b.c", "function", 3),
        ("a.py::d", "function", 5),
    }


def test_the_naive_matcher_takes_the_own_file_then_the_only_one(tmp_path: Path) -> None:
    root = written(
        tmp_path / "p",
        {
            "a.py": "import b\n\n\ndef run():\n    near()\n    b.only()\n    b.twice()\n\n\ndef near(): ...\n",
            "b.py": "def near(): ...\ndef only(): ...\ndef twice(): ...\n",
            "c.py": "def twice(): ...\n",
            "d.ts": "export function go() { return new Thing().only() }\nclass Thing {}\n",
        },
    )
    found = indexed(root)
    assert naive_calls(root, found.definitions) == {
        ("a.py::run", "a.py::near"),
        ("a.py::run", "b.py::only"),
        ("d.ts::go", "d.ts::Thing"),
        ("d.ts::go", "b.py::only"),
    }
    assert ("a.py::run", "b.py::twice") in found.calls
    assert ("a.py", "b.py") in found.imports


def test_an_archive_that_is_not_the_measured_one_is_refused(tmp_path: Path) -> None:
    package = Package("thing", "1.0", "python", "0" * 64, ("thing",))
    written(tmp_path, {"archives/thing-1.0.tar.gz": "something else"})
    with pytest.raises(Unavailable, match="is not the archive that was measured"):
        fetched(package, tmp_path)


def test_made_up_code_is_what_it_is_said_to_be(tmp_path: Path) -> None:
    make_up(tmp_path, 60)
    found = indexed(tmp_path)
    files = [path for path in found.definitions if not path.endswith("__init__.py")]
    assert len(files) == 60
    assert all(len(found.definitions[path]) == 20 for path in files)
    assert source(5, random.Random(1)).count("    value = ") == 200
    assert any(origin.startswith("part_1/") and target.startswith("part_0/") for origin, target in found.calls)
