"""Dependencies of Python code without calls: constructors, fixtures, constants, properties, context managers."""

import textwrap
from collections.abc import Mapping

import pytest

from tests.code_projects import fresh_graph
from tests.resolver_projects import edges_of, facts_of, resolve_all
from treering.code.facts import DefinitionKind
from treering.code.languages.python import LANGUAGE
from treering.core.graph import EdgeKind


def dependences(files: Mapping[str, str]) -> set[tuple[str, str]]:
    sources = {path: textwrap.dedent(source) for path, source in files.items()}
    return {(origin, target) for origin, kind, target in edges_of(sources, LANGUAGE) if kind == "depends_logically"}


def test_a_class_depends_on_its_constructors() -> None:
    source = """
        class Made:
            def __new__(cls): ...
            def __init__(self): ...
            def __post_init__(self): ...
            def other(self): ...
        class Child(Made): ...
        def __init__(): ...
    """
    assert dependences({"a.py": source}) == {
        ("a.py::Made", "a.py::Made.__new__"),
        ("a.py::Made", "a.py::Made.__init__"),
        ("a.py::Made", "a.py::Made.__post_init__"),
    }


def test_tests_and_fixtures_depend_on_requested_fixtures() -> None:
    files = {
        "tests/conftest.py": """
            import pytest
            @pytest.fixture
            def app(): ...
            @pytest.fixture(name="client")
            def make_client(app): ...
        """,
        "tests/deep/test_it.py": """
            import pytest
            @pytest.fixture
            def app(app): return app
            def test_param(client, missing, given=3): ...
            @pytest.mark.usefixtures("app", "client")
            class TestMarked:
                def test_in(self): ...
                def helps(self): ...
            @pytest.mark.parametrize("app, size", [(1, 2)])
            def test_told(app, size, client): ...
            def helper(app): ...
        """,
    }
    deep, above = "tests/deep/test_it.py::", "tests/conftest.py::"
    assert dependences(files) == {
        (above + "make_client", above + "app"),
        (deep + "app", above + "app"),
        (deep + "test_param", above + "make_client"),
        (deep + "TestMarked.test_in", deep + "app"),
        (deep + "TestMarked.test_in", above + "make_client"),
        (deep + "test_told", above + "make_client"),
    }


def test_tests_depend_on_autouse_fixtures_in_scope() -> None:
    files = {
        "tests/conftest.py": """
            import pytest
            @pytest.fixture(autouse=True)
            def clean(): ...
            @pytest.fixture(autouse=False)
            def asked(): ...
        """,
        "tests/test_it.py": """
            import pytest
            pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("asked")]
            class TestOne:
                @pytest.fixture(autouse=True)
                def own(self): ...
                def test_in(self): ...
            def test_out(): ...
        """,
        "other/test_far.py": "def test_far(): ...",
    }
    here, above = "tests/test_it.py::", "tests/conftest.py::"
    assert dependences(files) == {
        (here + "TestOne.test_in", above + "clean"),
        (here + "TestOne.test_in", above + "asked"),
        (here + "TestOne.test_in", here + "TestOne.own"),
        (here + "test_out", above + "clean"),
        (here + "test_out", above + "asked"),
    }


CONSTANTS = """
    import typing as t
    LIMIT = 3
    T = t.TypeVar("T")
    P = t.ParamSpec("P")
    current: "App" = make()
    plain = 4
    def compute():
        return LIMIT + plain
"""


def test_upper_case_or_annotated_module_variables_are_definitions() -> None:
    facts = facts_of({"lib/core.py": textwrap.dedent(CONSTANTS)}, LANGUAGE)["lib/core.py"]
    constants = {one.qualname for one in facts.definitions if one.kind is DefinitionKind.CONSTANT}
    assert constants == {"LIMIT", "current"}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from lib.core import LIMIT as MOST\ndef f(): return [MOST]", {("main.py::f", "LIMIT")}),
        ("def f():\n    from lib import current\n    return current", {("main.py::f", "current")}),
        ("import lib.core\ndef f(): return lib.core.LIMIT", {("main.py::f", "LIMIT")}),
        ("from lib import core\ndef f(): core.current.run()", {("main.py::f", "current")}),
        ("from lib.core import *\ndef f(): return current.x", {("main.py::f", "current")}),
        ("from lib.core import compute\ndef f(): return compute", set()),
        ("from os import LIMIT\ndef f(): return LIMIT", set()),
    ],
)
def test_uses_of_constants_are_dependencies(code: str, expected: set[tuple[str, str]]) -> None:
    files = {"lib/__init__.py": "from .core import current\n", "lib/core.py": CONSTANTS, "main.py": code}
    found = {(origin, target) for origin, target in dependences(files) if origin.startswith("main.py::")}
    assert found == {(origin, f"lib/core.py::{name}") for origin, name in expected}


def test_constants_are_found_locally_and_through_re_exports() -> None:
    files = {
        "lib/__init__.py": "from .core import current as current\n",
        "lib/core.py": CONSTANTS,
        "main.py": "from lib.core import LIMIT\nTWICE = 2 * LIMIT\n",
    }
    assert dependences(files) == {
        ("lib/core.py::compute", "lib/core.py::LIMIT"),
        ("main.py::TWICE", "lib/core.py::LIMIT"),
    }
    sources = {path: textwrap.dedent(source) for path, source in files.items()}
    assert ("lib/__init__.py", "exports", "lib/core.py::current") in edges_of(sources, LANGUAGE)


def test_names_that_only_look_like_a_constant_are_not_uses() -> None:
    code = """
        LIMIT = 3
        def local():
            LIMIT = 4
            return LIMIT
        def parameter(LIMIT): return LIMIT
        def default(x=LIMIT): return x
        def keyword(): return dict(LIMIT=3)
        def attribute(x): return x.LIMIT
        def text(): return "LIMIT"  # LIMIT
        def longer(): return LIMITED, UNLIMIT
        def compared(x): return LIMIT==x
    """
    assert dependences({"a.py": code}) == {("a.py::compared", "a.py::LIMIT"), ("a.py::default", "a.py::LIMIT")}


PROPERTIES = """
    import functools
    class Base:
        @property
        def size(self): return self.held
        @size.setter
        def size(self, value): self.held = value
        def plain(self): ...
    class Child(Base):
        def __init__(self): self.base: Base = Base()
        @functools.cached_property
        def inner(self) -> Base: return self.base
        def __enter__(self): return self
        def __exit__(self, *failure): ...
        async def __aenter__(self): return self
        async def __aexit__(self, *failure): ...
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(x: Child): return x.size", {"Base.size"}),
        ("def f(x: Child): x.size = 3", {"Base.size"}),
        ("def f(x: Child): return [x.inner.size]", {"Base.size", "Child.inner"}),
        ("def f(x: Child): x.inner.plain()", {"Child.inner"}),
        ("def f(x: Child): return x.base.held, x.plain", set()),
        ("def f(x): return x.size", set()),
        ("def f(): return Child.size", set()),
        ("def f():\n    with Child() as it: return it.size", {"Base.size", "Child.__enter__", "Child.__exit__"}),
        ("def f(x: Child):\n    with x: ...", {"Child.__enter__", "Child.__exit__"}),
        ("async def f(x: Child):\n    async with x: ...", {"Child.__aenter__", "Child.__aexit__"}),
    ],
)
def test_reading_a_property_of_an_evident_type_depends_on_it(code: str, expected: set[str]) -> None:
    files = {"lib.py": PROPERTIES, "main.py": "from lib import Base, Child\n" + code}
    found = {target for origin, target in dependences(files) if origin == "main.py::f"}
    assert found == {f"lib.py::{name}" for name in expected}


def test_a_class_reads_its_own_and_its_bases_properties() -> None:
    code = """
        from lib import Base
        class Mine(Base):
            kept = 3
            @property
            def own(self): return self.size + self.kept
            def use(self): return self.own, self.made
            def make(self): self.made = 1
            @property
            def size(self): return super().size
    """
    found = {(o, t) for o, t in dependences({"lib.py": PROPERTIES, "a.py": code}) if o.startswith("a.py")}
    assert found == {
        ("a.py::Mine.own", "a.py::Mine.size"),
        ("a.py::Mine.use", "a.py::Mine.own"),
        ("a.py::Mine.size", "lib.py::Base.size"),
    }


def test_dependencies_are_not_calls_and_have_the_confidence_of_their_type() -> None:
    code = "from lib import Child\nLIMIT = 1\ndef f(x: Child):\n    return x.size + LIMIT\n"
    facts = facts_of({"lib.py": textwrap.dedent(PROPERTIES), "main.py": code}, LANGUAGE)
    edges = resolve_all(facts, LANGUAGE)["main.py"].edges
    assert not [edge for edge in edges if edge.kind is EdgeKind.CALLS]
    told = {edge.target: (edge.confidence, edge.line) for edge in edges if edge.kind is EdgeKind.DEPENDS_LOGICALLY}
    assert told == {"lib.py::Base.size": (0.9, 4), "main.py::LIMIT": (1.0, 4)}


def test_creators_of_a_class_and_its_subclasses_depend_on_its_constructor() -> None:
    files = {
        "lib.py": "def check(): ...\nclass Made:\n    def __init__(self): check()\nclass Heir(Made): ...\n",
        "main.py": "from lib import Heir, Made\ndef make(): return Made()\ndef inherit(): return Heir()\n",
    }
    graph = fresh_graph(files)
    assert {"main.py::make", "main.py::inherit"} <= set(graph.impact("lib.py::Made.__init__").dependents.ids)
    assert "lib.py::check" in graph.dependencies("main.py::inherit").dependencies.ids
    assert "main.py::make" in graph.impact("lib.py::check").dependents.ids


def test_tests_reach_what_only_their_fixtures_call() -> None:
    files = {
        "lib.py": "def helper(): ...\n",
        "conftest.py": "import pytest\nfrom lib import helper\n@pytest.fixture\ndef made():\n    return helper()\n",
        "test_it.py": "def test_it(made): ...\n",
    }
    assert fresh_graph(files).impact("lib.py::helper").tests == ("test_it.py::test_it",)
