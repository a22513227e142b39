"""Watching goes on through what passes, ever more seldom, and says so once."""

from collections.abc import Collection, Iterator
from pathlib import Path
from threading import Event

import pytest

from treering.adapters.watcher import files
from treering.code.live.file_watch import follow
from treering.core.errors import Conflict, FolderUnavailable, InvalidInput, StoreUnavailable, TreeringError
from treering.ports.watcher import EVERYTHING

QUIET_MS = 1_000


class Told:
    """What comes of a watcher that tells these changes, one a second."""

    def __init__(self, changes: list[set[str]], fails: dict[int, TreeringError]) -> None:
        self.second = 0
        self.read_at: list[tuple[int, Collection[str] | None]] = []
        self.trouble: list[str] = []
        self.heard: set[str] = set()
        self._changes, self._fails = changes, fails
        follow(
            Path(),
            self._watcher,
            Event(),
            QUIET_MS,
            changed=self.heard.update,
            read=self._read,
            trouble=lambda why: self.trouble.append(str(why)),
            now=lambda: float(self.second),
        )

    def _watcher(self, root: Path, quiet_ms: int, stop: Event) -> Iterator[frozenset[str]]:
        for second, paths in enumerate(self._changes):
            self.second = second
            yield frozenset(paths)

    def _read(self, hints: Collection[str] | None) -> bool:
        self.read_at.append((self.second, hints))
        failure = self._fails.get(self.second)
        if failure is not None:
            raise failure
        return True


def test_everything_is_read_once_and_then_reported_paths() -> None:
    told = Told([set(), {"a.py"}, set(), set()], {})
    assert told.read_at == [(0, None), (2, {"a.py"})]
    assert told.heard == {"a.py"}


@pytest.mark.parametrize("error", [Conflict, StoreUnavailable, FolderUnavailable])
def test_temporary_errors_are_retried_with_growing_pauses_and_reported_once(error: type[TreeringError]) -> None:
    told = Told([set()] * 20, {second: error("not now") for second in range(8)})
    assert told.read_at == [(0, None), (1, None), (3, None), (7, None), (15, None)]
    assert told.trouble == ["not now"]


def test_a_recurring_error_is_reported_again() -> None:
    told = Told([set(), set(), {"a.py"}, set(), set()], {0: Conflict("now"), 3: Conflict("again")})
    assert told.trouble == ["now", "again"]
    assert told.read_at[-1] == (4, None)


def test_changes_during_a_pause_are_marked_at_once() -> None:
    told = Told([set(), set(), {"a.py"}], {0: Conflict("not now"), 1: Conflict("not now")})
    assert told.heard == {"a.py"}


def test_permanent_errors_end_the_watch() -> None:
    with pytest.raises(InvalidInput, match="another folder"):
        Told([set()], {0: InvalidInput("another folder is indexed")})


def test_everything_is_read_again_when_the_root_is_another() -> None:
    told = Told([set(), {"a.py", EVERYTHING}, set()], {})
    assert told.read_at == [(0, None), (2, None)]


def test_a_folder_that_was_gone_is_watched_again(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    stop = Event()
    seen = files.watched(root, 100, stop)
    assert next(seen) == frozenset()
    root.rmdir()
    assert all(EVERYTHING not in next(seen) for _ in range(3))
    root.mkdir()
    assert any(EVERYTHING in next(seen) for _ in range(100))
    (root / "new.py").write_text("")
    assert any("new.py" in next(seen) for _ in range(100))
    stop.set()
    assert list(seen) == []


def test_a_system_limit_is_reported_with_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_given: object, **_options: object) -> Iterator[set[object]]:
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr(files, "watch", full)
    with pytest.raises(FolderUnavailable, match=r"limit reached.*max_user_watches"):
        next(files.watched(tmp_path, 100, Event()))
