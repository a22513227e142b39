"""A discovery that lists only changed folders finds what a complete one finds, whatever happened in between."""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treering.code.files import folder_listings, stamps
from treering.code.files.discovery import Discovery, discover
from treering.code.files.folder_listings import FolderListings
from treering.core.settings import CodeSettings

FOLDERS = ("", "a/", "a/b/", "c/")
NAMES = ("x.py", "y.js", "notes.md", "data.bin", "x_pb2.py", "Cargo.toml", ".env", "Odd\u00e9.py")
TICK = 20_000_000
"""Nanoseconds: longer than the clock tick of file systems here, and short enough to wait for."""

folders, names = st.sampled_from(FOLDERS), st.sampled_from(NAMES)
STEPS = st.one_of(
    st.tuples(st.just("write"), folders, names, st.sampled_from(["", "x = 1\n", "x" * 70])),
    st.tuples(st.just("edit, times restored"), folders, names, st.sampled_from("abc")),
    st.tuples(st.just("remove"), folders, names, st.just("")),
    st.tuples(st.just("rename"), folders, names, names),
    st.tuples(st.just("folder in place of a file"), folders, names, st.just("")),
    st.tuples(st.just("link"), folders, names, st.sampled_from(["a/x.py", "/outside", "missing"])),
    st.tuples(st.just("ignore"), folders, names, st.sampled_from(["*.py\n", "b/\n", "!x.py\n", "x.*\n"])),
    st.tuples(st.just("move a folder"), st.just("a/b/"), names, st.sampled_from(["c/b", "build", "node_modules"])),
    st.tuples(st.just("environment"), folders, st.just("pyvenv.cfg"), st.just("home = /usr\n")),
    st.tuples(st.just("nothing"), folders, names, st.just("")),
)


def _do(root: Path, what: str, folder: str, name: str, detail: str) -> None:
    at = root / folder / name
    match what:
        case "write" | "environment":
            at.parent.mkdir(parents=True, exist_ok=True)
            _clear(at)
            at.write_text(detail)
        case "edit, times restored" if at.is_file() and not at.is_symlink():
            before = at.stat()
            at.write_bytes(detail.encode() * before.st_size)
            os.utime(at, ns=(before.st_atime_ns, before.st_mtime_ns))
        case "remove":
            _clear(at)
        case "rename" if at.exists() and not (at.parent / detail).is_dir() and not at.is_dir():
            at.replace(at.parent / detail)
        case "folder in place of a file":
            _clear(at)
            at.mkdir(parents=True)
            (at / "inner.py").write_text("")
        case "link":
            at.parent.mkdir(parents=True, exist_ok=True)
            _clear(at)
            at.symlink_to(root / detail)
        case "ignore" if at.parent.is_dir():
            (at.parent / ".gitignore").write_text(detail)
        case "move a folder" if at.parent.is_dir() and not (root / detail).exists():
            (root / detail).parent.mkdir(parents=True, exist_ok=True)
            at.parent.replace(root / detail)


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _result(found: Discovery) -> tuple[object, ...]:
    return found.found, found.skipped, found.unread, found.unreadable


@settings(max_examples=30, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=8))
def test_listing_only_changed_folders_finds_the_same(steps: list[tuple[str, str, str, str]]) -> None:
    config = CodeSettings(largest_file=60)
    with TemporaryDirectory() as name, patch.object(stamps, "_TICK", TICK):
        root = Path(name).resolve()
        for folder in FOLDERS:
            (root / folder).mkdir(exist_ok=True)
            (root / folder / "x.py").write_text("x = 1\n")
        listings = FolderListings()
        for what, folder, file, detail in steps:
            _do(root, what, folder, file, detail)
            assert _result(discover(root, config, listings=listings)) == _result(discover(root, config))
            sleep(2 * TICK / 1e9)
            assert _result(discover(root, config, listings=listings)) == _result(discover(root, config))


def test_an_unchanged_folder_is_not_listed_again_for_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/x.py").write_text("")
    listed: list[str] = []
    scan, clock = os.scandir, [0.0]

    def scan_and_count(path: str) -> object:
        listed.append(path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scan_and_count)
    monkeypatch.setattr(folder_listings, "monotonic", lambda: clock[0])
    listings, config = FolderListings(), CodeSettings()

    def found() -> int:
        listed.clear()
        assert [file.path for file in discover(tmp_path, config, listings=listings).found] == ["a/x.py"]
        return len(listed)

    assert found() == 2
    assert found() == 2, "the folders changed a moment ago: another change may leave the same times"
    monkeypatch.setattr(stamps, "_TICK", 0)
    assert found() == 2
    assert found() == 0
    clock[0] = 61.0
    assert found() == 2
