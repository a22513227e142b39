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
        "trait T, method T.r, class O, method O.f, class C, constant C.x",
    ),
    "scss": ("@mixin m { }\n.a { .b { } }\n", "function m, type a, type a.b"),
    "solidity": ("contract A { function f() public {} }\n", "class A, method A.f"),
    "sql": ("CREATE TABLE t (id int);\nCREATE VIEW v AS SELECT 1;\n", "class t, class v"),
    "swift": (
        "protocol P { func r() }\nclass A: P { init() {} \n func r() {} }\nenum E { case x }\nfunc f() {}\n",
        "interface P, method P.r, class A, method A.init, method A.r, enum E, constant E.x, function f",
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


def test_a_function_whose_body_is_beside_its_signature_ends_with_its_body() -> None:
    source = "class A {\n  int f(int x) {\n    return 1;\n  }\n}\nint g() {\n  return 1;\n}\n"
    found = load_language("dart").extract("a.dart", source.encode()).definitions
    assert [(each.qualname, each.line, each.end_line) for each in found] == [("A", 1, 5), ("A.f", 2, 4), ("g", 6, 8)]


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("kotlin", "val a = 1\nfun f() {\n  val b = 2\n  var c = 3\n}\n", ["constant a", "function f"]),
        (
            "scala",
            "object O {\n  val a = 1\n  def f = {\n    val b = 2\n    b\n  }\n}\n",
            ["class O", "constant O.a", "method O.f"],
        ),
    ],
)
def test_local_values_are_no_definitions(language: str, source: str, expected: list[str]) -> None:
    assert definitions(language, source) == expected


def test_a_specialized_template_has_the_name_of_the_template() -> None:
    source = "template <> struct formatter<std::pair<int, X>, char> { bool operator<(int) { return true; } };\n"
    assert definitions("cpp", source) == ["class formatter", "method formatter.operator<"]


LESS_COMMON = [
    (
        "bash",
        '@test "adds two" {\n  true\n}\n',
        ["function adds two"],
    ),
    (
        "csharp",
        "class A { public int this[int i] => 1; public static A operator +(A a, A b) => a; }\nrecord P(int X);\n",
        ["class A", "method A.this", "method A.+", "class P", "constant P.X"],
    ),
    ("csharp", "#if A\nclass B {\n#else\nclass C {\n#endif\n}\n", ["class B", "class C"]),
    ("css", ".a, .b > .c { }\n", ["type a", "type b > .c"]),
    (
        "dart",
        "const k = 1;\nabstract base mixin class M { }\n"
        "class W { final int a; W(this.a); factory W.make() => W(1); W operator +(W o) => o; }\n",
        ["constant k", "class M", "class W", "constant W.a", "method W.W", "method W.make", "method W.+"],
    ),
    (
        "elixir",
        'defmodule A do\n  @type t(x) :: x\n  @callback init(a :: t) :: t\n  test "works" do\n  end\nend\n',
        ["module A", "type A.t", "function A.init", "function A.works"],
    ),
    ("java", "record P(int x) { int z() { return 1; } }\n", ["class P", "constant P.x", "method P.z"]),
    (
        "kotlin",
        "interface I { fun f() }\nclass K actual constructor(\n  internal actual val x: Int,\n) : I\n",
        ["interface I", "method I.f", "class K", "constant K.x"],
    ),
    ("lua", "function M:go() end\n", ["function M.go"]),
    (
        "php",
        "<?php\nclass A { private $p = 1; function __construct(private string $q) {} }\n",
        ["class A", "constant A.p", "method A.__construct", "constant A.__construct.q"],
    ),
    (
        "ruby",
        "class A\n  attr_accessor :a, :b\n  alias_method :x, :y\n  define_method(:z) { 1 }\nend\n",
        ["class A", "method A.a", "method A.b", "method A.x", "method A.z"],
    ),
    ("scala", "case class P(x: Int)\n", ["class P", "constant P.x"]),
    (
        "swift",
        "public struct S<A, B: Error>: Sendable where A: X { func f<T: Y>(_ t: T) {} }\nextension C<String> { }\n"
        "#if os(Linux)\nfinal class D: E, @unchecked Sendable {\n#else\nfinal class D: E {\n#endif\n  var x = 1\n}\n"
        "extension F { static func == (l: F, r: F) -> Bool { true } }\npublic protocol P<Q>: R { }\n",
        [
            "class S",
            "method S.f",
            "class C",
            "class D",
            "class D",
            "constant D.x",
            "class F",
            "method F.==",
            "interface P",
        ],
    ),
    (
        "zig",
        "fn f() void {\n  const a, const b = g();\n}\nfn g() void {}\ntest g {}\n",
        ["function f", "function g", "function g"],
    ),
]


@pytest.mark.parametrize(("language", "source", "expected"), LESS_COMMON)
def test_less_common_definitions_are_found(language: str, source: str, expected: list[str]) -> None:
    assert definitions(language, source) == expected


def test_conditions_of_the_preprocessor_hide_no_definition() -> None:
    """A grammar reads both branches at once: two opening brackets and one that closes."""
    source = (
        "#ifdef _WIN32\nint f(int a) {\n#else\nint g(int a,\n  int b) {\n#endif\n  return a;\n}\n"
        "number * h(number *a) {\n  return a;\n}\n#if 0\nint dead(\n#else\nint alive() { return 1; }\n#endif\n"
    )
    assert sorted(definitions("c", source)) == ["function alive", "function f", "function g", "function h"]


def test_macros_before_names_hide_no_definition() -> None:
    source = (
        "#define API_EXPORT\nAPI_BEGIN_NAMESPACE\n\nclass API_EXPORT A {\n"
        "  int m() const API_LOCKED(mutex_) { return 1; }\n};\n"
        "API_EXPORT int *f(int a) { return 0; }\nAPI_END_NAMESPACE\n"
    )
    assert definitions("cpp", source) == ["constant API_EXPORT", "class A", "method A.m", "function f"]


def test_variables_of_a_file_are_definitions_and_those_of_functions_are_not() -> None:
    source = "static const int table[] = { 1 };\nint x = 1, *y = 0;\nstatic int count;\n"
    source += "extern int z;\nint f() { int local = 1; }\n"
    expected = ["constant table", "constant x", "constant y", "constant count", "function f"]
    assert definitions("c", source) == expected
    assert definitions("cpp", source) == expected


def test_a_test_of_a_macro_is_named_by_its_arguments() -> None:
    assert definitions("cpp", "TEST(Suite, Case) { }\nTEST_F(Fixture, Other) { }\n") == [
        "function Suite.Case",
        "function Fixture.Other",
    ]


def test_statements_of_sql_are_definitions_in_every_dialect() -> None:
    source = """\\echo "CREATE TABLE no"
-- CREATE TABLE comment (id int);
CREATE TABLE IF NOT EXISTS public."User Accounts" (name text DEFAULT 'CREATE TABLE text (x);');
CREATE TABLE `orders` (`id` int) ENGINE=InnoDB;
CREATE TABLE [dbo].[Invoices] ([Id] INT IDENTITY(1,1));
GO
CREATE PROCEDURE dbo.GetInvoice @id INT AS BEGIN SELECT 1; SELECT 2; END
GO
CREATE OR REPLACE FUNCTION q.read(name TEXT DEFAULT '{}') RETURNS SETOF q.message AS $$
BEGIN
  CREATE TABLE inner_table (x int);
END;
$$ LANGUAGE plpgsql;
CREATE UNIQUE INDEX CONCURRENTLY by_name ON users (name);
CREATE INDEX ON users (age);
CREATE TRIGGER trg BEFORE INSERT ON users FOR EACH ROW EXECUTE FUNCTION f();
create materialized view stats as select 1;
CREATE TYPE mood AS ENUM ('sad');
"""
    facts = load_language("sql").extract("x.sql", source.encode())
    assert facts.problems == ()
    assert [(each.qualname, each.kind.value, each.line, each.end_line) for each in facts.definitions] == [
        ("public.User Accounts", "class", 3, 3),
        ("orders", "class", 4, 4),
        ("dbo.Invoices", "class", 5, 5),
        ("dbo.GetInvoice", "function", 7, 7),
        ("q.read", "function", 9, 13),
        ("by_name", "constant", 14, 14),
        ("trg", "function", 16, 16),
        ("stats", "class", 17, 17),
        ("mood", "type", 18, 18),
    ]


def test_a_delimiter_of_mysql_is_no_dollar_quote() -> None:
    source = """# don't stop here
DELIMITER $$
CREATE PROCEDURE a() BEGIN SELECT '$$'; END $$
CREATE PROCEDURE b() BEGIN SELECT 1; END $$
DELIMITER ;
CREATE TABLE c (x int);
"""
    assert definitions("sql", source) == ["function a", "function b", "class c"]


def test_an_unclosed_part_of_sql_hides_no_definition() -> None:
    for opened in ("/* ", "'", "$body$ "):
        assert definitions("sql", f"CREATE TABLE a (x int); {opened}\nCREATE TABLE b (x int);\n") == [
            "class a",
            "class b",
        ]


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
    ("src/a/Main.scala", "import org.b.Other.{make, Inner => I}", "lib/org/b/Other.scala"),
    ("test/a.bats", "load helpers/common", "test/helpers/common.bash"),
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
