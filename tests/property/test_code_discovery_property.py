"""Files decide which others are read: rules of git, manifests beside built folders, environments, other repositories.

However they come and go, the graph that a watcher's hints keep current is the one of a fresh build.
"""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import treering
from tests.code_projects import code_of, fresh, stored, written
from treering.code.files.discovery import discover
from treering.core.scope import Scope
from treering.core.settings import IndexSettings
from treering.memory import Memory

FOLDERS = ("", "dist/", "sub/", "sub/dist/", "sub/dist/deep/", "home/", "home/lib/")
NAMES = ("alpha", "beta")
ABOVE = "../"
"""Beside the root: a watcher does not tell of it."""
RULES = ("alpha.py\n", "dist/\n", "!beta.py\n", "/sub/\n", "*.py\n!/sub\n", "deep\n", "")
DECIDING: dict[str, tuple[str, ...]] = {
    **{f"{folder}package.json": ("{}", '{"name": "app"}') for folder in ("", "sub/", "sub/dist/", "home/")},
    **{f"{folder}pyproject.toml": ("", '[project]\nname = "app"\n') for folder in ("sub/", "home/lib/")},
    **{f"{folder}pyvenv.cfg": ("",) for folder in ("", "sub/", "home/", "home/lib/")},
    **{f"{folder}.gitignore": RULES for folder in ("", "sub/", "sub/dist/", ABOVE)},
    ".git/info/exclude": RULES,
    f"{ABOVE}.git/info/exclude": RULES,
    "sub/.git/HEAD": ("ref: refs/heads/main\n",),
    "home/.git": ("gitdir: elsewhere\n",),
}

Write = tuple[str, str | None]
"""A path, and what stands there from now on; None where nothing does."""


@st.composite
def writes(draw: st.DrawFn) -> Write:
    if draw(st.booleans()):
        path = draw(st.sampled_from(sorted(DECIDING)))
        return path, draw(st.none() | st.sampled_from(DECIDING[path]))
    folder, name, other = draw(st.tuples(st.sampled_from(FOLDERS), st.sampled_from(NAMES), st.sampled_from(NAMES)))
    content = (
        f"from .{other} import {other}\nfrom sub.dist.alpha import alpha\n\n\ndef {name}():\n    {other}(alpha())\n"
    )
    return f"{folder}{name}.py", draw(st.none() | st.just(content) | st.just(f"def {name}(): ...\n"))


ALL = tuple((f"{folder}{name}.py", f"def {name}(): ...\n") for folder in FOLDERS for name in NAMES)


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with tempfile.TemporaryDirectory() as folder, treering.open(Path(folder) / "x.db", project="p") as memory:
        yield memory


@given(st.lists(writes(), max_size=15), st.lists(st.lists(writes(), min_size=1, max_size=3), min_size=1, max_size=6))
@example(list(ALL), [[("sub/package.json", "{}")], [("sub/package.json", None)]])
@example(list(ALL), [[("home/pyvenv.cfg", "")], [("home/pyvenv.cfg", None)]])
@example(list(ALL), [[(".git/info/exclude", "alpha.py\n")], [(".git/info/exclude", None)]])
@example(list(ALL), [[("sub/.git/HEAD", "")], [("sub/.git/HEAD", None)]])
@example(list(ALL), [[("home/.git", "")], [("home/.git", None)]])
@example(list(ALL), [[(f"{ABOVE}.git/info/exclude", "")], [(f"{ABOVE}.gitignore", "dist/\n")], [("alpha.py", "")]])
def test_what_decides_which_files_are_read_is_followed(
    memory: Memory, first: list[Write], edits: list[list[Write]]
) -> None:
    scope = Scope(tenant=memory.scope.tenant, project=uuid4().hex)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "around" / "project"
        root.mkdir(parents=True)
        for path, content in first:
            _put(root, path, content)
        code = code_of(memory, scope)
        code._current.catch_up(root, None)
        for edit in edits:
            hints = {hint for path, content in edit for hint in _put(root, path, content)}
            code._current.catch_up(root, hints)
            found = {file.path: (root / file.path).read_text() for file in discover(root, IndexSettings()).found}
            assert stored(memory, scope) == fresh(found)


def _put(root: Path, path: str, content: str | None) -> set[str]:
    """Change a file; the paths that a watcher tells of."""
    repository = path.partition(".git/")[0] + ".git" if ".git/" in path else None
    was_there = repository is not None and (root / repository).exists()
    if content is not None:
        written(root, {path: content})
    elif repository is not None:
        shutil.rmtree(root / repository, ignore_errors=True)
    else:
        (root / path).unlink(missing_ok=True)
    if path.startswith(ABOVE):
        return set()
    if repository is None:
        return {path}
    came_or_went = was_there is not (root / repository).exists()
    return {*([repository] if came_or_went else ()), *([path] if path.endswith("info/exclude") else ())}
