"""References in Python code: values, tables, decorators, annotations, exceptions, bases outside the project."""

import textwrap
from collections.abc import Mapping

import pytest

from tests.code_projects import fresh_graph
from tests.resolver_projects import edges_of
from treering.code.languages.python import LANGUAGE
from treering.code.languages.references import REFERENCE_KINDS

KINDS = {"references", "registers", "annotates", "raises", "catches"}
LIB = "class Thing: ...\nclass Fault(Exception): ...\ndef handle(): ...\nclass Service:\n    def run(self): ...\n"


def references(files: Mapping[str, str]) -> set[tuple[str, str, str]]:
    sources = {path: textwrap.dedent(source) for path, source in files.items()}
    return {edge for edge in edges_of(sources, LANGUAGE) if edge[1] in KINDS}


def used(code: str, imports: str = "from lib import Fault, Service, Thing, handle\n") -> set[tuple[str, str, str]]:
    """References of `a.py` to `lib.py`, each without the name of its file."""
    found = references({"lib.py": LIB, "a.py": imports + textwrap.dedent(code)})
    return {
        (origin.removeprefix("a.py::"), kind, target.removeprefix("lib.py::"))
        for origin, kind, target in found
        if origin.startswith("a.py") and target.startswith("lib.py")
    }


@pytest.mark.parametrize(
    "body",
    [
        "call(handle)",
        "call(key=handle)",
        "x = handle",
        "return handle",
        "return functools.partial(handle, 1)",
        "return [handle, 1]",
        "return {'a': handle}",
        "return (handle if a else None)",
        "lambda: handle",
        "x = [handle for _ in y]",
        "with_default = lambda f=handle: f",
        "return f'{handle}'",
    ],
)
def test_a_function_passed_as_a_value_is_referenced(body: str) -> None:
    assert used(f"def user(a, y):\n    {body}\n") == {("user", "references", "handle")}


def test_a_default_value_is_referenced_by_its_function() -> None:
    assert used("def user(call=handle): ...\n") == {("user", "references", "handle")}


def test_a_method_passed_as_a_value_is_referenced_by_the_type_of_its_receiver() -> None:
    code = """
        def user(service: Service):
            run_sync(service.run)
            run_sync(service.other)
        class Own(Service):
            def start(self):
                run_sync(self.run)
    """
    assert used(code) == {
        ("user", "annotates", "Service"),
        ("user", "references", "Service.run"),
        ("Own.start", "references", "Service.run"),
    }


def test_a_name_that_is_called_assigned_or_a_parameter_is_not_referenced() -> None:
    code = """
        def user(handle, Thing=None):
            handle = 1
            handle.x = 2
            return call(handle=1)
        def other():
            handle()
    """
    assert used(code) == set()


def test_tables_of_a_module_register_their_items_and_readers_of_the_table_reach_them() -> None:
    code = """
        HANDLERS = {"a": handle}
        CLASSES = [Thing]
        OTHER = handle
        def dispatch(name):
            return HANDLERS[name]()
    """
    assert used(code) == {
        ("HANDLERS", "registers", "handle"),
        ("CLASSES", "registers", "Thing"),
        ("OTHER", "references", "handle"),
    }
    graph = fresh_graph({"lib.py": LIB.encode(), "a.py": b"from lib import handle\n" + textwrap.dedent(code).encode()})
    assert "a.py::dispatch" in graph.impact("lib.py::handle").dependents.ids


def test_a_table_of_a_class_registers_its_items() -> None:
    assert used("class Site:\n    handlers = (handle, Thing)\n") == {
        ("Site", "registers", "handle"),
        ("Site", "registers", "Thing"),
    }


def test_an_object_of_a_module_registers_what_is_passed_to_it_and_what_it_decorates() -> None:
    files = {
        "web.py": "from framework import App\napp = App()\n",
        "views.py": """
            from web import app
            @app.get("/")
            def index(): ...
            def late(): ...
            app.add_route("/late", late)
        """,
        "cli.py": """
            import click
            @click.group()
            def cli(): ...
            @cli.command()
            def sub(): ...
        """,
        "test_web.py": "from web import app\ndef test_index(): Client(app)\n",
    }
    found = references(files)
    assert ("web.py::app", "registers", "views.py::index") in found
    assert ("cli.py::cli", "registers", "cli.py::sub") in found
    graph = fresh_graph({path: textwrap.dedent(source).encode() for path, source in files.items()})
    assert "test_web.py::test_index" in graph.impact("views.py::index").dependents.ids


def test_decorators_outside_the_project_register_by_their_names() -> None:
    code = """
        from functools import lru_cache
        from django.dispatch import receiver
        import pytest
        import numba
        @receiver("saved")
        def saved(): ...
        @lru_cache
        def cached(): ...
        @pytest.fixture
        def fixture(): ...
        @numba.njit
        def fast(): ...
        def make():
            app = framework()
            @app.route("/")
            def view(): ...
    """
    assert {edge for edge in references({"a.py": code}) if edge[1] == "registers"} == {
        ("a.py", "registers", "a.py::saved"),
        ("a.py::make", "registers", "a.py::make.view"),
    }


@pytest.mark.parametrize(
    "code",
    [
        "def user(x: Thing): ...",
        "def user(x: Thing = None): ...",
        "def user() -> Thing: ...",
        "def user(x: 'Thing'): ...",
        "def user(x: dict[str, list[Thing]]): ...",
        "def user(x: 'Thing | None'): ...",
        "def user(*args: Thing): ...",
        "def user():\n    x: Thing = make()",
        "class user:\n    field: Thing",
    ],
)
def test_a_class_in_an_annotation_is_annotated(code: str) -> None:
    assert used(code + "\n") == {("user", "annotates", "Thing")}


def test_an_import_for_type_checking_is_followed() -> None:
    imports = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lib import Thing\n"
    assert used("def user(x: 'Thing'): ...\n", imports) == {("user", "annotates", "Thing")}


def test_a_class_is_found_through_its_module_and_through_a_re_export() -> None:
    files = {
        "pkg/__init__.py": "from .core import Thing as Thing\n__all__ = ['Thing']\n",
        "pkg/core.py": LIB,
        "a.py": "import pkg\nfrom pkg import Thing as T\ndef one(x: pkg.Thing): ...\ndef two(x: T): ...\n",
    }
    assert references(files) >= {
        ("a.py::one", "annotates", "pkg/core.py::Thing"),
        ("a.py::two", "annotates", "pkg/core.py::Thing"),
    }


def test_names_in_docstrings_and_comments_are_not_used() -> None:
    assert used('def user():\n    """Return a Thing from handle ."""\n    # Thing\n    return "handle"\n') == set()


def test_classes_that_are_raised_and_caught() -> None:
    code = """
        def raiser(): raise Fault("why")
        def again(): raise Fault
        def one():
            try: ...
            except Fault as exc: raise exc
        def several():
            try: ...
            except (ValueError, Fault): ...
    """
    assert used(code) == {
        ("raiser", "raises", "Fault"),
        ("again", "raises", "Fault"),
        ("one", "catches", "Fault"),
        ("one", "raises", "Fault"),
        ("several", "catches", "Fault"),
    }


def test_isinstance_references_the_class() -> None:
    assert used("def user(x): return isinstance(x, (Thing, Service))\n") == {
        ("user", "references", "Thing"),
        ("user", "references", "Service"),
    }


def test_a_class_registers_its_special_methods_and_those_that_a_framework_may_call() -> None:
    code = """
        import ast
        from typing import Protocol
        class Plain:
            def __getitem__(self, key): ...
            def run(self): ...
        class Visitor(ast.NodeVisitor):
            def visit_Name(self, node): ...
            def _help(self): ...
        class Deep(Visitor):
            def visit_Call(self, node): ...
        class Port(Protocol):
            def go(self): ...
        class Views:
            def dispatch(self, name): return getattr(self, name)()
            def get(self): ...
        class Fixed:
            def dispatch(self): return getattr(self, "get")()
            def get(self): ...
    """
    assert references({"a.py": code}) == {
        ("a.py::Plain", "registers", "a.py::Plain.__getitem__"),
        ("a.py::Visitor", "registers", "a.py::Visitor.visit_Name"),
        ("a.py::Deep", "registers", "a.py::Deep.visit_Call"),
        ("a.py::Views", "registers", "a.py::Views.dispatch"),
        ("a.py::Views", "registers", "a.py::Views.get"),
    }


def test_classes_implement_a_protocol_that_they_do_not_name() -> None:
    files = {
        "ports.py": """
            from typing import Protocol
            class Store(Protocol):
                def load(self): ...
                def save(self): ...
            class Callback(Protocol):
                def __call__(self): ...
            def use(store: Store): store.save()
        """,
        "files.py": """
            class Base:
                def load(self): ...
            class Files(Base):
                def save(self): ...
            class Half:
                def load(self): ...
            class Called:
                def __call__(self): ...
        """,
    }
    sources = {path: textwrap.dedent(source) for path, source in files.items()}
    implemented = {edge for edge in edges_of(sources, LANGUAGE) if edge[1] == "implements"}
    assert implemented == {("files.py::Files.save", "implements", "ports.py::Store.save")}
    graph = fresh_graph({path: source.encode() for path, source in sources.items()})
    assert "ports.py::use" in graph.impact("files.py::Files.save").dependents.ids


def test_a_property_that_is_read_reaches_its_overrides() -> None:
    code = """
        class Base:
            @property
            def cache(self): ...
            def links(self): return self.cache
        class Page(Base):
            @property
            def cache(self): ...
    """
    graph = fresh_graph({"a.py": textwrap.dedent(code).encode()})
    assert "a.py::Base.links" in graph.impact("a.py::Page.cache").dependents.ids


def test_assigning_to_an_inherited_property_does_not_hide_it() -> None:
    base = """
        class App:
            @property
            def debug(self) -> bool: ...
            @debug.setter
            def debug(self, value): ...
    """
    child = """
        from base import App
        class Shop(App):
            def start(self): self.debug = True
        def show(shop: Shop): return shop.debug
    """
    found = edges_of({"base.py": textwrap.dedent(base), "shop.py": textwrap.dedent(child)}, LANGUAGE)
    assert ("shop.py::show", "depends_logically", "base.py::App.debug") in found


def test_a_property_that_a_class_defines_again_is_its_own() -> None:
    base = "class App:\n    @property\n    def debug(self): ...\n"
    child = "from base import App\nclass Shop(App):\n    def debug(self): ...\n    def run(self): self.debug()\n"
    found = edges_of({"base.py": base, "shop.py": child}, LANGUAGE)
    assert ("shop.py::Shop.run", "calls", "shop.py::Shop.debug") in found


BOUND = """from app.util import Base, prompt

class Option(Base):
    prompt: str
    def _fail(self): ...
    def ask(self): ...
    pop = popitem = _fail
    STEPS = {"ask": ask}
    del _fail
    def run(self):
        self.debug = True
    def read(self):
        return self.debug
    def narrowed(self):
        return int(self.debug) if isinstance(self.debug, str) else 1

def loop(found):
    for prompt in found: pass
    prompt, other = found

class View:
    @classmethod
    def as_view(cls):
        if cls.once:
            def view():
                self = view.made()
                return send(self.go)
        else:
            self = cls()
            def view(): return send(self.go)
        for decorator in cls.decorators:
            view = decorator(view)
        return view
    def go(self): ...

def command():
    try:
        app: int = load()
    except ValueError:
        def app(): ...
    serve(app)
"""
UTIL = """def prompt(): ...
class Base:
    @property
    def debug(self): ...
    @debug.setter
    def debug(self, value): ...
"""


def test_names_that_are_bound_and_names_that_are_used() -> None:
    files = {"app/__init__.py": "", "app/util.py": UTIL, "app/view.py": BOUND}
    found = {edge for edge in edges_of(files, LANGUAGE) if edge[1] in (*REFERENCE_KINDS, "depends_logically")}
    assert not any(target == "app/util.py::prompt" for _, _, target in found)
    here = "app/view.py::"
    assert found >= {
        (f"{here}Option", "references", f"{here}Option._fail"),
        (f"{here}Option", "registers", f"{here}Option.ask"),
        (f"{here}Option.read", "depends_logically", "app/util.py::Base.debug"),
        (f"{here}Option.narrowed", "depends_logically", "app/util.py::Base.debug"),
        (f"{here}View.as_view", "references", f"{here}View.as_view.view"),
        (f"{here}View.as_view.view", "references", f"{here}View.go"),
        (f"{here}command", "references", f"{here}command.app"),
    }


def test_names_in_the_body_of_a_class_are_its_methods_only_where_python_sees_them() -> None:
    text = "def load(): ...\nclass A:\n    def load(self): ...\n    def save(self): ...\n    options = dict(save=1)\n"
    lambdas = "    late = property(lambda self: load)\n    all = [load for _ in range(2)]\n"
    found = edges_of({"a.py": text + lambdas}, LANGUAGE)
    assert ("a.py::A", "references", "a.py::load") in found
    assert not any(target in ("a.py::A.load", "a.py::A.save") for _, _, target in found)
