"""Reference edges of TypeScript and JavaScript, rule by rule; every case was verified by hand."""

import pytest

from tests.growth import LINEAR, growth
from tests.resolver_projects import edges_of
from treering.code.languages.references import REFERENCE_KINDS
from treering.code.languages.typescript import LANGUAGE

LIB = """
export interface Shape { area(): number }
export type Name = string
export enum Color { Red }
export class Box<T = unknown> implements Shape { area() { return 1 } static make() { return new Box() }
  get size() { return 2 } }
export class Crate extends Box {}
export class Broken extends Error {}
export function handle(): void {}
export function other(): void {}
export function List(): any {}
export const LIMIT = 3
export namespace Deep { export interface Inner {} }
"""
HEAD = """import { Shape, Name, Color, Box, Crate, Broken, handle, other, List, LIMIT, Deep } from './lib'
import * as lib from './lib'
"""

# text of main.tsx after the imports, and the references of its function `f`
CASES = {
    "a parameter's type": ("function f(s: Shape) {}", {("annotates", "Shape")}),
    "a result's type": ("function f(): Promise<Name[]> { return null }", {("annotates", "Name")}),
    "a type argument of a call": (
        "function f() { new Map<Name, Box>() }",
        {("annotates", "Name"), ("annotates", "Box")},
    ),
    "a constraint of a type parameter": ("function f<T extends Shape>(t: T) {}", {("annotates", "Shape")}),
    "a local variable's type": ("function f() { let s: Shape | null = null }", {("annotates", "Shape")}),
    "a cast": ("function f(x: any) { x as Shape }", {("annotates", "Shape")}),
    "satisfies": ("function f(x: any) { x satisfies Shape }", {("annotates", "Shape")}),
    "a type predicate": ("function f(x: any): x is Shape { return true }", {("annotates", "Shape")}),
    "keyof": ("function f(x: keyof Shape) {}", {("annotates", "Shape")}),
    "a conditional type": (
        "function f(x: any extends Shape ? Name : 1) {}",
        {("annotates", "Shape"), ("annotates", "Name")},
    ),
    "a type of a namespace": ("function f(x: Deep.Inner) {}", {("annotates", "Inner")}),
    "a function as an argument": ("function f() { setTimeout(handle) }", {("references", "handle")}),
    "a function in an object": (
        "function f() { return { run: handle, other } }",
        {("references", "handle"), ("references", "other")},
    ),
    "a function in a list": ("function f() { return [handle] }", {("references", "handle")}),
    "a function that is assigned": ("function f() { const g = handle }", {("references", "handle")}),
    "a function of a module": ("function f() { use(lib.handle) }", {("references", "handle")}),
    "a static method as a value": (
        "function f() { use(Box.make) }",
        {("references", "Box"), ("references", "Box.make")},
    ),
    "a method of an instance as a value": (
        "function f(b: Box) { use(b.area) }",
        {("annotates", "Box"), ("references", "Box.area")},
    ),
    "a getter": ("function f(b: Box) { return b.size }", {("annotates", "Box"), ("references", "Box.size")}),
    "a getter of a base": (
        "function f(c: Crate) { use(c.size) }",
        {("annotates", "Crate"), ("references", "Box.size")},
    ),
    "a getter of a receiver": (
        "function f(c: Crate) { c.size.x() }",
        {("annotates", "Crate"), ("references", "Box.size")},
    ),
    "the type of a constant function": ("const f: Shape = () => {}", {("annotates", "Shape")}),
    "a constant": ("function f() { return LIMIT + 1 }", {("references", "LIMIT")}),
    "an enumeration": ("function f() { return Color.Red }", {("references", "Color")}),
    "instanceof": ("function f(x: any) { x instanceof Box }", {("references", "Box")}),
    "throw": ("function f() { throw new Broken() }", {("raises", "Broken")}),
    "catch": (
        "function f() { try {} catch (e) { if (e instanceof Broken) {} } }",
        {("catches", "Broken")},
    ),
    "a handler of a component": ("function f() { return <List onClick={handle} /> }", {("references", "handle")}),
    "a call is not a reference": ("function f() { handle() }", set()),
    "a parameter of the same name": ("function f(handle: any) { use(handle) }", set()),
    "a local type of the same name": (
        "function f() { interface Shape {} let s: Shape }",
        {("annotates", "main.tsx::f.Shape")},
    ),
    "a type variable of the same name": ("function f<Shape>(s: Shape) {}", set()),
    "a variable's type is not a use by its readers": ("declare const box: Box\nfunction f() { use(box) }", set()),
}


def references(files: dict[str, str]) -> set[tuple[str, str, str]]:
    return {edge for edge in edges_of(files, LANGUAGE) if edge[1] in REFERENCE_KINDS}


@pytest.mark.parametrize("case", CASES)
def test_references_of_a_function(case: str) -> None:
    text, expected = CASES[case]
    found = references({"lib.ts": LIB, "main.tsx": HEAD + text})
    targets = {
        (kind, target.removeprefix("lib.ts::").removeprefix("Deep."))
        for origin, kind, target in found
        if origin == "main.tsx::f"
    }
    assert targets == expected


def test_a_table_registers_what_it_holds_and_its_readers_reach_it() -> None:
    text = "const HANDLERS = { a: handle, b: [other] }\nexport function f(name: string) { return HANDLERS[name] }"
    found = references({"lib.ts": LIB, "main.tsx": HEAD + text})
    assert found >= {
        ("main.tsx::HANDLERS", "registers", "lib.ts::handle"),
        ("main.tsx::HANDLERS", "registers", "lib.ts::other"),
        ("main.tsx::f", "references", "main.tsx::HANDLERS"),
    }


def test_types_belong_to_the_member_that_names_them() -> None:
    text = "interface Own extends Shape { name: Name; run(box: Box): void }\ntype Both = Name | Box"
    found = references({"lib.ts": LIB, "main.tsx": HEAD + text})
    assert found >= {
        ("main.tsx::Own", "annotates", "lib.ts::Name"),
        ("main.tsx::Own.run", "annotates", "lib.ts::Box"),
        ("main.tsx::Both", "annotates", "lib.ts::Name"),
        ("main.tsx::Both", "annotates", "lib.ts::Box"),
    }


def test_an_export_is_not_a_use() -> None:
    files = {"a.ts": "function run() {}\nexport default run", "b.js": "function go() {}\nmodule.exports = { go }"}
    assert references(files) == set()


def test_a_function_registered_outside_functions_is_used_by_the_file() -> None:
    found = references({"lib.ts": LIB, "main.tsx": HEAD + "app.get('/', handle)"})
    assert ("main.tsx", "references", "lib.ts::handle") in found


def test_a_function_of_an_object_implements_the_member_that_is_expected_of_the_object() -> None:
    text = """export interface Pool { run(x: number): void; stop: () => void; size: number }
export function create(): Pool { return { run(x) { help() }, stop: () => help(), size: 1 } }
function help() {}
function take(pool: Pool) {}
class User { start() { take({ run() {}, stop() {}, size: 2 }) } }
"""
    found = edges_of({"a.ts": text}, LANGUAGE)
    assert found >= {
        ("a.ts::create.run", "implements", "a.ts::Pool.run"),
        ("a.ts::create.stop", "implements", "a.ts::Pool.stop"),
        ("a.ts::User.start.run", "implements", "a.ts::Pool.run"),
        ("a.ts::create", "registers", "a.ts::create.run"),
    }


def test_tables_register_the_functions_that_are_written_in_them() -> None:
    text = "function run() {}\nconst TABLE = { a: () => run(), b() { run() } }\nexport const use = () => TABLE\n"
    found = edges_of({"a.ts": text}, LANGUAGE)
    assert found >= {("a.ts::TABLE", "registers", "a.ts::a"), ("a.ts::TABLE", "registers", "a.ts::b")}


def test_members_that_a_pattern_takes_out_of_an_object_are_used() -> None:
    text = """class Box { get size() { return 1 } open() {} }
function first(box: Box) { const { size, open: opened } = box; return opened }
function second({ size }: Box) { return size }
"""
    found = edges_of({"a.ts": text}, LANGUAGE)
    assert found >= {
        ("a.ts::first", "references", "a.ts::Box.size"),
        ("a.ts::first", "references", "a.ts::Box.open"),
        ("a.ts::second", "references", "a.ts::Box.size"),
    }


def test_a_typed_function_inside_a_callback_is_referred_to() -> None:
    text = "type Handler = () => void\nrun('x', () => { const one: Handler = () => {}\n  take(one) })\n"
    assert ("a.ts", "references", "a.ts::one") in edges_of({"a.ts": text}, LANGUAGE)


def test_a_property_with_a_function_names_its_type() -> None:
    text = "type Handler = () => void\nclass Holder { get: Handler = () => {} }\n"
    found = edges_of({"a.ts": text}, LANGUAGE)
    assert ("a.ts::Holder.get", "annotates", "a.ts::Handler") in found
    assert ("a.ts::Holder", "annotates", "a.ts::Handler") not in found


def test_a_comment_behind_a_decorator_hides_no_use() -> None:
    text = """import { traced } from './traced'
@traced() // of the class
class Cats {
  @traced() // eslint-disable-line
  two() {}
}
"""
    found = edges_of({"app.ts": text, "traced.ts": "export function traced() {}"}, LANGUAGE)
    assert found >= {(f"app.ts::{name}", "calls", "traced.ts::traced") for name in ("Cats", "Cats.two")}


def test_decorators_of_packages_make_a_class_register_its_methods() -> None:
    text = """import { Controller, Get, Module } from '@nestjs/common'
import { traced } from './traced'
import { Guard } from './guard'
export class Service { find() {} }
@Controller('cats')
export class Cats {
  constructor(private readonly service: Service) {}
  @Get(':id') one() { return this.service.find() }
  @traced() two() {}
  @Get(Guard) three() {}
}
@Module({ controllers: [Cats], providers: [Service] })
export class App {}
"""
    files = {"app.ts": text, "traced.ts": "export function traced() {}", "guard.ts": "export class Guard {}"}
    found = edges_of(files, LANGUAGE)
    registered = {target for origin, kind, target in found if kind == "registers" and origin == "app.ts::Cats"}
    assert registered == {"app.ts::Cats.one", "app.ts::Cats.three"}
    assert found >= {
        ("app.ts::App", "references", "app.ts::Cats"),
        ("app.ts::App", "references", "app.ts::Service"),
        ("app.ts::Cats.two", "calls", "traced.ts::traced"),
        ("app.ts::Cats.three", "references", "guard.ts::Guard"),
    }


def test_a_module_that_is_passed_on_may_be_used_as_a_whole() -> None:
    files = {
        "rules.ts": "export default function one() {}\nexport const two = () => 1\nfunction hidden() {}",
        "main.ts": """import * as rules from './rules'
export function passes() { run(rules) }
export function selects() { return rules.two() }
""",
    }
    assert {edge for edge in edges_of(files, LANGUAGE) if edge[0].startswith("main.ts::")} == {
        ("main.ts::passes", "depends_logically", "rules.ts::one"),
        ("main.ts::passes", "depends_logically", "rules.ts::two"),
        ("main.ts::selects", "calls", "rules.ts::two"),
    }


def test_a_function_that_an_expression_creates_is_used_by_the_definition_around_it() -> None:
    text = """export function etag() { return async function inner() { handle() } }
export function make() { return { run() { handle() } } }
export const table = wrap({ onError() { handle() }, go: () => handle() })
use({ listener() { handle() } })
export function outer() { function called() {} called() }
export class Own { method() { handle() } }
"""
    found = references({"lib.ts": LIB, "main.tsx": HEAD + text})
    assert {edge for edge in found if edge[2].startswith("main.tsx")} == {
        ("main.tsx::etag", "references", "main.tsx::etag.inner"),
        ("main.tsx::make", "registers", "main.tsx::make.run"),
        ("main.tsx::table", "registers", "main.tsx::onError"),
        ("main.tsx::table", "registers", "main.tsx::go"),
        ("main.tsx", "registers", "main.tsx::listener"),
    }


def test_holders_of_functions_in_objects_are_found_in_linear_time() -> None:
    def resolve(count: int) -> object:
        return edges_of(
            {"a.ts": "".join(f"export const a{n}: H = {{ b{n}() {{}} }};\n" for n in range(count))}, LANGUAGE
        )

    assert growth(resolve, 2_000, 8_000) < LINEAR
    nested = "interface H { b(): void }\nexport const table: H = {\n  b() {},\n}\n"
    assert ("a.ts::table", "registers", "a.ts::b") in edges_of({"a.ts": nested}, LANGUAGE)
