"""Reference edges of Go, rule by rule; every case was verified by hand."""

import pytest

from tests.resolver_projects import edges_of
from treering.code.languages.go import LANGUAGE
from treering.code.languages.references import REFERENCE_KINDS

MODULE = "module example.com/app\n"
STORE = """package store

type Box struct{ inner Item }

type Item struct{}

type Opener interface{ Open(box Box) Item }

type Handler func(Box)

func (b *Box) Close() {}

func Handle() {}

func Other() {}
"""
# body of main.go, and the references of its function `f`
CASES = {
    "a parameter's type": ("func f(b store.Box) {}", {("annotates", "Box")}),
    "a pointer, a slice and a map": (
        "func f(b *store.Box, i map[string][]store.Item) {}",
        {("annotates", "Box"), ("annotates", "Item")},
    ),
    "a result's type": ("func f() (store.Item, error) { panic(1) }", {("annotates", "Item")}),
    "a composite literal": ("func f() { use(&store.Box{}) }", {("annotates", "Box")}),
    "a type assertion": ("func f(x any) { _ = x.(store.Opener) }", {("annotates", "Opener")}),
    "a type switch": ("func f(x any) { switch x.(type) { case store.Box: } }", {("annotates", "Box")}),
    "a local variable's type": ("func f() { var h store.Handler; use(h) }", {("annotates", "Handler")}),
    "a function as an argument": ("func f() { use(store.Handle) }", {("references", "Handle")}),
    "a function of the same package": ("func f() { use(helper) }", {("references", "helper")}),
    "a function in a literal": (
        "func f() { _ = Command{Run: helper} }",
        {("annotates", "Command"), ("references", "helper")},
    ),
    "a function in a map": ('func f() { _ = map[string]func(){"a": helper} }', {("references", "helper")}),
    "a function that is assigned": ("func f() { var g = helper; use(g) }", {("references", "helper")}),
    "a function that is returned": ("func f() func() { return helper }", {("references", "helper")}),
    "a method as a value": (
        "func f(b *store.Box) { use(b.Close) }",
        {("annotates", "Box"), ("references", "Box.Close")},
    ),
    "a call is not a reference": ("func f() { store.Handle() }", set()),
    "a local of the same name": ("func f() { helper := 1; use(helper) }", set()),
    "a field of the same name": ("func f(c Command) { use(c.helper) }", {("annotates", "Command")}),
}
HEAD = """package main

import "example.com/app/store"

type Command struct{ Run func(); helper int }

func helper() {}

"""
TABLE = """var commands = map[string]func(){
	"a": helper,
	"b": store.Handle,
}

func run(n string) { commands[n]() }
"""


def references(text: str) -> set[tuple[str, str, str]]:
    files = {"go.mod": MODULE, "store/store.go": STORE, "main.go": HEAD + text}
    return {edge for edge in edges_of(files, LANGUAGE) if edge[1] in REFERENCE_KINDS}


@pytest.mark.parametrize("case", CASES)
def test_references_of_a_function(case: str) -> None:
    text, expected = CASES[case]
    targets = {
        (kind, target.rpartition("::")[2]) for origin, kind, target in references(text) if origin == "main.go::f"
    }
    assert targets == expected


def test_types_refer_to_the_types_of_their_fields_and_methods() -> None:
    found = references("")
    assert {
        ("store/store.go::Box", "annotates", "store/store.go::Item"),
        ("store/store.go::Opener.Open", "annotates", "store/store.go::Box"),
        ("store/store.go::Opener.Open", "annotates", "store/store.go::Item"),
        ("store/store.go::Handler", "annotates", "store/store.go::Box"),
    } == {edge for edge in found if edge[1] == "annotates"}


def test_a_variable_registers_the_functions_that_it_holds() -> None:
    files = {
        "go.mod": MODULE,
        "store/store.go": STORE,
        "main.go": HEAD + TABLE,
    }
    found = edges_of(files, LANGUAGE)
    assert found >= {
        ("main.go::commands", "registers", "main.go::helper"),
        ("main.go::commands", "registers", "store/store.go::Handle"),
        ("main.go::run", "depends_logically", "main.go::commands"),
    }


def test_a_method_is_reached_through_the_interface_that_it_satisfies() -> None:
    text = "type file struct{}\n\nfunc (f file) Open(box store.Box) store.Item { return store.Item{} }\n"
    files = {"go.mod": MODULE, "store/store.go": STORE, "main.go": HEAD + text}
    assert ("main.go::file.Open", "implements", "store/store.go::Opener.Open") in edges_of(files, LANGUAGE)


def test_a_variable_registers_what_init_passes_to_a_function_that_keeps_it() -> None:
    store = """package store

var handlers = map[string]func(){}
var list []func()

func Register(name string, handle func()) {
	local := map[string]func(){}
	local[name] = handle
	handlers[name] = handle
}
func Add(handle func()) { list = append(list, handle) }
func Reset()            { list = nil }
func Call(handle func()) { handle() }
"""
    main = """package main

import "example.com/app/store"

var _ = store.Add(three)

func init() {
	store.Register("one", one)
	store.Call(two)
	store.Reset()
}
func later() { store.Register("two", two) }
func one()   {}
func two()   {}
func three() {}
"""
    files = {"go.mod": MODULE, "store/store.go": store, "main.go": main}
    assert {edge for edge in edges_of(files, LANGUAGE) if edge[1] == "registers"} == {
        ("store/store.go::handlers", "registers", "main.go::one"),
        ("store/store.go::list", "registers", "main.go::three"),
    }


def test_a_type_registers_the_methods_that_the_standard_library_calls() -> None:
    files = {
        "go.mod": MODULE,
        "store/type.go": "package store\n\ntype trip struct{}\n\nfunc New() any { return trip{} }\n",
        "store/methods.go": "package store\n\nfunc (t *trip) RoundTrip() {}\n\nfunc (t trip) Plain() {}\n",
    }
    assert {edge for edge in edges_of(files, LANGUAGE) if edge[1] == "registers"} == {
        ("store/type.go::trip", "registers", "store/methods.go::trip.RoundTrip")
    }
