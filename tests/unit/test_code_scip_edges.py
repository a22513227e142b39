"""Edges derived from a SCIP index."""

import pytest

from tests.scip_indexes import Project
from treering.code.facts import CallFlow, DefinitionKind
from treering.code.scip import ScipRejection
from treering.core.graph import EdgeKind, GraphSource

FUNCTION, METHOD, CLASS = DefinitionKind.FUNCTION, DefinitionKind.METHOD, DefinitionKind.CLASS
TOKEN, APP = "auth/tokens.py", "app.py"
TOKENS = "scip python demo 1 `auth.tokens`/__init__:"
VERIFY = "scip python demo 1 auth/tokens/verify()."
SIGNER = "scip python demo 1 auth/tokens/Signer#"
INIT = "scip python demo 1 auth/tokens/Signer#__init__()."


def _tokens() -> Project:
    project = Project(
        {
            TOKEN: "class Signer:\n    def __init__(self):\n        pass\n\ndef verify(token):\n    return Signer()\n",
            APP: "from auth.tokens import verify, Signer as S\n\ndef login():\n    verify(1)\n    return S()\nverify\n",
        }
    )
    project.define(TOKEN, "Signer", CLASS, 1, 3)
    project.define(TOKEN, "Signer.__init__", METHOD, 2, 3)
    project.define(TOKEN, "verify", FUNCTION, 5, 6)
    project.define(APP, "login", FUNCTION, 3, 5)
    project.at(TOKEN, (0, 0, 0), TOKENS, defines=True)
    project.mention(TOKEN, "Signer", SIGNER, defines=True)
    project.mention(TOKEN, "__init__", INIT, defines=True)
    project.mention(TOKEN, "verify", VERIFY, defines=True)
    project.mention(APP, "login", "scip python demo 1 app/login().", defines=True)
    project.mention(APP, "verify", VERIFY)
    project.mention(APP, "Signer", SIGNER)
    return project


def _calls(project: Project) -> set[tuple[str, str]]:
    found = project.read().edges
    return {(edge.origin, edge.target) for edges in found.values() for edge in edges if edge.kind is EdgeKind.CALLS}


def test_a_call_goes_from_the_innermost_definition_to_the_one_that_is_called() -> None:
    project = _tokens()
    project.mention(APP, "verify", VERIFY, nth=1)
    assert _calls(project) == {("app.py::login", "auth/tokens.py::verify")}


def test_edges_have_full_confidence_source_and_flow() -> None:
    project = _tokens()
    project.mention(APP, "verify", VERIFY, nth=1)
    project.mention(TOKEN, "Signer", SIGNER, nth=1)
    found = project.read()
    assert found.source is GraphSource.SCIP
    assert [(edge.confidence, edge.line, edge.flow) for edge in found.edges[APP]] == [(1.0, 4, CallFlow.ARGUMENTS)]
    assert [(edge.confidence, edge.line, edge.flow) for edge in found.edges[TOKEN]] == [(1.0, 6, CallFlow.RESULT)]


def test_a_reference_that_is_not_a_call_is_not_an_edge() -> None:
    project = _tokens()
    project.mention(APP, "verify", VERIFY, nth=2)
    assert _calls(project) == set()


def test_a_constructor_is_a_call_of_its_class() -> None:
    project = _tokens()
    project.mention(TOKEN, "Signer", INIT, nth=1)
    assert _calls(project) == {("auth/tokens.py::verify", "auth/tokens.py::Signer")}


def test_an_import_alias_is_accepted() -> None:
    project = _tokens()
    project.mention(APP, "S()", INIT).range[2] -= 2
    assert _calls(project) == {("app.py::login", "auth/tokens.py::Signer")}


def test_an_unexplained_name_is_rejected() -> None:
    project = _tokens()
    project.mention(APP, "verify", SIGNER, nth=1)
    found = project.read()
    assert found.edges[APP] == ()
    assert found.rejected == {ScipRejection.OTHER_NAME: 1}


def test_an_export_alias_of_another_file_is_accepted() -> None:
    base, app, symbol = "base.ts", "app.ts", "scip npm demo 1 `base.ts`/Hono#"
    project = Project(
        {base: "class Hono {}\nexport { Hono as Base }\n", app: "import { Base } from './base'\nnew Base\n"}
    )
    project.define(base, "Hono", CLASS, 1)
    project.mention(base, "Hono", symbol, defines=True)
    project.mention(base, "Hono", symbol, nth=1)
    project.mention(app, "Base", symbol, nth=1)
    assert _calls(project) == {("app.ts", "base.ts::Hono")}


def test_an_ambiguous_symbol_is_rejected() -> None:
    project = Project({"a/conftest.py": "def app(): ...\n", "b/conftest.py": "def app(): ...\n", "t.py": "app()\n"})
    for path in ("a/conftest.py", "b/conftest.py"):
        project.define(path, "app", FUNCTION, 1)
        project.mention(path, "app", "scip python . . conftest/app().", defines=True)
    project.mention("t.py", "app", "scip python . . conftest/app().")
    assert project.read().rejected == {ScipRejection.AMBIGUOUS: 1}
    assert _calls(project) == set()


def test_a_symbol_of_one_document_means_nothing_in_another() -> None:
    text = "def outer():\n    def inner(): ...\n    inner()\n"
    project = Project({"a.py": text, "b.py": text})
    for path in ("a.py", "b.py"):
        project.define(path, "outer", FUNCTION, 1, 3)
        project.define(path, "outer.inner", FUNCTION, 2)
    project.mention("a.py", "inner", "local 4", defines=True)
    project.mention("a.py", "inner", "local 4", nth=1)
    project.mention("b.py", "inner", "local 4", nth=1)
    assert _calls(project) == {("a.py::outer", "a.py::outer.inner")}


def test_a_module_that_an_import_names_is_imported() -> None:
    project = _tokens()
    project.mention(APP, "auth.tokens", TOKENS)
    found = project.read().edges[APP]
    assert [(edge.origin, edge.target, edge.kind, edge.line) for edge in found] == [
        ("app.py", "auth/tokens.py", EdgeKind.IMPORTS, 1)
    ]


def test_a_module_that_is_only_mentioned_is_not_imported() -> None:
    project = _tokens()
    project.mention(APP, "login", TOKENS)
    assert project.read().edges[APP] == ()


BASE, DERIVED = "scip python demo 1 m/Base#", "scip python demo 1 m/Derived#"


def _classes(bases: str) -> Project:
    text = f"class Base:\n    def run(self): ...\n\nclass Derived({bases}):\n    def run(self): ...\n"
    project = Project({"m.py": text})
    project.define("m.py", "Base", CLASS, 1, 2)
    project.define("m.py", "Base.run", METHOD, 2)
    project.define("m.py", "Derived", CLASS, 4, 5)
    project.define("m.py", "Derived.run", METHOD, 5)
    project.mention("m.py", "Base", BASE, defines=True)
    project.mention("m.py", "run", f"{BASE}run().", defines=True)
    project.mention("m.py", "Derived", DERIVED, defines=True)
    project.mention("m.py", "run", f"{DERIVED}run().", nth=1, defines=True)
    return project


def test_relations_are_inheritance_of_classes_and_of_methods() -> None:
    project = _classes("Base")
    project.relate("m.py", DERIVED, BASE)
    project.relate("m.py", f"{DERIVED}run().", f"{BASE}run().")
    assert {(edge.origin, edge.target, edge.kind) for edge in project.read().edges["m.py"]} == {
        ("m.py::Derived", "m.py::Base", EdgeKind.EXTENDS),
        ("m.py::Derived.run", "m.py::Base.run", EdgeKind.IMPLEMENTS),
    }


def test_a_base_missing_in_the_class_header_is_rejected() -> None:
    project = _classes("Other")
    project.relate("m.py", DERIVED, BASE)
    found = project.read()
    assert found.edges["m.py"] == ()
    assert found.rejected == {ScipRejection.OTHER_NAME: 1}


def test_a_class_implements_an_interface() -> None:
    project = Project({"a.ts": "interface Router {}\nclass Trie implements Router {}\n"})
    project.define("a.ts", "Router", DefinitionKind.INTERFACE, 1)
    project.define("a.ts", "Trie", CLASS, 2)
    project.mention("a.ts", "Router", "scip npm d 1 `a.ts`/Router#", defines=True)
    project.mention("a.ts", "Trie", "scip npm d 1 `a.ts`/Trie#", defines=True)
    project.relate("a.ts", "scip npm d 1 `a.ts`/Trie#", "scip npm d 1 `a.ts`/Router#")
    assert [edge.kind for edge in project.read().edges["a.ts"]] == [EdgeKind.IMPLEMENTS]


@pytest.mark.parametrize(
    ("path", "line", "called"),
    [
        ("a.ts", "run<Map<string, () => void>>(1)", True),
        ("a.ts", "run?.(1)", True),
        ("a.ts", "run`text`", True),
        ("a.ts", "x = run", False),
        ("a.ts", "  async run(event: Event): void {", False),
        ("a.ts", "// run(1)", False),
        ("a.rs", "x.run::<u8>(1)", True),
        ("a.rs", "run!(1)", True),
        ("a.rs", "/// See run(1)", False),
        ("a.go", "run[int](1)", True),
        ("a.py", "handlers.append(run)", False),
        ("a.py", "# run(1)", False),
    ],
)
def test_calls_are_recognised_by_the_surrounding_text(path: str, line: str, called: bool) -> None:
    project = Project({path: f"run\n{line}\n"})
    project.define(path, "run", FUNCTION, 1)
    project.mention(path, "run", "scip x d 1 run().", defines=True)
    project.mention(path, "run", "scip x d 1 run().", nth=1)
    assert bool(_calls(project)) is called


def test_documents_of_a_folder_are_files_of_that_folder() -> None:
    project = Project({"web/a.py": "def run(): ...\nrun()\n"})
    project.define("web/a.py", "run", FUNCTION, 1)
    project.documents["web/a.py"].relative_path = "a.py"
    project.mention("web/a.py", "run", "scip x d 1 run().", defines=True)
    project.mention("web/a.py", "run", "scip x d 1 run().", nth=1)
    assert [edge.target for edge in project.read(folder="web").edges["web/a.py"]] == ["web/a.py::run"]
