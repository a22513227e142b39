"""Languages read by a query: definitions with their kinds, imports resolved to files, and files that break parsers."""

from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.symbol_table import RecordingLookup, SymbolTable
from treering.code import language_choice
from treering.code.files.source_file import read_file
from treering.code.language_choice import NO_GRAMMAR, language_of, load_language
from treering.code.language_table import DEFINITION_LANGUAGES, TEXT_FORMATS, UNREAD_LANGUAGES

NAMES = [each.name for each in DEFINITION_LANGUAGES]
SOURCES: dict[str, tuple[str, str]] = {
    "bash": ("f() { :; }\nfunction g { :; }\n", "function f, function g"),
    "c": ("struct s { int x; };\nstatic int *f(int a) { return 0; }\n", "class s, function f"),
    "cpp": (
        "namespace n { class A { public: void m(); int k() { return 1; } }; }\nvoid n::A::m() {}\n",
        "module n, class n.A, method n.A.m, method n.A.k, function n.A.m",
    ),
    "csharp": (
        "namespace N { interface I { void R(); } class A : I { public A() {} public void R() {} } enum E { X } }\n",
        "module N, interface N.I, method N.I.R, class N.A, method N.A.A, method N.A.R, enum N.E, constant N.E.X",
    ),
    "css": (".a { color: red }\n@keyframes k { }\n", "type a, type k"),
    "dart": (
        "class A { void m() {} }\nint f() => 1;\nenum E { x }\n",
        "class A, method A.m, function f, enum E, constant E.x",
    ),
    "elixir": (
        "defmodule A.B do\n  def f(x), do: x\n  defp g(x) when x > 1, do: x\nend\n",
        "module A.B, function A.B.f, function A.B.g",
    ),
    "erlang": ("-module(m).\n-record(r, {a}).\nf(X) -> X.\n", "constant m, type r, function f"),
    "graphql": ("type A { b: Int }\nenum E { X }\n", "class A, constant A.b, enum E"),
    "haskell": ("module M where\ndata T = A\nf x = x\n", "constant M, type T, function f"),
    "html": ('<p id="top">x</p>\n', "constant top"),
    "java": (
        "interface I { void r(); }\nclass A implements I {\n  A() {}\n  public void r() {}\n}\nenum E { X }\n",
        "interface I, method I.r, class A, method A.A, method A.r, enum E, constant E.X",
    ),
    "julia": (
        "module M\nf(x) = x\nfunction g(x)\n x\nend\nstruct S end\nend\n",
        "module M, function M.f, function M.g, class M.S",
    ),
    "kotlin": ("class A { fun m() {} }\nobject O\nfun f() = 1\n", "class A, method A.m, class O, function f"),
    "lua": (
        "local function f() end\nfunction M.g() end\nM.h = function() end\n",
        "function f, function M.g, function M.h",
    ),
    "objc": (
        "@interface A\n- (void)m;\n@end\n@implementation A\n- (void)m {}\n@end\n",
        "class A, method A.m, class A, method A.m",
    ),
    "ocaml": ("module M = struct let f x = x end\ntype t = int\n", "module M, function M.f, type t"),
    "perl": ("package A;\nsub f { 1 }\n", "constant A, function f"),
    "php": (
        "<?php\ninterface I {}\ntrait T {}\nclass A { const C = 1; public function m() {} }\nfunction f() {}\n",
        "interface I, trait T, class A, constant A.C, method A.m, function f",
    ),
    "powershell": ("function Get-A { }\nclass B { [void] M() { } }\n", "function Get-A, class B, method B.M"),
    "proto": ("message A { }\nservice S { rpc R (A) returns (A); }\n", "class A, interface S, method S.R"),
    "r": ("f <- function(x) x\ng = function() 1\n", "function f, function g"),
    "ruby": (
        "module M\n  class A\n    C = 1\n    def m; end\n    def self.s; end\n  end\nend\n",
        "module M, class M.A, constant M.A.C, method M.A.m, method M.A.s",
    ),
    "scala": (
        "trait T { def r: Int }\nobject O { def f = 1 }\ncase class C(x: Int)\n",
        "trait T, method T.r, class O, method O.f, class C",
    ),
    "scss": ("@mixin m { }\n.a { .b { } }\n", "function m, type a, type a.b"),
    "solidity": ("contract A { function f() public {} }\n", "class A, method A.f"),
    "sql": ("CREATE TABLE t (id int);\nCREATE VIEW v AS SELECT 1;\n", "class t, class v"),
    "swift": (
        "protocol P { func r() }\nclass A: P { init() {} \n func r() {} }\nenum E { case x }\nfunc f() {}\n",
        "interface P, method P.r, class A, method A.init, method A.r, class E, constant E.x, function f",
    ),
    "terraform": ('resource "a" "b" {}\nvariable "v" {}\n', "class a.b, constant v"),
    "zig": ("const S = struct { pub fn m() void {} };\npub fn f() void {}\n", "class S, method S.m, function f"),
}


def definitions(language: str, source: str, path: str = "x") -> list[str]:
    facts = load_language(language).extract(path, source.encode())
    return [f"{each.kind.value} {each.qualname}" for each in facts.definitions]


@pytest.mark.parametrize("language", NAMES)
def test_definitions_have_their_kind_and_the_names_around_them(language: str) -> None:
    source, expected = SOURCES[language]
    assert definitions(language, source) == expected.split(", ")


def test_the_line_of_a_definition_is_that_of_its_name() -> None:
    source = "class A {\n  @Override\n  public\n  void r() {\n  }\n}\n"
    method = load_language("java").extract("A.java", source.encode()).definitions[1]
    assert (method.line, method.end_line) == (4, 5)


def test_a_specialized_template_has_the_name_of_the_template() -> None:
    source = "template <> struct formatter<std::pair<int, X>, char> { bool operator<(int) { return true; } };\n"
    assert definitions("cpp", source) == ["class formatter", "method formatter.operator<"]


def test_operators_keep_their_names() -> None:
    assert definitions("ruby", "class A\n  def <<(x); end\n  def <=>(x); end\nend\n") == [
        "class A",
        "method A.<<",
        "method A.<=>",
    ]


def test_the_reference_page_lists_every_language_and_format() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/languages.md").read_text("utf-8")
    for each in (*DEFINITION_LANGUAGES, *TEXT_FORMATS):
        names = ", ".join(f"`{name}`" for name in (*each.suffixes, *each.names))
        assert f"| {each.name} | {names} |" in page
    assert all(f"{name} (" in page for name in UNREAD_LANGUAGES)


IMPORTS = [
    ("src/a/Main.java", "import org.b.Other;", "src/org/b/Other.java"),
    ("src/a/Main.java", "import static org.b.Other.Inner.make;", "src/org/b/Other.java"),
    ("src/a/Main.kt", "import org.b.Other\n", "lib/org/b/Other.kt"),
    ("src/m.c", '#include "util.h"', "src/util.h"),
    ("src/m.c", '#include "lib/util.h"', "include/lib/util.h"),
    ("m.c", "#include <stdio.h>", None),
    ("lib/a.rb", "require_relative 'b/c'", "lib/b/c.rb"),
    ("bin/a.rb", "require 'b/c'", "lib/b/c.rb"),
    ("src/A.php", "<?php use App\\Model\\User;", "src/Model/User.php"),
    ("lua/a.lua", 'local b = require("b.c")', "lua/b/c.lua"),
    ("a/run.sh", "source ./common.sh", "a/common.sh"),
    ("lib/a.dart", "import 'package:app/src/b.dart';", "lib/src/b.dart"),
    ("src/a.zig", 'const b = @import("b.zig");', "src/b.zig"),
    ("web/index.html", '<script src="app/main.css"></script>', "web/app/main.css"),
]


@pytest.mark.parametrize(("path", "source", "target"), IMPORTS)
def test_an_import_leads_to_the_file_it_names(path: str, source: str, target: str | None) -> None:
    assert imported(path, source, [target] if target else ["elsewhere/stdio2.h"]) == ([target] if target else [])


def test_an_import_that_several_files_fit_is_not_guessed() -> None:
    assert imported("m.c", '#include "util.h"', ["a/util.h", "b/util.h"]) == []
    assert imported("a/x/m.c", '#include "util.h"', ["a/util.h", "b/util.h"]) == ["a/util.h"], "the nearest"


def imported(path: str, source: str, others: list[str]) -> list[str]:
    language = load_language(language_of(path) or "")
    table, facts = SymbolTable(), language.extract(path, source.encode())
    for other in others:
        reader = load_language(language_of(other) or "")
        table.put(other, reader.surface(reader.extract(other, b"")))
    return [edge.target for edge in language.resolve(facts, RecordingLookup(table)).edges]


HOSTILE = {
    "open brackets": b"{([<" * 4_000,
    "nested blocks": b"class A { void f() { if (x) { " * 800,
    "nul bytes": b"class A {\0\0 void f() {} }" * 100,
    "another encoding": "class Ä { void größe() {} }".encode("utf-16"),
    "invalid bytes": bytes(range(256)) * 200,
    "quotes": b"\"'`" * 4_000,
    "one line": b"a b c " * 4_000,
}


@pytest.mark.parametrize("language", NAMES)
def test_hostile_files_are_read_within_seconds(language: str) -> None:
    reader = load_language(language)
    for name, source in HOSTILE.items():
        began = process_time()
        facts = reader.extract("x", source)
        assert process_time() - began < 20, name
        assert all("::" not in each.qualname and each.line <= each.end_line for each in facts.definitions)


@given(st.sampled_from(NAMES), st.binary(max_size=200), st.integers(0, 400))
def test_any_bytes_give_storable_definitions(language: str, noise: bytes, at: int) -> None:
    source = SOURCES[language][0].encode()
    facts = load_language(language).extract("x", source[:at] + noise + source[at:])
    for each in facts.definitions:
        assert each.qualname.isprintable()
        assert "::" not in each.qualname
        assert 1 <= each.line <= each.end_line


def test_a_file_that_takes_too_long_to_parse_is_reported() -> None:
    source = b"class A {}\n" + b"class A { void f() { if (x) { " * 10_000
    facts = load_language("scala").extract("x.scala", source)
    assert "too irregular" in facts.problems[0].message
    assert facts == load_language("scala").extract("x.scala", source)


def test_without_the_extra_a_file_is_skipped_and_the_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tree_sitter_language_pack", None)
    language_choice._load_or_error.cache_clear()
    try:
        (tmp_path / "A.java").write_text("class A {}\n")
        assert read_file(tmp_path.resolve(), "A.java", "java", 1_000).skipped == NO_GRAMMAR
        assert "pip install 'treering[languages]'" in (language_choice.missing_grammar("java") or "")
    finally:
        language_choice._load_or_error.cache_clear()
