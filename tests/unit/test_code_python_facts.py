"""Extraction of a Python file; broken files do not affect others."""

import random
import textwrap
from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.resolver_projects import edges_of, facts_of, resolve_all
from tests.symbol_table import RecordingLookup, SymbolTable
from treering.code.facts import Definition, DefinitionKind, EntryPoint, Facts
from treering.code.languages.python import LANGUAGE
from treering.code.languages.python.body import Expression, ExpressionKind

SAMPLE = textwrap.dedent(
    '''
    from __future__ import annotations
    import pkg.deep as d, os.path
    from . import sibling as s
    from .other import *
    __all__ = ["Thing", "LIMIT"]
    LIMIT: int = 3
    Alias = Optional["Thing"]

    @decorated(1)
    class Thing(Base, d.Mixin[int], metaclass=Meta):
        """Doc."""
        field: list[Thing] = []

        def __init__(self, a, b: "Thing" = None, *args: int, c=1, **kw):
            self.a, self.b = a, b
            super().__init__(*args)

        @property
        def up(self) -> Thing | None:
            return self.b.up

        async def walk(self):
            async with self as x, d.open() as (y, z):
                yield x.up
            async for i in self.walk():
                await i.up.walk()

    def use(thing: Thing, many):
        global LIMIT
        for k, v in many.items():
            if isinstance(v, Thing) and (n := v.up):
                n.walk()
            elif not isinstance(k, str):
                raise ValueError(k)
            else:
                continue
        try:
            return [t.up for t in many if t] or {q: lambda w=1: q(w) for q in (1, 2)}
        except (OSError, d.Error) as failure:
            print(f"{failure!r} {thing.up}")
        finally:
            match thing:
                case Thing(a=1) as found: found.up
                case [1, *rest]: rest[0]()
        LIMIT += 1
        thing.up.up.walk()[0](1)(2)

    if __name__ == "__main__":
        use(Thing(1), {})
    '''
)


def definitions(source: str, path: str = "main.py") -> dict[str, Definition]:
    facts = LANGUAGE.extract(path, textwrap.dedent(source).encode())
    return {definition.qualname: definition for definition in facts.definitions}


def test_definitions_have_kinds_and_lines() -> None:
    found = definitions(
        """
        import enum
        from typing import Protocol, TypeAlias
        LIMIT = 3
        lower = 4
        Path: TypeAlias = "str"
        class A:
            X = 1
            def m(self):
                def inner(): ...
            class Nested: ...
        class E(enum.Enum): ...
        class P(Protocol): ...
        async def f():
            class Local: ...
        """
    )
    assert {name: (one.kind.value, one.line, one.end_line) for name, one in found.items()} == {
        "LIMIT": ("constant", 4, 4),
        "Path": ("type", 6, 6),
        "A": ("class", 7, 11),
        "A.m": ("method", 9, 10),
        "A.m.inner": ("function", 10, 10),
        "A.Nested": ("class", 11, 11),
        "E": ("enum", 12, 12),
        "P": ("interface", 13, 13),
        "f": ("function", 14, 15),
        "f.Local": ("class", 15, 15),
    }


def test_exported_definitions() -> None:
    found = definitions(
        "class A:\n    def m(self): ...\n    def _n(self): ...\ndef _f(): ...\ndef g():\n    def h(): ..."
    )
    assert {name for name, one in found.items() if one.exported} == {"A", "A.m", "g"}
    listed = definitions("__all__ = ['_f']\ndef _f(): ...\ndef g(): ...")
    assert {name for name, one in listed.items() if one.exported} == {"_f"}


def test_tests_are_those_that_runners_collect() -> None:
    source = """
    import unittest
    def test_a(): ...
    def helper(): ...
    class TestB:
        def test_c(self): ...
        def setup(self): ...
    class Case(unittest.TestCase):
        def test_d(self): ...
    class Other:
        def test_e(self): ...
    """
    assert {name for name, one in definitions(source, "tests/test_x.py").items() if one.test} == {
        *("test_a", "TestB.test_c", "Case.test_d"),
    }
    assert {name for name, one in definitions(source, "pkg/module.py").items() if one.test} == {"Case.test_d"}


def test_entry_points() -> None:
    found = definitions(
        """
        @app.route("/index")
        def index(): ...
        @router.post("/items/{id}", status_code=201)
        async def add(): ...
        @click.command("sync-all")
        def sync(): ...
        @cli.command()
        def clean_up(): ...
        @shared_task
        def nightly(): ...
        @mock.patch("pkg.thing")
        def patched(): ...
        def main(): ...
        def not_main(): ...
        if __name__ == "__main__":
            main()
        """
    )
    assert {name: (one.entry, one.entry_name) for name, one in found.items() if one.entry} == {
        "index": (EntryPoint.ROUTE, "/index"),
        "add": (EntryPoint.ROUTE, "/items/{id}"),
        "sync": (EntryPoint.COMMAND, "sync-all"),
        "clean_up": (EntryPoint.COMMAND, "clean-up"),
        "nightly": (EntryPoint.TASK, "nightly"),
        "main": (EntryPoint.MAIN, None),
    }


def test_a_syntax_error_loses_only_the_broken_part() -> None:
    source = "def before(): ...\ndef broken(:\n    pass\n\ndef after():\n    before()\n"
    facts = LANGUAGE.extract("main.py", source.encode())
    assert facts.problems
    assert ("main.py::after", "calls", "main.py::before") in edges_of({"main.py": source}, LANGUAGE)


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"\x00\x00def f(): ...\x00",
        b"\xff\xfe\xfd def f(): ...",
        b"(" * 10_000,
        b"x" + b".y" * 10_000 + b"()",
        b"f(" * 10_000 + b")" * 10_000,
        b"if x:\n" + b"".join(b" " * depth + b"if x:\n" for depth in range(1, 2_000)),
        b"x = " + b"+".join([b"a"] * 10_000),
        b"x = " + b"[" * 5_000 + b"]" * 5_000,
        b"class A(A): pass\nclass B(C): pass\nclass C(B): pass\nA().x(); B().y()",
        b"x = x\ndef f(): return f()\nf()()()\nx()\n",
        b"x: 'x' = 1\ndef f(a: '('): a.b()",
        b"\r\n".join([b"def f():", b"    g()", b"def g(): pass"]),
    ],
)
def test_any_bytes_are_read(source: bytes) -> None:
    edges_of({"main.py": source, "other.py": "from main import *"}, LANGUAGE)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Return the sample with pieces removed, duplicated, moved or replaced by noise."""
    source = bytearray(SAMPLE.encode())
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(source)))
        end = min(len(source), start + draw(st.integers(0, 60)))
        piece = draw(st.sampled_from([b"", bytes(source[start:end]) * 2, b"\n", b"(", b"\xff\x00", b"    ", b"self."]))
        source[start:end] = piece
    return bytes(source)


@given(mutated())
def test_mutated_sources_are_read_and_stored_facts_resolve_alike(source: bytes) -> None:
    files: dict[str, str | bytes] = {
        "pkg/__init__.py": SAMPLE,
        "pkg/deep.py": source,
        "pkg/other.py": source[::-1],
        "pkg/sibling.py": b"from .deep import *\nThing(1).up.walk()",
    }
    facts = facts_of(files, LANGUAGE)
    stored = {path: _stored(read) for path, read in facts.items()}
    assert stored == facts
    assert resolve_all(stored, LANGUAGE) == resolve_all(facts, LANGUAGE)


def _stored(facts: Facts) -> Facts:
    """Return the facts after encoding and decoding."""
    packed = msgspec.msgpack.encode(facts)
    path, kept, body, problems = msgspec.msgpack.decode(packed, type=tuple[str, msgspec.Raw, msgspec.Raw, msgspec.Raw])
    return Facts(
        path,
        msgspec.msgpack.decode(kept, type=tuple[Definition, ...]),
        msgspec.msgpack.decode(body, type=LANGUAGE.body),
        msgspec.msgpack.decode(problems, type=Facts.__annotations__["problems"]),
    )


def test_no_order_of_files_changes_an_edge() -> None:
    files = {"pkg/__init__.py": SAMPLE, "pkg/deep.py": SAMPLE, "pkg/other.py": SAMPLE, "src/pkg/deep.py": SAMPLE}
    facts = facts_of(files, LANGUAGE)
    shuffled = list(facts)
    random.Random(7).shuffle(shuffled)
    assert resolve_all({path: facts[path] for path in shuffled}, LANGUAGE) == resolve_all(facts, LANGUAGE)


def surface_change(before: str, after: str) -> set[str]:
    """Return the kinds and last parts of the keys that an edit changes."""
    table = SymbolTable()
    table.put("m.py", LANGUAGE.surface(LANGUAGE.extract("m.py", before.encode())))
    changed = table.put("m.py", LANGUAGE.surface(LANGUAGE.extract("m.py", after.encode())))
    return {f"{key[0]} {key[-1]}" for key in changed}


def test_an_edit_changes_only_the_keys_of_its_surface() -> None:
    before = "class A:\n    def m(self) -> int:\n        return 1\ndef f(x): x.y()\n"
    assert surface_change(before, "# moved\n\n" + before.replace("x.y()", "x.z(); print(x)")) == set()
    assert surface_change(before, before + "def g(): ...\n") == {"py.name g", "py.function g"}
    assert surface_change(before, before.replace("-> int", "-> str")) == {"py.function A.m"}


def test_a_resolution_depends_only_on_the_keys_it_looked_up() -> None:
    files = {"a.py": "def f(): ...", "b.py": "from a import f, g\nf()\ng()", "c.py": "import a"}
    facts = facts_of(files, LANGUAGE)
    table = SymbolTable()
    for path, read in facts.items():
        table.put(path, LANGUAGE.surface(read))
    for path, read in facts.items():
        lookup = RecordingLookup(table)
        LANGUAGE.resolve(read, lookup)
        table.record_lookups(path, lookup.keys)
    appeared = LANGUAGE.extract("a.py", b"def f(): ...\ndef g(): ...")
    again = table.dependents(table.put("a.py", LANGUAGE.surface(appeared)))
    assert "b.py" in again
    assert "c.py" not in again


def test_kinds_are_enum_members_after_decoding() -> None:
    facts = LANGUAGE.extract("main.py", SAMPLE.encode())
    assert {one.kind for one in _stored(facts).definitions} >= {DefinitionKind.CLASS, DefinitionKind.CONSTANT}


def _kinds(value: object) -> Iterator[ExpressionKind]:
    waiting = [value]
    while waiting:
        at = waiting.pop()
        if isinstance(at, tuple):
            waiting += at
        elif isinstance(at, msgspec.Struct):
            waiting += [getattr(at, name) for name in at.__struct_fields__]
            if isinstance(at, Expression):
                yield at.kind


@given(st.lists(st.sampled_from(SAMPLE.split(" ")), max_size=60))
def test_the_surface_contains_no_local_name(pieces: list[str]) -> None:
    source = "def f(a):\n    b = a\n    class C(b, c):\n        x: b = a\n    " + " ".join(pieces) + f"\n{SAMPLE}"
    surface = LANGUAGE.surface(LANGUAGE.extract("main.py", source.encode()))
    assert ExpressionKind.LOCAL not in {kind for entry in surface.values() for kind in _kinds(entry)}
