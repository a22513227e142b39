"""A desk that closes takes no more calls, waits for those that work, and does not wait for what is only loaded."""

import logging
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import treering
from treering.compose import now
from treering.core.errors import StoreUnavailable
from treering.interfaces.mcp.desk import Desk
from treering.interfaces.mcp.stdio.logs import log_to_stderr
from treering.memory import Memory


def desk_at(path: Path, **given: object) -> Desk:
    return Desk(lambda: treering.open(path), session="mcp-test", clock=now, **given)  # type: ignore[arg-type]


def test_closing_waits_for_a_call_at_work_and_refuses_the_next(tmp_path: Path) -> None:
    desk = desk_at(tmp_path / "memory.db")
    working, go_on = threading.Event(), threading.Event()
    stored = list[str]()

    def work() -> None:
        with desk.at_work() as call:
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
    with pytest.raises(StoreUnavailable, match="closing"), desk.at_work():
        pass
    assert closing.is_alive()
    go_on.set()
    calling.join()
    closing.join()
    with treering.open(tmp_path / "memory.db") as memory:
        assert memory.get(stored[0]).id == stored[0]


def test_what_is_only_being_loaded_holds_nobody_up() -> None:
    loading, go_on = threading.Event(), threading.Event()

    def load() -> None:
        loading.set()
        go_on.wait()

    def never() -> Memory:
        raise AssertionError("nothing is opened by loading")

    desk = Desk(never, session="mcp-test", clock=now, load=load)
    preparing = threading.Thread(target=desk.prepare)
    preparing.start()
    loading.wait()
    desk.close_if_open()
    assert preparing.is_alive()
    go_on.set()
    preparing.join()


def test_after_loading_ahead_the_first_search_loads_nothing_of_ours(tmp_path: Path) -> None:
    asked = (
        "import sys; from treering import compose; compose.load_ahead(); before = set(sys.modules)\n"
        f"memory = compose.open({str(tmp_path / 'memory.db')!r}, background=False); memory.recall('a word')\n"
        "new = {name for name in sys.modules if name.startswith('treering.')} - before\n"
        "print(sorted(name for name in new if 'migrations' not in name))"
    )
    treering.open(tmp_path / "memory.db").close()
    told = subprocess.check_output([sys.executable, "-c", asked], text=True)
    assert told.strip() == "[]", "add what is missing to treering/compose/loading.py"


def test_no_secret_is_logged(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 4
    monkeypatch.setattr(logging, "root", logging.RootLogger(logging.WARNING))
    monkeypatch.setattr(logging.Logger, "root", logging.root)
    log_to_stderr()
    try:
        raise ValueError(f"cannot read {secret}")
    except ValueError:
        logging.root.exception("given %s", secret)
    logging.root.info("not told")
    told = capsys.readouterr().err
    assert "cannot read [redacted:" in told
    assert secret not in told
    assert "not told" not in told
