"""Name resolution in Rust as in rustc: crates, modules, use trees, macros."""

from hypothesis import given
from hypothesis import strategies as st

from tests.resolver_projects import edges_of, facts_of, resolve_all
from treering.code.languages.rust import LANGUAGE
from treering.core.graph import EdgeKind

CRATE = '[package]\nname = "app"\n'


def calls(files: dict[str, str], manifest: str = CRATE) -> set[tuple[str, str]]:
    """Return all calls of a project with one crate, or with its own manifests."""
    edges = edges_of({"Cargo.toml": manifest, **files}, LANGUAGE)
    return {(origin, target) for origin, kind, target in edges if kind == "calls"}


def imports(files: dict[str, str], manifest: str = CRATE) -> set[tuple[str, str]]:
    edges = edges_of({"Cargo.toml": manifest, **files}, LANGUAGE)
    return {(origin, target) for origin, kind, target in edges if kind == "imports"}


def test_mod_is_a_file_beside_the_root_or_a_mod_rs_in_a_directory() -> None:
    files = {
        "src/lib.rs": "mod a; mod b; fn f() { a::g(); b::h(); b::c::i(); }",
        "src/a.rs": "pub fn g() { }",
        "src/b/mod.rs": "pub mod c; pub fn h() { }",
        "src/b/c.rs": "pub fn i() { super::h(); crate::a::g(); }",
    }
    assert calls(files) == {
        ("src/lib.rs::f", "src/a.rs::g"),
        ("src/lib.rs::f", "src/b/mod.rs::h"),
        ("src/lib.rs::f", "src/b/c.rs::i"),
        ("src/b/c.rs::i", "src/b/mod.rs::h"),
        ("src/b/c.rs::i", "src/a.rs::g"),
    }


def test_mod_of_a_file_that_is_no_root_looks_in_the_directory_of_its_name() -> None:
    files = {
        "src/lib.rs": "mod a;",
        "src/a.rs": "mod b; fn f() { b::g(); }",
        "src/a/b.rs": "pub fn g() { }",
        "src/b.rs": "pub fn g() { }",
    }
    assert calls(files) == {("src/a.rs::f", "src/a/b.rs::g")}


def test_path_attribute_says_where_the_file_is() -> None:
    files = {
        "src/lib.rs": '#[path = "odd/place.rs"] mod a; fn f() { a::g(); }',
        "src/odd/place.rs": "pub fn g() { super::h(); }",
        "src/a.rs": "pub fn g() { }",
    }
    files["src/lib.rs"] += " fn h() { }"
    assert calls(files) == {("src/lib.rs::f", "src/odd/place.rs::g"), ("src/odd/place.rs::g", "src/lib.rs::h")}


def test_inline_modules_are_in_ids_and_super_leaves_them() -> None:
    files = {
        "src/lib.rs": (
            "fn f() { } mod a { pub mod b { pub fn g() { super::h(); super::super::f(); } } fn h() { b::g() } }"
        )
    }
    assert calls(files) == {
        ("src/lib.rs::a.b.g", "src/lib.rs::a.h"),
        ("src/lib.rs::a.b.g", "src/lib.rs::f"),
        ("src/lib.rs::a.h", "src/lib.rs::a.b.g"),
    }


def test_use_trees_bind_groups_self_renames_and_globs() -> None:
    files = {
        "src/lib.rs": (
            "mod a; mod b; use a::{self, one, two as zwei, deep::{three}}; use b::*;\n"
            "fn f() { one(); zwei(); three(); four(); a::five(); two(); }"
        ),
        "src/a.rs": "pub fn one() {} pub fn two() {} pub fn five() {} pub mod deep { pub fn three() {} }",
        "src/b.rs": "pub fn four() {} pub fn one() {}",
    }
    assert calls(files) == {
        ("src/lib.rs::f", "src/a.rs::one"),
        ("src/lib.rs::f", "src/a.rs::two"),
        ("src/lib.rs::f", "src/a.rs::deep.three"),
        ("src/lib.rs::f", "src/b.rs::four"),
        ("src/lib.rs::f", "src/a.rs::five"),
    }


def test_re_exports_resolve_to_the_definition() -> None:
    files = {
        "src/lib.rs": "mod a; pub use a::Thing; pub use crate::a::make as build; mod user;",
        "src/a.rs": "pub struct Thing; impl Thing { pub fn go(&self) {} } pub fn make() -> Thing { Thing }",
        "src/user.rs": "use crate::{build, Thing}; fn f(t: Thing) { build().go(); t.go(); }",
    }
    edges = edges_of({"Cargo.toml": CRATE, **files}, LANGUAGE)
    assert ("src/user.rs::f", "calls", "src/a.rs::make") in edges
    assert ("src/user.rs::f", "calls", "src/a.rs::Thing.go") in edges
    assert ("src/lib.rs", "exports", "src/a.rs::Thing") in edges
    assert ("src/lib.rs", "exports", "src/a.rs::make") in edges
    assert ("src/user.rs", "imports", "src/lib.rs") not in edges


def test_use_cycles_and_missing_names_terminate() -> None:
    files = {
        "src/lib.rs": "mod a; mod b; pub use a::*; pub use b::x; fn f() { x(); y(); }",
        "src/a.rs": "pub use crate::*; pub use crate::b::x;",
        "src/b.rs": "pub use crate::a::x; pub use super::*;",
    }
    assert calls(files) == set()


@given(st.lists(st.lists(st.integers(0, 24), max_size=4), min_size=25, max_size=25), st.integers(0, 24))
def test_cyclic_globs_import_the_names_of_all_reachable_modules(globs: list[list[int]], start: int) -> None:
    """Globs are walked once: following every path through such cycles takes exponential time."""
    modules = "".join(
        f"pub mod m{place} {{ {''.join(f'pub use crate::m{one}::*; ' for one in given)} pub fn f{place}() {{}} }}\n"
        for place, given in enumerate(globs)
    )
    called = "".join(f"m{start}::f{place}(); " for place in range(25))
    facts = facts_of({"Cargo.toml": CRATE, "src/lib.rs": f"{modules} fn main() {{ {called} }}"}, LANGUAGE)
    edges = resolve_all(facts, LANGUAGE)["src/lib.rs"].edges
    reached, waiting = {start}, [start]
    for one in waiting:
        waiting += [other for other in dict.fromkeys(globs[one]) if other not in reached]
        reached.update(globs[one])
    assert {edge.target for edge in edges if edge.kind == EdgeKind.CALLS} == {
        f"src/lib.rs::m{one}.f{one}" for one in reached
    }


def test_a_prelude_imported_by_its_own_modules_is_walked_once() -> None:
    count = 30
    files = {
        "src/lib.rs": "pub mod prelude; " + "".join(f"pub mod m{one}; " for one in range(count)),
        "src/prelude.rs": "".join(f"pub use crate::m{one}::*; " for one in range(count)),
        **{
            f"src/m{one}.rs": f"use crate::prelude::*; use crate::m{(one + 1) % count}::*; "
            f"use crate::m{(one + 2) % count}::*; pub fn f{one}() {{ f{(one + 7) % count}(); nowhere(); }}"
            for one in range(count)
        },
    }
    assert calls(files) == {
        (f"src/m{one}.rs::f{one}", f"src/m{(one + 7) % count}.rs::f{(one + 7) % count}") for one in range(count)
    }


def test_a_private_glob_applies_only_inside_its_module() -> None:
    files = {
        "src/lib.rs": "mod a; mod b; mod c;",
        "src/a.rs": "pub fn hidden() {} pub fn shown() {}",
        "src/b.rs": """
            use crate::a::*; pub use crate::a::shown;
            pub mod inner { use super::*; fn f() { hidden(); } }
            fn g() { hidden(); }
            """,
        "src/c.rs": "use crate::b::*; fn h() { shown(); hidden(); }",
    }
    assert calls(files) == {
        ("src/b.rs::inner.f", "src/a.rs::hidden"),
        ("src/b.rs::g", "src/a.rs::hidden"),
        ("src/c.rs::h", "src/a.rs::shown"),
    }


def test_uses_inside_functions_apply_only_there() -> None:
    files = {
        "src/lib.rs": "mod a; fn f() { use a::g; g(); } fn h() { g(); }",
        "src/a.rs": "pub fn g() {}",
    }
    assert calls(files) == {("src/lib.rs::f", "src/a.rs::g")}


def test_nested_functions_are_found_before_those_of_the_module() -> None:
    files = {"src/lib.rs": "fn g() {} fn f() { fn g() { h() } g(); } fn h() { g() }"}
    assert calls(files) == {
        ("src/lib.rs::f", "src/lib.rs::f.g"),
        ("src/lib.rs::f.g", "src/lib.rs::h"),
        ("src/lib.rs::h", "src/lib.rs::g"),
    }


def test_a_local_hides_the_function_of_its_name() -> None:
    assert calls({"src/lib.rs": "fn g() {} fn f(g: fn()) { g(); } fn h() { let g = || 1; g(); }"}) == set()


def test_path_and_renamed_dependencies_are_crates_of_the_workspace() -> None:
    files = {
        "Cargo.toml": (
            '[workspace]\nmembers = ["core", "cli"]\n[workspace.dependencies]\nshared = { path = "shared" }\n'
        ),
        "core/Cargo.toml": '[package]\nname = "my-core"\n[lib]\npath = "source/entry.rs"\n',
        "core/source/entry.rs": "pub fn run() {}",
        "shared/Cargo.toml": '[package]\nname = "shared"\n[lib]\nname = "common"\n',
        "shared/src/lib.rs": "pub fn help() {}",
        "cli/Cargo.toml": (
            '[package]\nname = "cli"\n[dependencies]\nengine = { path = "../core", package = "my-core" }\n'
            'shared = { workspace = true }\nserde = "1"\n'
        ),
        "cli/src/main.rs": "fn main() { engine::run(); shared::help(); serde::run(); my_core::run(); }",
    }
    assert calls(files, files["Cargo.toml"]) == {
        ("cli/src/main.rs::main", "core/source/entry.rs::run"),
        ("cli/src/main.rs::main", "shared/src/lib.rs::help"),
    }


def test_binaries_examples_tests_and_benches_see_the_library_by_its_name() -> None:
    caller = "fn f() { app::go(); }"
    others = ["src/bin/tool.rs", "examples/show.rs", "tests/all.rs", "benches/fast.rs", "src/main.rs"]
    files = {"src/lib.rs": "pub fn go() {}", **dict.fromkeys(others, caller)}
    assert calls(files) == {(f"{path}::f", "src/lib.rs::go") for path in others}


def test_a_test_root_has_its_modules_beside_it_unless_it_is_no_root() -> None:
    files = {"tests/all.rs": "mod util; fn f() { util::g(); }", "tests/util.rs": "pub fn g() {}"}
    assert calls(files) == {("tests/all.rs::f", "tests/util.rs::g")}
    assert calls(files, CRATE + "autotests = false\n") == set()
    named = CRATE + 'autotests = false\n[[test]]\nname = "all"\npath = "tests/all.rs"\n'
    assert calls(files, named) == {("tests/all.rs::f", "tests/util.rs::g")}


def test_crate_in_a_shared_file_refers_to_each_crates_root() -> None:
    files = {
        "src/main.rs": "mod shared; pub fn only_here() {}",
        "src/lib.rs": "mod shared; pub fn there() {}",
        "src/shared.rs": "fn f() { crate::there(); crate::only_here(); }",
    }
    assert calls(files) == {("src/shared.rs::f", "src/lib.rs::there"), ("src/shared.rs::f", "src/main.rs::only_here")}


def test_paths_of_the_edition_of_2015_start_at_the_root() -> None:
    files = {
        "src/lib.rs": "extern crate core_parts as parts; mod a; mod b;",
        "src/a.rs": "use b::g; fn f() { g(); ::parts::h(); }",
        "src/b.rs": "pub fn g() {}",
        "parts/Cargo.toml": '[package]\nname = "core-parts"\n',
        "parts/src/lib.rs": "pub fn h() {}",
    }
    found = calls(files, CRATE + '[dependencies]\ncore-parts = { path = "parts" }\n')
    assert found == {("src/a.rs::f", "src/b.rs::g"), ("src/a.rs::f", "parts/src/lib.rs::h")}


def test_items_of_other_platforms_are_found_last() -> None:
    files = {
        "src/lib.rs": "#[cfg(windows)] mod win; #[cfg(not(windows))] mod nix;\n"
        "#[cfg(windows)] use win as imp; #[cfg(unix)] use nix as imp; fn f() { imp::go(); }",
        "src/win.rs": "pub fn go() {}",
        "src/nix.rs": "pub fn go() {}",
    }
    assert calls(files) == {("src/lib.rs::f", "src/nix.rs::go")}


def test_macros_are_visible_below_and_through_macro_use_and_export() -> None:
    files = {
        "src/lib.rs": "macro_rules! up { () => {} } #[macro_use] mod m; mod quiet; mod a;",
        "src/m.rs": "macro_rules! shared { () => {} }",
        "src/quiet.rs": "macro_rules! hidden { () => {} } #[macro_export] macro_rules! out { () => {} }",
        "src/a.rs": "fn f() { up!(); shared!(); hidden!(); crate::out!(); println!(); }",
    }
    assert calls(files) == {
        ("src/a.rs::f", "src/lib.rs::up"),
        ("src/a.rs::f", "src/m.rs::shared"),
        ("src/a.rs::f", "src/quiet.rs::out"),
    }


def test_macros_of_another_crate_are_imported_by_use_or_macro_use() -> None:
    files = {
        "src/main.rs": "#[macro_use] extern crate helpers; mod a;",
        "src/a.rs": "fn f() { assist!(); }",
        "helpers/Cargo.toml": '[package]\nname = "helpers"\n',
        "helpers/src/lib.rs": "#[macro_export] macro_rules! assist { () => {} }",
        "examples/e.rs": "use helpers::assist; fn g() { assist!(); }",
    }
    manifest = CRATE + '[dependencies]\nhelpers = { path = "helpers" }\n'
    assert calls(files, manifest) == {
        ("src/a.rs::f", "helpers/src/lib.rs::assist"),
        ("examples/e.rs::g", "helpers/src/lib.rs::assist"),
    }


def test_calls_in_arguments_of_macros_are_seen() -> None:
    files = {
        "src/lib.rs": (
            "struct S; impl S { fn n(&self) -> u8 { 1 } } fn g() -> S { S }\n"
            'fn f(s: S) { println!("{}", s.n()); assert_eq!(g().n(), 1); let v = vec![g()]; v[0].n(); }'
            ' fn h() { let t = format!("{}", vec![g(); 2].len()); }'
        )
    }
    assert calls(files) == {
        ("src/lib.rs::f", "src/lib.rs::S.n"),
        ("src/lib.rs::f", "src/lib.rs::g"),
        ("src/lib.rs::h", "src/lib.rs::g"),
    }


def test_quoted_code_is_not_resolved() -> None:
    assert (
        calls({"src/lib.rs": "fn g() {} fn f() { quote! { g(); }; proc::parse_quote!(g()); stringify!(g()); }"})
        == set()
    )


def test_items_in_macro_braces_are_items() -> None:
    files = {
        "src/lib.rs": (
            "cfg_net! { mod net; pub struct S; } impl S { cfg_net! { fn go(&self) { net::g(); } } }"
            " fn f(s: S) { s.go(); }"
        ),
        "src/net.rs": "pub fn g() {}",
    }
    assert calls(files) == {("src/lib.rs::S.go", "src/net.rs::g"), ("src/lib.rs::f", "src/lib.rs::S.go")}


def test_modules_that_automod_declares_are_the_files_beside() -> None:
    files = {
        "tests/suite/main.rs": 'automod::dir!("tests/suite");',
        "tests/suite/a.rs": "use crate::help::g; fn f() { g(); super::help::g(); }",
        "tests/suite/help.rs": "pub fn g() {}",
    }
    assert calls(files) == {("tests/suite/a.rs::f", "tests/suite/help.rs::g")}


def test_every_file_whose_declarations_are_named_is_imported_but_not_for_modules() -> None:
    files = {
        "src/lib.rs": "mod a; mod b; mod c; mod d; use a::A; struct S { b: Option<b::B> } fn f(x: Vec<c::C>) {}",
        "src/a.rs": "pub struct A;",
        "src/b.rs": "pub struct B;",
        "src/c.rs": "pub enum C { X }",
        "src/d.rs": "pub struct D;",
    }
    assert imports(files) == {("src/lib.rs", f"src/{name}.rs") for name in "abc"}


def test_readers_of_a_constant_depend_on_it() -> None:
    files = {"src/lib.rs": "mod a; fn f() -> u8 { a::LIMIT }", "src/a.rs": "pub const LIMIT: u8 = 3;"}
    edges = edges_of({"Cargo.toml": CRATE, **files}, LANGUAGE)
    assert ("src/lib.rs::f", "depends_logically", "src/a.rs::LIMIT") in edges


def test_a_broken_manifest_is_a_problem_and_files_still_resolve_by_convention() -> None:
    broken = LANGUAGE.extract("Cargo.toml", b"[package\nname = ")
    assert [problem.line for problem in broken.problems] == [1]
    files = {"src/lib.rs": "mod a; fn f() { a::g(); }", "src/a.rs": "pub fn g() {}"}
    assert calls(files, "[package\n") == {("src/lib.rs::f", "src/a.rs::g")}
