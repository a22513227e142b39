"""A repository with a data folder that is thrown away, and its memory at either location."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import treering
from treering.compose import data_directory, keep_in_data_folder, keep_in_project, project_name

LONG = "a text that goes to the blobs " * 10_000


def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Its root, with the working directory in it, and no setting of the machine that runs the tests."""
    for name in ("DB", "PROJECT", "TENANT", "PRINCIPAL", "BLOBS"):
        monkeypatch.delenv(f"TREERING_{name}", raising=False)
    monkeypatch.setenv("TREERING_DATA_DIR", str(tmp_path / "data"))
    made = tmp_path / "work" / "app"
    (made / ".git").mkdir(parents=True)
    (made / "src" / "deep").mkdir(parents=True)
    monkeypatch.chdir(made / "src" / "deep")
    return made


def in_data_folder(root: Path) -> Path:
    return data_directory() / project_name(root) / "memory.db"


def in_project(root: Path) -> Path:
    return root / ".treering" / "memory.db"


def note_of(root: Path) -> Path:
    """Where the data folder notes the place of a repository's memory."""
    return in_data_folder(root).with_name("place.json")


KEEP: dict[str, tuple[Callable[[Path], Path], Callable[[Path], Path]]] = {
    "in the project": (keep_in_project, in_project),
    "in the data folder": (keep_in_data_folder, in_data_folder),
}


def other(place: str) -> str:
    return next(name for name in KEEP if name != place)


def start_at(place: str, root: Path) -> None:
    KEEP[place][0](root)


def remembered(*facts: str) -> list[str]:
    with treering.open(background=False) as memory:
        return [memory.remember(fact).id for fact in facts]


def recalled() -> list[str]:
    with treering.open(background=False) as memory:
        return sorted(hit.text for hit in memory.search(""))


def nothing_is_left_of(file: Path) -> bool:
    return not file.parent.is_dir() or not [path for path in file.parent.iterdir() if "memory.db" in path.name]


def renamed(root: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The repository under another name, with the working directory in it again."""
    new = root.with_name(name)
    monkeypatch.chdir(root.parent)
    shutil.move(root, new)
    monkeypatch.chdir(new)
    return new
