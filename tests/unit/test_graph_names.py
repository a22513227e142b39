"""Names as people write them."""

import pytest

from treering.code.facts import Definition, DefinitionKind
from treering.code.graph import CodeGraph, MatchReason

TOKENS = "src/auth/tokens.py"


@pytest.fixture(scope="module")
def graph() -> CodeGraph:
    made = CodeGraph()
    kinds = {"AuthService": DefinitionKind.CLASS}
    for path, names in {
        TOKENS: ("verify_jwt", "decode"),
        "src/auth/service.py": ("AuthService", "AuthService.login"),
        "src/web/service.py": ("login", "decode", "helper"),
        "src/web/app.test.ts": ("renderPage",),
    }.items():
        made.replace_file(
            path,
            [
                Definition(name, kinds.get(name, DefinitionKind.FUNCTION), 10 * place + 1, 10 * place + 8)
                for place, name in enumerate(names)
            ],
            (),
        )
    return made


@pytest.mark.parametrize(
    ("asked", "id", "why"),
    [
        (f"{TOKENS}::verify_jwt", f"{TOKENS}::verify_jwt", MatchReason.EXACT),
        (f"{TOKENS}:verify_jwt", f"{TOKENS}::verify_jwt", MatchReason.EXACT),
        (TOKENS, TOKENS, MatchReason.EXACT),
        ("verify_jwt", f"{TOKENS}::verify_jwt", MatchReason.END),
        ("auth/tokens.py:verify_jwt", f"{TOKENS}::verify_jwt", MatchReason.END),
        ("auth/tokens.py::verify_jwt", f"{TOKENS}::verify_jwt", MatchReason.END),
        ("tokens.verify_jwt", f"{TOKENS}::verify_jwt", MatchReason.END),
        ("tokens#verify_jwt", f"{TOKENS}::verify_jwt", MatchReason.END),
        ("auth::tokens::verify_jwt", f"{TOKENS}::verify_jwt", MatchReason.END),
        ("src\\auth\\tokens.py", TOKENS, MatchReason.END),
        ("auth.tokens", TOKENS, MatchReason.END),
        ("tokens.py", TOKENS, MatchReason.END),
        ("tokens", TOKENS, MatchReason.END),
        ("AuthService.login", "src/auth/service.py::AuthService.login", MatchReason.END),
        ("auth.verify_jwt", f"{TOKENS}::verify_jwt", MatchReason.PARTS),
        ("auth/login", "src/auth/service.py::AuthService.login", MatchReason.PARTS),
        ("VERIFY_JWT", f"{TOKENS}::verify_jwt", MatchReason.SPELLING),
        ("verifyJwt", f"{TOKENS}::verify_jwt", MatchReason.SPELLING),
        ("authservice.login", "src/auth/service.py::AuthService.login", MatchReason.SPELLING),
        ("render_page", "src/web/app.test.ts::renderPage", MatchReason.SPELLING),
        ("verfy_jwt", f"{TOKENS}::verify_jwt", MatchReason.TYPO),
        ("verify_jtw", f"{TOKENS}::verify_jwt", MatchReason.TYPO),
        ("AuthServise.login", "src/auth/service.py::AuthService.login", MatchReason.TYPO),
        ("verify", f"{TOKENS}::verify_jwt", MatchReason.BEGINNING),
        ("tokens.py:15", f"{TOKENS}::decode", MatchReason.LINE),
        ("tokens.py:15:4", f"{TOKENS}::decode", MatchReason.LINE),
        ("tokens.py:99", TOKENS, MatchReason.LINE),
        ("src/auth", "src/auth/", MatchReason.EXACT),
        ("src/auth/", "src/auth/", MatchReason.EXACT),
        ("auth", "src/auth/", MatchReason.END),
        ("src.Auth", "src/auth/", MatchReason.SPELLING),
    ],
)
def test_a_name_is_understood(graph: CodeGraph, asked: str, id: str, why: MatchReason) -> None:
    found = graph.find(asked)
    assert [(match.id, match.why) for match in found.matches] == [(id, why)]
    assert found.only == id


def test_an_ambiguous_name_returns_all_matches(graph: CodeGraph) -> None:
    found = graph.find("decode")
    assert found.ambiguous
    assert found.only is None
    assert {match.id for match in found.matches} == {f"{TOKENS}::decode", "src/web/service.py::decode"}
    assert len(graph.find("decode", limit=1).matches) == graph.find("decode", limit=1).left_out == 1


@pytest.mark.parametrize("asked", ["", " ", "::", "nothing_like_it", "x", "a/b/c/d", "\x00", "9" * 500])
def test_an_unknown_name_returns_no_match(graph: CodeGraph, asked: str) -> None:
    assert graph.find(asked).matches == ()


def test_removed_nodes_are_not_found_and_new_ones_are() -> None:
    made = CodeGraph()
    made.replace_file("a.py", [Definition("old", DefinitionKind.FUNCTION, 1, 2)], ())
    assert made.find("old").only == "a.py::old"
    made.replace_file("a.py", [Definition("new", DefinitionKind.FUNCTION, 1, 2)], ())
    assert made.find("old").matches == ()
    assert made.find("new").only == "a.py::new"


def of(files: dict[str, tuple[str, ...]]) -> CodeGraph:
    """Functions, but for those with capitals; what begins with `test_` is a test."""
    made = CodeGraph()
    for path, names in files.items():
        made.replace_file(
            path,
            [
                Definition(
                    name,
                    DefinitionKind.CLASS if name.rpartition(".")[2][0].isupper() else DefinitionKind.FUNCTION,
                    1,
                    2,
                    test=name.startswith("test_"),
                )
                for name in names
            ],
            (),
        )
    return made


def test_nodes_that_only_contain_a_name_are_listed_but_never_resolved(graph: CodeGraph) -> None:
    found = graph.find("jwt")
    assert [(match.id, match.why) for match in found.matches] == [(f"{TOKENS}::verify_jwt", MatchReason.INSIDE)]
    assert found.only is None
    assert found.guessed


@pytest.mark.parametrize(
    ("asked", "guessed"),
    [
        ("verify_jwt", False),
        ("verifyJwt", False),
        ("auth.verify_jwt", False),
        ("verfy_jwt", True),
        ("verify", True),
        ("src/tokens.py", True),
        ("tokens.py", False),
        ("nothing_like_it", False),
    ],
)
def test_a_guess_is_marked(graph: CodeGraph, asked: str, guessed: bool) -> None:
    assert graph.find(asked).guessed is guessed


@pytest.mark.parametrize(
    ("files", "asked", "meant"),
    [
        (
            {"src/app.py": ("Flask",), "tests/test_config.py": ("test_it", "test_it.Flask")},
            "Flask",
            "src/app.py::Flask",
        ),
        ({"src/jwt.ts": ("jwt", "jwt.jwt")}, "jwt", "src/jwt.ts::jwt"),
        ({"src/a.py": ("make",), "tests/conftest.py": ("make",)}, "make", "src/a.py::make"),
        ({"src/a.py": ("f", "f.make"), "tests/conftest.py": ("make",)}, "make", "tests/conftest.py::make"),
        ({"src/make.py": (), "src/b.py": ("f", "f.make")}, "make", "src/make.py"),
        ({"src/make.py": ("make",)}, "make", "src/make.py::make"),
        ({"src/flask/__init__.py": (), "other/deep/flask.py": ()}, "flask", "src/flask/"),
        ({"src/flask/__init__.py": (), "other/flask.py": ("flask",)}, "flask", "other/flask.py::flask"),
        ({"src/foo.rs": (), "src/foo/bar.rs": ()}, "foo", "src/foo.rs"),
        ({"tests/test_a.py": (), "lib/tests.py": ()}, "tests", "tests/"),
        ({"src/a.py": ("f", "f.inner")}, "inner", "src/a.py::f.inner"),
        ({"app.py": ("f",), "src/app.py": ("f",)}, "app.py:1", "app.py::f"),
    ],
)
def test_local_definitions_yield_to_others(files: dict[str, tuple[str, ...]], asked: str, meant: str) -> None:
    found = of(files).find(asked)
    assert found.only == meant
    assert not found.ambiguous
    assert [match.id for match in found.preferred] == [meant]


def test_equals_are_refused() -> None:
    found = of({"a/x.py": ("make",), "b/y.py": ("make",), "tests/z.py": ("make",)}).find("make")
    assert found.ambiguous
    assert {match.id for match in found.preferred} == {"a/x.py::make", "b/y.py::make"}
    assert found.matches[-1].aside
    assert of({"a/x.py": ("make",), "b/y.py": ("make",)}).find("make", limit=1).only is None


def test_a_folder_is_there_while_files_are_below_it() -> None:
    made = of({"src/a/b.py": ()})
    assert made.find("src/a").only == "src/a/"
    made.remove_file("src/a/b.py")
    assert made.find("src/a").matches == ()
    assert made.below("src/a/") == ()


def test_a_class_is_preferred_to_its_constructor() -> None:
    graph = CodeGraph()
    kinds = {"N.Widget": DefinitionKind.CLASS, "N.Widget.Widget": DefinitionKind.METHOD}
    graph.replace_file("a.cs", [Definition(name, kind, 1, 8) for name, kind in kinds.items()], ())
    assert graph.find("Widget").only == "a.cs::N.Widget"
    assert graph.find("Widget.Widget").only == "a.cs::N.Widget.Widget"
    graph.replace_file("b.cs", [Definition("Widget", DefinitionKind.CLASS, 1, 8)], ())
    assert [match.id for match in graph.find("Widget").preferred] == ["b.cs::Widget", "a.cs::N.Widget"]
    assert graph.find("Widget", limit=2).ambiguous
