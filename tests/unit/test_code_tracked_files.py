"""Git ignores no file that it tracks, and neither does the index."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.code_projects import written
from treering.code.files.discovery import discover
from treering.code.files.skip_reasons import IGNORED
from treering.code.files.tracked_files import load_tracked_files
from treering.context.prefetch.checkout import Checkout
from treering.core.settings import CodeSettings

FILES = {
    ".gitignore": "*.js\nmade/\n**/package.json\n",
    "package.json": "{}",
    "a.js": "",
    "b.js": "",
    "made/kept.js": "",
    "made/other.js": "",
    "pack/package.json": "{}",
    "pack/src/index.ts": "",
}
TRACKED = ("package.json", "a.js", "made/kept.js", "pack/package.json", "pack/src/index.ts")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = written(tmp_path / "project", FILES).resolve()
    git(folder, "init", "--quiet")
    git(folder, "add", "--force", *TRACKED)
    return folder


def found(root: Path) -> list[str]:
    return [file.path for file in discover(root, CodeSettings()).found]


def test_a_tracked_file_is_read_although_a_rule_ignores_it(root: Path) -> None:
    assert found(root) == ["a.js", "made/kept.js", "pack/package.json", "pack/src/index.ts", "package.json"]
    assert discover(root, CodeSettings()).skipped[IGNORED] == 2


def test_everything_else_in_an_ignored_folder_is_ignored(root: Path) -> None:
    """Also what a later rule would include: git does not look into the folder."""
    rules = {".gitignore": "made/\n!made/allowed.ts\n", "made/.gitignore": "!*.ts\n!inner/\n"}
    written(
        root, {**rules, "made/allowed.ts": "", "made/own.ts": "", "made/inner/deep.ts": "", "made/inner/kept.ts": ""}
    )
    git(root, "add", "--force", "made/inner/kept.ts")
    ignored = git(root, "ls-files", "--others", "--ignored", "--exclude-standard").split()
    assert {"made/allowed.ts", "made/own.ts", "made/inner/deep.ts"} <= set(ignored)
    assert [path for path in found(root) if path.startswith("made/")] == ["made/inner/kept.ts", "made/kept.js"]


def test_an_index_that_is_not_a_file_lists_nothing(root: Path) -> None:
    """A pipe would be waited for."""
    (root / ".git" / "index").unlink()
    os.mkfifo(root / ".git" / "index")
    assert found(root) == ["pack/src/index.ts"]


def test_an_endless_number_in_an_index_is_not_computed(root: Path) -> None:
    (root / ".git" / "index").write_bytes(b"DIRC\0\0\0\4\0\0\0\1" + bytes(62) + b"\xff" * 2_000_000)
    assert not load_tracked_files(root).files


def test_what_is_tracked_now_decides(root: Path) -> None:
    git(root, "rm", "--quiet", "--cached", "a.js", "made/kept.js")
    assert found(root) == ["pack/package.json", "pack/src/index.ts", "package.json"]


def test_a_folder_inside_the_repository_has_the_tracked_files_below_it(root: Path) -> None:
    assert found(root / "pack") == ["package.json", "src/index.ts"]


def test_a_worktree_has_an_index_of_its_own(root: Path, tmp_path: Path) -> None:
    git(root, "commit", "--quiet", "--message", "first")
    git(root, "rm", "--quiet", "--cached", "a.js")
    git(root, "worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"), "HEAD")
    assert "a.js" in found((tmp_path / "tree").resolve())


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_version_of_the_index_is_understood(root: Path, version: str) -> None:
    written(root, {f"deep/{'x' * length}/file{length}.ts": "" for length in range(1, 30)})
    git(root, "add", "deep")
    git(root, "add", "--intent-to-add", "--force", "b.js")
    git(root, "update-index", "--index-version", version)
    listed = git(root, "ls-files", "-z").split("\0")[:-1]
    assert sorted(load_tracked_files(root).files) == sorted(listed)


@pytest.mark.parametrize("version", ["2", "4"])
def test_an_index_with_sha_256_hashes_is_understood(tmp_path: Path, version: str) -> None:
    folder = written(tmp_path / "project", FILES).resolve()
    git(folder, "init", "--quiet", "--object-format=sha256")
    git(folder, "add", "--force", *TRACKED)
    git(folder, "update-index", "--index-version", version)
    assert load_tracked_files(folder).files == set(TRACKED)


@pytest.mark.parametrize("content", [b"", b"DIRC", b"DIRC\0\0\0\2\0\0\0\5broken", b"nothing of this kind"])
def test_a_damaged_index_lists_nothing(root: Path, content: bytes) -> None:
    (root / ".git" / "index").write_bytes(content)
    assert found(root) == ["pack/src/index.ts"]


def test_prefetch_offers_the_ignored_files_that_the_index_reads(root: Path) -> None:
    checkout = Checkout.at(root, lambda: None)
    assert checkout is not None
    named = [path for path in FILES if path not in (".gitignore", "package.json", "pack/package.json")]
    assert [path for path in named if not checkout.refusal(path)] == [path for path in named if path in found(root)]
    assert checkout.refusal("pack/package.json") == ""
    assert [checkout.refusal(path) for path in ("b.js", "made/other.js")] == ["ignored by git"] * 2
