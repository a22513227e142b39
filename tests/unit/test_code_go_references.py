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


ERRORS = """package app

import (
	"errors"
	"fmt"

	"example.com/app/lib"
)

var ErrLost = errors.New("lost")
var errLate error
var errMade = &Fault{}
var count = 1

type Fault struct{ Code int }
type Plain struct{}
type Future struct{}

func (f *Future) Error() error { return nil }
func (f *Fault) Error() string { return "" }
"""
RAISES_AND_CATCHES = {
    "func f() error { return ErrLost }": {("raises", "ErrLost")},
    'func f() error { return fmt.Errorf("f: %w", ErrLost) }': {("raises", "ErrLost")},
    "func f() error { return &Fault{1} }": {("raises", "Fault")},
    "func f() (Plain, error) { return Plain{}, errMade }": {("annotates", "Plain"), ("raises", "errMade")},
    "func f() error { return lib.ErrOther }": {("raises", "ErrOther")},
    "func f() { panic(ErrLost) }": {("raises", "ErrLost")},
    "func f(err error) { if errors.Is(err, ErrLost) {} }": {("catches", "ErrLost")},
    "func f(err error) { var t *Fault; if errors.As(err, &t) {} }": {("annotates", "Fault"), ("catches", "Fault")},
    "func f(err error) { if err == errLate {} }": {("catches", "errLate")},
    "func f(err error) { switch err { case ErrLost: } }": {("catches", "ErrLost")},
    "func f(err error) { switch err.(type) { case *Fault: } }": {("catches", "Fault")},
    "func f(err error) { _, ok := err.(*Fault); _ = ok }": {("catches", "Fault")},
    "func f() *Future { return &Future{} }": {("annotates", "Future")},
    "func f() int { return count }": {("depends_logically", "count")},
    "func f(x any) { switch x.(type) { case Plain: } }": {("annotates", "Plain")},
    "func f() { log(ErrLost) }": {("depends_logically", "ErrLost")},
    "func f() *Fault { return nil }": {("annotates", "Fault")},
}


@pytest.mark.parametrize("text", RAISES_AND_CATCHES)
def test_errors_that_a_function_returns_and_tests_for(text: str) -> None:
    lib = 'package lib\n\nimport "errors"\n\nvar ErrOther = errors.New("other")\n'
    files = {"go.mod": "module example.com/app\n", "lib/lib.go": lib, "app.go": ERRORS + text}
    kinds = (*REFERENCE_KINDS, "depends_logically")
    found = edges_of(files, LANGUAGE)
    assert {
        (kind, target.rpartition("::")[2]) for origin, kind, target in found if origin == "app.go::f" and kind in kinds
    } == RAISES_AND_CATCHES[text]


def test_a_parameter_does_not_hide_the_type_of_its_name_in_the_signature() -> None:
    text = """package app

type setter interface{ set() }
type T struct{}

func f(setter setter) { var inner setter; _ = inner }
func g[T any](t T) {}
func (setter *T) h() { var inner setter; _ = inner }
"""
    found = edges_of({"go.mod": "module example.com/app\n", "app.go": text}, LANGUAGE)
    named = {(origin[8:], target[8:]) for origin, kind, target in found if kind == "annotates"}
    assert named == {("f", "setter")}


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
        "store/methods.go": """package store

func (t *trip) RoundTrip(r *http.Request) (*http.Response, error) { return nil, nil }
func (t trip) Plain() {}
func (t trip) Set(key string, value any) {}
""",
    }
    assert {edge for edge in edges_of(files, LANGUAGE) if edge[1] == "registers"} == {
        ("store/type.go::trip", "registers", "store/methods.go::trip.RoundTrip")
    }
