"""A desk that closes takes no more calls, waits for those that work, and does not wait for what is only loaded."""

import logging
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest

import treering
from tests.leftovers import files_left
from treering.compose import now
from treering.core.errors import StoreError, StoreUnavailable
from treering.interfaces.mcp.host import MemoryHost
from treering.interfaces.servers import shutdown as leaving
from treering.interfaces.servers.logs import QueuedLogHandler, log_to_stderr
from treering.memory import Memory

PATIENCE = 60


def desk_at(path: Path, **given: object) -> MemoryHost:
    return MemoryHost(lambda: treering.open(path), session="mcp-test", clock=now, **given)  # type: ignore[arg-type]


def test_closing_waits_for_a_call_at_work_and_refuses_the_next(tmp_path: Path) -> None:
    desk = desk_at(tmp_path / "memory.db", call_seconds=PATIENCE)
    working, go_on = threading.Event(), threading.Event()
    stored = list[str]()

    def work() -> None:
        with desk.call() as call:
            working.set()
            go_on.wait()
            stored.append(call.memory.remember("The gate is green.").id)

    calling = threading.Thread(target=work)
    calling.start()
    working.wait()
    closing = threading.Thread(target=desk.close)
    closing.start()
    while not desk._closed:
        closing.join(0.01)
    with pytest.raises(StoreUnavailable, match="closing"), desk.call():
        pass
    assert closing.is_alive()
    go_on.set()
    calling.join()
    closing.join()
    with treering.open(tmp_path / "memory.db") as memory:
        assert memory.get(stored[0]).id == stored[0]


def test_closing_waits_for_a_memory_that_is_being_opened_and_closes_it(tmp_path: Path) -> None:
    opening, go_on = threading.Event(), threading.Event()
    opened = list[Memory]()

    def open_memory() -> Memory:
        opening.set()
        go_on.wait()
        opened.append(treering.open(tmp_path / "memory.db"))
        return opened[0]

    desk = MemoryHost(open_memory, session="mcp-test", clock=now, call_seconds=0)
    with ThreadPoolExecutor(2) as both:
        calling = both.submit(lambda: desk.memory)
        opening.wait()
        closing = both.submit(desk.close_if_open)
        assert wait([closing], 0.2).not_done
        go_on.set()
    closing.result()
    with pytest.raises(StoreUnavailable, match="closing"):
        calling.result()
    with pytest.raises(StoreError, match="is closed"):
        opened[0].stats()
    assert files_left(tmp_path) == []


def test_whoever_closes_a_desk_that_never_opened_anything_keeps_it_from_opening(tmp_path: Path) -> None:
    desk = desk_at(tmp_path / "memory.db")
    desk.close_if_open()
    with pytest.raises(StoreUnavailable, match="closing"), desk.call():
        pass
    assert list(tmp_path.iterdir()) == []


def test_the_parts_of_closing_fit_into_the_whole() -> None:
    assert leaving.CALL_SECONDS + leaving.JOB_SECONDS < leaving.CLOSE_SECONDS


def test_what_is_only_being_loaded_holds_nobody_up() -> None:
    loading, go_on = threading.Event(), threading.Event()

    def load() -> None:
        loading.set()
        go_on.wait()

    def never() -> Memory:
        raise AssertionError("nothing is opened by loading")

    desk = MemoryHost(never, session="mcp-test", clock=now, load=load)
    preparing = threading.Thread(target=desk.prepare)
    preparing.start()
    loading.wait()
    desk.close_if_open()
    assert preparing.is_alive()
    go_on.set()
    preparing.join()


def test_after_loading_ahead_the_first_search_loads_nothing_of_ours(tmp_path: Path) -> None:
    asked = (
        "import sys; from treering import compose; compose.preload_modules(); before = set(sys.modules)\n"
        f"memory = compose.open({str(tmp_path / 'memory.db')!r}, background=False); memory.search('a word')\n"
        "new = {name for name in sys.modules if name.startswith('treering.')} - before\n"
        "print(sorted(name for name in new if 'migrations' not in name))"
    )
    treering.open(tmp_path / "memory.db").close()
    told = subprocess.check_output([sys.executable, "-c", asked], text=True)
    assert told.strip() == "[]", "add what is missing to treering/compose/preload.py"


def test_no_secret_is_logged(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    monkeypatch.setattr(logging, "root", logging.RootLogger(logging.WARNING))
    monkeypatch.setattr(logging.Logger, "root", logging.root)
    log = log_to_stderr()
    try:
        raise ValueError(f"cannot read {secret}")
    except ValueError:
        logging.root.exception("given %s", secret)
    logging.root.info("not told")
    log.flush()
    told = capsys.readouterr().err
    assert "cannot read [redacted:" in told
    assert secret not in told
    assert "not told" not in told


def test_nobody_waits_for_whoever_does_not_read_the_log() -> None:
    read, go_on = list[str](), threading.Event()
    written = threading.Event()

    def write(text: str) -> None:
        go_on.wait()
        read.append(text)
        if "dropped" in text:
            written.set()

    handler = QueuedLogHandler(write, max_lines=2)
    for number in range(50):
        handler.emit(logging.LogRecord("", logging.WARNING, "", 0, f"line {number}", None, None))
    handler.flush()
    assert read == []
    go_on.set()
    assert written.wait(PATIENCE)
    assert read[0] == "line 0\n"
    told = int(read[1].split()[1])
    assert told in (47, 48), "one may have been taken before the rest came"


def test_a_log_that_cannot_be_written_ends_nothing() -> None:
    tried = list[str]()

    def write(text: str) -> None:
        tried.append(text)
        raise BrokenPipeError

    handler = QueuedLogHandler(write)
    for text in ("one", "two"):
        handler.emit(logging.LogRecord("", logging.WARNING, "", 0, text, None, None))
        handler.flush()
    assert "one\n" in tried
    assert "two\n" in tried
