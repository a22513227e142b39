"""JavaScript without modules and classes, and properties of all files."""

import pytest

from tests.resolver_projects import edges_of, facts_of, resolve_all
from treering.code.languages.typescript import LANGUAGE, surface
from treering.code.languages.typescript.evaluator import TsEvaluator
from treering.code.languages.typescript.values import TsValue


def calls(files: dict[str, str]) -> set[tuple[str, str]]:
    return {(origin, target) for origin, kind, target in edges_of(files, LANGUAGE) if kind == "calls"}


# the files, and every call in them
CASES: dict[str, tuple[dict[str, str], set[tuple[str, str]]]] = {
    "a method given under a computed name is called on the object": (
        {
            "a.js": "var app = {}\napp.set = function set() {}\n"
            "verbs.forEach(v => { app[v] = function () { this.set() } })\n"
        },
        {("a.js", "a.js::app.set")},
    ),
    "a method given to a prototype under a computed name is called on an instance": (
        {"a.js": "class Client { request() {} }\nClient.prototype[verb] = function () { this.request() }\n"},
        {("a.js", "a.js::Client.request")},
    ),
    "in a static method, this is the class": (
        {
            "a.js": "export class Head { static from(x) { return x instanceof this ? x : new this(x) } fit() {} }\n",
            "b.js": "import { Head } from './a'\nHead.from(1).fit()\n",
        },
        {("b.js", "a.js::Head.from"), ("b.js", "a.js::Head.fit"), ("a.js::Head.from", "a.js::Head")},
    ),
    "in an object's method, this is the object": (
        {"a.js": "export default on ? { write() {}, remove() { this.write() } } : { write() {} }\n"},
        {("a.js::remove", "a.js::write")},
    ),
    "what module.exports is and what it is given beside": (
        {
            "a.js": "function stack() {}\nvar codes = { fail: function () {} }\n"
            "module.exports = codes\nmodule.exports.stack = stack\n",
            "b.js": "const { stack } = require('./a')\nconst codes = require('./a')\nstack()\ncodes.fail()\n",
        },
        {("b.js", "a.js::stack"), ("b.js", "a.js::fail")},
    ),
    "a function as a member of another": (
        {"a.js": "function Reply() {}\nfunction build() {}\nReply.build = build\nReply.build()\n"},
        {("a.js", "a.js::build")},
    ),
    "a function expression knows its own name": (
        {"a.js": "exports.deep = function deep(x) { return deep(x) }\n"},
        {("a.js::deep", "a.js::deep")},
    ),
    "a function of a block is seen before it stands": (
        {"a.js": "function f() { if (x) { function g() { h() } function h() {} g() } }\n"},
        {("a.js::f", "a.js::f.g"), ("a.js::f.g", "a.js::f.h")},
    ),
    "a comment in parentheses hides nothing": (
        {"a.jsx": "function Item() {}\nconst List = () => (\n  // all of them\n  <Item />\n)\n"},
        {("a.jsx::List", "a.jsx::Item")},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_call_targets_in_javascript(case: str) -> None:
    files, expected = CASES[case]
    assert calls(files) == expected


def test_a_member_of_a_mapped_type_is_that_of_its_source() -> None:
    files = {
        "lib.ts": "export type Bound<T> = { readonly [K in keyof T]: T[K] }\n"
        "export declare function bound<T>(of: T): Bound<T>\n",
        "a.ts": "import { bound } from './lib'\nclass Item { touch() {} }\n"
        "class Shelf { take(): Item { return new Item() } }\n"
        "bound(new Shelf()).take().touch()\n",
    }
    assert {target for _, target in calls(files)} == {
        "lib.ts::bound",
        "a.ts::Shelf",
        "a.ts::Shelf.take",
        "a.ts::Item",
        "a.ts::Item.touch",
    }


def test_an_own_member_takes_precedence_over_promise_methods() -> None:
    files = {
        "a.ts": "type Query = Promise<number> & { stop(): void }\ndeclare function ask(): Query\n"
        "ask().stop()\nask().then(x => x)\n",
    }
    assert calls(files) == {("a.ts", "a.ts::ask"), ("a.ts", "a.ts::Query.stop")}


def test_assigning_an_inherited_property_does_not_declare_another() -> None:
    files = {
        "a.ts": "interface Writer { write(): void }\nclass Fast implements Writer { write() {} }\n"
        "abstract class Base { protected writer: Writer }\n"
        "class Server extends Base { start() { this.writer = new Fast(); this.writer.write() } }\n",
    }
    assert calls(files) == {("a.ts::Server.start", "a.ts::Fast"), ("a.ts::Server.start", "a.ts::Writer.write")}


def test_a_class_that_extends_a_map_has_its_element_types() -> None:
    files = {
        "a.ts": "class Item { touch() {} }\nclass Items extends Map<string, Item> {}\n"
        "function f(items: Items) { items.get('x').touch() }\n",
    }
    assert calls(files) == {("a.ts::f", "a.ts::Item.touch")}


def test_a_type_without_variables_is_evaluated_once() -> None:
    files = {"a.ts": "type Either<T> = [One | Two, T]\nclass One { go() {} }\nclass Two { go() {} }\n"}
    body = facts_of(files, LANGUAGE)["a.ts"].body
    evaluator = TsEvaluator("a.ts", body, lambda *key: ())
    union = next(term for term in evaluator.terms if term.op == "union")
    one, two = (evaluator.value(union, "a.ts", {"T": TsValue("literal", text=text)}) for text in ("string", "number"))
    assert one is not None
    assert [part.path for part in one.parts] == ["a.ts", "a.ts"]
    assert one is two


def test_surface_keys_do_not_build_the_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Indexing a file stores only the keys; its entries are built once, when another file looks them up."""
    facts = facts_of({"a.ts": "export class K { m() {} }\nexport * from './b'\n"}, LANGUAGE)["a.ts"]
    entries = dict(LANGUAGE.surface(facts))
    monkeypatch.setattr(surface, "TermInliner", None)
    again = LANGUAGE.surface(facts)
    assert set(again) == set(entries)
    assert len(again) == len(entries)
    assert all(key in again for key in entries)
    assert ("ts.top", "a.ts", "M") not in again


def test_a_variable_without_a_definition_is_not_a_target() -> None:
    """It was reached through a function of another file that returns its argument."""
    files = {
        "lib.ts": "export function keep<T>(router: T): { router: T } { return { router } }\n",
        "a.ts": "import { keep } from './lib'\nconst router = outside(1)\nkeep(router).router(2)\n",
    }
    facts = facts_of(files, LANGUAGE)
    defined = {f"{path}::{each.qualname}" for path, file in facts.items() for each in file.definitions}
    for found in resolve_all(facts, LANGUAGE).values():
        assert {edge.target for edge in found.edges if "::" in edge.target} <= defined
