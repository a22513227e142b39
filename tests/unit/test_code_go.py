"""Targets of Go calls, one rule per test; expectations were derived by hand from the language specification."""

import pytest

from tests.resolver_projects import edges_of, unresolved_of
from treering.code.languages.go import LANGUAGE

MOD = "module example.com/app\n\ngo 1.25\n"


def calls_of(files: dict[str, str]) -> set[tuple[str, str]]:
    found = edges_of({"go.mod": MOD} | files, LANGUAGE)
    return {(origin, target) for origin, kind, target in found if kind == "calls"}


def called_in_main(source: str, **others: str) -> set[str]:
    """Return what `main` of a one-file package calls, without the file's name."""
    files = {"main.go": f"package main\n{source}"} | {f"{name}/{name}.go": text for name, text in others.items()}
    return {target.removeprefix("main.go::") for origin, target in calls_of(files) if origin == "main.go::main"}


def test_functions_of_a_package_are_seen_in_all_its_files() -> None:
    files = {
        "a.go": "package p\nfunc A() { B() }",
        "b.go": "package p\nfunc B() {}",
        "c/c.go": "package c\nfunc B() {}",
    }
    assert calls_of(files) == {("a.go::A", "b.go::B")}


def test_code_outside_functions_belongs_to_the_file() -> None:
    assert calls_of({"a.go": "package p\nvar x = f()\nvar g = func() { f() }\nfunc f() int { return 1 }"}) == {
        ("a.go", "a.go::f")
    }


def test_closures_belong_to_the_function_around_them() -> None:
    assert called_in_main("func main() { go func() { defer func() { f() }() }() }\nfunc f() {}") == {"f"}


LIB = "package lib\ntype T struct{}\nfunc New() *T { return nil }\nfunc (t *T) Do() {}"


@pytest.mark.parametrize(
    ("imported", "used"),
    [
        ('import "example.com/app/lib"', "lib.New().Do()"),
        ('import other "example.com/app/lib"', "other.New().Do()"),
        ('import . "example.com/app/lib"', "New().Do()"),
        ('import . "example.com/app/lib"', "var t T; t.Do(); New()"),
        ('import (\n"fmt"\n"example.com/app/lib"\n)', "x := lib.New(); fmt.Println(x); x.Do()"),
    ],
)
def test_imported_functions_are_called_by_any_name_of_the_import(imported: str, used: str) -> None:
    found = called_in_main(f"{imported}\nfunc main() {{ {used} }}", lib=LIB)
    assert found == {"lib/lib.go::New", "lib/lib.go::T.Do"}


@pytest.mark.parametrize("name", ["actual", "real"])
def test_a_package_may_be_called_other_than_its_directory_and_even_like_a_builtin(name: str) -> None:
    source = f'import "example.com/app/lib"\nfunc main() {{ {name}.F() }}'
    assert called_in_main(source, lib=f"package {name}\nfunc F() {{}}") == {"lib/lib.go::F"}


def test_a_local_hides_an_import_and_a_function() -> None:
    source = 'import "example.com/app/lib"\ntype X struct{}\nfunc (X) New() {}\nfunc f() {}\n'
    source += "func main() { lib := X{}; lib.New(); f := func() {}; f() }"
    assert called_in_main(source, lib=LIB) == {"X.New"}


def test_names_end_with_their_scope() -> None:
    source = """
type A struct{}
func (A) M() {}
type B struct{}
func (B) M() {}
func (B) N() {}
func main() {
	x := A{}
	if x := (B{}); true {
		x.N()
	}
	for x := range 3 { _ = x }
	{ x := B{}; _ = x }
	x.M()
}"""
    assert called_in_main(source) == {"B.N", "A.M"}


def test_a_name_is_not_yet_declared_in_its_own_value() -> None:
    source = "type A struct{}\nfunc (A) To() B { return B{} }\ntype B struct{}\nfunc (B) End() {}\n"
    assert called_in_main(source + "func main() { x := A{}; { x := x.To(); x.End() } }") == {"A.To", "B.End"}


TYPES = """
type T struct { next *T; list []T; table map[K]*T; in chan T; make func() T }
type K struct{}
func (t *T) Do() {}
func (k K) Key() {}
func one() T { return T{} }
func two() (*T, error) { return nil, nil }
func named() (t T, err error) { return }
func all(ts ...T) { ts[0].Do() }
"""


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ("T{}.Do()", {"T.Do"}),
        ("(&T{}).Do()", {"T.Do"}),
        ("var t T; t.Do()", {"T.Do"}),
        ("var t = &T{}; t.Do()", {"T.Do"}),
        ("t := new(T); t.Do()", {"T.Do"}),
        ("t := make([]T, 1); t[0].Do()", {"T.Do"}),
        ("t := make(map[string]*T); t[``].Do()", {"T.Do"}),
        ("t := one(); t.Do()", {"one", "T.Do"}),
        ("t, err := two(); _ = err; t.Do()", {"two", "T.Do"}),
        ("t, _ := named(); t.Do()", {"named", "T.Do"}),
        ("var t, u = T{}, K{}; u.Key(); _ = t", {"K.Key"}),
        ("t := T{}; t.next.next.Do()", {"T.Do"}),
        ("t := T{}; t.list[0].Do()", {"T.Do"}),
        ("t := T{}; t.list[1:][0].Do()", {"T.Do"}),
        ("t := T{}; t.table[K{}].Do()", {"T.Do"}),
        ("t := T{}; t.make().Do()", {"T.Do"}),
        ("for _, t := range []T{} { t.Do() }", {"T.Do"}),
        ("for k, t := range (T{}).table { k.Key(); t.Do() }", {"K.Key", "T.Do"}),
        ("for t := range (T{}).in { t.Do() }", {"T.Do"}),
        ("t := <-(T{}).in; t.Do()", {"T.Do"}),
        ("t, ok := <-(T{}).in; _ = ok; t.Do()", {"T.Do"}),
        ("select { case t := <-(T{}).in: t.Do() }", {"T.Do"}),
        ("var a any; a.(*T).Do()", {"T.Do"}),
        ("var a any; if t, ok := a.(*T); ok { t.Do() }", {"T.Do"}),
        ("var a any; switch x := a.(type) { case *T: x.Do(); case K: x.Key() }", {"T.Do", "K.Key"}),
        ("t := &T{}; p := &t; (*p).Do()", {"T.Do"}),
        ("t := append([]T{}, T{}); t[0].Do()", {"T.Do"}),
        ("f := one; f().Do()", {"one", "T.Do"}),
        ("f := (&T{}).Do; f()", {"T.Do"}),
        ("(*T).Do(nil)", {"T.Do"}),
        ("func(t T) { t.Do() }(T{})", {"T.Do"}),
        ("func() T { return T{} }().Do()", {"T.Do"}),
        ("s := struct{ t T }{}; s.t.Do()", {"T.Do"}),
        ("type local struct { T }; var l local; l.Do()", {"T.Do"}),
        ("all()", {"all"}),
    ],
)
def test_methods_are_found_through_the_type_of_the_receiver(body: str, calls: set[str]) -> None:
    assert called_in_main(f"{TYPES}func main() {{ {body} }}") == calls


def test_parameters_receivers_and_variadics_have_their_types() -> None:
    source = f"package p\n{TYPES}func (t *T) Self(k K, ts ...*T) {{ t.Do(); k.Key(); ts[0].Do() }}"
    assert calls_of({"p.go": source}) == {
        ("p.go::all", "p.go::T.Do"),
        ("p.go::T.Self", "p.go::T.Do"),
        ("p.go::T.Self", "p.go::K.Key"),
    }


def test_methods_of_a_type_may_be_in_any_file_of_its_package() -> None:
    files = {
        "lib/t.go": "package lib\ntype T struct{ U }\ntype U struct{}",
        "lib/do.go": "package lib\nfunc (t T) Do() *U { return &t.U }",
        "lib/u.go": "package lib\nfunc (u *U) Own() {}",
        "main.go": 'package main\nimport "example.com/app/lib"\nfunc main() { var t lib.T; t.Do().Own(); t.Own() }',
    }
    assert calls_of(files) == {("main.go::main", "lib/do.go::T.Do"), ("main.go::main", "lib/u.go::U.Own")}


EMBEDDING = """
type Base struct { Inner }
type Inner struct { field *Base }
func (b *Base) Shared() {}
func (b *Base) Deep() {}
func (i Inner) Deep() {}
func (i Inner) Only() {}
type Top struct { *Base; Doer }
func (t Top) Shared() {}
type Doer interface { Doing; Do() }
type Doing interface { Run() *Top }
"""


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ("Top{}.Shared()", {"Top.Shared"}),
        ("Top{}.Base.Shared()", {"Base.Shared"}),
        ("Top{}.Deep()", {"Base.Deep"}),
        ("Top{}.Only()", {"Inner.Only"}),
        ("Top{}.field.Shared()", {"Base.Shared"}),
        ("Top{}.Do()", {"Doer.Do"}),
        ("Top{}.Run().Only()", {"Doing.Run", "Inner.Only"}),
        ("var d Doer; d.Run()", {"Doing.Run"}),
        ("var d interface { Doer }; d.Do()", {"Doer.Do"}),
    ],
)
def test_embedding_promotes_the_shallowest_field_or_method(body: str, calls: set[str]) -> None:
    assert called_in_main(f"{EMBEDDING}func main() {{ {body} }}") == calls


def test_a_call_through_an_interface_reaches_its_method() -> None:
    source = "func main() { type doer interface { Do() }; var d doer; d.Do() }"
    assert called_in_main(source) == {"main.doer.Do"}


def test_declared_types_keep_fields_but_not_methods() -> None:
    source = "type A struct { in B }\nfunc (A) M() {}\ntype B struct{}\nfunc (B) N() {}\ntype C A\n"
    assert called_in_main(source + "func main() { var c C; c.in.N(); c.M() }") == {"B.N"}


def test_an_alias_is_the_type_it_names() -> None:
    source = "type A struct{}\nfunc (A) M() {}\ntype B = *A\nfunc main() { var b B; b.M() }"
    assert called_in_main(source) == {"A.M"}


def test_constants_of_a_group_repeat_the_type_above() -> None:
    source = "type Kind int\nfunc (k Kind) String() string { return `` }\nconst (\n\tA Kind = iota\n\tB\n)\n"
    assert called_in_main(source + "func main() { B.String() }") == {"Kind.String"}


def test_a_variable_of_a_package_has_the_type_of_its_value() -> None:
    lib = LIB + "\nvar Default = New()\nvar One, Two = pair()\nfunc pair() (int, T) { return 1, T{} }"
    source = 'import "example.com/app/lib"\nfunc main() { lib.Default.Do(); lib.Two.Do() }'
    assert called_in_main(source, lib=lib) == {"lib/lib.go::T.Do"}


def test_variables_that_define_each_other_have_no_type() -> None:
    assert called_in_main("var a = b\nvar b = a\nfunc main() { a.M() }") == set()


GENERIC = """
type T struct{}
func (T) Do() {}
type List[E any] struct { items []E }
func (l *List[X]) First() X { return l.items[0] }
func (l *List[X]) Map(f func(X) X) *List[X] { return l }
func First[E any](of []E) E { return of[0] }
func Keys[M ~map[K]V, K comparable, V any](m M) []K { return nil }
func Apply[A, B any](a A, f func(A) B) B { return f(a) }
func Make[E any]() E { var e E; return e }
type Doer interface { Do() }
func Each[D Doer](d D) { d.Do() }
type Held[A any, D Doer] struct { held D }
func (h Held[X, Y]) Run() { h.held.Do() }
"""


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ("var l List[T]; l.First().Do()", {"List.First", "T.Do"}),
        ("l := &List[T]{}; l.Map(nil).First().Do()", {"List.Map", "List.First", "T.Do"}),
        ("First([]T{}).Do()", {"First", "T.Do"}),
        ("First[T](nil).Do()", {"First", "T.Do"}),
        ("Make[T]().Do()", {"Make", "T.Do"}),
        ("Keys(map[T]int{})[0].Do()", {"Keys", "T.Do"}),
        ("Apply(1, func(int) T { return T{} }).Do()", {"Apply", "T.Do"}),
        ("Each(T{})", {"Each"}),
    ],
)
def test_type_arguments_are_given_or_found_from_what_is_passed(body: str, calls: set[str]) -> None:
    assert called_in_main(f"{GENERIC}func main() {{ {body} }}") == calls


def test_a_type_parameter_has_the_methods_of_its_constraint() -> None:
    found = calls_of({"p.go": f"package p\n{GENERIC}"})
    assert {origin for origin, target in found if target == "p.go::Doer.Do"} == {"p.go::Each", "p.go::Held.Run"}


@pytest.mark.parametrize(
    ("imported", "body"),
    [
        ("sync", "f := sync.OnceValue(func() *T { return nil }); f().Do()"),
        ("slices", "slices.Clone([]T{})[0].Do()"),
        ("maps", "for _, t := range maps.All(map[string]T{}) { t.Do() }"),
        ("sync/atomic", "var p atomic.Pointer[T]; p.Load().Do()"),
        ("iter", "var s iter.Seq[T]; for t := range s { t.Do() }"),
    ],
)
def test_types_pass_through_the_standard_librarys_generics(imported: str, body: str) -> None:
    source = f'import "{imported}"\ntype T struct{{}}\nfunc (*T) Do() {{}}\nfunc main() {{ {body} }}'
    assert called_in_main(source) == {"T.Do"}


def test_a_conversion_to_a_type_of_the_project_reaches_the_type() -> None:
    source = (
        "type F func()\ntype S = string\nfunc (f F) Run() {}\nfunc main() { F(nil).Run(); _ = S(``); _ = []byte(``) }"
    )
    assert called_in_main(source) == {"F", "F.Run", "S"}


def test_external_calls_are_neither_edges_nor_unresolved() -> None:
    source = """package main
import ("fmt"; "github.com/pkg/errors"; yaml "gopkg.in/yaml.v3")
type W struct { fmt.Stringer }
func main() {
	fmt.Println(len("x"), errors.New("x").Error(), yaml.Node{}.Decode(nil))
	var w W
	_ = w.String()
	_, err := fmt.Println()
	_ = err.Error()
	panic(string(make([]byte, cap([]int{}))))
}"""
    files = {"go.mod": MOD, "main.go": source}
    assert calls_of(files) == set()
    assert unresolved_of(files, LANGUAGE) == set()


def test_a_call_through_an_unknown_value_is_unresolved() -> None:
    source = "package p\nfunc Run(f func(), m map[string]func()) { f(); m[``](); missing(); x.y() }"
    assert unresolved_of({"p.go": source}, LANGUAGE) == {
        ("p.go::Run", "f"),
        ("p.go::Run", "m[…]"),
        ("p.go::Run", "missing"),
        ("p.go::Run", "x.y"),
    }
