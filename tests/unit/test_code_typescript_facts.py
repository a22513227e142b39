"""Extraction of TypeScript and JavaScript: definitions, entry points, problems, and never an exception."""

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.resolver_projects import facts_of, resolve_all
from tests.symbol_table import RecordingLookup, SymbolTable
from treering.code.facts import MODULE, EntryPoint, Facts
from treering.code.languages.typescript import LANGUAGE

SAMPLE = """
import { other, type Kind } from './other'
import * as all from './other'
export * from './other'
export const LIMIT = 3
export const api = { get(id: string) { return other(id) }, post: async () => new Thing() }
export interface Shape<T = string> extends Kind { area(): T; on?: (x: number) => void }
export type Pair<A, B> = { left: A; right: B } | [A, B]
export enum Colour { Red, Green = 2 }
export abstract class Thing<T> extends all.Base<T> implements Shape {
  static made = 0
  #secret?: Map<string, T[]>
  constructor(private readonly kind: Kind, ...rest: T[]) { super(); this.later = () => kind }
  get first(): T | undefined { return this.#secret?.get('a')?.[0] }
  async *walk() { for await (const x of this.rest) { yield x } }
  area = (): string => { const { a, ...b } = helper({ c: 1 }); return `${a}${b}` }
}
function helper<T>(value: T, ...more: unknown[]): T {
  try { return value } catch (e) { if (e instanceof Thing) e.area() }
}
namespace Inner { export function deep() { return all.other() } }
export default function () { return <T,>(x: T) => (x as Thing<T>).first!.toString() }
"""
OTHER = """
export function other(x?: string) { return x }
export interface Kind { k: number }
export class Base<T> { rest: T[] }
"""


def read(source: str | bytes, path: str = "a.ts") -> Facts:
    return facts_of({path: source}, LANGUAGE)[path]


def test_definitions_have_names_kinds_lines_and_exports() -> None:
    found = {d.qualname: (d.kind.value, d.exported) for d in read(SAMPLE).definitions}
    expected = {
        "LIMIT": ("constant", True),
        "get": ("method", False),
        "Shape": ("interface", True),
        "Shape.area": ("method", True),
        "Shape.on": ("method", True),
        "Pair": ("type", True),
        "Colour": ("enum", True),
        "Thing": ("class", True),
        "Thing.constructor": ("method", True),
        "Thing.first": ("method", True),
        "Thing.walk": ("method", True),
        "Thing.area": ("method", True),
        "helper": ("function", False),
        "deep": ("function", False),
        "default": ("function", True),
    }
    assert {name: found.get(name) for name in expected} == expected
    lines = {
        d.qualname: (d.line, d.end_line)
        for d in read("function a() {\n  return 1\n}\n\nconst b = () => 2\n").definitions
    }
    assert lines == {"a": (1, 3), "b": (5, 5)}


def test_nested_functions_are_definitions_and_callbacks_are_not() -> None:
    source = """
    function outer() { const inner = () => {}; call(() => { function deep() {} }) }
    call(() => { function free() {} })
    """
    assert {d.qualname for d in read(source).definitions} == {"outer", "outer.inner", "outer.deep", "free"}


def test_a_name_is_defined_once_however_often_it_is_declared() -> None:
    overloads = "function f(a: string): void\nfunction f(a: number): void\nfunction f(a: any) {}\n"
    source = overloads + "interface I {}\ninterface I {}\n"
    assert [d.qualname for d in read(source).definitions] == ["f", "I"]


def test_tests_and_entry_points_are_marked() -> None:
    tests = read("import { it } from 'vitest'\nit('works', () => {})\n", "a.test.ts").definitions
    assert [(d.qualname, d.test) for d in tests] == [(MODULE, True)]
    routes = {
        d.qualname: (d.entry, d.entry_name) for d in read("app.get('/users', list)\nfunction list() {}\n").definitions
    }
    assert routes == {"list": (EntryPoint.ROUTE, "GET /users")}
    commands = read("program.command('build <dir>').action(build)\nfunction build() {}\n").definitions
    assert [(d.entry, d.entry_name) for d in commands] == [(EntryPoint.COMMAND, "build")]
    main = read("#!/usr/bin/env node\nrun()\n", "cli.js").definitions
    assert [(d.qualname, d.entry) for d in main] == [(MODULE, EntryPoint.MAIN)]
    handler = read("export async function GET() {}\n", "app/users/route.ts").definitions
    assert [(d.entry, d.entry_name) for d in handler] == [(EntryPoint.ROUTE, "GET")]


def test_a_syntax_error_loses_only_the_broken_part() -> None:
    facts = read("function before() {}\nconst = = ;\nfunction after() { before() }\n")
    assert {"before", "after"} <= {d.qualname for d in facts.definitions}
    assert facts.problems
    assert {problem.message for problem in facts.problems} == {"syntax error"}


@pytest.mark.parametrize("overloads", ["<T>(x: T): T\n  <U>(x: U, y: U): U", "a: string\n  // more\n  <T>(x: T): T"])
def test_generic_signatures_without_semicolons_are_read(overloads: str) -> None:
    assert read(f"interface I {{\n  {overloads}\n}}\nfunction after() {{}}\n").problems == ()


DEEP = 10_000


@pytest.mark.parametrize(
    "source",
    [
        "(" * DEEP + ")" * DEEP,
        "f(" * DEEP + ")" * DEEP,
        "x" + ".y()" * DEEP,
        "[" * DEEP,
        "{" * DEEP + "}" * DEEP,
        "a = " + " + ".join(["b()"] * DEEP),
        "if (a) b(); else " * 2_000 + "c()",
        "type T = " + "Array<" * 2_000 + "X" + ">" * 2_000,
        "x => " * 2_000 + "1",
        "<a>" * 2_000,
        "\x00" * 100,
    ],
)
def test_no_nesting_is_too_deep(source: str) -> None:
    for path in ("a.ts", "a.tsx", "a.js"):
        facts = facts_of({path: source}, LANGUAGE)
        resolve_all(facts, LANGUAGE)


def test_cyclic_types_terminate() -> None:
    source = """
    type A = B; type B = A; type Tree<T> = { kids: Tree<Tree<T>>[]; of: T }
    interface I extends J {} interface J extends I {}
    class C extends D {} class D extends C {}
    const x = y, y = x
    function f() { return g() } function g() { return f() }
    function run(a: A, t: Tree<string>, i: I, c: C) { a.b(); t.kids[0].kids[0].of.of(); i.m(); c.n(); x(); f().z() }
    """
    resolve_all(facts_of({"a.ts": source}, LANGUAGE), LANGUAGE)


@given(st.randoms(use_true_random=False), st.sampled_from(["a.ts", "a.tsx", "a.js"]))
def test_damaged_sources_neither_raise_nor_leave_dangling_edges(damage: random.Random, path: str) -> None:
    source = bytearray(SAMPLE.encode())
    for _ in range(damage.randint(1, 12)):
        place = damage.randrange(len(source))
        length = damage.randint(0, 40)
        source[place : place + length] = damage.choice(
            [b"", b"{", b"}", b"(", b"<", b"\xff\xfe", b"\x00", b"class ", b"=>", b"`${", bytes(source[:30])]
        )
    facts = {path: LANGUAGE.extract(path, bytes(source)), "other.ts": LANGUAGE.extract("other.ts", OTHER.encode())}
    ids = {f"{place}::{each.qualname}" for place, read in facts.items() for each in read.definitions} | set(facts)
    for found in resolve_all(facts, LANGUAGE).values():
        assert {end for edge in found.edges for end in (edge.origin, edge.target)} <= ids


def stored(facts: Facts) -> Facts:
    """Return the facts after encoding and decoding."""
    body = msgspec.msgpack.decode(msgspec.msgpack.encode(facts.body), type=LANGUAGE.body)
    return msgspec.structs.replace(facts, body=body)


def test_facts_that_were_stored_resolve_as_before() -> None:
    files = {"a.tsx": SAMPLE, "other.ts": OTHER, "package.json": '{"name": "p", "exports": "./a.tsx"}'}
    files["tsconfig.json"] = '{"compilerOptions": {"paths": {"x": ["./other"]}}, "extends": "./b.json"}'
    facts = facts_of(files, LANGUAGE)
    again = {path: stored(read) for path, read in facts.items()}
    assert again == facts
    assert {path: LANGUAGE.surface(one) for path, one in again.items()} == {
        path: LANGUAGE.surface(one) for path, one in facts.items()
    }
    assert resolve_all(again, LANGUAGE) == resolve_all(facts, LANGUAGE)


def changed_keys(before: str, after: str) -> set[tuple[str, ...]]:
    table = SymbolTable()
    table.put("a.ts", LANGUAGE.surface(read(before)))
    return table.put("a.ts", LANGUAGE.surface(read(after)))


def test_an_edit_of_a_body_keeps_the_surface_and_a_new_function_adds_one_name() -> None:
    before = "export function f(a: string): number { return 1 }\nexport class K { m(): void { x() } }\n"
    assert changed_keys(before, "\n\n" + before.replace("return 1", "const q = () => 2; return q()")) == set()
    assert changed_keys(before, before.replace("x()", "for (const a of b) { x(a); y() }")) == set()
    added = changed_keys(before, before + "function g() {}\n")
    assert added == {("ts.top", "a.ts", "g")}


def test_a_resolution_looks_up_missing_names() -> None:
    table = SymbolTable()
    facts = read("import { x } from './later'\nx()\n")
    lookup = RecordingLookup(table)
    assert LANGUAGE.resolve(facts, lookup).edges == ()
    table.record_lookups("a.ts", lookup.keys)
    appeared = table.put("later.ts", LANGUAGE.surface(read("export function x() {}\n", "later.ts")))
    assert table.dependents(appeared) == {"a.ts"}
