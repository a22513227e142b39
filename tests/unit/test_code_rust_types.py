"""Targets of Rust method calls through evident receiver types."""

import pytest

from tests.resolver_projects import edges_of, facts_of, resolve_all, unresolved_of
from treering.code.languages.rust import LANGUAGE

MANIFEST = '[package]\nname = "app"\n'
BASE = """
pub struct A; pub struct B { a: A, many: Vec<A>, by_name: HashMap<String, A>, maybe: Option<Box<A>> }
impl A { pub fn new() -> Self { A } pub fn hit(&self) {} pub fn b(&self) -> B { todo!() }
    pub fn with(&mut self) -> &mut Self { self } }
impl B { fn try_a(&self) -> Result<A, Failure> { todo!() } fn find(&self) -> Option<&A> { None }
    fn each(&self, f: impl FnMut(&A)) {} }
pub struct Failure; impl Failure { fn show(&self) {} }
pub enum E { One(A), Two { a: A }, Three }
impl E { fn take(&self) {} }
fn make() -> A { A }
"""


def called(body: str, more: str = "") -> set[str]:
    """Return what `fn f(b: B, e: E)` with this body calls."""
    source = f"use std::collections::HashMap;\n{BASE}{more}\nfn f(b: B, e: E) {{ {body} }}"
    edges = edges_of({"Cargo.toml": MANIFEST, "src/lib.rs": source}, LANGUAGE)
    return {
        target.removeprefix("src/lib.rs::")
        for origin, kind, target in edges
        if kind == "calls" and origin == "src/lib.rs::f"
    }


@pytest.mark.parametrize(
    "body",
    [
        "b.a.hit();",
        "let a = b.a; a.hit();",
        "let a: A = something(); a.hit();",
        "let a: &mut A = something(); a.hit();",
        "(&b.a).hit(); (*b.a).hit();",
        "let (x, y) = (b, b.a); y.hit();",
        "b.many[0].hit();",
        "b.many[1..][0].hit();",
        "for a in &b.many { a.hit(); }",
        "for (i, a) in b.many.iter().enumerate() { a.hit(); }",
        "for (name, a) in &b.by_name { a.hit(); }",
        "b.many.iter().map(|a| a.hit()).collect::<Vec<_>>();",
        "b.many.iter().filter(|a| true).next().unwrap().hit();",
        "b.many.first().unwrap().hit();",
        "let all: Vec<_> = b.many.iter().collect(); all[0].hit();",
        "b.by_name.get(k).unwrap().hit();",
        "b.by_name[k].hit();",
        "b.by_name.values().for_each(|a| a.hit());",
        "b.by_name.entry(k).or_insert(x).hit();",
        "if let Some(a) = b.maybe { a.hit(); }",
        "let Some(a) = b.maybe else { return }; a.hit();",
        "while let Some(a) = b.maybe { a.hit(); }",
        "match b.maybe { Some(ref a) if true => a.hit(), None => {} }",
        "b.maybe.as_ref().unwrap().hit();",
        "b.maybe.map(|a| a.hit());",
        "if b.many.is_empty() && let Some(a) = b.maybe { a.hit(); }",
        "match e { E::One(a) => a.hit(), _ => {} }",
        "match &e { E::Two { a } => a.hit(), _ => {} }",
        "match e { E::Two { a: inner } | E::One(inner) => inner.hit(), _ => {} }",
        "if let E::One(a) = e { a.hit(); }",
        "let c = Rc::new(RefCell::new(b.a)); c.borrow_mut().hit();",
        "let c = Arc::new(Mutex::new(b.a)); c.lock().unwrap().hit();",
        "let c = Arc::clone(&b.a); c.hit();",
        "let c = Box::new(b.a); c.hit();",
        "let c = Some(b.a); c.unwrap().hit();",
        "let a = if true { b.a } else { panic!() }; a.hit();",
        "let a = match e { E::Three => b.a, _ => return }; a.hit();",
        "let a = { let x = b.a; x }; a.hit();",
        "let mut v = Vec::new(); v.push(b.a); v[0].hit();",
        "let a = b.a.clone(); a.hit();",
        "let g = |x: &A| x.hit(); g(1);",
        "let (tx, rx) = channel::<A>(); for a in rx.iter() { a.hit(); }",
        "let a = true.then_some(b.a); a.unwrap().hit();",
        "match poll() { Poll::Ready(Some(x)) => {}, _ => b.a.hit() }",
        "let a = ready!(Poll::Ready(b.a)); a.hit();",
        "let a = dbg!(b.a); a.hit();",
        "self_cell.with(|c| c.none()); b.a.project().hit();",
        "async { b.a.hit() };",
        "unsafe { b.a.hit(); }",
        "let x = S { a: b.a.hit() };",
        "let n = b.a.hit() + 1; -n;",
        "let a = 1; let a = b.a; a.hit();",
        "A::hit(&b.a);",
        "<A>::hit(&b.a);",
    ],
)
def test_the_receivers_type_is_evident(body: str) -> None:
    assert called(body) == {"A.hit"}


@pytest.mark.parametrize(
    ("body", "calls"),
    [
        ("A::new().hit();", {"A.new", "A.hit"}),
        ("make().hit();", {"make", "A.hit"}),
        ("make().with().with().hit();", {"make", "A.with", "A.hit"}),
        ("make().b().a.hit();", {"make", "A.b", "A.hit"}),
        ("b.find().unwrap().hit();", {"B.find", "A.hit"}),
        ("b.find().expect(m).hit();", {"B.find", "A.hit"}),
        ("b.find()?.hit();", {"B.find", "A.hit"}),
        ("b.find().and_then(|a| a.b().find()).map(|a| a.hit());", {"B.find", "A.b", "A.hit"}),
        ("b.try_a().unwrap().hit();", {"B.try_a", "A.hit"}),
        ("b.try_a().ok().unwrap().hit();", {"B.try_a", "A.hit"}),
        ("b.try_a().map_err(|e| e.show());", {"B.try_a", "Failure.show"}),
        ("match b.try_a() { Ok(a) => a.hit(), Err(e) => e.show() }", {"B.try_a", "A.hit", "Failure.show"}),
        ("b.each(|a| a.hit());", {"B.each", "A.hit"}),
        ("b.many.iter().map(A::b).map(|x| x.find());", {"B.find"}),
        ("b.many.iter().filter_map(|a| a.b().maybe).for_each(|a| a.hit());", {"A.b", "A.hit"}),
        ("b.many.iter().fold(make(), |all, a| { all.hit(); a.b(); all });", {"make", "A.hit", "A.b"}),
        ("e.take(); E::take(&e);", {"E.take"}),
        ("let e: E = E::One(make()); e.take();", {"make", "E.take"}),
    ],
)
def test_results_of_calls_have_types_too(body: str, calls: set[str]) -> None:
    assert called(body) == calls


def test_constructors_of_tuple_structs_are_calls_and_variants_and_literals_are_not() -> None:
    more = "struct T(A); struct N { a: A } impl T { fn me(a: A) -> Self { Self(a) } }"
    assert called("T(b.a); E::One(b.a); N { a: b.a }; Some(1);", more) == {"T"}
    files = {"src/lib.rs": f"{BASE}{more}"}
    assert ("src/lib.rs::T.me", "calls", "src/lib.rs::T") in edges_of(files, LANGUAGE)


def test_self_is_the_type_of_the_implementation_and_its_fields_are_known() -> None:
    source = """struct S { n: N } struct N; impl N { fn go(&self) {} }
    impl S { fn f(&self) { self.n.go(); self.g(); Self::h(); } fn g(&self) {} fn h() {} }"""
    edges = edges_of({"src/lib.rs": source}, LANGUAGE)
    calls = {target for origin, kind, target in edges if kind == "calls" and origin == "src/lib.rs::S.f"}
    assert calls == {"src/lib.rs::N.go", "src/lib.rs::S.g", "src/lib.rs::S.h"}


def test_implementations_may_be_in_any_file_of_the_crate() -> None:
    files = {
        "Cargo.toml": MANIFEST,
        "src/lib.rs": "mod a; mod b; mod c; fn f(x: a::S, y: c::S) { x.go(); y.go(); }",
        "src/a.rs": "pub struct S;",
        "src/b.rs": "use crate::a::S; impl S { pub fn go(&self) {} }",
        "src/c.rs": "pub struct S; impl S { pub fn go(&self) {} }",
    }
    calls = {target for _, kind, target in edges_of(files, LANGUAGE) if kind == "calls"}
    assert calls == {"src/b.rs::S.go", "src/c.rs::S.go"}


TRAITS = """
trait Base { fn base(&self) {} }
trait Shape: Base { type Part: Shape; fn area(&self) -> f64;
    fn twice(&self) -> f64 { self.area() } fn part(&self) -> Self::Part; fn make() -> Self; }
struct Round; struct Flat;
impl Base for Round { }
impl Shape for Round { type Part = Flat; fn area(&self) -> f64 { 1.0 }
    fn part(&self) -> Flat { Flat } fn make() -> Self { Round } }
impl Shape for Flat { type Part = Round; fn area(&self) -> f64 { 0.0 } fn twice(&self) -> f64 { 0.0 } }
"""


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        ("fn f(x: Round) { x.area(); x.twice(); }", {"Round.area", "Shape.twice"}),
        ("fn f(x: Flat) { x.twice(); }", {"Flat.twice"}),
        ("fn f<T: Shape>(x: &T) { x.area(); x.base(); }", {"Shape.area", "Base.base"}),
        ("fn f<T>(x: T) where T: Shape { x.twice(); T::make().area(); }", {"Shape.twice", "Shape.make", "Shape.area"}),
        ("fn f(x: &dyn Shape) { x.area(); }", {"Shape.area"}),
        ("fn f(x: Box<dyn Shape + Send>) { x.area(); }", {"Shape.area"}),
        ("fn f(x: impl Shape) { x.area(); }", {"Shape.area"}),
        ("fn f(x: Vec<Box<dyn Shape>>) { for s in x { s.area(); } }", {"Shape.area"}),
        ("fn f<T: Shape>(x: T) { x.part().area(); }", {"Shape.part", "Shape.area"}),
        ("fn f(x: Round) { x.part().twice(); }", {"Round.part", "Flat.twice"}),
        ("fn f(x: Round) { Shape::area(&x); <Round as Shape>::area(&x); }", {"Shape.area", "Round.area"}),
        ("fn f<I: Iterator<Item = Round>>(i: I) { for r in i { r.area(); } }", {"Round.area"}),
        ("fn f<T: AsRef<Round>>(x: T) { x.as_ref().area(); }", {"Round.area"}),
    ],
)
def test_trait_methods_resolve_to_the_type_else_to_the_trait(function: str, calls: set[str]) -> None:
    edges = edges_of({"src/lib.rs": TRAITS + function}, LANGUAGE)
    assert {t.removeprefix("src/lib.rs::") for o, k, t in edges if k == "calls" and o == "src/lib.rs::f"} == calls


def test_implementing_and_overriding_and_supertraits_are_edges() -> None:
    edges = {
        (o.removeprefix("src/lib.rs::"), k, t.removeprefix("src/lib.rs::"))
        for o, k, t in edges_of({"src/lib.rs": TRAITS}, LANGUAGE)
    }
    assert ("Round", "implements", "Shape") in edges
    assert ("Flat.twice", "implements", "Shape.twice") in edges
    assert ("Shape", "extends", "Base") in edges


def test_extension_and_blanket_implementations_apply() -> None:
    source = """
    trait Ext { fn shout(&self); } impl Ext for str { fn shout(&self) {} }
    trait Named { fn name(&self) {} } trait Loud { fn loud(&self); }
    impl<T: Named> Loud for T { fn loud(&self) { self.name(); } }
    struct S; impl Named for S {} struct Q;
    fn f(s: String, x: S, q: Q) { s.shout(); x.loud(); q.loud(); }
    """
    edges = edges_of({"src/lib.rs": source}, LANGUAGE)
    calls = {target for origin, kind, target in edges if kind == "calls" and origin == "src/lib.rs::f"}
    assert calls == {"src/lib.rs::str.shout", "src/lib.rs::T.loud"}


def test_implementations_for_pointers_are_those_of_what_they_point_to() -> None:
    source = """trait Run { fn run(&self); } struct S; impl Run for Arc<S> { fn run(&self) {} }
    thread_local! { static NOW: S = const { S }; } fn f(s: Arc<S>) { s.run(); } fn g() { NOW.with(|s| s.run()); }"""
    edges = edges_of({"src/lib.rs": "use std::sync::Arc; " + source}, LANGUAGE)
    calls = {(origin, target) for origin, kind, target in edges if kind == "calls"}
    assert calls == {("src/lib.rs::f", "src/lib.rs::Arc.run"), ("src/lib.rs::g", "src/lib.rs::Arc.run")}


def test_derived_traits_of_the_project_are_implemented() -> None:
    source = """trait Cmd { fn parse() -> Self { todo!() } } #[derive(Debug, Cmd)] struct S;
    impl S { fn go(&self) {} } fn f() { S::parse().go(); }"""
    edges = edges_of({"src/lib.rs": source}, LANGUAGE)
    assert {t for o, k, t in edges if k == "calls"} == {"src/lib.rs::Cmd.parse", "src/lib.rs::S.go"}


def test_type_parameters_and_aliases_are_resolved() -> None:
    source = """
    struct A; impl A { fn hit(&self) {} } struct Err; impl Err { fn show(&self) {} }
    struct W<T> { inner: T } impl<T> W<T> { fn new(inner: T) -> W<T> { todo!() } fn get(&self) -> &T { &self.inner } }
    type Res<T, E = Err> = std::result::Result<T, E>; type Short = W<A>;
    fn id<T>(x: T) -> T { x } fn res() -> Res<A> { todo!() }
    fn f(w: W<A>, s: Short) { w.get().hit(); w.inner.hit(); s.get().hit(); id(A).hit(); W::new(A).get().hit(); }
    fn g() { res().unwrap().hit(); res().unwrap_err().show(); }
    """
    edges = edges_of({"src/lib.rs": source}, LANGUAGE)
    calls = {(o[12:], t[12:]) for o, k, t in edges if k == "calls"}
    assert {t for o, t in calls if o == "f"} == {"W.get", "A.hit", "id", "W.new"}
    assert {t for o, t in calls if o == "g"} == {"res", "A.hit", "Err.show"}


def test_deref_iterators_futures_and_operators_of_the_project_are_followed() -> None:
    source = """
    struct A; impl A { fn hit(&self) {} }
    struct P; impl std::ops::Deref for P { type Target = A; fn deref(&self) -> &A { todo!() } }
    struct I; impl Iterator for I { type Item = A; fn next(&mut self) -> Option<A> { None } }
    struct F; impl std::future::Future for F { type Output = A; }
    impl std::ops::Add for A { type Output = A; fn add(self, o: A) -> A { self } }
    fn f(p: P) { p.hit(); } fn g(i: I) { for a in i { a.hit(); } } fn h(i: I) { i.map(|a| a.hit()); }
    async fn j(x: F) { x.await.hit(); } fn k(a: A, b: A) { (a + b).hit(); }
    """
    edges = edges_of({"src/lib.rs": source}, LANGUAGE)
    hitting = {origin for origin, kind, target in edges if kind == "calls" and target == "src/lib.rs::A.hit"}
    assert hitting == {f"src/lib.rs::{name}" for name in "fghjk"}
    assert ("src/lib.rs::k", "depends_logically", "src/lib.rs::A.add") in edges


def test_a_function_used_as_a_value_is_a_reference_not_a_call() -> None:
    source = """struct A; impl A { fn new(n: u8) -> A { A } fn hit(&self) {} } fn g(n: u8) {}
    fn f(v: Vec<u8>) { v.iter().map(A::new).map(|a| a.hit()); v.iter().map(g); }"""
    edges = {(k, t[12:]) for o, k, t in edges_of({"src/lib.rs": source}, LANGUAGE) if o == "src/lib.rs::f"}
    assert edges == {("references", "A.new"), ("references", "g"), ("calls", "A.hit"), ("references", "A")}


def test_of_several_conversions_the_one_for_the_argument_is_chosen() -> None:
    files = {
        "Cargo.toml": MANIFEST,
        "src/lib.rs": "mod a; mod b; pub struct Error; fn f(x: b::B) { Error::from(x); }",
        "src/a.rs": "pub struct A; impl From<A> for crate::Error { fn from(a: A) -> Self { todo!() } }",
        "src/b.rs": "pub struct B; impl From<B> for crate::Error { fn from(b: B) -> Self { todo!() } }",
    }
    calls = {target for _, kind, target in edges_of(files, LANGUAGE) if kind == "calls"}
    assert calls == {"src/b.rs::crate::Error.from"}


def test_default_in_a_typed_let_resolves_to_its_type() -> None:
    source = "struct S; impl Default for S { fn default() -> S { S } } fn f() { let s: S = Default::default(); }"
    assert ("src/lib.rs::f", "calls", "src/lib.rs::S.default") in edges_of({"src/lib.rs": source}, LANGUAGE)


def test_external_methods_are_not_edges_and_unknown_receivers_are_unresolved() -> None:
    source = """struct S; impl S { fn len(&self) {} fn go(&self) {} }
    fn f(v: Vec<u8>, s: &str) { v.len(); s.len(); unknown().go(); what.other(); }"""
    files = {"src/lib.rs": source}
    assert {edge for edge in edges_of(files, LANGUAGE) if edge[1] == "calls"} == set()
    assert unresolved_of(files, LANGUAGE) == {("src/lib.rs::f", "unknown"), ("src/lib.rs::f", "unknown.go")}


def test_calls_have_flow_and_confidence() -> None:
    source = "struct S; impl S { fn go(&self) {} } fn g(x: u8) -> S { S } fn f() { let s = g(1); s.go(); }"
    facts = facts_of({"src/lib.rs": source}, LANGUAGE)
    edges = {edge.target: edge for edge in resolve_all(facts, LANGUAGE)["src/lib.rs"].edges if edge.kind == "calls"}
    assert (edges["src/lib.rs::g"].flow, edges["src/lib.rs::g"].confidence) == (3, 1.0)
    assert (edges["src/lib.rs::S.go"].flow, edges["src/lib.rs::S.go"].confidence) == (0, 0.9)


def test_implementations_for_raw_pointers_apply_to_no_other_type() -> None:
    more = "trait Place { fn place(self) -> usize; } impl<T> Place for *const T { fn place(self) -> usize { 0 } }"
    assert called("b.a.place();", more) == set()


def test_extension_methods_come_from_dependencies_only() -> None:
    given = "pub trait Wide { fn wide(self); } impl Wide for u32 { fn wide(self) {} }"
    files = {
        "a/Cargo.toml": '[package]\nname = "a"\n',
        "a/src/lib.rs": given,
        "b/Cargo.toml": '[package]\nname = "b"\n',
        "b/src/lib.rs": "mod wide; use wide::Wide; fn f(x: u32) { x.wide(); }",
        "b/src/wide.rs": given,
        "c/Cargo.toml": '[package]\nname = "c"\n[dependencies]\nd = { path = "../d" }\n',
        "c/src/lib.rs": "use d::Wide; fn g(x: u32) { x.wide(); }",
        "d/Cargo.toml": '[package]\nname = "d"\n[dependencies]\na = { path = "../a" }\n',
        "d/src/lib.rs": "pub use a::Wide;",
        "e/Cargo.toml": '[package]\nname = "e"\n',
        "e/src/lib.rs": "fn h(x: u32) { x.wide(); }",
    }
    assert {edge for edge in edges_of(files, LANGUAGE) if edge[1] == "calls"} == {
        ("b/src/lib.rs::f", "calls", "b/src/wide.rs::u32.wide"),
        ("c/src/lib.rs::g", "calls", "a/src/lib.rs::u32.wide"),
    }


def test_a_type_of_the_project_may_have_the_name_of_a_standard_pointer() -> None:
    more = "struct Mutex<T>(T); impl<T> Mutex<T> { fn seize(&self) -> &T { &self.0 } }"
    assert called("let m: Mutex<A> = todo!(); m.seize().hit();", more) == {"Mutex.seize", "A.hit"}


def test_implementations_for_box_do_not_apply_to_every_type() -> None:
    more = "trait Say { fn say(&self); } impl<T> Say for Box<T> { fn say(&self) {} }"
    assert called("b.a.say();", more) == set()
