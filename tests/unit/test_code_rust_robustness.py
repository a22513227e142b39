"""Rust under any input: nothing raises, stored facts resolve the same, updates equal a fresh build."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.resolver_projects import facts_of, resolve_all
from tests.symbol_table import RecordingLookup, SymbolTable
from treering.code.facts import Facts, Resolved
from treering.code.languages.rust import LANGUAGE
from treering.code.languages.rust.body import RustBody

SOURCE = """
#![allow(x)]
use crate::a::{self, A as Q, b::*}; pub use super::z; extern crate foo as bar;
#[derive(Parser)] pub struct S<'a, T: Tr + 'a = A>(pub T, &'a [u8]) where T: Tr<Out = u8>;
pub enum E { One(S<A>), Two { a: Option<Box<dyn Tr + Send>> }, Three = 3 }
pub trait Tr: Base + ?Sized { type Out: Tr; const N: usize = 1;
    fn m(&self) -> Self::Out; fn d(self: Box<Self>) { self.m().m(); } }
impl<'a, T> Tr for S<'a, T> where T: Tr { type Out = T; fn m(&self) -> T { self.0.m() } }
impl E { pub async fn go(&mut self, mut x: impl Fn(&A) -> E, (p, q): (A, u8)) -> Result<Self, io::Error> {
    let Some(y) = self.find().await? else { return Err(bad!("{}", x.m())) };
    if let E::Two { a: Some(ref w), .. } = self && y { w.m(); } else if true { a::free::<A>(1) }
    match y { E::One(S(i, ..)) | n @ E::Three if i > 1 => i.m(), _ => loop { break 'l 3; } }
    for (k, v) in map.iter().enumerate() { v[1..k].m(); v.collect::<Vec<_>>(); }
    let c = move |z: &A, t| -> u8 { z.m() as u8 }; c(vec![1; 2], &mut *x, -1, !true, <A as Tr>::N, Self::go);
    *x += S { a: 1, ..Default::default() }; unsafe { drop(x) }; async { 1 }.await; fn nested() { Q::new() } Ok(self)
} }
macro_rules! mac { ($x:expr) => { $x.m() }; }
mac!(a.m(), b); cfg_if! { mod inner; fn made() {} } #[cfg(windows)] #[path = "w.rs"] mod w;
mod i { pub fn f() { super::g() } }
#[tokio::test] async fn t() { assert_eq!(format!("{}", g()), 1, "x"); } fn g() -> impl Iterator<Item = A> { A::new() }
static X: Lazy<A> = Lazy::new(|| A::new()); type R<T, E = A> = Result<T, E>; union U { a: u8 }
extern "C" { fn ex(x: u8); }
"""
OTHER = """
pub struct A; impl A { pub fn new() -> Self { A } pub fn m(&self) -> A { A } }
pub fn free<T>(x: T) -> T { x } pub mod b { pub fn f() {} }
"""
MANIFEST = '[package]\nname = "app"\n[dependencies]\nfoo = { path = "foo" }\n'
PIECES = [piece for piece in SOURCE.replace(";", " ; ").replace("(", " ( ").replace("{", " { ").split(" ") if piece]


def project(source: str | bytes) -> dict[str, str | bytes]:
    return {
        "Cargo.toml": MANIFEST,
        "src/lib.rs": source,
        "src/a.rs": OTHER,
        "src/inner.rs": "fn f() { super::g().m(); }",
    }


def test_the_sample_itself_is_read_and_resolved() -> None:
    facts = facts_of(project("mod a;" + SOURCE), LANGUAGE)
    targets = {edge.target for edge in resolve_all(facts, LANGUAGE)["src/lib.rs"].edges}
    assert {"src/a.rs::A.new", "src/a.rs::free", "src/lib.rs::g", "src/lib.rs::Tr.m", "src/lib.rs::mac"} <= targets


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Return the sample with parts removed, duplicated, or replaced by other parts or random bytes."""
    source = SOURCE.encode()
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(source)))
        end = min(len(source), start + draw(st.integers(0, 60)))
        new = draw(st.one_of(st.just(b""), st.binary(max_size=8), st.sampled_from(PIECES).map(str.encode)))
        source = source[:start] + new + source[end:]
    return source


@given(mutated())
def test_mutated_sources_never_raise_and_stored_facts_resolve_the_same(source: bytes) -> None:
    facts = facts_of(project(source), LANGUAGE)
    resolved = resolve_all(facts, LANGUAGE)
    assert resolve_all({path: stored(one) for path, one in facts.items()}, LANGUAGE) == resolved
    assert {path: LANGUAGE.surface(stored(one)) for path, one in facts.items()} == {
        path: LANGUAGE.surface(one) for path, one in facts.items()
    }


@given(st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join))
def test_any_order_of_pieces_is_read(source: str) -> None:
    resolve_all(facts_of(project(source), LANGUAGE), LANGUAGE)


def stored(facts: Facts) -> Facts:
    body = msgspec.msgpack.decode(msgspec.msgpack.encode(facts.body), type=RustBody)
    return Facts(facts.path, facts.definitions, body, facts.problems)


@pytest.mark.parametrize(
    "source",
    [
        b"\x00\xff\xfe\x80 fn a() {}",
        b"",
        b"fn f() { " + b"(" * 10_000 + b"1" + b")" * 10_000 + b" }",
        b"fn f() { " + b"{" * 10_000 + b"}" * 10_000 + b" }",
        b"fn f() { a" + b".b()" * 10_000 + b"; }",
        b"fn f() { a" + b"?" * 10_000 + b"; }",
        b"fn f(x: " + b"Vec<" * 10_000 + b"u8" + b">" * 10_000 + b") {}",
        b"mod a { " * 3_000 + b"}" * 3_000,
        b"fn f() { " * 3_000 + b"}" * 3_000,
        b"use " + b"a::{" * 5_000 + b"b" + b"}" * 5_000 + b";",
        b"use " + b"a::" * 10_000 + b"b;",
        b"fn f() { " + b"vec![" * 2_000 + b"1" + b"]" * 2_000 + b" }",
        b"fn f() { let " + b"Some(" * 5_000 + b"x" + b")" * 5_000 + b" = y; }",
        b"#[cfg(" + b"not(" * 5_000 + b"unix" + b")" * 5_000 + b")] fn f() {}",
        b"fn f() { " + b"1 + " * 10_000 + b"1 }",
        b"type T = " + b"<" * 5_000,
    ],
    ids=range(16),
)
def test_deep_nesting_and_odd_bytes_are_survived(source: bytes) -> None:
    facts = facts_of(project(source), LANGUAGE)
    resolve_all({path: stored(one) for path, one in facts.items()}, LANGUAGE)


VERSIONS = {
    "Cargo.toml": [MANIFEST, '[package]\nname = "other"\n', "broken ["],
    "src/lib.rs": [
        "mod a; mod c; pub use a::A; fn f(x: A) { x.m(); c::g(); }",
        "mod a; #[macro_use] mod c; fn f() { mac!(); }",
        "use a::*; mod a;",
    ],
    "src/a.rs": [
        OTHER,
        "pub enum A { X } impl A { fn m(&self) {} }",
        "pub trait A { fn m(&self); } pub struct B; impl A for B { fn m(&self) {} }",
    ],
    "src/c.rs": [
        "pub fn g() { crate::A::new().m(); } macro_rules! mac { () => {} }",
        "use super::*; fn g(a: &dyn A) { a.m(); f(); }",
        "impl crate::a::A { pub fn extra(&self) {} }",
    ],
    "src/c/mod.rs": ["pub fn g() { super::f() }"],
    "tests/t.rs": ["use app::A; #[test] fn t() { A::new().m().extra(); other::f(); }", "mod c; fn t() { c::g() }"],
    "tests/c.rs": ["pub fn g() {}"],
}


@st.composite
def edits(draw: st.DrawFn) -> tuple[str, str | None]:
    path = draw(st.sampled_from(sorted(VERSIONS)))
    return path, draw(st.sampled_from([None, *VERSIONS[path]]))


@given(st.lists(edits(), min_size=1, max_size=12))
def test_after_edits_only_dependents_are_resolved_again(sequence: list[tuple[str, str | None]]) -> None:
    table, facts, resolved = SymbolTable(), dict[str, Facts](), dict[str, Resolved]()
    for path, source in sequence:
        if source is None:
            dirty = table.dependents(table.remove(path))
            facts.pop(path, None)
            resolved.pop(path, None)
        else:
            facts[path] = LANGUAGE.extract(path, source.encode())
            dirty = table.dependents(table.put(path, LANGUAGE.surface(facts[path]))) | {path}
        for one in dirty & facts.keys():
            lookup = RecordingLookup(table)
            resolved[one] = LANGUAGE.resolve(facts[one], lookup)
            table.record_lookups(one, lookup.keys)
    assert resolved == resolve_all(dict(sorted(facts.items())), LANGUAGE)
