"""Whatever stands in a project: what cannot be read is told of, costs itself only, and is neither served nor lost."""

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.code_projects import code_of, fresh, stored, written
from treering.code import language_choice as which_language
from treering.code.files.skip_reasons import BINARY, NO_PERMISSION, NOT_A_FILE, ODD_NAME, TOO_LARGE, UNLISTED
from treering.code.files.source_file import SourceFile, read_file
from treering.code.index.report import IndexReport
from treering.core.errors import FolderUnavailable, InvalidInput
from treering.memory import Memory

FILES = {
    "a.py": "from lib.b import b\n\n\ndef a():\n    b()\n",
    "lib/__init__.py": "",
    "lib/b.py": "from lib.deep.c import c\n\n\ndef b():\n    c()\n",
    "lib/deep/c.py": "def c(): ...\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return written(tmp_path / "project", FILES)


@contextmanager
def unlisted(folder: Path, why: int) -> Iterator[None]:
    """A folder that the system does not list."""
    listed = os.scandir

    def refused(path: Path) -> object:
        if Path(path) == folder.resolve():
            raise OSError(why, os.strerror(why))
        return listed(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "scandir", refused)
        yield


@pytest.mark.parametrize("why", [errno.EACCES, errno.EIO])
def test_a_root_that_cannot_be_listed_takes_nothing_away(memory: Memory, root: Path, why: int) -> None:
    code = code_of(memory)
    code.index(root)
    before = stored(memory)
    with unlisted(root, why):
        with pytest.raises(FolderUnavailable, match="cannot be listed"):
            code.index(root)
        with pytest.raises(FolderUnavailable):
            code._current.catch_up(root, {"a.py"})
        # Nobody knows whether this is still so, and the answer says that.
        assert not code.impact("c").status.up_to_date
        assert stored(memory) == before
    assert code.impact("c").status.up_to_date
    assert code.index(root).read == 0


@pytest.mark.parametrize(("why", "reason"), [(errno.EACCES, NO_PERMISSION), (errno.EIO, UNLISTED)])
def test_files_of_an_unreadable_folder_are_kept_but_not_served(
    memory: Memory, root: Path, why: int, reason: str
) -> None:
    code = code_of(memory)
    code.index(root)
    with unlisted(root / "lib" / "deep", why):
        looks: list[Callable[[], IndexReport]] = [
            lambda: code.index(root),
            lambda: code._current.catch_up(root, set()),
            lambda: code._current.catch_up(root, {"a.py"}),
        ]
        for look in looks:
            done = look()
            assert (done.removed, done.skipped) == (0, {reason: 1})
            assert any("lib/deep/" in warning for warning in done.warnings)
            assert stored(memory) == fresh(FILES)
            asked = code_of(memory)
            asked._current._roots.add(root.resolve())
            for each in (code, asked):
                assert each.module_map().status.stale == ("lib/deep/c.py",)
    done = code._current.catch_up(root, {"a.py"})
    assert (done.read, done.skipped, done.warnings) == (0, {}, ())
    assert code.module_map().status.up_to_date
    assert code.impact("c").total


def test_files_of_a_deleted_folder_are_removed(memory: Memory, root: Path) -> None:
    code = code_of(memory)
    code.index(root)
    with unlisted(root / "lib" / "deep", errno.ENOENT):
        assert code.index(root).removed == 1
    assert stored(memory) == fresh({path: content for path, content in FILES.items() if path != "lib/deep/c.py"})


@pytest.fixture
def without_rust() -> Iterator[None]:
    """As where the wheel of one grammar is not installed."""
    held = {name: module for name, module in sys.modules.items() if name.startswith("treering.code.languages.rust")}
    with pytest.MonkeyPatch.context() as patch:
        for name in held:
            patch.delitem(sys.modules, name)
        patch.setitem(sys.modules, "tree_sitter_rust", None)
        which_language._load_or_error.cache_clear()
        yield
    which_language._load_or_error.cache_clear()


def test_a_grammar_that_is_missing_costs_its_files_only(
    memory: Memory, root: Path, request: pytest.FixtureRequest
) -> None:
    written(root, {"x.rs": "fn x() {}\n", "Cargo.toml": '[package]\nname = "x"\n'})
    request.getfixturevalue("without_rust")
    code = code_of(memory, inline_files=1)
    done = code.index(root)
    assert (done.unread, done.skipped) == ({"rust": 2}, {})
    assert any("pip install -U tree-sitter-rust" in warning for warning in done.warnings)
    assert stored(memory) == fresh(FILES)
    # It is remembered: such files do not keep others from being read.
    assert code.index(root).read == 0
    assert code._current._indexer is not None
    assert not code._current._indexer.pending().changes
    written(root, {"a.py": "def a(): ...\n"})
    assert code.impact("c").status.up_to_date


def test_a_grammar_that_comes_back_is_used(memory: Memory, root: Path, without_rust: None) -> None:
    written(root, {"x.rs": "fn x() {}\n"})
    code = code_of(memory)
    assert code.index(root).unread == {"rust": 1}
    sys.modules.pop("tree_sitter_rust")
    which_language._load_or_error.cache_clear()
    assert code.find("x.rs::x").only == "x.rs::x"
    assert code.index(root).unread == {}


def test_bad_files_cost_themselves_only(memory: Memory, root: Path) -> None:
    bad: dict[str, str | bytes] = {
        "binary.py": b"\x7fELF\0\0\0",
        "huge.js": b"var x = 1;\n" * 5_000_000,
        "tsconfig.json": '{"compilerOptions": {"paths": ',
        "latin.py": "# größe\ndef größe(): ...\n".encode("latin-1"),
        "pkg/new\nline.py": "def nl(): ...\n",
    }
    written(root, bad)
    os.mkfifo(root / "pipe.py")
    done = code_of(memory).index(root)
    assert done.complete
    assert done.skipped == {BINARY: 1, TOO_LARGE: 1, ODD_NAME: 1, NOT_A_FILE: 1}
    assert {each.path for each in done.problems} >= {"tsconfig.json"}
    assert {path: kept for path, kept in stored(memory).items() if path in FILES} == fresh(FILES)


def test_a_broken_file_takes_one_line_of_the_summary(memory: Memory, root: Path) -> None:
    written(root, {"broken.js": "{% if x %}\nfunction f() {}\n" * 30, "lib/other.py": "def (:\n  pass\n"})
    problems = {each.path: each for each in code_of(memory).index(root).problems}
    assert set(problems) == {"broken.js", "lib/other.py"}
    assert problems["broken.js"].count > 5
    assert problems["broken.js"].line == 1


def test_a_folder_without_source_files_is_warned_about(memory: Memory, tmp_path: Path) -> None:
    empty = written(tmp_path / "empty", {"photo.png": "not text"})
    assert any("no source files found" in warning for warning in code_of(memory).index(empty).warnings)


def test_a_name_that_no_record_could_have_is_asked_about(memory: Memory, root: Path) -> None:
    odd = "class Odd {\n  'line\\nbreak'() { return used() }\n  '\x07'() { return used() }\n}\nfunction used() {}\n"
    written(
        root,
        {"odd.js": odd, "no\u00a0break.py": "from a import a\na()\n", f"{'long' * 60}.py": "from a import a\na()\n"},
    )
    code = code_of(memory)
    code.index(root)
    assert code.impact("odd.js::used").memories == ()
    assert {each.id for each in code.impact("a.py::a").dependents} == {"no\u00a0break.py", f"{'long' * 60}.py"}


def test_a_file_that_vanishes_while_the_others_are_read_is_not_missed(
    memory: Memory, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vanishing(at: Path, path: str, *others: Any) -> SourceFile:
        (root / "lib" / "b.py").unlink(missing_ok=True)
        return read_file(at, path, *others)

    monkeypatch.setattr("treering.code.index.executor.read_file", vanishing)
    done = code_of(memory).index(root)
    assert done.complete
    assert stored(memory) == fresh({path: content for path, content in FILES.items() if path != "lib/b.py"})


@pytest.mark.parametrize(
    "asked",
    [
        lambda code: code.impact("verify", depth=0),
        lambda code: code.impact("verify", cap=-5),
        lambda code: code.impact("verify", min_confidence=2.0),
        lambda code: code.impact(None),
        lambda code: code.dependencies("verify", depth="x"),
        lambda code: code.data_flow("verify", cap=0),
        lambda code: code.find("verify", limit=-1),
        lambda code: code.related("a.py", limit=-3),
    ],
)
def test_invalid_queries_are_rejected_with_a_message(
    memory: Memory, tmp_path: Path, asked: Callable[..., object]
) -> None:
    root = written(tmp_path / "project", {"a.py": "def verify():\n    pass\n"})
    code = code_of(memory)
    code.index(root)
    with pytest.raises(InvalidInput):
        asked(code)


def test_a_file_called_as_a_definition_would_be_is_left_out(memory: Memory, tmp_path: Path) -> None:
    root = written(tmp_path / "project", {"a.py": "", "x::y.py": "def f():\n    pass\n"})
    code = code_of(memory)
    assert code.index(root).skipped == {ODD_NAME: 1}
    assert [file for module in code.module_map().modules for file in module.files] == ["a.py"]
