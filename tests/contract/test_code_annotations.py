"""Invariants, decisions and patterns attached to code, on both engines."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.code_projects import code_of, written
from treering.code.api import Code
from treering.core.errors import InvalidInput, NotFound
from treering.memory import Memory

FILES = {
    "app/tokens.py": "class Expired(Exception): ...\n\n\nclass Tokens:\n    def verify(self, token):\n"
    "        raise Expired\n\n\ndef decode(token):\n    return token\n",
    "app/login.py": "from app.tokens import Expired, Tokens, decode\n\n\ndef login(token):\n    try:\n"
    "        return Tokens().verify(decode(token))\n    except Expired:\n        return None\n\n\n"
    "def refresh(token):\n    return Tokens().verify(token)\n",
    "app/__init__.py": "",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return written(tmp_path / "project", FILES)


@pytest.fixture
def code(memory: Memory, root: Path) -> Code:
    made = code_of(memory)
    made.index(root)
    return made


def shown(code: Code, node: str) -> list[str]:
    return [record.content for record in code.impact(node).annotations]


def test_an_annotation_is_a_record_of_the_node_that_impact_shows(memory: Memory, code: Code) -> None:
    record = code.annotate("decode", "Tokens are opaque: decode never parses them")
    assert (record.type, record.node, record.files) == ("requirement", "app/tokens.py::decode", ("app/tokens.py",))
    assert record.tags == ("invariant",)
    found = code.impact("decode")
    assert [each.id for each in found.annotations] == [record.id]
    assert record.id not in [each.id for each in found.memories]
    assert memory.get(record.id).content == record.content


def test_annotations_of_what_is_around_and_inside_a_node_are_shown_with_it(code: Code) -> None:
    code.annotate("Tokens", "Tokens has no state of its own")
    code.annotate("Tokens.verify", "verify returns quickly", kind="decision")
    code.annotate("app/tokens.py", "Nothing here reads the clock")
    code.annotate("decode", "decode accepts bytes")
    assert shown(code, "Tokens.verify")[0] == "verify returns quickly"
    around = {"verify returns quickly", "Tokens has no state of its own", "Nothing here reads the clock"}
    assert set(shown(code, "Tokens.verify")) == around
    assert set(shown(code, "app/tokens.py")) == {*around, "decode accepts bytes"}


def test_the_same_pattern_at_two_nodes_is_one_record_about_both(code: Code) -> None:
    first = code.annotate("login", "Errors are turned into None at the edge", kind="pattern")
    again = code.annotate("refresh", "Errors are turned into None at the edge", kind="pattern")
    assert again.id == first.id
    assert set(again.impacted_nodes) == {"app/login.py::login", "app/login.py::refresh"}
    assert shown(code, "refresh") == shown(code, "login") == [first.content]


def test_a_folder_can_be_annotated(code: Code) -> None:
    code.annotate("app/", "The app package imports nothing from the web layer")
    assert shown(code, "app/") == ["The app package imports nothing from the web layer"]


def test_an_annotation_of_a_folder_is_shown_with_what_is_below_it(code: Code) -> None:
    code.annotate("app/", "The app package imports nothing from the web layer")
    code.annotate("./", "The project has no dependencies")
    both = ["The app package imports nothing from the web layer", "The project has no dependencies"]
    for node in ("app/", "app/login.py", "Tokens.verify"):
        assert sorted(shown(code, node)) == sorted(both)
    assert sorted(shown(code, "./")) == sorted(both)


def test_an_annotation_of_the_last_of_many_definitions_is_shown_with_its_file(code: Code, root: Path) -> None:
    names = [f"step_{number:03}" for number in range(200)]
    written(root, {"app/steps.py": "class Steps:\n" + "".join(f"    def {name}(self): ...\n" for name in names)})
    code.index(root)
    code.annotate(f"Steps.{names[-1]}", "The last step commits")
    for node in ("Steps", "app/steps.py", "app/"):
        assert shown(code, node) == ["The last step commits"]


def test_an_annotation_stays_when_the_code_is_indexed_again_and_goes_with_forget(
    memory: Memory, code: Code, root: Path
) -> None:
    record = code.annotate("decode", "Tokens are opaque")
    written(root, {"app/tokens.py": "# moved down\n" + FILES["app/tokens.py"]})
    code.index(root)
    assert shown(code, "decode") == ["Tokens are opaque"]
    code.forget()
    code.index(root)
    assert shown(code, "decode") == ["Tokens are opaque"]
    memory.forget(record.id)
    assert shown(code, "decode") == []


def test_flagged_and_outside_annotations_are_not_shown(memory: Memory, code: Code) -> None:
    doubtful = code.annotate("decode", "decode is slow")
    code.annotate("decode", "decode is written in C", tainted=True)
    memory.flag(doubtful.id)
    assert shown(code, "decode") == []


def test_an_unknown_kind_and_a_guessed_name_are_refused(code: Code) -> None:
    with pytest.raises(InvalidInput, match="invariant, decision, pattern"):
        code.annotate("decode", "x", kind="rule")
    with pytest.raises(NotFound, match=r"did you mean app/tokens.py::decode"):
        code.annotate("decodee", "x")


@pytest.mark.parametrize("text", ["", "  \n\t"])
def test_an_empty_text_is_refused_and_nothing_is_stored(code: Code, text: str) -> None:
    with pytest.raises(InvalidInput, match="say in a sentence what holds"):
        code.annotate("decode", text)
    assert shown(code, "decode") == []


def test_a_file_of_text_is_refused_with_what_to_do_instead(code: Code, root: Path) -> None:
    written(root, {"config.yaml": "retries: 3\n"})
    code.index(root)
    with pytest.raises(NotFound, match=r"treering remember … --file"):
        code.annotate("config.yaml", "At most three retries")


def test_a_record_of_any_type_about_a_node_is_among_its_memories(memory: Memory, code: Code) -> None:
    record = code.remember("decode", "The first call takes a second", type="gotcha")
    assert (record.type, record.node, record.files) == ("gotcha", "app/tokens.py::decode", ("app/tokens.py",))
    found = code.impact("decode")
    assert ([each.id for each in found.memories], found.annotations) == ([record.id], ())
    memory.forget(record.id)
    assert code.impact("decode").memories == ()
    with pytest.raises(InvalidInput, match="say in a sentence"):
        code.remember("decode", " ", type="gotcha")


def test_what_was_done_to_an_annotation_can_be_undone(memory: Memory, code: Code) -> None:
    first = code.annotate("decode", "decode accepts text")
    corrected = memory.correct(first.id, text="decode accepts bytes")
    assert shown(code, "decode") == ["decode accepts bytes"]
    memory.undo(corrected.id)
    assert shown(code, "decode") == ["decode accepts text"]
    memory.forget(first.id)
    assert shown(code, "decode") == []
    memory.undo(first.id)
    assert shown(code, "decode") == ["decode accepts text"]


def test_secrets_control_characters_and_long_texts_are_kept_safe(code: Code) -> None:
    record = code.annotate("decode", "the key is AKIAIOSFODNN7EXAMPLE \x1b[31m\x07 " + "long " * 10_000)
    assert "AKIAIOSFODNN7EXAMPLE" not in record.content
    assert shown(code, "decode") == [record.content]


def test_only_the_corrected_text_of_an_annotation_is_shown(memory: Memory, code: Code) -> None:
    first = code.annotate("decode", "decode accepts text")
    memory.correct(first.id, text="decode accepts bytes")
    assert shown(code, "decode") == ["decode accepts bytes"]
    (second,) = code.impact("decode").annotations
    assert (second.node, second.tags) == (first.node, first.tags)
    memory.forget(second.id)
    assert shown(code, "decode") == []


def test_another_project_does_not_see_an_annotation(code: Code, root: Path, open_memory: Callable[..., Memory]) -> None:
    code.annotate("decode", "Tokens are opaque")
    other = code_of(open_memory(project="another"))
    other.index(root)
    assert shown(other, "decode") == []


def test_an_annotation_follows_a_file_that_git_knows_to_be_renamed(memory: Memory, root: Path) -> None:
    def git(*arguments: str) -> None:
        who = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "one")
    memory.code.index(root)
    memory.code.annotate("decode", "Tokens are opaque")
    memory.code.annotate("app/tokens.py", "Nothing here reads the clock")
    git("mv", "app/tokens.py", "app/opaque.py")
    git("commit", "-qm", "two")
    memory.code.index(root)
    note = memory.code.related("app/tokens.py").status.notes[0]
    assert "does not exist now" in note
    found = memory.code.impact("app/opaque.py:decode")
    assert {record.content for record in found.annotations} == {"Tokens are opaque", "Nothing here reads the clock"}
    assert not memory.code.impact("app/login.py").annotations
    (decode,) = (record for record in found.annotations if record.content == "Tokens are opaque")
    memory.correct(decode.id, text="Tokens are opaque bytes")
    assert "Tokens are opaque bytes" in shown(memory.code, "app/opaque.py:decode")
    (corrected,) = (each for each in memory.code.impact("decode").annotations if each.content.endswith("bytes"))
    memory.undo(corrected.id)
    assert "Tokens are opaque" in shown(memory.code, "decode")
    memory.forget(decode.id)
    assert shown(memory.code, "decode") == ["Nothing here reads the clock"]


def test_callers_that_catch_what_a_node_raises_handle_its_errors(code: Code) -> None:
    found = code.impact("Tokens.verify")
    assert found.handlers == ("app/login.py::login",)
    assert code.impact("decode").handlers == ()
