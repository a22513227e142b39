"""Embedded types, implemented interfaces and the surface of a Go file."""

from tests.resolver_projects import edges_of, facts_of, resolve_all
from tests.symbol_table import RecordingLookup, SymbolTable
from treering.code.facts import CallFlow
from treering.code.languages.go import LANGUAGE

MOD = "module example.com/app\n"


def ties_of(files: dict[str, str]) -> set[tuple[str, str, str]]:
    found = edges_of({"go.mod": MOD} | files, LANGUAGE)
    return {edge for edge in found if edge[1] in ("extends", "implements")}


def test_embedding_extends() -> None:
    source = "package p\ntype A struct { *B; fmt.Stringer; c B }\ntype B struct{}\n"
    source += "type I interface { J }\ntype J interface { M() }"
    assert ties_of({"p.go": source}) == {
        ("p.go::A", "extends", "p.go::B"),
        ("p.go::I", "extends", "p.go::J"),
    }


def test_a_type_with_all_methods_of_an_interface_implements_it_and_its_methods_theirs() -> None:
    files = {
        "store/store.go": "package store\ntype Store interface { Get(key string) (*Item, error); Closer }\n"
        "type Closer interface { Close() }\ntype Item struct{}",
        "mem/mem.go": 'package mem\nimport "example.com/app/store"\ntype Mem struct{}\n'
        "func (m *Mem) Get(k string) (*store.Item, error) { return nil, nil }",
        "mem/close.go": "package mem\nfunc (m Mem) Close() {}",
    }
    assert ties_of(files) == {
        ("store/store.go::Store", "extends", "store/store.go::Closer"),
        ("mem/mem.go::Mem", "implements", "store/store.go::Store"),
        ("mem/mem.go::Mem", "implements", "store/store.go::Closer"),
        ("mem/mem.go::Mem.Get", "implements", "store/store.go::Store.Get"),
        ("mem/close.go::Mem.Close", "implements", "store/store.go::Closer.Close"),
    }


def test_a_missing_method_or_another_signature_implements_nothing() -> None:
    source = """package p
type I interface { A(int) string; B() }
type Half struct{}
func (Half) A(int) string { return "" }
type Other struct{}
func (Other) A(string) string { return "" }
func (Other) B() {}
type Longer struct{}
func (Longer) A(int) (string, error) { return "", nil }
func (Longer) B() {}
"""
    assert ties_of({"p.go": source}) == set()


def test_an_interface_with_a_missing_method_name_is_not_compared() -> None:
    """Many interfaces share a method such as `Close`: comparing each of them with each type would be too slow."""
    source = "package p\ntype Door interface { Close(); Lock() }\ntype Box struct{}\nfunc (Box) Close() {}\n"
    table = SymbolTable()
    facts = facts_of({"go.mod": MOD, "p.go": source}, LANGUAGE)
    for path, read in facts.items():
        table.put(path, LANGUAGE.surface(read))
    lookup = RecordingLookup(table)
    assert {edge.kind for edge in LANGUAGE.resolve(facts["p.go"], lookup).edges} == {"exports"}
    assert ("go.interfaces", "Close") in lookup.keys
    assert not any(key[-1] == "Lock" for key in lookup.keys)


def test_methods_that_an_embedded_type_promotes_count_for_an_interface() -> None:
    source = "package p\ntype Door interface { Close(); Lock() }\ntype Bolt struct{}\nfunc (Bolt) Lock() {}\n"
    source += "type Box struct { Bolt }\nfunc (Box) Close() {}\n"
    assert ("p.go::Box", "implements", "p.go::Door") in ties_of({"p.go": source})


def test_an_unexported_interface_of_another_package_is_not_implemented() -> None:
    files = {
        "a/a.go": "package a\ntype closer interface { Close() }",
        "b/b.go": "package b\ntype T struct{}\nfunc (T) Close() {}",
    }
    assert ties_of(files) == set()


def test_exported_names_are_exports_of_their_file() -> None:
    source = "package p\ntype T struct{}\nfunc (T) M() {}\nfunc F() {}\nfunc g() {}\nconst C = 1\nvar V, w = 1, 2"
    found = edges_of({"p.go": source}, LANGUAGE)
    assert {target for _, kind, target in found if kind == "exports"} == {"p.go::T", "p.go::F", "p.go::C", "p.go::V"}


def test_calls_record_their_flow() -> None:
    source = "package p\nfunc f(x ...int) int { return 0 }\nfunc A() { f() }\nfunc B() { f(1) }\n"
    source += "func C() int { return f() }\nfunc D() { go f(2); x := f(); _ = x }"
    resolved = resolve_all(facts_of({"p.go": source}, LANGUAGE), LANGUAGE)["p.go"]
    flows = {edge.origin: edge.flow for edge in resolved.edges if edge.kind == "calls"}
    assert flows == {
        "p.go::A": CallFlow.NOTHING,
        "p.go::B": CallFlow.ARGUMENTS,
        "p.go::C": CallFlow.RESULT,
        "p.go::D": CallFlow.ARGUMENTS | CallFlow.RESULT,
    }


def surface_of(source: str) -> dict[tuple[str, ...], object]:
    return dict(LANGUAGE.surface(LANGUAGE.extract("p/p.go", source.encode())))


def test_the_surface_changes_with_signatures_only() -> None:
    before = surface_of("package p\nfunc F() int { return 1 }\ntype T struct { a int }\nfunc (t T) M() {}")
    body = surface_of(
        "package p\n\n// moved\nfunc F() int { x := 2; return g(x) }\ntype T struct { a int }\nfunc (t T) M() {}"
    )
    assert body == before
    added = surface_of("package p\nfunc F() int { return 1 }\ntype T struct { a int }\nfunc (t T) M() {}\nfunc G() {}")
    assert set(added) - set(before) == {("go.name", "p:p", "G")}
    assert {key for key in before if added[key] != before[key]} == set()
    changed = surface_of("package p\nfunc F() string { return `` }\ntype T struct { a int }\nfunc (t T) M() {}")
    assert {key for key in before if changed[key] != before[key]} == {("go.name", "p:p", "F")}
