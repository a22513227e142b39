"""Names as people write them."""

import pytest

from treering.index.facts import Definition, DefinitionKind
from treering.index.graph import CodeGraph, Why

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
        (f"{TOKENS}::verify_jwt", f"{TOKENS}::verify_jwt", Why.EXACT),
        (f"{TOKENS}:verify_jwt", f"{TOKENS}::verify_jwt", Why.EXACT),
        (TOKENS, TOKENS, Why.EXACT),
        ("verify_jwt", f"{TOKENS}::verify_jwt", Why.END),
        ("auth/tokens.py:verify_jwt", f"{TOKENS}::verify_jwt", Why.END),
        ("auth/tokens.py::verify_jwt", f"{TOKENS}::verify_jwt", Why.END),
        ("tokens.verify_jwt", f"{TOKENS}::verify_jwt", Why.END),
        ("tokens#verify_jwt", f"{TOKENS}::verify_jwt", Why.END),
        ("auth::tokens::verify_jwt", f"{TOKENS}::verify_jwt", Why.END),
        ("src\\auth\\tokens.py", TOKENS, Why.END),
        ("auth.tokens", TOKENS, Why.END),
        ("tokens.py", TOKENS, Why.END),
        ("tokens", TOKENS, Why.END),
        ("AuthService.login", "src/auth/service.py::AuthService.login", Why.END),
        ("auth.verify_jwt", f"{TOKENS}::verify_jwt", Why.PARTS),
        ("auth/login", "src/auth/service.py::AuthService.login", Why.PARTS),
        ("VERIFY_JWT", f"{TOKENS}::verify_jwt", Why.SPELLING),
        ("verifyJwt", f"{TOKENS}::verify_jwt", Why.SPELLING),
        ("authservice.login", "src/auth/service.py::AuthService.login", Why.SPELLING),
        ("render_page", "src/web/app.test.ts::renderPage", Why.SPELLING),
        ("verfy_jwt", f"{TOKENS}::verify_jwt", Why.TYPO),
        ("verify_jtw", f"{TOKENS}::verify_jwt", Why.TYPO),
        ("AuthServise.login", "src/auth/service.py::AuthService.login", Why.TYPO),
        ("verify", f"{TOKENS}::verify_jwt", Why.BEGINNING),
        ("jwt", f"{TOKENS}::verify_jwt", Why.INSIDE),
        ("tokens.py:15", f"{TOKENS}::decode", Why.LINE),
        ("tokens.py:15:4", f"{TOKENS}::decode", Why.LINE),
        ("tokens.py:99", TOKENS, Why.LINE),
    ],
)
def test_a_name_is_understood(graph: CodeGraph, asked: str, id: str, why: Why) -> None:
    found = graph.find(asked)
    assert [(match.id, match.why) for match in found.matches] == [(id, why)]
    assert found.only == id


def test_what_fits_several_is_answered_with_all(graph: CodeGraph) -> None:
    found = graph.find("decode")
    assert found.ambiguous
    assert found.only is None
    assert {match.id for match in found.matches} == {f"{TOKENS}::decode", "src/web/service.py::decode"}
    assert len(graph.find("decode", limit=1).matches) == graph.find("decode", limit=1).left_out == 1


@pytest.mark.parametrize("asked", ["", " ", "::", "nothing_like_it", "x", "a/b/c/d", "\x00", "9" * 500])
def test_what_fits_nothing_finds_nothing(graph: CodeGraph, asked: str) -> None:
    assert graph.find(asked).matches == ()


def test_what_is_gone_is_not_found_and_what_came_is() -> None:
    made = CodeGraph()
    made.replace_file("a.py", [Definition("old", DefinitionKind.FUNCTION, 1, 2)], ())
    assert made.find("old").only == "a.py::old"
    made.replace_file("a.py", [Definition("new", DefinitionKind.FUNCTION, 1, 2)], ())
    assert made.find("old").matches == ()
    assert made.find("new").only == "a.py::new"
