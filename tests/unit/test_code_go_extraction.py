"""Extraction of a Go file or manifest: definitions, tests, entry points, build constraints, broken input."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.resolver_projects import edges_of, facts_of, resolve_all
from treering.code.facts import Definition, DefinitionKind, EntryPoint, Facts
from treering.code.languages.go import LANGUAGE
from treering.code.languages.go.constraints import unmet_constraint


def definitions_of(source: str, path: str = "p.go") -> dict[str, Definition]:
    return {each.qualname: each for each in LANGUAGE.extract(path, source.encode()).definitions}


def test_definitions_have_kinds_and_lines() -> None:
    source = """package p

type Color int

const (
	Red Color = iota
	green
)

type Shape interface {
	Area() float64
}

type Square struct{ side float64 }

func (s *Square) Area() float64 {
	type local struct{}
	return s.side
}

type List[T any] []T

func (l List[T]) Len() int { return len(l) }

func New() *Square { return nil }

func init() {}
func init() {}
func _() {}
"""
    found = definitions_of(source)
    assert {name: each.kind.value for name, each in found.items()} == {
        "Color": "enum",
        "Red": "constant",
        "Shape": "interface",
        "Shape.Area": "method",
        "Square": "class",
        "Square.Area": "method",
        "Square.Area.local": "class",
        "List": "type",
        "List.Len": "method",
        "New": "function",
        "init": "function",
    }
    assert (found["Square.Area"].line, found["Square.Area"].end_line) == (16, 19)
    assert {name for name, each in found.items() if not each.exported} == {"Square.Area.local", "init"}


def test_tests_are_what_go_test_runs() -> None:
    source = """package p
func TestOne(t *testing.T) {}
func Test(t *testing.T) {}
func Testify() {}
func TestMain(m *testing.M) {}
func BenchmarkX(b *testing.B) {}
func FuzzX(f *testing.F) {}
func Example() {}
func Example_suffix() {}
func helper() {}
func (s *Suite) TestInSuite() {}
func (s *Suite) TestWith(x int) {}
"""
    ran = {name for name, each in definitions_of(source, "p_test.go").items() if each.test}
    assert ran == {"TestOne", "Test", "BenchmarkX", "FuzzX", "Example", "Example_suffix", "Suite.TestInSuite"}
    assert not any(each.test for each in definitions_of(source, "p.go").values())


def entries_of(source: str, path: str = "main.go") -> dict[str, tuple[EntryPoint | None, str | None]]:
    found = definitions_of(source, path)
    return {name: (each.entry, each.entry_name) for name, each in found.items() if each.entry is not None}


def test_main_of_a_main_package_is_an_entry() -> None:
    assert entries_of("package main\nfunc main() {}") == {"main": (EntryPoint.MAIN, None)}
    assert entries_of("package other\nfunc main() {}") == {}


ROUTES = """package web
func Register(r *gin.Engine, mux *http.ServeMux) {
	http.HandleFunc("/a", a)
	r.GET("/b/:id", auth, b)
	mux.HandleFunc("POST /c", s.c)
	r.Get("key", d)
	r.Delete("/d", auth(d))
}
func Inline(r chi.Router) { r.Put("/e", func(w http.ResponseWriter, r *http.Request) {}) }
func a() {}
func b() {}
func (s *Server) c() {}
func d() {}
"""


def test_functions_passed_to_routers_are_routes() -> None:
    assert entries_of(ROUTES) == {
        "a": (EntryPoint.ROUTE, "/a"),
        "b": (EntryPoint.ROUTE, "GET /b/:id"),
        "Server.c": (EntryPoint.ROUTE, "POST /c"),
        "Inline": (EntryPoint.ROUTE, "PUT /e"),
    }
    assert entries_of(ROUTES, "web_test.go") == {}


def test_a_handler_of_another_file_gets_an_edge_from_its_registration() -> None:
    files = {
        "go.mod": "module m\n",
        "main.go": 'package main\nimport "m/api"\nfunc main() {\nhttp.HandleFunc("/a", api.List)\n'
        'x := api.S{}\nr.GET("/b", x.Get)\n}',
        "api/api.go": "package api\nfunc List() {}\ntype S struct{}\nfunc (S) Get() {}",
    }
    assert {edge for edge in edges_of(files, LANGUAGE) if edge[1] == "is_entrypoint_for"} == {
        ("main.go::main", "is_entrypoint_for", "api/api.go::List"),
        ("main.go::main", "is_entrypoint_for", "api/api.go::S.Get"),
    }


def test_commands_are_entries() -> None:
    source = """package cmd
var rootCmd = &cobra.Command{Use: "tool", Run: func(cmd *cobra.Command, args []string) {}}
var serveCmd = &cobra.Command{Use: "serve [port]", RunE: serve}
func serve(cmd *cobra.Command, args []string) error { return nil }
func build() *cli.Command { return &cli.Command{Name: "build", Action: func() {}} }
"""
    assert entries_of(source) == {
        "rootCmd": (EntryPoint.COMMAND, "tool"),
        "serve": (EntryPoint.COMMAND, "serve"),
        "build": (EntryPoint.COMMAND, "build"),
    }


@pytest.mark.parametrize(
    ("path", "header", "built"),
    [
        ("a.go", "", True),
        ("linux.go", "", True),
        ("a_linux.go", "", True),
        ("a_linux_amd64.go", "", True),
        ("a_windows.go", "", False),
        ("a_linux_arm64.go", "", False),
        ("a_windows_test.go", "", False),
        ("a_amd64_test.go", "", True),
        ("a_other.go", "", True),
        ("a.go", "//go:build linux\n", True),
        ("a.go", "// Copyright\n\n//go:build ignore\n", False),
        ("a.go", "//go:build !windows && (amd64 || arm64)\n", True),
        ("a.go", "//go:build !(linux || darwin)\n", False),
        ("a.go", "//go:build windows || linux && amd64\n", True),
        ("a.go", "//go:build !linux || !cgo && custom\n", False),
        ("a.go", "//go:build go1.18 && unix\n", True),
        ("a.go", "//go:build !!linux\n", True),
        ("a.go", "// +build linux,386 darwin\n", False),
        ("a.go", "// +build linux darwin\n// +build !386\n", True),
        ("a.go", "//go:build ((\n", True),
        ("a_windows.go", "//go:build linux\n", False),
    ],
)
def test_build_constraints_are_judged_for_linux_on_amd64(path: str, header: str, built: bool) -> None:
    assert (unmet_constraint(path, header) == "") is built


def test_a_manifest_without_a_module_is_a_problem() -> None:
    assert LANGUAGE.extract("go.mod", b"go 1.25\n").problems
    assert not LANGUAGE.extract("go.mod", b"module x\n").problems
    assert not LANGUAGE.extract("go.work", b"use ./a\n").problems


def test_a_syntax_error_loses_only_the_broken_part() -> None:
    source = "package p\nfunc A() { B() }\nfunc broken() { x := ]] + \n}\nfunc B() {}\n"
    facts = LANGUAGE.extract("p.go", source.encode())
    assert facts.problems[0].line == 3
    assert ("p.go::A", "calls", "p.go::B") in edges_of({"p.go": source}, LANGUAGE)


@pytest.mark.parametrize(
    "source",
    [
        "package p\nfunc f() { " + "f(" * 10_000 + ")" * 10_000 + " }",
        "package p\nfunc f() { x" + ".y()" * 10_000 + " }",
        "package p\nfunc f() { " + "{" * 10_000 + "}" * 10_000 + " }",
        "package p\nvar x = " + "(" * 10_000 + ")" * 10_000,
        "package p\nvar x " + "[]" * 10_000 + "int",
        "package p\nvar x = " + "a + " * 10_000 + "f()",
        "package p\n" + "".join(f"type A{n} = map[A{n + 1}]A{n + 1}\n" for n in range(80)) + "var x A0\nvar y = x.M()",
        "package p\n" + "".join(f"var v{n} = v{n + 1}.f()\n" for n in range(3000)),
        "package p\ntype T struct { T }\ntype U U\ntype V = V\nfunc f(t T, u U, v V) { t.x(); u.x(); v.x() }",
        "package p\nfunc f() { x0 := f()\n" + "".join(f"x{n + 1} := x{n}.g()\n" for n in range(3000)) + "}",
    ],
    ids=["calls", "chain", "blocks", "parens", "slices", "sums", "aliases", "variables", "itself", "locals"],
)
def test_deep_nesting_and_cycles_are_handled(source: str) -> None:
    facts = facts_of({"p.go": source}, LANGUAGE)
    msgspec.msgpack.encode(facts["p.go"])
    assert "p.go" in resolve_all(facts, LANGUAGE)


SAMPLE = {
    "go.mod": "module example.com/app\nreplace example.com/b => ./b\n",
    "a.go": """//go:build !windows
package app

import (
	"fmt"
	. "example.com/app/sub"
	alias "example.com/b"
)

type Box[T any] struct {
	*Inner
	items map[string][]T
}

func (b *Box[T]) Each(f func(T) error) (n int, err error) {
	for key, list := range b.items {
		switch v := any(list).(type) {
		case []Inner:
			v[0].Name(key)
		default:
			fmt.Println(v)
		}
	}
	if x, ok := b.items[""]; ok && len(x) > 0 {
		defer f(x[0])
	}
	return alias.Count[T](nil), nil
}

var box = &Box[Inner]{}
var cmd = &cobra.Command{Use: "x", Run: func() { box.Each(nil) }}
""",
    "inner.go": "package app\ntype Inner struct{}\ntype Namer interface{ Name(string) }\n"
    "func (i Inner) Name(s string) { Sub().Name(s) }\n",
    "sub/sub.go": 'package sub\nimport "example.com/app"\nfunc Sub() *app.Inner { return nil }\n',
    "b/b.go": "package b\nfunc Count[T any](of []T) int { const ( x = iota; y ); return select_(y) }\n"
    "func select_(i int) int { return i }\n",
}


def stored_and_read(facts: Facts) -> Facts:
    body = msgspec.msgpack.decode(msgspec.msgpack.encode(facts.body), type=LANGUAGE.body)
    definitions = msgspec.msgpack.decode(msgspec.msgpack.encode(facts.definitions), type=tuple[Definition, ...])
    return Facts(facts.path, definitions, body, facts.problems)


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, bytes]:
    """Return the sample with bytes removed, duplicated, moved or replaced in one of its files."""
    files = {path: source.encode() for path, source in SAMPLE.items()}
    path = draw(st.sampled_from(sorted(files)))
    for _ in range(draw(st.integers(1, 4))):
        source = files[path]
        start = draw(st.integers(0, len(source)))
        end = draw(st.integers(start, min(len(source), start + 60)))
        put = draw(st.one_of(st.binary(max_size=6), st.just(source[start:end] * 2), st.sampled_from(PIECES)))
        files[path] = source[:start] + put + source[end:]
    return files


PIECES = [
    piece.encode() for piece in ("{", "}", "(", ")", ":=", "func ", "type T ", "[", "]", ".", "case x:", "\0", '"')
]


@given(mutated())
def test_any_source_is_read_and_stored_facts_resolve_alike(files: dict[str, bytes]) -> None:
    facts = facts_of(files, LANGUAGE)
    stored = {path: stored_and_read(each) for path, each in facts.items()}
    assert stored == facts
    assert {path: LANGUAGE.surface(each) for path, each in stored.items()} == {
        path: LANGUAGE.surface(each) for path, each in facts.items()
    }
    resolved = resolve_all(facts, LANGUAGE)
    assert resolve_all(stored, LANGUAGE) == resolved
    ids = {f"{path}::{each.qualname}" for path, read in facts.items() for each in read.definitions} | set(facts)
    for path, found in resolved.items():
        for edge in found.edges:
            assert edge.origin.partition("::")[0] == path
            assert {edge.origin, edge.target} <= ids


def test_the_sample_resolves_through_everything_it_uses() -> None:
    calls = {(a, b) for a, kind, b in edges_of(SAMPLE, LANGUAGE) if kind == "calls"}
    assert calls == {
        ("a.go::Box.Each", "inner.go::Inner.Name"),
        ("a.go::Box.Each", "b/b.go::Count"),
        ("a.go", "a.go::Box.Each"),
        ("b/b.go::Count", "b/b.go::select_"),
    }


def test_an_enumeration_is_a_type_with_constants() -> None:
    found = definitions_of("package p\ntype A int\ntype B int\nconst x A = 1")
    assert found["A"].kind is DefinitionKind.ENUM
    assert found["B"].kind is DefinitionKind.TYPE
