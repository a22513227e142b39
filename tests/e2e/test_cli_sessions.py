"""`treering observe`, `sessions` and `session` as people use them, on small transcripts written here."""

import signal
import time
from collections.abc import Iterable
from pathlib import Path
from uuid import uuid4

import pytest

from tests.e2e.terminal import Terminal
from tests.observed import RULE, failing
from tests.session_events import ROOT
from tests.transcripts import write_lines

HOSTILE = "wipe \x1b[2J\x1b]0;owned\x07 the screen"


def recorded(folder: Path, names: Iterable[str] = ("s1", "s2", "s3"), *, prompt: str = RULE) -> Path:
    """Event files of sessions with the same failing test, a day apart each."""
    for number, name in enumerate(names, 1):
        events = failing().prompt(prompt).events
        day = f"2026-03-{number:02}T09:"
        lines = [{**each, "session": name, "at": str(each["at"]).replace("2026-03-02T09:", day)} for each in events]
        write_lines(folder / f"{name}.jsonl", lines)
    return folder


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, {"TREERING_DB": str(tmp_path / "memory.db"), "TREERING_PROJECT": "p", "COLUMNS": "80"})


@pytest.fixture
def terminal_on(tmp_path: Path, engine: str, request: pytest.FixtureRequest) -> Terminal:
    place = str(tmp_path / "memory.db") if engine == "sqlite" else request.getfixturevalue("postgres_url")
    tenant = f"t-{uuid4().hex[:12]}"
    return Terminal(tmp_path, {"TREERING_DB": place, "TREERING_TENANT": tenant, "TREERING_PROJECT": "p"})


def test_sessions_are_observed_listed_and_explained(terminal_on: Terminal, tmp_path: Path) -> None:
    folder = recorded(tmp_path / "recorded")
    done = terminal_on.json("observe", str(folder), "--root", ROOT)
    assert (done["sessions"], done["known"], done["promoted"], done["broken"]) == (3, 0, 2, 0)
    assert done["events"] == 3 * len(failing().prompt(RULE).events)
    again = terminal_on.json("observe", str(folder), "--root", ROOT)
    assert (again["sessions"], again["known"], again["promoted"], again["reinforced"]) == (3, 3, 0, 0)

    listed = terminal_on.json("sessions")["sessions"]
    assert [each["id"] for each in listed] == ["s3", "s2", "s1"]
    assert [each["decisions"]["promoted"] for each in listed] == [0, 1, 1]
    assert len(terminal_on.json("sessions", "--limit", "1")["sessions"]) == 1
    assert terminal_on.json("sessions", "--type", "terminal")["sessions"] == []
    assert [each["id"] for each in terminal_on.json("sessions", "--since", "2026-03-03")["sessions"]] == ["s3"]

    first = terminal_on.json("session", "s1", "--why")
    rejected = [each for each in first["candidates"] if each["decision"] == "rejected"]
    assert [(each["gate"], each["signal"]) for each in rejected] == [("frequency", "error_retry")]
    assert first["prompts"] == [RULE]
    shown = terminal_on.ok("session", "s2")
    assert "promoted error_retry" in shown
    assert "edited tides/tide.go" in shown


def test_a_narrow_terminal_shows_the_whole_id_of_a_session(terminal: Terminal, tmp_path: Path) -> None:
    """`treering session` needs it; the first prompt is cut instead."""
    id = "0d4e1c0a-6f0c-4d8e-9a51-2d2b1f6f7c55"
    terminal.ok("observe", str(recorded(tmp_path / "recorded", [id])), "--root", ROOT)
    shown = terminal.ok("sessions")
    assert id in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


def test_why_shows_the_gate_and_the_reason(terminal: Terminal, tmp_path: Path) -> None:
    terminal.ok("observe", str(recorded(tmp_path / "recorded", ["s1"])), "--root", ROOT)
    brief, whole = terminal.ok("session", "s1"), terminal.ok("session", "s1", "--why")
    assert "rejected; --why shows them" in brief
    assert "rejected at frequency error_retry" in whole
    assert "seen in 1 of 2 sessions" in whole


def test_bad_input_is_refused_or_reported(terminal: Terminal, tmp_path: Path) -> None:
    assert terminal.refused("observe", "nowhere.jsonl") == (
        "nowhere.jsonl does not exist; pass a transcript or a folder of transcripts"
    )
    assert "no observed session with id 'nothing'" in terminal.refused("session", "nothing")
    assert "type" in terminal.refused("sessions", "--type", "holiday")
    terminal.refused("sessions", "--since", "the other day")
    assert "no observed sessions" in terminal.ok("sessions")
    broken = tmp_path / "broken"
    recorded(broken, ["s1"])
    with (broken / "s1.jsonl").open("a") as file:
        file.write('{"kind": "prompt", \n{"kind": "volcano", "session": "s1"}\n[]\n\x00\n')
    (broken / "notes.txt").write_text("not a transcript")
    (broken / "empty.jsonl").touch()
    (broken / "picture.jsonl").write_bytes(bytes(range(256)) * 10)
    done = terminal.json("observe", str(broken), "--root", ROOT)
    assert (done["sessions"], done["promoted"]) == (1, 1)
    assert done["broken"] > 0
    assert "left out" in terminal.ok("observe", str(broken), "--root", ROOT)


def test_an_unreadable_file_is_reported(terminal: Terminal, tmp_path: Path) -> None:
    folder = recorded(tmp_path / "recorded", ["s1", "s2"])
    (folder / "s2.jsonl").unlink()
    (folder / "s2.jsonl").symlink_to(folder / "gone.jsonl")
    done = terminal.json("observe", str(folder), "--root", ROOT)
    assert done["sessions"] == 1


def test_a_read_only_database_is_refused_and_can_be_read(terminal: Terminal, tmp_path: Path) -> None:
    folder = recorded(tmp_path / "recorded", ["s1"])
    terminal.ok("observe", str(folder), "--root", ROOT)
    more = recorded(tmp_path / "more", ["t1"])
    terminal.environment["TREERING_DB"] = f"sqlite:///{tmp_path / 'memory.db'}?mode=ro"
    assert "read-only" in terminal.refused("observe", str(more), "--root", ROOT)
    assert [each["id"] for each in terminal.json("sessions")["sessions"]] == ["s1"]
    assert terminal.json("session", "s1")["prompts"] == [RULE]


def test_text_that_drives_a_terminal_is_made_harmless(terminal: Terminal, tmp_path: Path) -> None:
    terminal.ok("observe", str(recorded(tmp_path / "recorded", ["s1"], prompt=HOSTILE)), "--root", ROOT)
    for arguments in (("sessions",), ("session", "s1", "--why")):
        shown = terminal.ok(*arguments)
        assert "\x1b" not in shown
        assert "\x07" not in shown
        assert max(map(len, shown.splitlines())) <= 80


def test_ctrl_c_stops_between_sessions_and_the_next_call_goes_on(terminal: Terminal, tmp_path: Path) -> None:
    names = [f"s{number:02}" for number in range(1, 29)]
    folder = recorded(tmp_path / "recorded", names)
    terminal.ok("sessions")
    with terminal.start_process("observe", str(folder), "--root", ROOT, "--json", text=True) as process:
        deadline = time.monotonic() + 60
        while len(terminal.json("sessions", "--limit", "100")["sessions"]) < 2:
            assert time.monotonic() < deadline
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)
    assert "Traceback" not in complaint
    before = terminal.json("sessions", "--limit", "100")["sessions"]
    assert all(each["finished_at"] for each in before)
    done = terminal.json("observe", str(folder), "--root", ROOT)
    assert done["known"] == len(before)
    assert done["sessions"] == len(names)
    after = {each["id"] for each in terminal.json("sessions", "--limit", "100")["sessions"]}
    assert after == set(names)
