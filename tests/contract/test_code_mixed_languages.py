"""A repository in many languages: what is read, what is only counted, and what answers say of it. On both engines."""

import sys
from pathlib import Path

import pytest

from tests.code_projects import code_of, written
from tests.repositories import Work
from treering.code import language_choice
from treering.code.api import Code
from treering.core.errors import NotFound
from treering.memory import Memory

FILES: dict[str, str | bytes] = {
    "app/main.py": "def main():\n    return 1\n",
    "src/shop/Cart.java": "package shop;\nimport shop.Item;\nclass Cart {\n  int total() { return 1; }\n}\n",
    "src/shop/Item.java": "package shop;\nclass Item { String label() { return null; } }\n",
    "docs/guide.md": "# Guide\n\nThe zeppelin is moored at the mast before the crew leaves.\n",
    "conf/app.toml": 'hangar = "zeppelin-dock"\n',
    "conf/secrets.toml": 'hangar = "zeppelin-key"\n',
    "old/solve.f90": "program solve\nend program\n",
    "old/more.f90": "program more\nend program\n",
    "logo.png": b"\x89PNG\0\0",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return written(tmp_path / "project", FILES)


@pytest.fixture
def code(memory: Memory) -> Code:
    return code_of(memory)


def test_every_file_is_read_or_counted(memory: Memory, code: Code, root: Path) -> None:
    done = code.index(root)
    assert done.totals.languages == {"java": 2, "markdown": 1, "python": 1, "toml": 1}
    assert done.unread == {"fortran": 2, "other": 1}
    assert done.skipped == {"may hold secrets": 1}
    assert done.totals.files + sum(done.unread.values()) + sum(done.skipped.values()) == len(FILES)
    assert code.status().unread == done.unread
    (check,) = (each for each in memory.doctor().checks if each.name == "code")
    assert "not read: 2 fortran, 1 other" in check.detail


def test_answers_about_a_partly_read_language_say_so(code: Code, root: Path) -> None:
    code.index(root)
    for answer in (code.impact("Item.label"), code.dependencies("Cart.total"), code.data_flow("Cart.total")):
        assert answer.status.definitions_only == ("java",)
    assert code.impact("src").status.definitions_only == ("java",)
    assert code.impact("main").status.definitions_only == ()
    assert code.where("total of the cart").status.definitions_only == ("java",)
    assert code.impact("Item.java").dependents.ids == ("src/shop/Cart.java",), "imports are known"


def test_possible_users_in_a_partly_read_language_are_counted_and_follow_each_edit(code: Code, root: Path) -> None:
    user, other = root / "src/shop/Shelf.java", root / "src/shop/Label.java"
    code.index(root)
    assert code.impact("Item.label").unresolved == ()
    user.write_text("package shop;\nclass Shelf {\n  String f(Item i) { return i.label() + i.price(); }\n}\n")
    code.index(root)
    assert [(each.name, each.uses) for each in code.impact("Item.label").unresolved] == [("label", 1)]
    (use,) = code.unresolved("Item.label")
    assert (use.origin, use.line) == ("src/shop/Shelf.java::Shelf.f", 3)
    other.write_text("package shop;\nclass Label { int price() { return 1; } }\n")
    code.index(root)
    assert code.impact("Label.price").unresolved_total == 1, "a definition that came after its use"
    other.unlink()
    user.write_text("package shop;\nclass Shelf {}\n")
    code.index(root)
    assert code.impact("Item.label").unresolved == ()
    assert code.status().totals.unresolved == 0


def test_text_is_searched_and_is_not_part_of_the_graph(code: Code, root: Path) -> None:
    code.index(root)
    assert {place.path for place in code.where("zeppelin")} == {"docs/guide.md", "conf/app.toml"}
    assert "docs/guide.md" not in {file.path for file in code.file_map().files}
    with pytest.raises(NotFound, match="is text without definitions"):
        code.impact("docs/guide.md")
    (root / "docs/guide.md").write_text("# Guide\n\nNothing flies.\n")
    code.index(root)
    assert {place.path for place in code.where("zeppelin")} == {"conf/app.toml"}


def test_without_the_extra_the_files_are_counted_and_the_command_is_named(
    code: Code, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "tree_sitter_language_pack", None)
        language_choice._load_or_error.cache_clear()
        done = code.index(root)
        status, found = code.status(), code.where("total of the cart")
        with pytest.raises(NotFound) as refused:
            code.impact("Cart.total")
    language_choice._load_or_error.cache_clear()
    assert (done.read, done.totals.files) == (3, 3)
    assert done.totals.files + sum(done.unread.values()) + sum(done.skipped.values()) == len(FILES)
    for said in (status.advice, *found.status.notes, str(refused.value)):
        assert "2 files are not read" in said
        assert "pip install 'treering[languages]'" in said
    assert "grammars are not installed" in status.notes
    assert done.unread == {"fortran": 2, "java": 2, "other": 1}
    assert code.status().unread == done.unread
    (warning,) = done.warnings
    assert warning.startswith("2 files are not read")
    assert "(2 java); run `pip install 'treering[languages]'`" in warning
    assert code.index(root).totals.languages["java"] == 2, "read once the grammar is there"


def test_files_of_any_kind_are_related_by_their_changes(memory: Memory, tmp_path: Path) -> None:
    work = Work(tmp_path / "place")
    for _ in range(3):
        work.commit("a.py", "solve.f90", "logo.bin")
        work.commit("other.py", "package-lock.json")
    memory.code.index(work.root)
    related = {each.path for each in memory.code.related("solve.f90").related}
    assert {"a.py", "logo.bin"} <= related
    assert "package-lock.json" not in {each.path for each in memory.code.related("other.py").related}


def test_a_missing_file_is_said_to_be_missing(memory: Memory, tmp_path: Path) -> None:
    work = Work(tmp_path / "place")
    for _ in range(3):
        work.commit("cart.py", "cart_page.py")
        work.commit("gone.py", "cart.py")
    work.git("rm", "-q", "gone.py")
    work.git("commit", "-q", "-m", "remove")
    memory.code.index(work.root)
    assert memory.code.related("cart.py").status.notes == ()
    unknown = memory.code.related("carts.py")
    assert (unknown.missing, unknown.known_before) == (True, False)
    (note,) = unknown.status.notes
    assert note.startswith("no file carts.py exists")
    assert "did you mean cart.py" in note
    gone = memory.code.related("gone.py")
    assert (gone.missing, gone.known_before) == (True, True)
    assert "gone.py does not exist now" in gone.status.notes[0]
