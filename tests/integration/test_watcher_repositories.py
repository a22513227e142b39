"""What a watcher tells of git's own files: that a repository came or went, and what a clone ignores; nothing else."""

import threading
from pathlib import Path

from tests.code_projects import written
from treering.adapters.watcher.files import watched

_ENOUGH = 300
"""Times that a watcher told of something, or of nothing, until a test gives up."""


def test_repositories_that_come_and_what_a_clone_ignores_are_told_of(tmp_path: Path) -> None:
    root = written(tmp_path / "project", {".git/info/exclude": "", ".git/index": "", "sub/a.py": ""}).resolve()
    stop = threading.Event()
    told: set[str] = set()
    awaited = {"sub/.git", ".git/info/exclude", "last.py"}
    for number, paths in enumerate(watched(root, 100, stop)):
        if number == 0:
            written(root, {".git/info/exclude": "x\n", ".git/index": "x"})
            written(root, {"sub/.git/HEAD": "ref", "node_modules/x/index.js": ""})
            written(root, {".treering/memory.db-wal": "", "last.py": ""})
        told |= paths
        if told >= awaited or number > _ENOUGH:
            stop.set()
    assert told >= awaited
    assert not {path for path in told if path.endswith(("index", "HEAD", "index.js", "-wal"))}
