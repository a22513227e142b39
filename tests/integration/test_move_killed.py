"""A move that is killed at any step: the memory is whole, where the choice says, and who asks again finishes it."""

import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

import treering
from tests.lengths import at_length
from treering import compose
from treering.compose import keep_in_data_folder, keep_in_project, project_name
from treering.core.records import Knowledge

TEXTS = ("one", "two", "a text that goes to the blobs " * 10_000, "and another that does " * 10_000)
CHANGES = frozenset({"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.chmod", "sqlite3.connect"})
STRIDE = at_length(5, full=1)
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT

Keep = Callable[[Path], Path]


@pytest.fixture
def root(tmp_path: Path, durable: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("DB", "PROJECT", "TENANT", "PRINCIPAL", "BLOBS"):
        monkeypatch.delenv(f"TREERING_{name}", raising=False)
    monkeypatch.setenv("TREERING_DATA_DIR", str(tmp_path / "data"))
    made = tmp_path / "app"
    (made / ".git").mkdir(parents=True)
    monkeypatch.chdir(made)
    return made


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Do the work in a process that is killed before it changes the file system for the nth time; False if it ended."""
    pid = os.fork()
    if not pid:
        changes = count()

        def kill(event: str, given: tuple[object, ...]) -> None:
            opened_to_write = event == "open" and isinstance(given[2], int) and given[2] & WRITING
            if (event in CHANGES or opened_to_write) and next(changes) == step:
                os.kill(os.getpid(), signal.SIGKILL)

        status = 1
        try:
            sys.addaudithook(kill)
            work()
            status = 0
        finally:
            os._exit(status)
    _, told = os.waitpid(pid, 0)
    if os.WIFSIGNALED(told):
        assert os.WTERMSIG(told) == signal.SIGKILL
        return True
    assert os.waitstatus_to_exitcode(told) == 0
    return False


def held() -> list[str]:
    with treering.open(background=False) as memory, memory.store.reading(memory.scope, compose.now()) as tx:
        records: list[Knowledge] = list(tx.knowledge.stream())
    return sorted(record.content for record in records)


def what_is_at(file: Path) -> list[str]:
    found = file.parent.iterdir() if file.parent.is_dir() else ()
    return [path.name for path in found if not path.name.startswith(("place.json", ".gitignore"))]


@pytest.mark.parametrize("keep", [keep_in_project, keep_in_data_folder])
def test_whenever_a_move_is_killed_the_memory_is_whole_and_found(root: Path, keep: Keep, tmp_path: Path) -> None:
    places: dict[Keep, Path] = {
        keep_in_project: root / ".treering" / "memory.db",
        keep_in_data_folder: tmp_path / "data" / project_name(root) / "memory.db",
    }
    (back,) = (verb for verb in places if verb is not keep)
    back(root)
    with treering.open(background=False) as memory:
        for text in TEXTS:
            memory.remember(text)

    found_at = set()
    for number, step in enumerate(count(step=STRIDE)):
        killed = killed_at(step, lambda: keep(root))
        found_at.add(compose.embedded_path())
        assert held() == sorted(TEXTS), f"killed at change {step}"
        # Whoever asks again goes on; whoever has changed his mind goes back. Either way one copy is left.
        asked = (keep, back)[number % 2]
        assert asked(root) == compose.embedded_path() == places[asked]
        assert held() == sorted(TEXTS), f"asked again after change {step}"
        assert what_is_at(places[keep if asked is back else back]) == [], f"asked again after change {step}"
        back(root)
        if not killed:
            break
    assert found_at == {*places.values()}
    assert step > 20
