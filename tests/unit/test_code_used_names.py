"""Names used in languages whose calls are not resolved: where a definition may be used."""

import msgspec
import pytest

from tests.symbol_table import RecordingLookup, SymbolTable
from treering.code.encoding import pack_unresolved, unpack_unresolved
from treering.code.facts import Unresolved
from treering.code.language_choice import language_of, load_language
from treering.code.language_table import DEFINITION_LANGUAGES

USES = [
    ("a.sh", "deploy() { :; }\n", "b.sh", "run() {\n  deploy now\n}\n", "b.sh::run deploy 2"),
    ("a.c", "int sum(int a) { return a; }\n", "b.c", "int f(void) {\n  return sum(1);\n}\n", "b.c::f sum 2"),
    ("a.h", "struct Cart { int n; };\n", "b.c", "struct Cart *c;\n", "b.c Cart 1"),
    ("a.hpp", "class Cart { };\n", "b.cpp", "void f() {\n  Cart c;\n}\n", "b.cpp::f Cart 2"),
    ("A.cs", "class A { void Ship() {} }\n", "B.cs", "class B { void F(A a) {\n a.Ship(); } }\n", "B.cs::B.F Ship 2"),
    ("a.css", "@keyframes fade { }\n", "b.scss", ".x { animation: fade 1s }\n", "b.scss::x fade 1"),
    ("a.dart", "class Cart {}\n", "b.dart", "void f() {\n  Cart();\n}\n", "b.dart::f Cart 2"),
    ("a.ex", "defmodule Shop do\n  def ship(x), do: x\nend\n", "b.ex", "Shop.ship(1)\n", "b.ex Shop 1, b.ex ship 1"),
    ("a.erl", "-module(a).\nship(X) -> X.\n", "b.erl", "-module(b).\nf(X) ->\n  a:ship(X).\n", "b.erl::f ship 3"),
    ("a.graphql", "type Cart { n: Int }\n", "b.graphql", "type Shop { cart: Cart }\n", "b.graphql::Shop.cart Cart 1"),
    ("A.hs", "module A where\nship x = x\n", "B.hs", "module B where\ng y =\n  ship y\n", "B.hs::g ship 3"),
    (
        "A.java",
        "class A { int ship() { return 1; } }\n",
        "B.java",
        "class B { int f(A a) {\n return a.ship(); } }\n",
        "B.java::B.f ship 2",
    ),
    ("A.java", "class Cart {}\n", "B.kt", "fun f() {\n  Cart()\n}\n", "B.kt::f Cart 2"),
    ("a.jl", "ship(x) = x\n", "b.jl", "g(y) = ship(y)\n", "b.jl::g ship 1"),
    ("a.kt", "fun ship() = 1\n", "b.kt", "fun g() = ship()\n", "b.kt::g ship 1"),
    ("a.lua", "function M.ship() end\n", "b.lua", "M.ship()\n", "b.lua ship 1"),
    ("a.m", "@interface Cart\n@end\n", "b.m", "void f() {\n  [Cart alloc];\n}\n", "b.m::f Cart 2"),
    ("a.ml", "let ship x = x\n", "b.ml", "let g y = A.ship y\n", "b.ml::g ship 1"),
    ("a.pl", "sub ship { 1 }\n", "b.pl", "ship();\n", "b.pl ship 1"),
    ("a.php", "<?php function ship() {}\n", "b.php", "<?php\nship();\n", "b.php ship 2"),
    ("a.ps1", "function Send-Cart { }\n", "b.ps1", "Send-Cart\n", "b.ps1 Send-Cart 1"),
    ("a.proto", "message Cart { }\n", "b.proto", "message Shop { Cart c = 1; }\n", "b.proto::Shop Cart 1"),
    ("a.R", "ship <- function(x) x\n", "b.R", "ship(1)\n", "b.R ship 1"),
    ("a.rb", "def ship; end\n", "b.rb", "before :ship\n", "b.rb ship 1"),
    ("a.rb", "class Cart; def full?; end; end\n", "b.rb", "x.full?\n", "b.rb full? 1"),
    (
        "a.scala",
        "object Stock { def ship = 1 }\n",
        "b.scala",
        "object B { val x = Stock.ship }\n",
        "b.scala::B.x Stock 1, b.scala::B.x ship 1",
    ),
    ("a.scss", "@mixin card { }\n", "b.scss", ".b { @include card; }\n", "b.scss::b card 1"),
    ("a.sol", "contract Cart { }\n", "b.sol", "contract B { Cart c; }\n", "b.sol::B Cart 1"),
    ("a.sql", "CREATE TABLE orders (id int);\n", "b.sql", "SELECT * FROM orders;\n", "b.sql orders 1"),
    ("a.swift", "func ship() {}\n", "b.swift", "func g() {\n  ship()\n}\n", "b.swift::g ship 2"),
    ("a.tf", 'resource "disk" "main" {}\n', "b.tf", 'output "x" {\n  value = disk.main.id\n}\n', "b.tf::x main 2"),
    ("a.zig", "pub fn ship() void {}\n", "b.zig", "pub fn g() void {\n  ship();\n}\n", "b.zig::g ship 2"),
]


def uses(defining: str, definition: str, path: str, source: str) -> list[Unresolved]:
    table = SymbolTable()
    for each, text in ((defining, definition), (path, source)):
        reader = load_language(language_of(each) or "")
        table.put(each, reader.surface(reader.extract(each, text.encode())))
    language = load_language(language_of(path) or "")
    return list(language.resolve(language.extract(path, source.encode()), RecordingLookup(table)).unresolved)


def test_every_language_with_names_has_a_case() -> None:
    tested = {language_of(path) for _, _, path, _, _ in USES} | {language_of(path) for path, *_ in USES}
    assert {each.name for each in DEFINITION_LANGUAGES} - tested == {"html"}, "ids of elements are used in CSS only"


@pytest.mark.parametrize(("defining", "definition", "path", "source", "expected"), USES)
def test_a_use_of_a_defined_name_is_found_in_the_definition_around_it(
    defining: str, definition: str, path: str, source: str, expected: str
) -> None:
    found = uses(defining, definition, path, source)
    assert ", ".join(f"{use.origin} {use.used_name} {use.line}" for use in found) == expected


def test_names_that_nothing_defines_are_not_counted() -> None:
    assert uses("A.java", "class A {}\n", "B.java", "class B { int f(int x) { return x + y.z(); } }\n") == []


def test_names_in_comments_and_strings_are_not_counted() -> None:
    source = 'class B {\n  // ship it\n  String f() { return "ship"; }\n}\n'
    assert uses("A.java", "class A { void ship() {} }\n", "B.java", source) == []


def test_a_definition_is_not_a_use_of_its_own_name() -> None:
    assert uses("A.java", "class A {}\n", "B.java", "class B { void ship() {} }\n") == []


def test_languages_share_names_only_if_their_files_use_each_other() -> None:
    assert uses("a.rb", "def ship; end\n", "b.lua", "ship()\n") == []
    assert uses("A.scala", "class Cart\n", "B.java", "class B { Cart c; }\n")


def test_each_line_of_a_use_counts_once() -> None:
    found = uses("a.c", "int sum(int a) { return a; }\n", "b.c", "int f(void) {\n  return sum(sum(1));\n}\n")
    assert [(use.used_name, use.line) for use in found] == [("sum", 2)]


def test_uses_of_an_index_of_an_earlier_version_are_read() -> None:
    use = (Unresolved("a.py::f", "x.ship", 3),)
    assert unpack_unresolved(msgspec.msgpack.encode(use)) == use
    assert unpack_unresolved(pack_unresolved(use)) == use
