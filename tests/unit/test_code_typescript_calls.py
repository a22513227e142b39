"""Targets of TypeScript and JavaScript calls, rule by rule; every case was verified by hand."""

import pytest

from tests.resolver_projects import edges_of, facts_of, resolve_all, unresolved_of
from treering.code.facts import CallFlow
from treering.code.languages.typescript import LANGUAGE


def calls(files: dict[str, str]) -> set[tuple[str, str]]:
    return {(origin, target) for origin, kind, target in edges_of(files, LANGUAGE) if kind == "calls"}


LIB = """
export function make(): Store { return new Store() }
export const arrow = () => 1
export default function main() { return make() }
export class Store extends Base {
  static open(): Store { return new Store() }
  #items: Item[] = []
  byName = new Map<string, Item>()
  child?: Store
  constructor(private readonly log: Logger) { super() }
  get first(): Item { return this.#items[0] }
  save(): this { this.log.info('x'); return this }
  load = async (): Promise<Item> => this.#items[0]
}
export class Base { close() {} }
export class Item { touch(): void {} }
export interface Logger { info(text: string): void; warn: (text: string) => void; level: number }
export const api = { get() { return new Item() }, post: () => new Store(null) }
export function each(items: Item[], use: (item: Item, place: number) => void): void {}
export function same<T>(value: T): T { return value }
export type Handler = (store: Store) => void
export function over(name: string): Item
export function over(many: number): Store
export function over(any: any): any { return null }
"""

# body of `function f() { … }` in main.ts, and what it calls in lib.ts
REACHES = {
    "an imported function": ("make()", {"make"}),
    "an arrow in a constant": ("arrow()", {"arrow"}),
    "a default export": ("start()", {"main"}),
    "a namespace's member": ("lib.arrow()", {"arrow"}),
    "a constructor": ("new Store(l)", {"Store"}),
    "a static method": ("Store.open()", {"Store.open"}),
    "a method of what was constructed": ("const s = new Store(l); s.save()", {"Store", "Store.save"}),
    "an inherited method": ("const s = new Store(l); s.close()", {"Store", "Base.close"}),
    "a parameter's type": ("function g(s: Store) { s.save() }", {"Store.save"}),
    "an optional chain": ("function g(s?: Store) { s?.child?.save() }", {"Store.save"}),
    "a non-null assertion": ("function g(s?: Store) { s!.child!.save() }", {"Store.save"}),
    "an annotated result": ("make().save()", {"make", "Store.save"}),
    "a result that is this": ("make().save().close()", {"make", "Store.save", "Base.close"}),
    "a getter": ("make().first.touch()", {"make", "Item.touch"}),
    "an arrow in a field, awaited": ("async () => (await make().load()).touch()", {"make", "Store.load", "Item.touch"}),
    "a promise's then": ("make().load().then(i => i.touch())", {"make", "Store.load", "Item.touch"}),
    "a map's value": ("make().byName.get('x').touch()", {"make", "Item.touch"}),
    "an interface's method": ("function g(l: Logger) { l.info('x') }", {"Logger.info"}),
    "an interface's function property": ("function g(l: Logger) { l.warn('x') }", {"Logger.warn"}),
    "an object literal's method": ("api.get().touch()", {"get", "Item.touch"}),
    "an object literal's arrow": ("api.post().save()", {"post", "Store.save"}),
    "a destructured member": ("const { get } = api; get()", {"get"}),
    "a callback's parameter by its type": ("each([], (item) => item.touch())", {"each", "Item.touch"}),
    "an element of an array": ("function g(all: Item[]) { all[0].touch(); }", {"Item.touch"}),
    "for of": ("function g(all: Item[]) { for (const i of all) i.touch() }", {"Item.touch"}),
    "an array's callbacks": ("function g(all: Item[]) { all.filter(i => i).map(i => i.touch()) }", {"Item.touch"}),
    "a generic's result": ("same(new Item()).touch()", {"same", "Item", "Item.touch"}),
    "a given type argument": ("same<Item>(x).touch()", {"same", "Item.touch"}),
    "an expected function type": ("const h: Handler = (s) => s.save()", {"Store.save"}),
    "an expected member": ("const o: { on: Handler } = { on(s) { s.save() } }", {"Store.save"}),
    "the overload that fits": ("over('x').touch(); over(1).save()", {"over", "Item.touch", "Store.save"}),
    "a cast": ("(x as Item).touch(); (<Item>x).touch()", {"Item.touch"}),
    "satisfies": ("(new Item() satisfies object).touch()", {"Item", "Item.touch"}),
    "typeof a value": ("let g: typeof api; g.get()", {"get"}),
    "a result's type": ("let g: ReturnType<typeof make>; g.save()", {"Store.save"}),
    "a union": ("function g(x: Item | Store) { x.touch(); x.save() }", {"Item.touch", "Store.save"}),
    "an intersection": ("function g(x: Item & Store) { x.touch(); x.save() }", {"Item.touch", "Store.save"}),
    "either of two": ("const s = a ? new Store(l) : null; s.save()", {"Store", "Store.save"}),
    "a default": ("function g(s = make()) { s.save() }", {"make", "Store.save"}),
    "what is assigned later": ("let s; s = new Store(l); s.save()", {"Store", "Store.save"}),
    "instanceof": ("try {} catch (e) { if (e instanceof Item) { e.touch() } }", {"Item.touch"}),
    "an alias of a type": ("type T = Item; function g(x: T) { x.touch() }", {"Item.touch"}),
    "a partial type": ("function g(x: Partial<Logger>) { x.info('') }", {"Logger.info"}),
    "a member's type by lookup": ("function g(x: Store['child']) { x.save() }", {"Store.save"}),
    "a dynamic import": ("async () => (await import('./lib')).arrow()", {"arrow"}),
    "a tagged template": ("arrow`text`", {"arrow"}),
    "all of several promises": (
        "async () => { const [i] = await Promise.all([make().load()]); i.touch() }",
        {"make", "Store.load", "Item.touch"},
    ),
}


@pytest.mark.parametrize("rule", REACHES)
def test_a_call_reaches(rule: str) -> None:
    body, targets = REACHES[rule]
    header = (
        "import start, * as lib from './lib'\n"
        "import { make, arrow, Store, Base, Item, Logger, api, each, same, Handler, over } from './lib'\n"
    )
    found = calls({"lib.ts": LIB, "main.ts": f"{header}function f(x: any, a: any, l: Logger) {{ {body} }}\n"})
    assert {target for origin, target in found if origin.startswith("main.ts")} == {f"lib.ts::{t}" for t in targets}


def test_inside_a_class_this_super_fields_and_parameter_properties_are_known() -> None:
    source = """
    import { Logger } from './log'
    class Base { close() {} }
    class Thing extends Base {
      static count = 0
      static reset() { this.bump() }
      static bump() {}
      helper = new Helper()
      constructor(private log: Logger) { super() }
      run() { this.helper.help(); this.log.info(); this.#secret(); super.close(); later(() => this.run()) }
      #secret() {}
    }
    class Helper { help() {} }
    """
    found = calls({"main.ts": source, "log.ts": "export class Logger { info() {} }"})
    assert found == {
        ("main.ts::Thing.reset", "main.ts::Thing.bump"),
        ("main.ts::Thing", "main.ts::Helper"),
        ("main.ts::Thing.run", "main.ts::Helper.help"),
        ("main.ts::Thing.run", "log.ts::Logger.info"),
        ("main.ts::Thing.run", "main.ts::Thing.#secret"),
        ("main.ts::Thing.run", "main.ts::Base.close"),
        ("main.ts::Thing.run", "main.ts::Thing.run"),
    }


def test_re_exports_are_followed_to_the_definition() -> None:
    files = {
        "deep.ts": "export function one() {}\nexport default function two() {}\nexport class K { m() {} }\n",
        "barrel.ts": "export * from './deep'\nexport { default as second, one as first } from './deep'\n"
        "export * as ns from './deep'\nimport { K } from './deep'\nexport { K as Renamed }\n",
        "top.ts": "export * from './barrel'\n",
        "main.ts": "import { one, first, second, ns, Renamed } from './top'\n"
        "one(); first(); second(); ns.one(); new Renamed().m()\n",
    }
    assert calls(files) == {("main.ts", f"deep.ts::{name}") for name in ("one", "two", "K", "K.m")}


def test_cyclic_export_stars_terminate() -> None:
    files = {"a.ts": "export * from './b'\n", "b.ts": "export * from './a'\n", "m.ts": "import { x } from './a'\nx()\n"}
    assert calls(files) == set()


def test_commonjs_exports_requires_prototypes_and_constructors_by_function() -> None:
    files = {
        "lib.js": "exports.one = function () {}\nmodule.exports.two = () => exports.one()\n",
        "person.js": "function Person(n) { this.pet = new Pet() }\n"
        "Person.prototype.greet = function () { this.pet.bark(); this.greet() }\n"
        "Person.create = function () { return new Person(1) }\n"
        "class Pet { bark() {} }\nmodule.exports = Person\n",
        "table.js": "const { one } = require('./lib')\nmodule.exports = { run() { this.stop() }, stop() {}, one }\n",
        "main.js": "const lib = require('./lib'), { two } = require('./lib')\nvar Person = require('./person')\n"
        "const table = require('./table')\n"
        "lib.one(); two(); new Person('x').greet(); Person.create().greet(); table.run(); table.one()\n",
    }
    assert calls(files) == {
        ("lib.js::two", "lib.js::one"),
        ("person.js::Person", "person.js::Pet"),
        ("person.js::Person.greet", "person.js::Pet.bark"),
        ("person.js::Person.greet", "person.js::Person.greet"),
        ("person.js::Person.create", "person.js::Person"),
        ("table.js::run", "table.js::stop"),
        ("main.js", "lib.js::one"),
        ("main.js", "lib.js::two"),
        ("main.js", "person.js::Person"),
        ("main.js", "person.js::Person.greet"),
        ("main.js", "person.js::Person.create"),
        ("main.js", "table.js::run"),
    }


def test_a_component_in_jsx_is_called_and_its_attributes_are_typed_by_it() -> None:
    files = {
        "ui.tsx": "export class Row { pick() {} }\n"
        "export function Button(props: { onPick: (row: Row) => void }) { return <b/> }\n"
        "export const Menu = { Entry: () => <i/> }\n",
        "app.tsx": "import { Button, Menu } from './ui'\n"
        "export const App = () => <div><Button onPick={(row) => row.pick()} /><Menu.Entry>x</Menu.Entry></div>\n",
    }
    assert calls(files) == {
        ("app.tsx::App", "ui.tsx::Button"),
        ("app.tsx::App", "ui.tsx::Row.pick"),
        ("app.tsx::App", "ui.tsx::Entry"),
    }


def test_results_are_inferred_from_what_is_returned_also_across_files() -> None:
    files = {
        "a.ts": "export class K { m() {} }\nexport const make = () => { const k = new K(); return { k, two: [k] } }\n"
        "export async function later() { return make().k }\n",
        "b.ts": "import { make, later } from './a'\n"
        "make().k.m()\nmake().two[0].m()\nasync function f() { (await later()).m() }\n",
    }
    assert calls(files) == {
        ("a.ts::make", "a.ts::K"),
        ("a.ts::later", "a.ts::make"),
        ("b.ts", "a.ts::make"),
        ("b.ts", "a.ts::K.m"),
        ("b.ts::f", "a.ts::later"),
        ("b.ts::f", "a.ts::K.m"),
    }


def test_a_generic_class_passes_its_type_argument_to_its_methods() -> None:
    source = """
    class Item { touch() {} }
    class Box<T> { constructor(public value: T) {} open(): T { return this.value } all(): T[] { return [] } }
    class Special extends Box<Item> {}
    function f(b: Box<Item>, s: Special) { b.open().touch(); s.value.touch(); new Box(new Item()).all()[0].touch() }
    """
    assert ("a.ts::f", "a.ts::Item.touch") in calls({"a.ts": source})
    assert unresolved_of({"a.ts": source}, LANGUAGE) == set()


def test_unknown_calls_are_unresolved_and_external_ones_ignored() -> None:
    source = (
        "import { x } from 'react'\nfunction f(a, cb) { a.b.c(); cb(); x(); x().y.z(); console.log(''); [].map(x) }\n"
    )
    assert calls({"a.ts": source}) == set()
    assert unresolved_of({"a.ts": source}, LANGUAGE) == {("a.ts::f", "a.b.c"), ("a.ts::f", "cb")}


def test_a_local_name_hides_an_imported_one() -> None:
    files = {
        "lib.ts": "export function go() {}\n",
        "main.ts": "import { go } from './lib'\nfunction f(go: () => void) { go() }\n"
        "function g() { { const go = () => 1; go() } go() }\n",
    }
    assert calls(files) == {("main.ts::g", "main.ts::g.go"), ("main.ts::g", "lib.ts::go")}


def test_script_globals_and_declare_global_are_visible_everywhere() -> None:
    files = {
        "globals.d.ts": "declare function helper(): Thing\ninterface Thing { run(): void }\n",
        "mod.ts": "export {}\ndeclare global { interface Wide { deep(): void } }\n",
        "main.ts": "import './mod'\nhelper().run()\nfunction f(w: Wide) { w.deep() }\n",
    }
    assert calls(files) == {
        ("main.ts", "globals.d.ts::helper"),
        ("main.ts", "globals.d.ts::Thing.run"),
        ("main.ts::f", "mod.ts::Wide.deep"),
    }


def test_heritage_overrides_and_exports() -> None:
    files = {
        "base.ts": "export abstract class Base { abstract run(): void; stop() {} }\n"
        "export interface Can { stop(): void }\n",
        "main.ts": "import { Base, Can } from './base'\nexport class Main extends Base implements Can "
        "{ run() {} stop() {} own() {} }\nexport { Base as Root } from './base'\n",
        "all.ts": "export * from './main'\n",
    }
    found = edges_of(files, LANGUAGE)
    assert {edge for edge in found if edge[1] == "extends"} == {("main.ts::Main", "extends", "base.ts::Base")}
    assert {edge for edge in found if edge[1] == "implements"} == {
        ("main.ts::Main", "implements", "base.ts::Can"),
        ("main.ts::Main.run", "implements", "base.ts::Base.run"),
        ("main.ts::Main.stop", "implements", "base.ts::Base.stop"),
        ("main.ts::Main.stop", "implements", "base.ts::Can.stop"),
    }
    assert {(origin, target) for origin, kind, target in found if kind == "exports"} == {
        ("base.ts", "base.ts::Base"),
        ("base.ts", "base.ts::Can"),
        ("main.ts", "main.ts::Main"),
        ("main.ts", "base.ts::Base"),
        ("all.ts", "main.ts::Main"),
        ("all.ts", "base.ts::Base"),
    }


def test_flow_line_and_confidence_of_a_call() -> None:
    files = {"a.ts": "function f(x?: number) {}\nclass K { m() {} }\nf()\nconst y = f(1)\nfunction g(k: K) { k.m() }\n"}
    edges = resolve_all(facts_of(files, LANGUAGE), LANGUAGE)["a.ts"].edges
    by_target = {edge.target: edge for edge in edges if edge.kind.value == "calls"}
    assert (by_target["a.ts::f"].line, by_target["a.ts::f"].flow) == (3, CallFlow.ARGUMENTS | CallFlow.RESULT)
    assert by_target["a.ts::f"].confidence == 1.0
    assert (by_target["a.ts::K.m"].line, by_target["a.ts::K.m"].flow) == (5, CallFlow.NOTHING)
    assert by_target["a.ts::K.m"].confidence == 0.9


def test_a_call_through_a_variable_targets_the_variable() -> None:
    files = {
        "a.ts": "export const made = wrap(1)\nconst inner = wrap(2)\nexport const api = { inner }\n",
        "b.ts": "import { made, api } from './a'\nmade()\napi.inner()\n",
    }
    assert calls(files) == {("b.ts", "a.ts::made"), ("b.ts", "a.ts::inner")}
    assert {d.qualname for d in facts_of(files, LANGUAGE)["a.ts"].definitions} == {"made", "inner", "api"}


def test_a_class_depends_on_its_constructor() -> None:
    files = {"a.ts": "export class Made {\n  constructor(readonly x: number) {}\n  run() {}\n}\nclass Plain {}\n"}
    found = {(origin, target) for origin, kind, target in edges_of(files, LANGUAGE) if kind == "depends_logically"}
    assert found == {("a.ts::Made", "a.ts::Made.constructor")}
