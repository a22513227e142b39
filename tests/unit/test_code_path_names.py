"""Paths in names: absolute ones, ones with dots, and ones from the folder that somebody stands in."""

from pathlib import Path

import pytest

from treering.code.live.path_names import NodeName, from_folder, from_root
from treering.core.errors import InvalidInput


@pytest.mark.parametrize(
    ("name", "asked", "placed"),
    [
        ("{root}/src/app.py", "src/app.py", True),
        ("{root}/src/app.py:42", "src/app.py:42", True),
        ("{root}/src/app.py::App.run", "src/app.py::App.run", True),
        ("{root}/src/", "src", True),
        ("{root}//src/../src/./app.py", "src/app.py", True),
        ("{root}", ".", True),
        ("{linked}/src/app.py:run", "src/app.py:run", True),
        ("./src/app.py", "src/app.py", True),
        ("src/../src/app.py:run", "src/app.py:run", True),
        (".", ".", True),
        ("src/app.py", "src/app.py", False),
        (" App.run ", "App.run", False),
        ("src/", "src/", False),
        ("...", "...", False),
        ("/\0", "/\0", False),
    ],
)
def test_a_path_is_one_from_the_root(tmp_path: Path, name: str, asked: str, placed: bool) -> None:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "app.py").touch()
    (tmp_path / "linked").symlink_to(root)
    written = name.format(root=root, linked=tmp_path / "linked")
    assert from_root(written, root) == NodeName(asked, placed)


@pytest.mark.parametrize("name", ["/etc/passwd", "{root}-too/a.py", "../a.py", "src/../../a.py", "..", "/"])
def test_a_path_outside_the_root_is_rejected(tmp_path: Path, name: str) -> None:
    root = tmp_path / "project"
    with pytest.raises(InvalidInput, match="outside"):
        from_root(name.format(root=root), root)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("app.py", "{root}/src/app.py"),
        ("app.py:run", "{root}/src/app.py:run"),
        ("deep/x.py", "{root}/src/deep/x.py"),
        ("./new.py", "{root}/src/new.py"),
        ("../tests", "{root}/tests"),
        ("src/app.py", "src/app.py"),
        ("other.py", "other.py"),
        ("deep", "deep"),
        ("App.run", "App.run"),
        ("/abs/app.py", "/abs/app.py"),
        ("app.py\0", "app.py\0"),
    ],
)
def test_a_name_in_a_folder_refers_to_files_there(tmp_path: Path, name: str, expected: str) -> None:
    here = tmp_path / "src"
    (here / "deep").mkdir(parents=True)
    (here / "app.py").touch()
    (here / "deep" / "x.py").touch()
    assert from_folder(name, here, tmp_path) == expected.format(root=tmp_path)


def test_a_name_outside_the_root_is_unchanged(tmp_path: Path) -> None:
    (tmp_path / "app.py").touch()
    assert from_folder("app.py", tmp_path, tmp_path / "another") == "app.py"
