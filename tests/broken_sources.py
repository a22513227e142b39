"""Small equivalent programs in every language, valid and broken: `c` calls `a`, `K.m` calls `c`, `d` calls both."""

from typing import NamedTuple

from tests.resolver_projects import edges_of, facts_of
from treering.code.facts import Facts, LanguageSupport
from treering.code.languages import go, python, rust, typescript


class Written(NamedTuple):
    """A language's way to write the program: pieces that stand for themselves, in order."""

    language: LanguageSupport
    path: str
    opening: str
    first: str
    rest: tuple[str, ...]
    members: str = ""
    """A class with two methods, between which something can be broken at `{}`."""
    others: tuple[tuple[str, str], ...] = ()

    def with_between(self, broken: str) -> str:
        return "\n".join((self.opening + self.first, broken + "\n", *self.rest))


PYTHON = Written(
    python.LANGUAGE,
    "s.py",
    "",
    "def a():\n    pass\n",
    ("def c():\n    a()\n", "class K:\n    def m(self):\n        c()\n", "def d():\n    K().m()\n"),
    "class B:\n    def n(self):\n        a()\n\n{}\n\n    def o(self):\n        a()\n",
)
GO = Written(
    go.LANGUAGE,
    "s.go",
    "package g\n\n",
    "func a() {\n}\n",
    ("func c() {\n\ta()\n}\n", "type K struct{}\n", "func (k K) m() {\n\tc()\n}\n", "func d() {\n\tK{}.m()\n}\n"),
)
TYPESCRIPT = Written(
    typescript.LANGUAGE,
    "s.ts",
    "",
    "export function a() {\n}\n",
    (
        "export function c() {\n  a()\n}\n",
        "export class K {\n  m() {\n    c()\n  }\n}\n",
        "export function d() {\n  new K().m()\n}\n",
    ),
    "class B {\n  n() {\n    a()\n  }\n\n{}\n\n  o() {\n    a()\n  }\n}\n",
)
RUST = Written(
    rust.LANGUAGE,
    "src/lib.rs",
    "",
    "pub fn a() {\n}\n",
    (
        "pub fn c() {\n    a();\n}\n",
        "pub struct K;\n",
        "impl K {\n    pub fn m(&self) {\n        c();\n    }\n}\n",
        "pub fn d() {\n    K.m();\n}\n",
    ),
    "struct B;\nimpl B {\n    fn n(&self) {\n        a();\n    }\n\n{}\n\n    fn o(&self) {\n        a();\n    }\n}\n",
    (("Cargo.toml", '[package]\nname = "r"\nversion = "0.1.0"\n'),),
)
ALL = {"python": PYTHON, "go": GO, "typescript": TYPESCRIPT, "rust": RUST}


def names_of(written: Written, source: str | bytes) -> set[str]:
    return {definition.qualname for definition in read(written, source).definitions}


def read(written: Written, source: str | bytes) -> Facts:
    return facts_of({written.path: source}, written.language)[written.path]


def calls_of(written: Written, source: str | bytes) -> set[tuple[str, str]]:
    """Return the calls between definitions by name; module-level code has an empty name."""
    edges = edges_of({written.path: source, **dict(written.others)}, written.language)
    return {
        (origin.partition("::")[2], target.partition("::")[2])
        for origin, kind, target in edges
        if kind == "calls" and "::" in target
    }
