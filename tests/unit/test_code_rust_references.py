"""Reference edges of Rust, rule by rule; every case was verified by hand."""

import re

import pytest

from tests.resolver_projects import edges_of
from treering.code.languages.references import REFERENCE_KINDS
from treering.code.languages.rust import LANGUAGE

CARGO = '[package]\nname = "app"\nversion = "0.1.0"\n'
STORE = """pub struct Item;
pub struct Shelf { pub inner: Item }
pub enum Color { Red, Blue }
pub trait Open { fn open(&self) -> Item; }
pub type Names = Vec<Item>;
impl Open for Shelf { fn open(&self) -> Item { Item } }
pub fn handle() {}
pub fn make() -> Shelf { todo!() }
"""
# text of src/main.rs, and the references of its function `f`
CASES = {
    "a parameter's type": ("fn f(b: &Shelf) {}", {("annotates", "Shelf")}),
    "a result's type": ("fn f() -> Option<Vec<Item>> { None }", {("annotates", "Item")}),
    "a bound": ("fn f<T: Open>(t: T) {}", {("annotates", "Open")}),
    "a where clause": ("fn f<T>(t: T) where T: Open {}", {("annotates", "Open")}),
    "dyn and impl": ("fn f(a: Box<dyn Open>, b: impl Open) {}", {("annotates", "Open")}),
    "an alias": ("fn f(n: Names) {}", {("annotates", "Names")}),
    "a local variable's type": ("fn f() { let x: Option<Item> = None; }", {("annotates", "Item")}),
    "a literal": ("fn f(i: u8) { let _ = Shelf { inner: todo!() }; }", {("annotates", "Shelf")}),
    "a variant": ("fn f() { let _ = Color::Red; }", {("references", "Color")}),
    "a pattern": ("fn f(n: u8) { match pick() { Color::Blue => (), _ => () } }", {("references", "Color")}),
    "a function as an argument": ("fn f() { run(handle) }", {("references", "handle")}),
    "a function by its path": ("fn f() { run(store::handle) }", {("references", "handle")}),
    "a function in a macro's arguments": ("fn f() { vec![handle]; }", {("references", "handle")}),
    "a renamed import": ("use store::Item as Thing; fn f(x: Thing) {}", {("annotates", "Item")}),
    "a call is not a reference": ("fn f() { handle() }", set()),
    "the type of what is called is not named": ("fn f() { let b = make(); }", set()),
    "a local of the same name": ("fn f(handle: u8) { run(handle) }", set()),
    "a type parameter of the same name": ("fn f<Item>(i: Item) {}", set()),
    "a bound that another function has, too": (
        "fn e<T: Open>(t: T) {}\nfn f<T: Open>(t: T) {}",
        {("annotates", "Open")},
    ),
    "a renamed import whose name ends alike": ("use store::Item as tem; fn f(x: tem) {}", {("annotates", "Item")}),
    "a variant that is named like a struct": (
        "enum Any { Item(Item) }\nfn f(a: Any) { match a { Any::Item(i) => i } }",
        {("annotates", "Any")},
    ),
    "an associated type that is named like its bound": (
        "trait G { type Open: Open; fn f(&self, o: Self::Open); }",
        set(),
    ),
    "the implementation after it": (
        "struct Mine { a: u8 }\nenum Own { Item }\nfn f() { let _ = Own::Item; }\nimpl From<Item> for Mine {}",
        {("references", "Own")},
    ),
}
HEAD = "mod store;\nuse store::{handle, make, Color, Item, Names, Open, Shelf};\n"


def references(text: str) -> set[tuple[str, str, str]]:
    files = {"Cargo.toml": CARGO, "src/store.rs": STORE, "src/main.rs": HEAD + text}
    return {edge for edge in edges_of(files, LANGUAGE) if edge[1] in REFERENCE_KINDS}


@pytest.mark.parametrize("case", CASES)
def test_references_of_a_function(case: str) -> None:
    text, expected = CASES[case]
    found = {
        (kind, target.rpartition("::")[2])
        for origin, kind, target in references(text)
        if re.search(r"main\.rs::(\w+\.)?f$", origin)
    }
    assert found == expected


def test_types_refer_to_the_types_of_their_fields_and_methods() -> None:
    assert references("") >= {
        ("src/store.rs::Shelf", "annotates", "src/store.rs::Item"),
        ("src/store.rs::Open.open", "annotates", "src/store.rs::Item"),
        ("src/store.rs::Names", "annotates", "src/store.rs::Item"),
    }


def test_a_constant_registers_the_functions_that_it_holds() -> None:
    text = "static HANDLERS: [fn(); 1] = [handle];\nfn f(n: usize) { HANDLERS[n]() }"
    files = {"Cargo.toml": CARGO, "src/store.rs": STORE, "src/main.rs": HEAD + text}
    assert edges_of(files, LANGUAGE) >= {
        ("src/main.rs::HANDLERS", "registers", "src/store.rs::handle"),
        ("src/main.rs::f", "depends_logically", "src/main.rs::HANDLERS"),
    }


def test_a_method_is_reached_through_the_trait_that_it_implements() -> None:
    files = {"Cargo.toml": CARGO, "src/store.rs": STORE, "src/main.rs": HEAD}
    assert ("src/store.rs::Shelf.open", "implements", "src/store.rs::Open.open") in edges_of(files, LANGUAGE)


def test_an_import_and_an_implementation_are_no_uses_by_the_file() -> None:
    assert not {origin for origin, _, _ in references("") if "::" not in origin}


PROGRAMS = {
    "Cargo.toml": '[package]\nname = "app"\n[[bin]]\nname = "tool"\npath = "cli/start.rs"\n',
    "cli/start.rs": "fn main() {}\n",
    "lib/Cargo.toml": '[package]\nname = "lib"\n',
    "lib/src/lib.rs": "",
    "lib/src/main.rs": "fn main() {}\n",
    "lib/src/bin/other.rs": "fn main() {}\n",
}


@pytest.mark.parametrize(
    ("path", "statement", "programs"),
    [
        ("tests/it.rs", 'env!("CARGO_BIN_EXE_tool")', {"cli/start.rs::main"}),
        ("tests/it.rs", 'std::env::var_os("CARGO_BIN_EXE_tool").map(PathBuf::from)', {"cli/start.rs::main"}),
        ("tests/it.rs", 'Command::cargo_bin("tool").unwrap()', {"cli/start.rs::main"}),
        ("tests/it.rs", 'assert_cmd::cargo::cargo_bin_cmd!("tool")', {"cli/start.rs::main"}),
        ("tests/it.rs", "std::process::Command::new(root.join(name))", {"cli/start.rs::main"}),
        ("tests/it.rs", 'Command::new("git")', set()),
        ("tests/it.rs", 'Command::cargo_bin("unknown")', set()),
        ("cli/start.rs", "Command::new(editor)", set()),
        ("lib/tests/it.rs", 'env!("CARGO_BIN_EXE_lib")', {"lib/src/main.rs::main"}),
        ("lib/tests/it.rs", 'Command::cargo_bin("other")', {"lib/src/bin/other.rs::main"}),
        ("lib/tests/it.rs", "Command::new(root.join(name))", set()),
    ],
)
def test_integration_tests_refer_to_the_binaries_that_they_run(path: str, statement: str, programs: set[str]) -> None:
    source = f"{PROGRAMS.get(path, '')}fn f() {{ let p = {statement}; }}\n"
    found = edges_of({**PROGRAMS, path: source}, LANGUAGE)
    assert {target for origin, kind, target in found if (origin, kind) == (f"{path}::f", "references")} == programs


@pytest.mark.parametrize(
    ("path", "source", "tests"),
    [
        ("tests/it.rs", "cli_test!(one, |dir: Dir| { dir.run(); });", True),
        ("crates/a/tests/it.rs", "rgtest! { one, two }", True),
        ("tests/util.rs", "thread_local! { static X: u8 = 1; }", False),
        ("src/lib.rs", "cli_test!(one, two);", False),
    ],
)
def test_a_file_whose_tests_are_made_by_macros_is_a_file_of_tests(path: str, source: str, tests: bool) -> None:
    assert any(each.test for each in LANGUAGE.extract(path, source.encode()).definitions) == tests


ERRORS = """pub enum Fault { Lost, Late(u8) }
pub struct Other;
impl From<Other> for Fault { fn from(other: Other) -> Self { Fault::Lost } }
impl From<u8> for Fault { fn from(code: u8) -> Self { Fault::Late(code) } }
type Done<T> = Result<T, Fault>;
fn lose() -> Done<()> { Err(Fault::Lost) }
fn other() -> Result<(), Other> { Err(Other) }
fn make() -> Fault { Fault::Lost }
"""
RAISES_AND_CATCHES = {
    "fn f() -> Done<()> { Err(Fault::Lost) }": {("raises", "Fault")},
    "fn f() -> Done<()> { return Err(make()); }": {("raises", "Fault")},
    "fn f() { unknown().map_err(Fault::Late) }": {("raises", "Fault")},
    "fn f() { lose().map_err(|e| make()); }": {("raises", "Fault")},
    "fn f(o: Option<u8>) { o.ok_or(Fault::Lost); }": {("raises", "Fault")},
    "fn f(o: Option<u8>) { o.ok_or_else(|| Fault::Late(1)); }": {("raises", "Fault")},
    "fn f() -> Done<()> { let e = make(); Err(e) }": set(),
    "fn f() { match lose() { Err(Fault::Lost) => (), Err(e) => (), Ok(_) => () } }": {("catches", "Fault")},
    "fn f() { if let Err(Fault::Late(n)) = lose() {} }": {("catches", "Fault")},
    "fn f() { match make() { Fault::Lost => (), _ => () } }": {("references", "Fault")},
    "fn f() -> Done<()> { other()?; Ok(()) }": {("depends_logically", "Fault.from")},
    "fn f() -> Done<()> { lose()?; Ok(()) }": set(),
    "fn f() -> Done<()> { let g = || -> Result<(), Other> { other()?; Ok(()) }; Ok(()) }": set(),
}


@pytest.mark.parametrize("text", RAISES_AND_CATCHES)
def test_errors_that_a_function_makes_catches_and_converts(text: str) -> None:
    kinds = ("raises", "catches", "references", "depends_logically")
    found = edges_of({"Cargo.toml": CARGO, "src/main.rs": ERRORS + text}, LANGUAGE)
    assert {
        (kind, target.rpartition("::")[2])
        for origin, kind, target in found
        if origin == "src/main.rs::f" and kind in kinds
    } == RAISES_AND_CATCHES[text]


def test_a_type_registers_the_methods_of_traits_outside_the_project() -> None:
    text = """pub struct Own<T> { inner: T }
impl<T> Drop for Own<T> { fn drop(&mut self) { handle() } }
impl<T> Open for Own<T> { fn open(&self) -> Item { todo!() } }
"""
    own = {edge for edge in references(text) if edge[1] == "registers"}
    assert own == {("src/main.rs::Own", "registers", "src/main.rs::Own.drop")}


def test_a_macro_refers_to_the_functions_that_its_rules_call() -> None:
    text = """macro_rules! run { ($f:expr) => { crate::store::handle(); $crate::store::make( $f ); local(); } }
fn local() {}
fn f() { run!(1) }
"""
    files = {"Cargo.toml": CARGO, "src/store.rs": STORE, "src/main.rs": HEAD + text}
    calls = {(origin, target) for origin, kind, target in edges_of(files, LANGUAGE) if kind == "calls"}
    assert calls == {
        ("src/main.rs::run", "src/store.rs::handle"),
        ("src/main.rs::run", "src/store.rs::make"),
        ("src/main.rs::f", "src/main.rs::run"),
    }


def test_a_type_that_derives_a_trait_refers_to_the_procedural_macro() -> None:
    files = {
        "macros/Cargo.toml": CARGO.replace("app", "macros"),
        "macros/src/lib.rs": "#[proc_macro_derive(Open, attributes(open))]\npub fn derive_open(x: T) -> T { x }\n",
        "Cargo.toml": CARGO,
        "tests/open.rs": "use macros::Open;\n#[derive(Debug, Open)]\nstruct Own;\n",
    }
    assert edges_of(files, LANGUAGE) >= {
        ("tests/open.rs::Own", "references", "macros/src/lib.rs::derive_open"),
        ("tests/open.rs", "imports", "macros/src/lib.rs"),
    }


def test_the_type_of_an_implementation_is_not_a_use_by_the_item_before_it() -> None:
    text = "fn first() {}\nimpl Shelf { fn second(&self) {} }\n"
    assert not any(origin == "src/main.rs::first" for origin, *_ in references(text))
