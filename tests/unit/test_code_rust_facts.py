"""Extraction of a Rust file: definitions, tests, entry points, problems and surface."""

from treering.code.facts import Definition, DefinitionKind, EntryPoint
from treering.code.languages.rust import LANGUAGE


def definitions(source: str, path: str = "src/lib.rs") -> dict[str, Definition]:
    return {definition.qualname: definition for definition in LANGUAGE.extract(path, source.encode()).definitions}


def test_definitions_have_kinds_names_lines_and_visibility() -> None:
    source = """pub struct S<T>(T);
enum E { A }
pub trait Tr { type Out; fn m(&self); }
impl<T> Tr for S<T> {
    type Out = u8;
    fn m(&self) {
        fn inner() {}
    }
}
impl From<S<u8>> for io::Error { fn from(s: S<u8>) -> Self { todo!() } }
impl<'a, T: Tr> Tr for &'a mut T { fn m(&self) {} }
type Alias = S<u8>;
pub const LIMIT: u8 = 1;
static STATE: u8 = 2;
macro_rules! mac { () => {} }
mod tests { fn helper() {} union U { a: u8 } }
"""
    found = {name: (one.kind, one.line, one.end_line, one.exported) for name, one in definitions(source).items()}
    assert found == {
        "S": (DefinitionKind.CLASS, 1, 1, True),
        "E": (DefinitionKind.ENUM, 2, 2, False),
        "Tr": (DefinitionKind.TRAIT, 3, 3, True),
        "Tr.Out": (DefinitionKind.TYPE, 3, 3, True),
        "Tr.m": (DefinitionKind.METHOD, 3, 3, True),
        "S.Out": (DefinitionKind.TYPE, 5, 5, True),
        "S.m": (DefinitionKind.METHOD, 6, 8, True),
        "S.m.inner": (DefinitionKind.FUNCTION, 7, 7, False),
        "io::Error.from": (DefinitionKind.METHOD, 10, 10, True),
        "&'a mut T.m": (DefinitionKind.METHOD, 11, 11, True),
        "Alias": (DefinitionKind.TYPE, 12, 12, False),
        "LIMIT": (DefinitionKind.CONSTANT, 13, 13, True),
        "STATE": (DefinitionKind.CONSTANT, 14, 14, False),
        "mac": (DefinitionKind.FUNCTION, 15, 15, False),
        "tests.helper": (DefinitionKind.FUNCTION, 16, 16, False),
        "tests.U": (DefinitionKind.CLASS, 16, 16, False),
    }


def test_tests_are_what_runners_find() -> None:
    source = """
    #[cfg(test)] mod tests {
        #[test] fn plain() {}
        #[tokio::test(flavor = "multi_thread")] async fn waits() {}
        #[rstest] #[case(1)] fn cases(#[case] n: u8) {}
        #[test] #[ignore] fn later() {}
        #[allow(dead_code)] fn helper() {}
        cfg_x! { #[test] fn inside() {} }
    }
    """
    found = {name for name, one in definitions(source).items() if one.test}
    assert found == {f"tests.{name}" for name in ("plain", "waits", "cases", "later", "inside")}


def test_entries_are_mains_routes_and_commands() -> None:
    source = """
    #[tokio::main] async fn start() {}
    #[get("/users/{id}")] async fn user() {}
    #[actix_web::post("/users")] async fn create() {}
    #[tauri::command] fn greet() {}
    async fn list() {} async fn remove() {} fn quiet() {}
    fn app() -> Router { Router::new().route("/things", get(list).delete(remove)) }
    #[get] fn no_route() {}
    """
    found = {name: (one.entry, one.entry_name) for name, one in definitions(source).items() if one.entry}
    assert found == {
        "start": (EntryPoint.MAIN, None),
        "user": (EntryPoint.ROUTE, "/users/{id}"),
        "create": (EntryPoint.ROUTE, "/users"),
        "greet": (EntryPoint.COMMAND, None),
        "list": (EntryPoint.ROUTE, "/things"),
        "remove": (EntryPoint.ROUTE, "/things"),
    }
    mains = definitions("fn main() {} mod m { fn main() {} }", "src/main.rs")
    assert {name for name, one in mains.items() if one.entry == EntryPoint.MAIN} == {"main"}


def test_a_syntax_error_loses_only_the_broken_part_and_is_reported() -> None:
    facts = LANGUAGE.extract("a.rs", b"fn a() { b(); }\nfn broken( { let = ;\n}\nstruct S;\nfn c() { a(); }\n")
    assert {"a", "S", "c"} <= {definition.qualname for definition in facts.definitions}
    assert facts.problems
    assert all(1 <= problem.line <= 6 for problem in facts.problems)


def changed(before: str, after: str) -> set[tuple[str, ...]]:
    old = LANGUAGE.surface(LANGUAGE.extract("src/a.rs", before.encode()))
    new = LANGUAGE.surface(LANGUAGE.extract("src/a.rs", after.encode()))
    return {key for key in {*old, *new} if old.get(key) != new.get(key)}


def test_an_edit_of_a_body_changes_nothing_that_others_see() -> None:
    before = "pub struct S { a: u8 }\nimpl S { pub fn f(&self, x: u8) -> u8 { 1 } }\nfn g() { let y = 2; }"
    after = (
        "// moved down\n\npub struct S { a: u8 }\n"
        "impl S { pub fn f(&self, z: u8) -> u8 { other(); fn n() {} 2 } }\nfn g() {}"
    )
    assert changed(before, after) == set()


def test_a_new_function_and_a_new_method_change_their_own_keys_only() -> None:
    before = "struct S; impl S { fn f(&self) {} } fn g() {}"
    assert changed(before, before + " fn h() {}") == {("rs.item", "src/a.rs", "", "h")}
    after = "struct S; impl S { fn f(&self) {} fn k(&self) {} } fn g() {}"
    assert changed(before, after) == {("rs.member", "S", "k"), ("rs.method", "k")}
    assert changed(before, "struct S; impl S { fn f(&self) -> u8 { 1 } } fn g() {}") == {("rs.member", "S", "f")}


def test_the_manifest_is_seen_by_directory_and_by_package() -> None:
    surface = LANGUAGE.surface(LANGUAGE.extract("core/Cargo.toml", b'[package]\nname = "my-core"\n'))
    assert set(surface) == {("rs.cargo", "core"), ("rs.package", "my-core")}
    assert surface["rs.cargo", "core"].library_path == "core/src/lib.rs"
    assert surface["rs.cargo", "core"].library == "my_core"


def test_an_invalid_cargo_manifest_does_not_raise() -> None:
    odd = (
        b'package = 3\nlib = "x"\nbin = 7\n[dependencies]\na = 1\nb = []\n'
        b"[workspace]\ndependencies = 2\n[target]\nx = 1\n"
    )
    facts = LANGUAGE.extract("Cargo.toml", odd)
    assert LANGUAGE.surface(facts)
    assert LANGUAGE.resolve(facts, lambda *key: ()).edges == ()


def test_every_handler_has_its_first_route() -> None:
    routes = "".join(f'.route("/{place}", get(handler{place}).post(shared))' for place in range(40))
    functions = "".join(f"async fn handler{place}() {{}}\n" for place in range(40))
    facts = LANGUAGE.extract(
        "src/main.rs", f"{functions}async fn shared() {{}} fn app() {{ Router::new(){routes}; }}".encode()
    )
    named = {one.qualname: one.entry_name for one in facts.definitions if one.entry_name}
    assert named == {**{f"handler{place}": f"/{place}" for place in range(40)}, "shared": "/0"}
