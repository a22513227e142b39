"""Targets of Python calls: by names, receivers and evident types."""

import textwrap

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.python_sources import ACT, LIBRARY, RUN, calls, targets
from tests.resolver_projects import edges_of, facts_of, resolve_all, unresolved_of
from treering.code.facts import CallFlow, Edge
from treering.code.languages.python import LANGUAGE
from treering.core.graph import EdgeKind


def test_self_cls_and_super_follow_the_mro() -> None:
    files = {
        "base.py": """
            class Root:
                def deep(self): ...
                def both(self): ...
                def fluent(self): return self
            class Left(Root):
                def both(self): ...
            class Right(Root):
                def both(self): ...
                def right(self): ...
            """,
        "main.py": """
            from base import Left, Right
            class Leaf(Left, Right):
                def __init__(self): super().__init__()
                def run(self):
                    self.deep(); self.both(); self.right(); self.own(); self.fluent().own(); self.missing()
                def own(self): ...
                def both(self): super().both(); super(Leaf, self).deep()
                @classmethod
                def make(cls): cls().own()
            """,
    }
    assert calls(files) == {
        ("main.py::Leaf.run", "base.py::Root.deep"),
        ("main.py::Leaf.run", "main.py::Leaf.both"),
        ("main.py::Leaf.run", "base.py::Right.right"),
        ("main.py::Leaf.run", "main.py::Leaf.own"),
        ("main.py::Leaf.run", "base.py::Root.fluent"),
        ("main.py::Leaf.both", "base.py::Left.both"),
        ("main.py::Leaf.both", "base.py::Root.deep"),
        ("main.py::Leaf.make", "main.py::Leaf"),
        ("main.py::Leaf.make", "main.py::Leaf.own"),
    }
    sources = {path: textwrap.dedent(source) for path, source in files.items()}
    assert unresolved_of(sources, LANGUAGE) == {("main.py::Leaf.run", "self.missing")}


def test_calls_on_new_objects_or_named_classes_are_exact() -> None:
    files = {
        "base.py": """
            class Base:
                def m(self): ...
                def __enter__(self): return self
                @classmethod
                def create(cls): return cls()
            class C(Base): ...
            class Other(Base):
                def __new__(cls): return C()
            def some() -> C: ...
            """,
        "main.py": """
            from base import Base, C, Other, some
            def made():
                c = C()
                c.m()
            def at_once(): C().m()
            def either(x):
                c = C() if x else Base()
                c.m()
            def entered():
                with C() as c:
                    c.m()
            def named(): C.create()
            def given(c: C): c.m()
            def told(): some().m()
            def mixed(c: C):
                c.m()
                C().m()
            def again(c: C, x):
                if x:
                    c = C()
                c.m()
            def other(): Other().m()
            def default(c=C()): c.m()
            def assigned(x):
                c = C()
                c = x or c
                c.m()
            def nested(x):
                c = C()
                def inner():
                    c.m()
                c = x
            class D(C):
                def run(self): self.m()
                @classmethod
                def run_too(cls): cls.create()
            """,
    }
    sources = {path: textwrap.dedent(source) for path, source in files.items()}
    found = {
        edge.origin.partition("::")[2]: bool(edge.flow & CallFlow.EXACT)
        for edge in resolve_all(facts_of(sources, LANGUAGE), LANGUAGE)["main.py"].edges
        if edge.kind is EdgeKind.CALLS and edge.target in ("base.py::Base.m", "base.py::Base.create")
    }
    exact = dict.fromkeys(("made", "at_once", "entered", "named"), True)
    open_ones = (
        "given",
        "told",
        "mixed",
        "again",
        "other",
        "default",
        "assigned",
        "nested.inner",
        "either",
        "D.run",
        "D.run_too",
    )
    assert found == exact | dict.fromkeys(open_ones, False)


def test_super_with_a_class_continues_after_that_class() -> None:
    code = """
    class A:
        def m(self): ...
    class B(A):
        def m(self): ...
    class C(B):
        def m(self): super(B, self).m()
    """
    assert targets(code, "main.py::C.m") == {"main.py::A.m"}


def test_ancestors_and_overridden_methods_are_edges() -> None:
    files = {
        "base.py": "from typing import Protocol\nclass Shape(Protocol):\n    def area(self): ...\n"
        "class Thing:\n    def __init__(self): ...\n    def go(self): ...\n",
        "main.py": "import base\nclass Square(base.Thing, base.Shape):\n    def __init__(self): ...\n"
        "    def area(self): ...\n    def go(self): ...\n    def new(self): ...\n",
    }
    found = {edge for edge in edges_of(files, LANGUAGE) if edge[1] in ("extends", "implements")}
    assert found == {
        ("main.py::Square", "extends", "base.py::Thing"),
        ("main.py::Square", "implements", "base.py::Shape"),
        ("main.py::Square.area", "implements", "base.py::Shape.area"),
        ("main.py::Square.go", "implements", "base.py::Thing.go"),
    }


def test_members_of_an_external_class_are_left_out() -> None:
    code = "import threading\nclass Mine(threading.Thread):\n    def run(self): self.start(); self.own()\n"
    files = {"main.py": code + "    def own(self): ..."}
    assert calls(files) == {("main.py::Mine.run", "main.py::Mine.own")}
    assert unresolved_of(files, LANGUAGE) == set()


def test_an_unannotated_parameter_has_the_type_of_the_overridden_method() -> None:
    code = """
    class A:
        def use(self, x: Other): ...
    class B(A):
        def use(self, x): x.act()
    """
    assert targets(code, "main.py::B.use") == {ACT}


def test_a_default_shows_the_type_of_a_parameter() -> None:
    assert targets("def f(x=Other()): x.act()") == {"lib.py::Other", ACT}


def test_the_result_of_yield_has_the_send_type() -> None:
    code = "from typing import Generator\ndef f() -> Generator[int, Other, None]:\n    x = yield 1\n    x.act()"
    assert targets(code) == {ACT}


def test_overloads_determine_the_result() -> None:
    code = """
    from typing import overload
    @overload
    def g(x: int) -> Other: ...
    @overload
    def g(x: str) -> None: ...
    def g(x): ...
    def f(): g(1).act()
    """
    assert targets(code) == {"main.py::g", ACT}


def test_enum_members_are_instances() -> None:
    code = """
    from enum import Enum
    class Colour(Enum):
        RED = 1
        def mix(self): ...
    def f():
        Colour.RED.mix()
        for one in Colour: one.mix()
    """
    assert targets(code) == {"main.py::Colour.mix"}


def test_dataclass_fields_are_attributes() -> None:
    code = """
    from dataclasses import dataclass, field
    @dataclass
    class Box:
        one: Other
        many: list[Other] = field(default_factory=list)
    def f(box: Box):
        box.one.act()
    def g(box: Box):
        box.many[0].act()
    """
    assert targets(code) == {ACT}
    assert targets(code, "main.py::g") == {ACT}


def test_fixtures_fill_the_parameters_of_tests() -> None:
    files = {
        "lib.py": LIBRARY,
        "tests/conftest.py": """
            import pytest
            from lib import *
            @pytest.fixture
            def child(): return Child(Other())
            @pytest.fixture(name="renamed")
            def whatever():
                yield Other()
            @pytest.fixture
            def linked(child): return child.linked
            """,
        "tests/deep/conftest.py": """
            import pytest
            @pytest.fixture
            def child(child): return child.made
            """,
        "tests/test_a.py": """
            def test_it(child, renamed, linked, tmp_path, unknown):
                child.run(); renamed.act(); linked.act(); tmp_path.mkdir(); unknown.go()
            def helper(child): child.run()
            """,
        "tests/deep/test_b.py": """
            import pytest
            class TestIt:
                @pytest.fixture
                def mine(self): return 3
                def test_it(self, child, mine): child.act(); mine.act()
            """,
    }
    found = {(origin, target) for origin, target in calls(files) if origin.startswith("tests/") and "test_" in origin}
    assert found == {
        ("tests/test_a.py::test_it", RUN),
        ("tests/test_a.py::test_it", ACT),
        ("tests/deep/test_b.py::TestIt.test_it", ACT),
    }
    sources = {path: textwrap.dedent(source) for path, source in files.items()}
    assert {use for use in unresolved_of(sources, LANGUAGE) if use[0].startswith("tests/")} == {
        ("tests/test_a.py::test_it", "unknown.go"),
        ("tests/test_a.py::helper", "child.run"),
    }


def edges(code: str) -> dict[tuple[str, str], Edge]:
    resolved = resolve_all(facts_of({"main.py": textwrap.dedent(code)}, LANGUAGE), LANGUAGE)
    found = resolved["main.py"].edges
    return {(edge.origin, edge.target): edge for edge in found if edge.kind is EdgeKind.CALLS}


def test_the_caller_is_the_innermost_definition() -> None:
    code = """
    def mark(f): return f
    def give(): ...
    give()
    class A:
        x = give()
        def m(self, y=give()):
            def inner(): return (lambda: give())()
    @mark
    def decorated(): ...
    """
    assert set(edges(code)) == {
        ("main.py", "main.py::give"),
        ("main.py::A", "main.py::give"),
        ("main.py::A.m", "main.py::give"),
        ("main.py::A.m.inner", "main.py::give"),
        ("main.py::decorated", "main.py::mark"),
    }


def test_an_edge_has_flow_confidence_and_line() -> None:
    code = """
    class A:
        def m(self): ...
    class B:
        def m(self): ...
    def g(): ...
    def f(x: A, y: A | B):
        g()
        z = g(x)
        x.m()
        return y.m()
    async def h():
        await k()
    async def k(): ...
    """
    found = edges(code)
    sure = found[("main.py::f", "main.py::g")]
    assert (sure.confidence, sure.line, sure.flow) == (1.0, 8, CallFlow.ARGUMENTS | CallFlow.RESULT)
    evident = found[("main.py::f", "main.py::A.m")]
    assert (evident.confidence, evident.line, evident.flow) == (0.9, 10, CallFlow.RESULT)
    assert found[("main.py::f", "main.py::B.m")].confidence == 0.8
    assert found[("main.py::h", "main.py::k")].flow == CallFlow.NOTHING


def test_a_decorator_gets_no_data_of_the_function_and_gives_it_none() -> None:
    code = """
    def plain(f): ...
    def made(name): ...
    def name(): ...
    @plain
    @made(name())
    def f(): ...
    """
    found = edges(code)
    assert {found[("main.py::f", f"main.py::{each}")].flow for each in ("plain", "made")} == {CallFlow.NOTHING}


@pytest.mark.parametrize("call", ["x.act()", "x().act()", "getattr(x, 'y')()", "missing()", "x[0]()"])
def test_calls_without_an_evident_type_stay_unresolved(call: str) -> None:
    files = {"lib.py": LIBRARY, "main.py": f"def f(x):\n    {call}"}
    assert not {edge for edge in edges_of(files, LANGUAGE) if edge[0].startswith("main.py::f") and edge[1] == "calls"}
    assert call[:-2] in {text for origin, text in unresolved_of(files, LANGUAGE) if origin == "main.py::f"}


CHAINED = """
class Query:
    def where(self) -> "Query": ...
    def limit(self): return self
    def all(self) -> "list[Query]": ...
    def one(self) -> "Last": ...
class Last:
    def end(self): ...
"""


@given(st.lists(st.sampled_from([".where()", ".limit()", ".all()[0]"]), min_size=1, max_size=120))
def test_every_call_of_a_chain_is_found_however_long(links: list[str]) -> None:
    source = f"{CHAINED}def run():\n    return Query(){''.join(links)}.one().end()\n"
    resolved = resolve_all(facts_of({"m.py": source}, LANGUAGE), LANGUAGE)["m.py"]
    called = {f"m.py::Query.{link[1:].partition('(')[0]}" for link in links}
    reached = {edge.target for edge in resolved.edges if edge.origin == "m.py::run"}
    assert reached == called | {"m.py::Query", "m.py::Query.one", "m.py::Last.end"}
    assert resolved.unresolved == ()


def test_the_facts_of_a_long_chain_grow_with_its_length_only() -> None:
    def size(length: int) -> int:
        facts = facts_of({"m.py": f"{CHAINED}x = Query(){'.where()' * length}\n"}, LANGUAGE)["m.py"]
        return len(msgspec.msgpack.encode(facts))

    assert size(1000) - size(500) < 2.2 * (size(500) - size(250))


def test_a_name_rebound_to_itself_keeps_its_type() -> None:
    source = f"{CHAINED}def run():\n    q = Query()\n" + "    q = q.where()\n" * 500
    resolved = resolve_all(facts_of({"m.py": source + "    q.one()\n"}, LANGUAGE), LANGUAGE)["m.py"]
    assert ("m.py::run", "m.py::Query.one") in {(edge.origin, edge.target) for edge in resolved.edges}


@pytest.mark.parametrize(
    "made",
    ["self.__class__()", "object.__new__(self.__class__)", "self.__class__.__new__(self.__class__)"],
)
def test_an_object_may_be_created_from_the_class_of_another(made: str) -> None:
    code = f"""
    class A:
        def copy(self): return {made}
        def act(self): ...
    class B(A):
        def act(self): ...
        def run(self): self.copy().act()
    """
    assert ("m.py::B.run", "m.py::B.act") in calls({"m.py": code})


def test_an_inherited_new_returns_the_class_it_is_called_with() -> None:
    code = """
    class A:
        def __new__(cls):
            made = super().__new__(cls)
            made.act()
            return made
        def act(self): ...
    """
    assert ("m.py::A.__new__", "m.py::A.act") in calls({"m.py": code})


def test_a_fixture_refines_an_external_annotation() -> None:
    files = {
        "tests/conftest.py": """
            import pytest
            class Server:
                def stop(self): ...
            class Other:
                def stop(self): ...
            @pytest.fixture
            def server(): return Server()
            """,
        "tests/test_it.py": """
            from elsewhere import TestServer
            from .conftest import Other
            def test_a(server: TestServer): server.stop()
            def test_b(server: Other): server.stop()
            """,
    }
    assert calls(files) >= {
        ("tests/test_it.py::test_a", "tests/conftest.py::Server.stop"),
        ("tests/test_it.py::test_b", "tests/conftest.py::Other.stop"),
    }
    assert ("tests/test_it.py::test_b", "tests/conftest.py::Server.stop") not in calls(files)


NEW = """
    class Other:
        def go(self): ...
    class Made:
        def __new__(cls, x) -> Other: return Other()
    class Same:
        def __new__(cls, x) -> "Same": return super().__new__(cls)
    class Child(Same):
        def go(self): ...
    def user():
        Made(1).go()
    def child():
        Child(1).go()
"""


def test_a_constructor_that_declares_another_class_makes_that_class() -> None:
    found = calls({"m.py": NEW})
    assert ("m.py::user", "m.py::Other.go") in found
    assert ("m.py::child", "m.py::Child.go") in found


OVERLOADS = """
    from typing import overload
    class A:
        def act(self): ...
    class B:
        def act(self): ...
    class Sub(A): ...
    @overload
    def pick(x: int) -> A: ...
    @overload
    def pick(x: str) -> B: ...
    @overload
    def pick(x: A) -> A: ...
    def pick(x): ...
    def user(unknown, some: Sub):
        pick(ARGUMENT).act()
"""


@pytest.mark.parametrize(
    ("argument", "classes"),
    [("3", "A"), ("'s'", "B"), ("True", "A"), ("some", "A"), ("unknown", "AB"), ("", "AB"), ("None", "AB")],
)
def test_the_arguments_choose_the_overload(argument: str, classes: str) -> None:
    found = calls({"m.py": OVERLOADS.replace("ARGUMENT", argument)})
    assert {target for origin, target in found if origin == "m.py::user" and target.endswith(".act")} == {
        f"m.py::{name}.act" for name in classes
    }


OVERLOADS_BY_NUMBER = """
    from typing import overload
    class A:
        def act(self): ...
    class B:
        def act(self): ...
    class C:
        def act(self): ...
    class D:
        def act(self): ...
    class Table:
        @overload
        def get(self, key) -> A: ...
        @overload
        def get(self, key, default: int) -> B: ...
        @overload
        def get(self, key, default, more, last=...) -> C: ...
        @overload
        def get(self, key, *, strict: bool) -> D: ...
        def get(self, key, *rest, **options): ...
    def user(table: Table, unknown):
        table.get(ARGUMENTS).act()
"""


@pytest.mark.parametrize(
    ("arguments", "classes"),
    [
        ("1", "A"),
        ("key=1", "A"),
        ("1, 2", "B"),
        ("1, # first\n 2", "B"),
        ("1, default=2", "B"),
        ("1, 2, 3", "C"),
        ("1, 2, more=3", "C"),
        ("1, 2, 3, 4", "C"),
        ("1, strict=True", "D"),
        ("*unknown", "ABCD"),
        ("1, **unknown", "ABCD"),
        ("1, 'text'", "ABCD"),
        ("x for x in unknown", "A"),
    ],
)
def test_number_and_keywords_of_arguments_choose_the_overload(arguments: str, classes: str) -> None:
    found = calls({"m.py": OVERLOADS_BY_NUMBER.replace("ARGUMENTS", arguments)})
    assert {target for origin, target in found if origin == "m.py::user" and target.endswith(".act")} == {
        f"m.py::{name}.act" for name in classes
    }


def test_the_receiver_does_not_count_as_an_argument_of_an_overload() -> None:
    code = OVERLOADS_BY_NUMBER.replace("table.get(ARGUMENTS)", "Table.get(table, 1)")
    found = {target for origin, target in calls({"m.py": code}) if origin == "m.py::user"}
    assert {f"m.py::{name}.act" for name in "ABCD"} <= found


def test_a_generator_is_an_argument_that_chooses_the_overload() -> None:
    code = """
        from typing import overload
        class A:
            def act(self): ...
        class B:
            def act(self): ...
        @overload
        def made() -> A: ...
        @overload
        def made(parts) -> B: ...
        def made(*parts): ...
        def user(unknown):
            made(each for each in unknown).act()
    """
    found = {target for origin, target in calls({"m.py": code}) if origin == "m.py::user"}
    assert "m.py::B.act" in found
    assert "m.py::A.act" not in found


def test_wrappers_of_functools_keep_the_function() -> None:
    code = """
        import functools
        class A:
            def act(self): ...
        @functools.lru_cache
        def cached() -> A: ...
        again = functools.lru_cache(cached)
        def wrapped(): cached.__wrapped__().act()
        def partial(): functools.partial(cached).func().act()
        def direct(): again().act()
    """
    found = calls({"m.py": code})
    assert {origin for origin, target in found if target == "m.py::A.act"} == {
        "m.py::wrapped",
        "m.py::partial",
        "m.py::direct",
    }


@pytest.mark.parametrize("made", ["Box[str]('x')", "type(self)('x')"])
def test_a_class_is_called_through_a_subscript_or_the_type_of_the_receiver(made: str) -> None:
    code = f"""
        from typing import Generic, TypeVar
        T = TypeVar("T")
        class Box(Generic[T]):
            def put(self): ...
            def again(self): {made}.put()
    """
    assert {("m.py::Box.again", "m.py::Box"), ("m.py::Box.again", "m.py::Box.put")} <= calls({"m.py": code})
