"""Whatever may be named in a question, on both engines: paths in every form, folders, guesses that say so."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.code_projects import code_of, written
from treering.code.api import Code
from treering.code.graph import MatchReason, NameGuess
from treering.core.errors import InvalidInput, NotFound
from treering.memory import Memory

FILES = {
    "app/__init__.py": "",
    "app/tokens.py": "def verify(token):\n    return decode(token)\n\n\ndef decode(token):\n    return token\n",
    "app/login.py": "from app.tokens import verify\n\n\ndef login(token):\n    return verify(token).thing()\n",
    "web/page.py": "from app.login import login\n\n\ndef page():\n    return login('x')\n",
    "tests/deep/app.py": "def test_nothing(): ...\n",
    "tests/test_tokens.py": "def test_decode():\n    def decode(): ...\n    decode()\n",
}
TOKENS, DECODE, LOGIN = "app/tokens.py", "app/tokens.py::decode", "app/login.py"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return written(tmp_path / "project", FILES)


@pytest.fixture
def code(memory: Memory, root: Path) -> Code:
    code = code_of(memory)
    code.index(root)
    return code


VERBS: dict[str, Callable[[Code, str], Any]] = {
    "impact": lambda code, name: code.impact(name),
    "dependencies": lambda code, name: code.dependencies(name),
    "data_flow": lambda code, name: code.data_flow(name),
    "path": lambda code, name: code.path(name, name),
    "entry_points": lambda code, name: code.entry_points(name),
    "unresolved": lambda code, name: code.unresolved(name),
    "related": lambda code, name: code.related(name),
    "find": lambda code, name: code.find(name),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_path_is_understood_in_every_form(code: Code, root: Path, verb: str) -> None:
    ask = VERBS[verb]
    for name, same in (
        (f"{root}/app/login.py", LOGIN),
        ("./app/../app/login.py", LOGIN),
        (f"{root}/app/login.py:5", "app/login.py::login"),
        (f"{root}/app/login.py:login", "app/login.py::login"),
        (f"{root}/app/login.py::login", "app/login.py::login"),
    ):
        found, plain = ask(code, name), ask(code, same)
        if verb == "find":
            found, plain = found.only, plain.only
        assert found == plain
    for outside in ("/etc/passwd", "../elsewhere.py", f"{root.parent}/other/app/login.py"):
        with pytest.raises(InvalidInput, match="outside"):
            ask(code, outside)


def test_the_file_that_is_asked_about_is_never_among_its_relatives(code: Code, root: Path) -> None:
    for name in (LOGIN, f"{root}/{LOGIN}", f"./{LOGIN}", "login.py", f"{root}/{LOGIN}:5"):
        found = code.related(name)
        assert found.path == LOGIN
        assert LOGIN not in [each.path for each in found.related]
    assert code.root == root.resolve()


def test_an_unknown_file_is_not_taken_for_another(code: Code, root: Path) -> None:
    for name in ("app/logins.py", f"{root}/app/logins.py", "web/login.py", "tokns.py"):
        with pytest.raises(NotFound, match=f"no file '{name.removeprefix(f'{root}/')}'"):
            code.related(name)
    written(root, {"app/notes.txt": "not indexed"})
    assert code.related("app/notes.txt").related
    assert code.related("verfy").status.guessed == (NameGuess("verfy", "app/tokens.py::verify"),)


def test_a_full_path_matches_only_itself(code: Code, root: Path) -> None:
    (root / "app/tokens.py").rename(root / "web/tokens.py")
    code.index(root)
    assert code.impact("tokens.py").node == "web/tokens.py"
    with pytest.raises(NotFound, match=r"app/tokens\.py"):
        code.impact(f"{root}/app/tokens.py")
    assert code.find(f"{root}/app/tokens.py").matches == ()


@pytest.mark.parametrize("name", ["app", "app/", "./app", "{root}/app"])
def test_a_folder_is_all_that_is_below_it(code: Code, root: Path, name: str) -> None:
    name = name.format(root=root)
    found = code.impact(name)
    assert found.node == "app/"
    assert found.members == ("app/__init__.py", LOGIN, TOKENS)
    assert {each.id for each in found.dependents} == {"web/page.py", "web/page.py::page"}
    assert (found.total, found.importers) == (2, ("web/page.py",))
    assert code.impact(name, cap=1).total == 2
    assert code.path("web", name).ids[-1].startswith("app/")
    assert [use.text for use in code.unresolved(name)] == [use.text for use in code.unresolved(LOGIN)]
    assert not code.dependencies(name).dependencies
    with pytest.raises(InvalidInput, match="folder with 3 files"):
        code.related(name)


def test_names_inside_functions_and_tests_do_not_make_others_ambiguous(code: Code) -> None:
    assert code.impact("decode").node == DECODE
    assert not code.impact("decode").status.guessed


def test_a_guessed_name_is_reported_and_a_contained_one_rejected(code: Code) -> None:
    for name in ("decod", "deocde"):
        guess = NameGuess(name, DECODE)
        assert code.impact(name).status.guessed == (guess,)
        assert code.dependencies(name).status.guessed == (guess,)
        assert code.entry_points(name).status.guessed == (guess,)
        assert code.unresolved(name).status.guessed == (guess,)
        assert code.path("page", name).status.guessed == (guess,)
    assert [guess.asked for guess in code.path("logni", "decod").status.guessed] == ["logni", "decod"]
    with pytest.raises(NotFound, match=r"did you mean app/tokens\.py::decode"):
        code.impact("code")
    assert {match.why for match in code.find("code").matches} == {MatchReason.INSIDE}
