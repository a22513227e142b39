"""`treering conversation` as people use it; --watch is a process, on a real pseudo-terminal."""

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

import pytest

import treering
from tests.e2e.terminal import Terminal
from tests.forked_process import ForkedProcess
from treering.compose import now
from treering.memory import Memory

PATIENCE = 30.0
HOSTILE = "wipe \x1b[2J\x1b]0;owned\x07 \u202ethe screen"


def hold(memory: Memory) -> None:
    """Two tasks with gpt-4o in a small window, some of the first removed, and a rule that is pinned."""
    talk = memory.conversation("c1", model="gpt-4o", limit=1000, keep_recent=4)
    talk.add("system", "You are a careful coder.", id="system")
    talk.add("user", "Never touch the production database.", id="rule")
    for number in range(12):
        talk.add("user", f"Please read module_{number}.py and tell me what it does, in some detail.", id=f"u{number}")
        talk.add("assistant", f"module_{number}.py parses orders. {'It is rather long. ' * 10}", id=f"a{number}")
    talk.pin("rule")
    talk.build()
    talk.add("user", HOSTILE, id="hostile")


@pytest.fixture(scope="session")
def held_memory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A conversation, made once and copied for each test."""
    path = tmp_path_factory.mktemp("held") / "memory.db"
    with treering.open(path, project="p") as memory:
        hold(memory)
        memory.turn(session="spoken", role="user", text="hello")
    return path


@pytest.fixture
def terminal(tmp_path: Path, held_memory: Path) -> Terminal:
    place = str(shutil.copy(held_memory, tmp_path / held_memory.name))
    return Terminal(tmp_path, {"TREERING_DB": place, "TREERING_PROJECT": "p", "COLUMNS": "80"})


@pytest.fixture
def terminal_on(tmp_path: Path, engine: str, request: pytest.FixtureRequest) -> Terminal:
    """A terminal on the engine of this test, with the conversation."""
    place = str(tmp_path / "new.db") if engine == "sqlite" else request.getfixturevalue("postgres_url")
    tenant = f"t-{uuid4().hex[:12]}"
    with treering.open(place, project="p", tenant=tenant, blobs=tmp_path / "blobs") as memory:
        hold(memory)
    return Terminal(tmp_path, {"TREERING_DB": place, "TREERING_TENANT": tenant, "TREERING_PROJECT": "p"})


def stored(terminal: Terminal) -> tuple[object, ...]:
    """The session with its window, and how much there is of what a write would leave."""
    with (
        treering.open(terminal.environment["TREERING_DB"], project="p") as memory,
        memory.store.reading(memory.scope, now()) as tx,
    ):
        return tx.sessions.get("c1"), tx.sessions.count(), tx.turns.count(), tx.audit.count(), tx.jobs.count()


def say(terminal: Terminal, text: str) -> None:
    """Another process adds a message."""
    terminal.ok("turn", text, "--session", "c1")


def test_a_window_is_drawn_pruned_searched_and_cleared(terminal_on: Terminal) -> None:
    before = terminal_on.json("conversation", "c1")["stats"]
    assert 0 < before["removed"] < before["messages"]
    assert before["percent"] == pytest.approx(100 * before["tokens"] / 1000, abs=0.01)
    assert "c1  gpt-4o, hybrid" in terminal_on.ok("conversation", "c1")

    pruned = terminal_on.json("conversation", "c1", "--prune")
    assert pruned["did"]["action"] == "prune"
    assert pruned["stats"]["removed"] == before["removed"] + pruned["did"]["left"]
    assert terminal_on.json("conversation", "c1", "--prune")["did"]["left"] == 0

    found = terminal_on.json("conversation", "c1", "--search", "module_0.py")
    assert found["query"] == "module_0.py"
    assert {"u0", "a0"} & {each["id"] for each in found["found"]}

    cleared = terminal_on.json("conversation", "c1", "--clear", "--yes")
    assert [line["id"] for line in cleared["lines"] if line["in_context"]] == ["system", "rule"]
    assert cleared["stats"]["messages"] == before["messages"]


def test_the_picture_says_what_is_in_what_left_and_why(terminal: Terminal) -> None:
    shown = terminal.ok("conversation", "c1")
    stats = terminal.json("conversation", "c1")["stats"]

    assert re.search(
        rf"^[█▏▎▍▌▋▊▉·]+\|[█▏▎▍▌▋▊▉·]*\n\d+ % of 1,000 tokens: {stats['tokens']} in the window", shown, re.M
    )
    assert f"{stats['in_context']} messages in the window, {stats['removed']} removed" in shown
    assert re.search(r"system \d+, user \d+, assistant \d+, markers \d+", shown)
    assert re.search(r"  1 = system .* 1\.00 system prompt +You are a careful .* system$", shown, re.M)
    assert re.search(r"  2 \* user .*\+directive.* Never touch .* rule$", shown, re.M)
    assert re.search(r"… \d+ messages, [\d,]+ tokens removed \d{4}-\d\d-\d\d \d\d:\d\dZ: window", shown)
    assert "Asked: " in shown
    assert "* pinned  = protected" in shown


def test_all_names_every_message_and_why_it_left(terminal: Terminal) -> None:
    shown = terminal.ok("conversation", "c1", "--all")
    document = terminal.json("conversation", "c1")
    for line in document["lines"]:
        assert f"Z {line['id']}\n" in shown
    assert shown.count("removed: window") == document["stats"]["removed"]
    assert "directive: " in shown


@pytest.mark.parametrize("arguments", [(), ("--all",), ("--search", "module")])
def test_it_fits_eighty_columns_with_nothing_at_the_ends_of_lines(
    terminal: Terminal, arguments: tuple[str, ...]
) -> None:
    lines = terminal.ok("conversation", "c1", *arguments).splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line != line.rstrip()] == []
    assert "\x1b" not in "".join(lines)


def test_text_that_drives_a_terminal_is_made_harmless(terminal: Terminal) -> None:
    for arguments in ((), ("--all",)):
        shown = terminal.ok("conversation", "c1", *arguments)
        assert "wipe ␛[2J" in shown
        assert not set(shown) & set("\x1b\x07\u202e")


def test_json_is_one_document_with_every_message(terminal: Terminal) -> None:
    document = terminal.json("conversation", "c1")
    assert list(document) == ["did", "stats", "lines", "segments"]
    assert document["did"] is None
    assert document["stats"]["rules"]["model"] == "gpt-4o"
    assert [line["place"] for line in document["lines"]] == list(range(document["stats"]["messages"]))
    assert document["segments"][0] == {"first": 0, "opened": "the conversation begins", "ended": ""}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", document["stats"]["last_removal"])
    removed = [line for line in document["lines"] if not line["in_context"]]
    assert all(line["why"] for line in removed)


def test_drawing_writes_nothing(terminal: Terminal) -> None:
    before = stored(terminal)
    for arguments in (("--all",), ("--limit", "500")):
        terminal.ok("conversation", "c1", *arguments)
    assert stored(terminal) == before


def test_a_message_is_pinned_by_the_end_of_its_id(terminal: Terminal) -> None:
    say(terminal, "one more")
    id = terminal.json("conversation", "c1")["lines"][-1]["id"]
    drawn_id = terminal.ok("conversation", "c1").splitlines()[-2].split()[-1]
    assert drawn_id == f"…{id[-7:]}"

    assert f"✓ pinned {id}" in terminal.ok("conversation", "c1", "--pin", drawn_id)
    unpinned = terminal.json("conversation", "c1", "--unpin", id[-7:])
    assert unpinned["did"] == {"action": "unpin", "left": 0, "id": id}
    assert unpinned["lines"][-1]["pinned"] is False

    dull = terminal.json("conversation", "c1", "--unimportant", id)
    assert dull["lines"][-1]["importance"]["score"] == 0
    back = terminal.json("conversation", "c1", "--pin", "u0")["lines"]
    assert [line["in_context"] for line in back if line["id"] == "u0"] == [True]
    assert "no message 'zzz' in conversation 'c1'" in terminal.refused("conversation", "c1", "--pin", "zzz")
    assert "end in '1'; type more" in terminal.refused("conversation", "c1", "--pin", "1")


def test_clear_asks_for_confirmation_on_a_terminal(terminal: Terminal) -> None:
    assert "stdin is not a terminal to confirm it; pass --yes" in terminal.refused("conversation", "c1", "--clear")
    asked = terminal.answered("n\n", "conversation", "c1", "--clear")
    assert asked.stdout.endswith("pinned messages? [y/N]: ")
    assert (asked.returncode, asked.stderr) == (1, "error: not confirmed; nothing was cleared\n")
    assert terminal.json("conversation", "c1")["stats"]["in_context"] > 2
    assert "messages removed from the window" in terminal.ok("conversation", "c1", "--clear", "--yes")


def test_an_unknown_conversation_is_not_begun(terminal: Terminal) -> None:
    before = stored(terminal)
    told = terminal.refused("conversation", "nope")
    assert told == "no conversation 'nope' in project 'p'; the latest are 'spoken', 'c1'"
    assert "none is stored yet" in terminal.refused("conversation", "nope", "--model", "gpt-4o", "--project", "empty")
    assert terminal.refused("conversation", "nope", "--prune") == told
    assert json.loads(terminal.run("conversation", "nope", "--json").stderr)["kind"] == "NotFound"
    assert stored(terminal) == before


def test_a_session_without_a_model_needs_one_to_be_drawn(terminal: Terminal) -> None:
    assert "pass a model (such as 'gpt-4o'), or a limit in tokens" in terminal.refused("conversation", "spoken")
    assert "spoken  gpt-4o" in terminal.ok("conversation", "spoken", "--model", "gpt-4o")
    assert "% of 500 tokens" in terminal.ok("conversation", "spoken", "--limit", "500")
    assert "pass a model" in terminal.refused("conversation", "spoken")


def test_options_that_contradict_each_other_are_refused(terminal: Terminal) -> None:
    assert "--prune and --clear cannot be combined" in terminal.refused("conversation", "c1", "--clear", "--prune")
    assert "add --watch" in terminal.refused("conversation", "c1", "--every", "2")
    assert "limit" in terminal.refused("conversation", "c1", "--limit", "0")


def test_nothing_found_is_said(terminal: Terminal) -> None:
    terminal.ok("turn", "hi", "--session", "fresh")
    shown = terminal.ok("conversation", "fresh", "--model", "gpt-4o", "--search", "zebra")
    assert shown == "no removed message matches 'zebra'\n"


@dataclass
class Screen:
    """A process on a pseudo-terminal of 24 lines and 80 columns."""

    process: ForkedProcess
    line: int
    seen: str = ""
    _bytes: bytearray = field(default_factory=bytearray)

    def until(self, text: str) -> None:
        """Wait until the text was written."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.seen:
            assert time.monotonic() < deadline, f"{text!r} did not appear in {self.seen!r}"
            self._read(0.1)

    def ended(self) -> int | None:
        """The exit code, with everything read that was written before."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"still running: {self.seen!r}"
            self._read(0.1)
        while self._read(0.1):
            pass
        return self.process.returncode

    def _read(self, wait: float) -> bool:
        if not select.select([self.line], [], [], wait)[0]:
            return False
        try:
            more = os.read(self.line, 65536)
        except OSError:
            return False
        self._bytes += more
        self.seen = self._bytes.decode(errors="ignore")
        return bool(more)


@contextmanager
def on_screen(terminal: Terminal, *arguments: str) -> Iterator[Screen]:
    line, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = terminal.variables({"TERM": "xterm-256color"})
    for fixed in ("COLUMNS", "LINES", "NO_COLOR"):
        environment.pop(fixed, None)
    process = terminal.start_process(
        *arguments, env=environment, stdin=end, stdout=end, stderr=end, start_new_session=True
    )
    os.close(end)
    try:
        yield Screen(process, line)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(line)


def test_watching_shows_what_another_process_says_until_interrupted(terminal: Terminal) -> None:
    with on_screen(terminal, "conversation", "c1", "--watch", "--every", "0.2") as screen:
        screen.until("tokens: ")
        screen.until("= protected")
        settings = termios.tcgetattr(screen.line)
        say(terminal, "said elsewhere")
        screen.until("said elsewhere")
        pictures = screen.seen.count("c1\x1b[0m")
        time.sleep(1)
        screen._read(0.1)
        assert screen.seen.count("c1\x1b[0m") == pictures
        screen.process.send_signal(signal.SIGINT)
        assert screen.ended() == 130
        assert termios.tcgetattr(screen.line) == settings
    assert screen.seen.rfind("\x1b[?25h") > screen.seen.rfind("\x1b[?25l")
    assert "\x1b[?1049h" not in screen.seen
    assert "Traceback" not in screen.seen


def test_a_watcher_that_is_killed_leaves_the_cursor_visible(terminal: Terminal) -> None:
    with on_screen(terminal, "conversation", "c1", "--watch") as screen:
        screen.until("= protected")
        screen.process.kill()
        screen.ended()
    assert screen.seen.rfind("\x1b[?25h") > screen.seen.rfind("\x1b[?25l")


def test_watching_sees_a_pin_which_changes_no_number(terminal: Terminal) -> None:
    say(terminal, "hold on to this")
    with on_screen(terminal, "conversation", "c1", "--watch", "--every", "0.2") as screen:
        screen.until("hold on")
        last = terminal.json("conversation", "c1")["lines"][-1]["id"]
        before = len(screen.seen)
        terminal.ok("conversation", "c1", "--pin", last)
        deadline = time.monotonic() + PATIENCE
        while not re.search(r"\* .*user.*hold on", screen.seen[before:]):
            assert time.monotonic() < deadline, screen.seen[before:]
            screen._read(0.1)


@pytest.mark.parametrize("as_json", [True, False])
def test_watching_into_a_pipe_writes_one_picture_for_each_change(terminal: Terminal, as_json: bool) -> None:
    process = terminal.start_process(
        "conversation", "c1", "--watch", "--every", "0.2", *(["--json"] if as_json else [])
    )
    try:
        shown = process.stdout.readline()
        say(terminal, "said elsewhere")
        while b"said elsewhere" not in shown:
            assert process.poll() is None
            shown += process.stdout.readline()
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        rest, complaints = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, complaints) == (130, b"")
    if as_json:
        counted = [json.loads(line)["stats"]["messages"] for line in (shown + rest).splitlines()]
        assert counted == [counted[0], counted[0] + 1]
    else:
        assert (shown + rest).decode().count("c1  gpt-4o") == 2
