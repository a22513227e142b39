"""Discovery of source files: ignore rules, vendored code, links, sizes; skipped files are counted."""

import errno
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.unprivileged_user import as_unprivileged_user
from treering.code.files import skip_reasons
from treering.code.files.discovery import Discovery, discover
from treering.code.files.skip_reasons import GENERATED, MAY_HOLD_SECRETS, OTHER, TOO_LARGE
from treering.code.files.source_file import SourceFile, can_be_read_now, read_file
from treering.code.language_choice import NO_GRAMMAR, content_kind, language_named, load_language
from treering.code.language_table import DEFINITION_LANGUAGES, LANGUAGES, TEXT_FORMATS, UNREAD_LANGUAGES
from treering.core.errors import FolderUnavailable, InvalidInput
from treering.core.settings import CodeSettings

Tree = Callable[..., Path]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Write files below a root and return it."""
    root = tmp_path / "project"
    root.mkdir()

    def plant(files: dict[str, str | bytes]) -> Path:
        for path, content in files.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)
        return root

    return plant


def found(discovery: Discovery) -> list[str]:
    return [file.path for file in discovery.found]


def look(root: Path, **settings: object) -> Discovery:
    return discover(root, CodeSettings.make(**settings))


def test_files_of_known_languages_and_manifests_are_found_and_nothing_else(tree: Tree) -> None:
    root = tree(
        {"a.py": "", "b.go": "", "c.rs": "", "d.tsx": "", "go.mod": "", "notes.md": "", "x.png": b"\0", ".py": ""}
    )
    discovery = look(root)
    assert [(file.path, file.language) for file in discovery.found] == [
        ("a.py", "python"),
        ("b.go", "go"),
        ("c.rs", "rust"),
        ("d.tsx", "typescript"),
        ("go.mod", "go"),
        ("notes.md", "markdown"),
    ]
    assert not discovery.skipped
    assert discovery.unread == {OTHER: 2}


def test_every_file_of_the_project_is_found_or_counted(tree: Tree) -> None:
    left_out = {
        "old.f90": "", "sub/new.f90": "", "app.vue": "", "logo.png": b"\0", "LICENSE": "", "ignored.f90": "",
    }  # fmt: skip
    read = {"Main.java": "", "a.py": "", "README.md": "", "conf/app.yaml": "", "Dockerfile": "", ".env.example": ""}
    counted = {
        "conf/secrets.yaml": "", "client_secret_1.json": "{}", "package-lock.json": "{}", "pnpm-lock.yaml": "",
        "yarn.lock": "", "rows.json": " " * 60_000, "book.md": " " * 500_000,
    }  # fmt: skip
    discovery = look(tree({".gitignore": "ignored.f90\n", ".env": "KEY=1\n", **left_out, **read, **counted}))
    assert {file.path for file in discovery.found} == set(read)
    assert discovery.unread == {"fortran": 2, "vue": 1, OTHER: 5}, "with .env, .gitignore and yarn.lock"
    assert discovery.skipped == {MAY_HOLD_SECRETS: 2, GENERATED: 2, TOO_LARGE: 2}


def test_prose_about_secrets_is_read(tree: Tree) -> None:
    assert [file.path for file in look(tree({"docs/secrets.md": "", "docs/secrets.rst": ""})).found] == [
        "docs/secrets.md",
        "docs/secrets.rst",
    ]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/b.py", "code"),
        ("a/B.java", "code"),
        ("README", "prose"),
        ("docs/a.rst", "prose"),
        ("pyproject.toml", "configuration"),
        ("ci.yml", "configuration"),
        ("rows.csv", "data"),
    ],
)
def test_the_file_name_determines_the_kind_of_content(path: str, kind: str) -> None:
    assert content_kind(path) == kind


def test_no_suffix_or_name_belongs_to_two_languages() -> None:
    declared = [suffix for each in (*LANGUAGES, *DEFINITION_LANGUAGES, *TEXT_FORMATS) for suffix in each.suffixes]
    declared += [suffix for suffixes in UNREAD_LANGUAGES.values() for suffix in suffixes]
    names = [name for each in (*DEFINITION_LANGUAGES, *TEXT_FORMATS) for name in each.names]
    assert len(declared) == len(set(declared))
    assert len(names) == len(set(names))


def test_the_language_table_matches_the_languages() -> None:
    for known in LANGUAGES:
        language = load_language(known.name)
        assert (language.name, set(language.suffixes), set(language.manifests)) == (
            known.name,
            set(known.suffixes),
            set(known.manifests),
        )


@pytest.mark.parametrize(
    ("name", "language"), [("Cargo.toml", "rust"), ("x.mjs", "typescript"), ("x.toml", "toml"), ("x.xyz", None)]
)
def test_the_file_name_determines_the_language(name: str, language: str | None) -> None:
    assert language_named(name) == language


def test_gitignore_applies_below_its_folder_and_the_nearest_rule_decides(tree: Tree) -> None:
    root = tree(
        {
            ".gitignore": "*.gen.py\n/only_here.py\nlogs/\n",
            "a.gen.py": "",
            "only_here.py": "",
            "sub/only_here.py": "",
            "sub/.gitignore": "!kept.gen.py\nlocal.py\n",
            "sub/kept.gen.py": "",
            "sub/local.py": "",
            "local.py": "",
            "logs/x.py": "",
            "sub/logs/x.py": "",
        }
    )
    discovery = look(root)
    assert found(discovery) == ["local.py", "sub/kept.gen.py", "sub/only_here.py"]
    assert discovery.skipped == {skip_reasons.IGNORED: 5}


def test_info_exclude_applies(tree: Tree) -> None:
    root = tree({".git/info/exclude": "private.py\n", "private.py": "", "public.py": ""})
    assert found(look(root)) == ["public.py"]


def test_an_invalid_rule_affects_only_itself(tree: Tree) -> None:
    root = tree({".gitignore": "!\n\x00\nb.py\n", "a.py": "", "b.py": ""})
    assert found(look(root)) == ["a.py"]


def test_an_ignored_folder_cannot_reinclude_its_files(tree: Tree) -> None:
    root = tree({".gitignore": "hidden/\n", "hidden/.gitignore": "!x.py\n", "hidden/x.py": "", "y.py": ""})
    assert found(look(root)) == ["y.py"]


def test_vendored_code_is_skipped(tree: Tree) -> None:
    root = tree(
        {
            "node_modules/x/index.js": "",
            "pkg/third_party/y.py": "",
            ".venv/lib/z.py": "",
            ".treering/planted.py": "",
            "envs/one/pyvenv.cfg": "",
            "envs/one/lib/z.py": "",
            "build/out.py": "",
            "lib/go.mod": "",
            "lib/vendor/v.go": "",
            "src/build/kept.py": "",
        }
    )
    discovery = look(root)
    assert found(discovery) == ["lib/go.mod", "src/build/kept.py"]
    assert discovery.skipped == {skip_reasons.VENDORED: 5}


def test_a_nested_repository_is_skipped(tree: Tree) -> None:
    root = tree({".git/HEAD": "", "a.py": "", "worktree/.git": "gitdir: elsewhere", "worktree/a.py": ""})
    discovery = look(root)
    assert found(discovery) == ["a.py"]
    assert discovery.skipped == {skip_reasons.OTHER_REPOSITORY: 1}


def test_links_are_never_followed(tree: Tree, tmp_path: Path) -> None:
    root = tree({"a/x.py": ""})
    (tmp_path / "secret.py").write_text("PASSWORD = 1")
    (root / "out.py").symlink_to(tmp_path / "secret.py")
    (root / "up").symlink_to(tmp_path)
    (root / "inside.py").symlink_to(root / "a" / "x.py")
    (root / "a" / "loop").symlink_to(root / "a")
    (root / "nowhere.py").symlink_to(root / "gone.py")
    discovery = look(root)
    assert found(discovery) == ["a/x.py"]
    assert discovery.skipped == {
        skip_reasons.LEAVES_ROOT: 2,
        skip_reasons.LINK: 2,
        skip_reasons.BROKEN_LINK: 1,
    }


def test_cyclic_links_terminate(tree: Tree) -> None:
    root = tree({"x.py": ""})
    (root / "one").symlink_to(root / "two")
    (root / "two").symlink_to(root / "one")
    assert found(look(root)) == ["x.py"]


def test_huge_and_generated_files_are_counted(tree: Tree) -> None:
    root = tree({"big.py": "#" * 50, "small.py": "", "x_pb2.py": "", "app.min.js": "", "y.pb.go": ""})
    discovery = look(root, largest_file=40)
    assert found(discovery) == ["small.py"]
    assert discovery.skipped == {skip_reasons.TOO_LARGE: 1, skip_reasons.GENERATED: 3}


def test_a_name_that_is_not_text_is_counted(tree: Tree) -> None:
    root = tree({"a.py": ""})
    odd = {skip_reasons.ODD_NAME: 1}
    try:
        Path(os.fsdecode(os.fsencode(root) + b"/\xff.py")).write_text("")
    except OSError:
        # A file system that takes only text as names holds no such file.
        odd = {}
    discovery = look(root)
    assert found(discovery) == ["a.py"]
    assert discovery.skipped == odd


def test_unreadable_files_are_counted() -> None:
    with as_unprivileged_user(), TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "a.py").write_text("")
        (root / "closed").mkdir()
        (root / "closed/b.py").write_text("")
        (root / "closed").chmod(0)
        try:
            discovery = look(root)
        finally:
            (root / "closed").chmod(0o700)
    assert found(discovery) == ["a.py"]
    assert discovery.skipped == {skip_reasons.NO_PERMISSION: 1}


@contextmanager
def unlisted(folder: Path, why: int) -> Iterator[None]:
    """Make listing a folder fail."""
    listed = os.scandir

    def refused(path: Path) -> object:
        if Path(path) == folder:
            raise OSError(why, os.strerror(why))
        return listed(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "scandir", refused)
        yield


@pytest.mark.parametrize("why", [errno.EACCES, errno.EIO, errno.ENOENT, errno.EMFILE])
def test_an_unlistable_root_is_an_error(tree: Tree, why: int) -> None:
    root = tree({"a.py": ""})
    with unlisted(root, why), pytest.raises(FolderUnavailable, match="cannot be listed") as raised:
        look(root)
    assert isinstance(raised.value, InvalidInput)


@pytest.mark.parametrize(
    ("why", "reason", "hidden"),
    [
        (errno.EACCES, skip_reasons.NO_PERMISSION, True),
        (errno.EPERM, skip_reasons.NO_PERMISSION, True),
        (errno.EIO, skip_reasons.UNLISTED, True),
        (errno.EMFILE, skip_reasons.UNLISTED, True),
        (errno.ENOENT, skip_reasons.VANISHED, False),
        (errno.ENOTDIR, skip_reasons.VANISHED, False),
    ],
)
def test_files_of_an_unlistable_folder_are_not_considered_deleted(
    tree: Tree, why: int, reason: str, hidden: bool
) -> None:
    root = tree({"a.py": "", "closed/b.py": "", "closed/in/c.py": "", "closed_not/d.py": ""})
    with unlisted(root / "closed", why):
        discovery = look(root)
    assert found(discovery) == ["a.py", "closed_not/d.py"]
    assert discovery.skipped == {reason: 1}
    assert [discovery.is_uncertain(path) for path in ("closed/b.py", "closed/in/c.py")] == [hidden, hidden]
    assert [discovery.covers(path) for path in ("closed/b.py", "closed/in/c.py")] == [not hidden, not hidden]
    assert discovery.covers("closed_not/gone.py")
    assert not discovery.is_uncertain("closed_not/gone.py")


@pytest.mark.parametrize("name", ["new\nline", "tab\there", "bell\a", "escape\x1b[31m", "line\u2028separator", "\x9b"])
def test_a_name_that_cannot_be_shown_in_a_line_is_counted(tree: Tree, name: str) -> None:
    discovery = look(tree({"a.py": "", f"{name}.py": "", f"{name}/b.py": ""}))
    assert found(discovery) == ["a.py"]
    assert discovery.skipped == {skip_reasons.ODD_NAME: 2}


@pytest.mark.parametrize("name", ["ein Wort", "größe", "日本", "no\u00a0break"])
def test_names_in_any_script_are_accepted(tree: Tree, name: str) -> None:
    assert found(look(tree({f"{name}.py": ""}))) == [f"{name}.py"]


def test_pipes_and_sockets_are_counted_and_not_opened(tree: Tree) -> None:
    root = tree({"a.py": ""})
    os.mkfifo(root / "pipe.py")
    here = os.getcwd()
    os.chdir(root)
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind("socket.py")
            discovery = look(root)
    finally:
        os.chdir(here)
    assert found(discovery) == ["a.py"]
    assert discovery.skipped == {skip_reasons.NOT_A_FILE: 2}


def test_a_generated_file_of_50_mb_is_not_opened(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tree({"a.py": ""})
    with open(root / "huge.py", "wb") as file:
        file.truncate(50_000_000)
    assert look(root).skipped == {skip_reasons.TOO_LARGE: 1}
    monkeypatch.setattr("builtins.open", lambda *_: pytest.fail("nothing of it is read"))
    assert look(root).skipped == {skip_reasons.TOO_LARGE: 1}


def test_discovery_can_be_limited_to_folders(tree: Tree) -> None:
    files = {"a.py": "", "p/b.py": "", "p/q/c.py": "", "r/d.py": "", "p/.gitignore": "ignored.py", "p/q/ignored.py": ""}
    discovery = discover(tree(files), CodeSettings(), frozenset({"p/q/"}))
    assert found(discovery) == ["p/q/c.py"]
    assert discovery.covers("p/q/gone.py")
    assert not discovery.covers("p/b.py")


def reading(root: Path, path: str, language: str = "python", largest: int = 10_000) -> SourceFile:
    return read_file(root, path, language, largest)


def test_a_missing_file_is_reported(tree: Tree) -> None:
    assert reading(tree({}), "gone.py").skipped == skip_reasons.VANISHED


def test_a_file_removed_while_opening_is_reported(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tree({"x.py": ""})
    opened = os.open

    def too_late(path: Path, *flags: int) -> int:
        Path(path).unlink()
        return opened(path, *flags)

    monkeypatch.setattr(os, "open", too_late)
    assert reading(root, "x.py").skipped == skip_reasons.VANISHED


def test_a_read_error_is_reported(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_path: Path, *_flags: int) -> int:
        raise OSError(errno.EIO, "broken")

    root = tree({"x.py": ""})
    monkeypatch.setattr(os, "open", broken)
    assert reading(root, "x.py").skipped == skip_reasons.VANISHED


def test_an_unreadable_file_is_recorded_until_it_is_readable(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(path: Path, *_flags: int) -> int:
        raise PermissionError(errno.EACCES, "closed", str(path))

    root = tree({"x.py": ""})
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", closed)
        read = reading(root, "x.py")
        patch.setattr(os, "access", lambda *_: False)
        assert not can_be_read_now(root, "x.py", "python", read.skipped)
    assert (read.skipped, read.stamp) == (skip_reasons.NO_PERMISSION, look(root).found[0].stamp)
    assert can_be_read_now(root, "x.py", "python", read.skipped)


def test_a_link_that_replaced_a_file_is_not_followed(tree: Tree, tmp_path: Path) -> None:
    root = tree({"sub/a.py": ""})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "a.py").write_text("SECRET = 1")
    (root / "x.py").symlink_to(tmp_path / "elsewhere" / "a.py")
    (root / "folder").symlink_to(tmp_path / "elsewhere")
    assert reading(root, "x.py").skipped
    assert reading(root, "folder/a.py").skipped == skip_reasons.LEAVES_ROOT
    assert not reading(root, "sub/a.py").skipped


def test_a_pipe_that_replaced_a_file_does_not_block(tree: Tree) -> None:
    root = tree({})
    os.mkfifo(root / "x.py")
    assert reading(root, "x.py").skipped == skip_reasons.VANISHED


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x7fELF\0\0", skip_reasons.BINARY),
        (b"# Code generated by tool. DO NOT EDIT.\nx = 1\n", skip_reasons.GENERATED),
        (b"/* @generated */\n", skip_reasons.GENERATED),
        (b"x=1;" * 10_000, skip_reasons.GENERATED),
        (b"text = 'Code generated by hand'\n", ""),
        (b"\xff\xfe def x(: pass", ""),
    ],
)
def test_binary_and_generated_content_is_detected(tree: Tree, content: bytes, why: str) -> None:
    assert reading(tree({"x.py": content}), "x.py", largest=100_000).skipped == why


def test_a_file_that_grew_too_large_is_reported(tree: Tree) -> None:
    assert reading(tree({"x.py": "x" * 20}), "x.py", largest=10).skipped == skip_reasons.TOO_LARGE


def test_a_missing_grammar_is_reported(tree: Tree) -> None:
    read = reading(tree({"x.py": ""}), "x.py", language="klingon")
    assert (read.skipped, bool(read.stamp), bool(read.digest)) == (NO_GRAMMAR, True, True)
    assert not can_be_read_now(tree({}), "x.py", "klingon", read.skipped)
    assert can_be_read_now(tree({}), "x.py", "python", NO_GRAMMAR)


def test_a_failing_language_affects_only_this_file(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    def choke(_path: str, _source: bytes) -> None:
        raise RuntimeError("too much")

    monkeypatch.setattr(load_language("python"), "extract", choke, raising=False)
    read = reading(tree({"x.py": ""}), "x.py")
    assert read.skipped
    assert "too much" in read.problems[0].message


def test_a_change_with_the_same_size_and_restored_times_is_seen(tree: Tree) -> None:
    root = tree({"x.py": "x = 1\n"})
    before = (root / "x.py").stat()
    first = discover(root, CodeSettings()).found
    time.sleep(0.05)  # several ticks of the clock of the file system
    (root / "x.py").write_text("x = 2\n")
    os.utime(root / "x.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (root / "x.py").stat().st_mtime_ns == before.st_mtime_ns
    assert discover(root, CodeSettings()).found != first
