"""Python types that are evident from construction, annotation and flow, and the calls that go through them."""

import textwrap

import pytest

from tests.python_sources import ACT, RUN, calls, targets


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ("lib.build().run()", RUN),
        ("Child(None).run()", RUN),
        ("x = Child(None); x.run()", RUN),
        ("x = y = Child(None); x.run()", RUN),
        ("guess().run()", RUN),
        ("guess().other.act()", ACT),
        ("guess().made.act()", ACT),
        ("guess().linked.act()", ACT),
        ("guess().shown.act()", ACT),
        ("guess().give().act()", ACT),
        ("lib.shared.run()", RUN),
        ("declared.act()", ACT),
        ("maybe().act()", ACT),
        ("several()[0].act()", ACT),
        ("for x in several(): x.act()", ACT),
        ("for i, x in enumerate(several()): x.act()", ACT),
        ("for x, y in zip(several(), several()): y.act()", ACT),
        ("[x.act() for x in several()]", ACT),
        ("{x.act() for x in sorted(several()) if x}", ACT),
        ("xs = [x for x in several()]; xs[0].act()", ACT),
        ("xs = {'a': Other()}; xs['a'].act()", ACT),
        ("xs = {'a': Other()}\nfor k, v in xs.items(): v.act()", ACT),
        ("next(iter(several())).act()", ACT),
        ("max(several(), key=len).act()", ACT),
        ("x, y = pair(); y.act()", ACT),
        ("x, (y, z) = 1, pair(); z.act()", ACT),
        ("x, y = Child(None), Other(); y.act()", ACT),
        ("several()[1:][0].act()", ACT),
        ("x, y = Pair(1, Other()); y.act()", ACT),
        ("Pair(1, Other())[1].act()", ACT),
        ("for x, y in [Pair(1, Other())]: y.act()", ACT),
        ("if (x := maybe()): x.act()", ACT),
        ("with guess() as x: x.act()", ACT),
        ("with managed() as x: x.act()", ACT),
        ("with Other() as x: x.act()", ACT),
        ("for x in counted(): x.act()", ACT),
        ("for x in guess(): x.act()", ACT),
        ("guess()['key'].act()", ACT),
        ("(guess() + 1).act()", ACT),
        ("Child.make().run()", RUN),
        ("Base.tool()", "lib.py::Base.tool"),
        ("Child.tool()", "lib.py::Base.tool"),
        ("Child.run(guess())", RUN),
        ("guess().me().give().act()", ACT),
        ("same(Other()).act()", ACT),
        ("import copy; copy.deepcopy(Other()).act()", ACT),
        ("from typing import cast; cast('Other', 3).act()", ACT),
        ("import functools; functools.partial(Other)().act()", ACT),
        ("import weakref; weakref.ref(Other())().act()", ACT),
        ("(Other() if 1 else None).act()", ACT),
        ("(None or Other()).act()", ACT),
        ("make = Other; make().act()", ACT),
        ("make = lambda: Other(); make().act()", ACT),
        ("type(Other())().act()", ACT),
        ("guess()()", "lib.py::Child.__call__"),
        ("try: pass\nexcept (ValueError, Other) as x: x.act()", ACT),
        ("x = None\nfor i in range(3):\n  if x: x.act()\n  x = Other()", ACT),
        ("global kept\nkept = Other()\nkept.act()", ACT),
    ],
)
def test_the_type_of_a_receiver_is_evident_from_code(body: str, target: str) -> None:
    assert target in targets("def f():\n" + textwrap.indent(body, "    "))


@pytest.mark.parametrize(
    "body",
    ["(await later()).act()", "x = await guess().fetch(); x.act()", "async with guess() as x: x.act()"],
)
def test_awaiting_yields_the_function_result(body: str) -> None:
    assert ACT in targets(f"async def f():\n    {body}")


@pytest.mark.parametrize(
    "annotation",
    [
        "Other",
        "'Other'",
        "lib.Other",
        "'lib.Other'",
        "Optional[Other]",
        "Other | None",
        "'Other | None'",
        "Union[int, Other]",
        "t.Annotated[Other, 'doc']",
        "Final[Other]",
    ],
)
def test_the_type_of_a_parameter_is_what_its_annotation_says(annotation: str) -> None:
    head = "import typing as t\nfrom typing import *\n"
    assert targets(f"{head}def f(x: {annotation}): x.act()") == {ACT}
    assert targets(f"{head}def f():\n    x: {annotation}\n    x.act()") == {ACT}
    assert targets(f"{head}def g() -> {annotation}: ...\ndef f(): g().act()") >= {ACT}
    assert targets(f"{head}class A:\n    x: {annotation}\ndef f(a: A): a.x.act()") == {ACT}


@pytest.mark.parametrize(
    ("annotation", "use"),
    [
        ("list[Other]", "x[0].act()"),
        ("tuple[Other, ...]", "x[3].act()"),
        ("tuple[int, Other]", "x[1].act()"),
        ("dict[str, Other]", "x['a'].act()"),
        ("dict[str, Other]", "x.get('a').act()"),
        ("dict[str, Other]", "[y.act() for y in x.values()]"),
        ("Iterable[Other]", "[y.act() for y in x]"),
        ("type[Other]", "x().act()"),
        ("Callable[[int], Other]", "x(1).act()"),
        ("ContextVar[Other]", "x.get().act()"),
        ("AbstractContextManager[Other]", "with x as y: y.act()"),
        ("list['Other']", "x.pop().act()"),
    ],
)
def test_element_types_of_generics(annotation: str, use: str) -> None:
    head = (
        "from collections.abc import *\nfrom contextvars import ContextVar\n"
        "from contextlib import AbstractContextManager\n"
    )
    assert ACT in targets(f"{head}def f(x: {annotation}):\n    {use}")


@pytest.mark.parametrize("alias", ["Alias = Optional['Other']", "Alias: TypeAlias = 'Other'", "type Alias = Other"])
def test_an_alias_resolves_to_its_type(alias: str) -> None:
    assert targets(f"from typing import TypeAlias\n{alias}\ndef f(x: Alias): x.act()") == {ACT}


def test_a_union_reaches_each_member_that_is_not_excluded() -> None:
    code = """
    class Another:
        def act(self): ...
    def f(x: Other | Another): x.act()
    def g(x: Other | Another):
        if isinstance(x, Another):
            return x.act()
        x.act()
    def h(x):
        if isinstance(x, (Other, str)):
            x.act()
        else:
            x.act()
    def i(x):
        assert isinstance(x, Other)
        x.act()
    def j(x):
        if not isinstance(x, Other):
            return
        x.act()
    def k(x): return isinstance(x, Other) and x.act()
    def m(x: Other | Another):
        if x is None or isinstance(x, Other): ...
        else: x.act()
    def n(x):
        match x:
            case Other() as y: y.act()
    def q(x: Other | Another):
        if isinstance(x, Another):
            return
        x.act()
    def o(many): return [x.act() for x in many if isinstance(x, Other)]
    def p(box):
        if isinstance(box.content, Other): box.content.act()
        else: box.content.act()
    """
    another = "main.py::Another.act"
    assert targets(code) == {ACT, another}
    assert targets(code, "main.py::g") == {ACT, another}
    assert targets(code, "main.py::m") == {another}
    for name in "hijknopq":
        assert targets(code, f"main.py::{name}") == {ACT}


def test_the_binding_that_reaches_a_use_decides() -> None:
    code = """
    class A:
        def go(self): ...
    class B:
        def go(self): ...
    def straight():
        x = A()
        x = B()
        x.go()
    def arms(c):
        if c: x = A()
        else: x = B()
        x.go()
    def other_arm(c):
        if c: x = A()
        elif c: x = B()
        else: x.go()
    def leaves(c):
        x = A()
        if c:
            x = B()
            return
        x.go()
    def before():
        x = A()
        x.go()
        x = B()
    def closure():
        x = A()
        def inner(): x.go()
        x = B()
        return inner
    def comprehended(x: A, many: list[B]):
        [x.go() for x in many]
    def after(x: A, many: list[B]):
        [x for x in many]
        x.go()
    """
    found = {
        name: {target[9] for target in targets(code, f"main.py::{name}") if target.endswith(".go")}
        for name in ("straight", "arms", "other_arm", "leaves", "before", "closure.inner", "comprehended", "after")
    }
    assert found == {
        "straight": {"B"},
        "arms": {"A", "B"},
        "other_arm": set(),
        "leaves": {"A"},
        "before": {"A"},
        "closure.inner": {"A", "B"},
        "comprehended": {"B"},
        "after": {"A"},
    }


def test_and_has_the_type_of_its_right_side_and_or_of_both() -> None:
    code = "class Another:\n    def act(self): ...\ndef f(a: Another, b: Other): ({}).act()"
    assert targets(code.format("a and b")) == {ACT}
    assert targets(code.format("a or b")) == {"main.py::Another.act", ACT}


def test_a_plain_callable_goes_before_an_instance_that_can_be_called() -> None:
    code = "from typing import Callable\ndef f(x: Child | Callable[[], int]): x()"
    assert targets(code) == set()


def test_a_short_table_shows_what_may_be_called_and_a_long_one_does_not() -> None:
    functions = "".join(f"def g{number}(): ...\n" for number in range(6))
    short = "table = {'a': g0, 'b': g1}\ndef f(key): table[key]()"
    assert targets(functions + short) == {"main.py::g0", "main.py::g1"}
    long = "table = [" + ", ".join(f"g{number}" for number in range(6)) + "]\ndef f(key): table[key]()"
    assert targets(functions + long) == set()


def test_calling_the_value_of_a_property_also_calls_the_property() -> None:
    code = """
    class Maker:
        @property
        def kind(self): return Other
        @property
        def handler(self): return self.table["x"]
        def run(self):
            self.kind()
            self.handler(1)
    def f(maker: Maker):
        maker.kind().act()
        maker.handler
    """
    assert targets(code) == {"main.py::Maker.kind", "lib.py::Other", "lib.py::Other.act"}
    assert targets(code, "main.py::Maker.run") == {"main.py::Maker.kind", "main.py::Maker.handler", "lib.py::Other"}


def test_bases_of_a_class_in_a_function_are_resolved_for_other_files() -> None:
    files = {
        "made.py": """
            class Root:
                def run(self): ...
            def make(first, second):
                unused = first.x
                unused.y()
                base = Root
                class Made(base):
                    def go(self, other: base) -> base: ...
                return Made
            """,
        "main.py": "from made import make\ndef f():\n    make(1, 2)().run()\n    make(1, 2)().go(3).run()\n",
    }
    assert {target for origin, target in calls(files) if origin == "main.py::f"} == {
        "made.py::make",
        "made.py::make.Made",
        "made.py::make.Made.go",
        "made.py::Root.run",
    }


GENERIC = """
from typing import Generic, TypeVar, overload
V = TypeVar("V")
K = TypeVar("K", bound="Other")
class Box(Generic[V]):
    held: V
    def get(self) -> V: ...
    def all(self) -> "list[V]": ...
    def act(self): ...
class Late(Generic[K, V]):
    @overload
    def __get__(self, owner: None, kind) -> "Late[K, V]": ...
    @overload
    def __get__(self, owner, kind) -> V: ...
"""


@pytest.mark.parametrize(
    ("body", "reached"),
    [
        ("def f(box: Box[Other]): box.get().act()", {"Box.get", "Other.act"}),
        ("def f(box: 'Box[Other]'): box.held.act()", {"Other.act"}),
        ("def f(box: Box[Box[Other]]): box.get().get().act()", {"Box.get", "Other.act"}),
        ("def f(box: Box[Other]):\n    for one in box.all(): one.act()", {"Box.all", "Other.act"}),
        ("def f(box: Box): box.get().act()", {"Box.get"}),
        ("class Sub(Box[Other]): ...\ndef f(box: Sub): box.get().act()", {"Box.get", "Other.act"}),
        ("class Sub(Box[V]): ...\ndef f(box: Sub[Other]): box.get().act()", {"Box.get", "Other.act"}),
        ("class Sub(Box['list[V]']): ...\ndef f(box: Sub[Other]): box.get().pop()", {"Box.get"}),
        ("class A:\n    late: Late[Child, Other] = Late()\ndef f(a: A): a.late.act()", {"Other.act"}),
    ],
)
def test_an_annotation_binds_the_type_variables_of_a_class(body: str, reached: set[str]) -> None:
    assert {target.rpartition("::")[2] for target in targets(GENERIC + body)} == reached


def test_a_type_that_wraps_itself_at_every_call_terminates() -> None:
    more = "class Twice(Generic[V]):\n    def wrap(self) -> 'Twice[tuple[V, V]]': ...\n    def act(self): ...\n"
    body = f"def f(twice: Twice[Other]): twice{'.wrap()' * 60}.act()"
    assert targets(GENERIC + more + body) == {"main.py::Twice.wrap", "main.py::Twice.act"}
