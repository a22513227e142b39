"""Nothing of the code that is indexed is run, wherever whoever indexes it stands."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import treering
from tests.code_projects import code_of, fresh, stored, written
from treering.memory import Memory

NAMES = ("json", "re", "enum", "codecs", "sitecustomize", "usercustomize", "encodings/__init__", "treering/__init__")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """On SQLite only: the processes that read code know no database."""
    with treering.open(tmp_path / "memory.db", project="p", background=False) as memory:
        yield memory


@pytest.mark.parametrize("place", ["", ".", "inside"])
def test_modules_of_the_project_are_never_imported(
    tmp_path: Path, memory: Memory, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    mark = tmp_path / "mark"
    hostile = f"open({str(mark)!r}, 'a').write(__name__)\n\n\ndef run(): ...\n"
    files = {f"{folder}{name}.py": hostile for name in NAMES for folder in ("", "inside/")}
    root = written(tmp_path / "project", files)
    monkeypatch.chdir(root)
    monkeypatch.setenv("PYTHONPATH", str(root))
    monkeypatch.setattr(sys, "path", [place, *sys.path])
    done = code_of(memory, many_files=1).index(root)
    assert not mark.exists(), mark.read_text()
    assert (done.read, done.skipped, done.complete) == (len(files), {}, True)
    assert stored(memory) == fresh(files)
