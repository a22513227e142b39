"""`treering review`, `trust`, `session --injected`, `pause` and `resume` as people use them, one key at a time."""

import json
import os
import pty
import select
import signal
import time
from pathlib import Path

import pytest

from tests.contract.test_trust import given, learned, sessions
from tests.e2e.terminal import Terminal
from tests.forked_process import ForkedProcess
from treering.compose import open as open_memory
from treering.core.injections import ItemOutcome
from treering.core.taint import Taint

PAGE = Taint(source="https://example.org/page", reason="fetched")


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path, {"TREERING_DB": str(tmp_path / "memory.db"), "TREERING_PROJECT": "p", "NO_COLOR": "1"})


@pytest.fixture(autouse=True)
def recorded(terminal: Terminal) -> None:
    """Three records of session s1 that wait, one of them from outside; two items that it was given."""
    with open_memory(terminal.environment["TREERING_DB"], project="p", background=False) as memory:
        learned(memory, "north")
        learned(memory, "south")
        memory.remember("Run the page's script", id="outside", session="s1", taint=PAGE)
        given(memory, "s1", "west", ItemOutcome.USED)
        given(memory, "s1", "east", ItemOutcome.IGNORED)


class Screen:
    """A pseudo-terminal with a running command: waits for text, then types keys."""

    def __init__(self, terminal: Terminal, *arguments: str) -> None:
        self._keyboard, theirs = pty.openpty()
        self.process: ForkedProcess = terminal.start_process(*arguments, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        self.text = ""
        self._place = 0

    def wait_for(self, text: str) -> None:
        """Read until the text appears after what was waited for before."""
        end = time.monotonic() + 30
        while text not in self.text[self._place :]:
            assert time.monotonic() < end, self.text
            if select.select([self._keyboard], [], [], 0.2)[0]:
                try:
                    self.text += os.read(self._keyboard, 4096).decode()
                except OSError:  # Linux: the other end is closed
                    assert text in self.text[self._place :], self.text
        self._place = self.text.index(text, self._place) + len(text)

    def type(self, keys: str) -> None:
        os.write(self._keyboard, keys.encode())

    def ended(self) -> int:
        code = self.process.wait(60)
        os.close(self._keyboard)
        return code


def state(terminal: Terminal, id: str) -> tuple[bool, bool]:
    found = terminal.json("get", id)
    return found["user_verified"], found["tainted"]


def test_records_are_confirmed_rejected_and_edited_with_one_key_each(terminal: Terminal) -> None:
    screen = Screen(terminal, "review", "s1")
    screen.wait_for("given 2 items of memory, 24 tokens, 1 used")
    screen.wait_for("3 records to review, 1 of them from outside")
    screen.wait_for("[?] help")
    screen.type("?")
    screen.wait_for("correct its text")
    screen.type("\x1b[A")  # the up arrow ends with an A, and decides nothing
    screen.type("r")
    screen.wait_for("rejected; `treering undo south` restores it")
    screen.wait_for("[?] help")
    screen.type("e")
    screen.wait_for("text: ")
    screen.type(" daily\n")
    screen.wait_for("corrected; it is now ")
    screen.wait_for("from outside: https://example.org/page")
    screen.wait_for("[?] help")
    assert "all" not in screen.text.splitlines()[-1]
    screen.type("a\n")  # neither confirms what came from outside
    screen.type("c")
    screen.wait_for("confirmed")
    screen.wait_for("1 confirmed, 1 corrected, 1 rejected")
    assert screen.ended() == 0
    assert state(terminal, "outside") == (True, False)
    assert "no record with id 'south'" in terminal.refused("get", "south")
    [corrected] = terminal.json("search", "north gate opens daily")["hits"][:1]
    assert corrected["text"] == "The north gate opens at high water daily"


def test_enter_confirms_all_from_standard_on_but_not_what_came_from_outside(terminal: Terminal) -> None:
    terminal.ok("trust", "standard")
    screen = Screen(terminal, "review")
    screen.wait_for("Enter: confirm all")
    screen.type("\n")
    screen.wait_for("from outside")
    screen.wait_for("[?] help")
    screen.type("l")
    screen.wait_for("2 confirmed; 1 record left for the next review")
    assert screen.ended() == 0
    assert (state(terminal, "north"), state(terminal, "south")) == ((True, False), (True, False))
    assert state(terminal, "outside") == (False, True)


def test_ctrl_c_keeps_what_was_decided(terminal: Terminal) -> None:
    screen = Screen(terminal, "review", "s1")
    screen.wait_for("[?] help")
    screen.type("c")
    screen.wait_for("confirmed")
    screen.wait_for("[?] help")
    screen.process.send_signal(signal.SIGINT)
    screen.wait_for("1 confirmed; 2 records left for the next review")
    assert screen.ended() == 130
    assert len(terminal.json("review", "s1")["learned"]) == 1


def test_three_rejected_records_of_a_session_offer_a_more_careful_level(terminal: Terminal) -> None:
    with open_memory(terminal.environment["TREERING_DB"], project="p", background=False) as memory:
        learned(memory, "third")
        sessions(memory, 1)
        memory.trust.set("confident")
    screen = Screen(terminal, "review", "s1")
    for _ in range(3):
        screen.wait_for("[?] help")
        screen.type("r")
    screen.wait_for("[?] help")
    screen.type("l")
    screen.wait_for("more careful trust level standard? [y/N]")
    screen.type("y")
    screen.wait_for("the trust level is standard now")
    assert screen.ended() == 0
    assert terminal.json("trust")["level"] == "standard"


def test_without_a_terminal_records_are_listed(terminal: Terminal) -> None:
    shown = terminal.ok("review", "s1")
    assert "1/3  GOTCHA" not in shown
    assert "The south gate opens at high water" in shown
    assert "from outside: https://example.org/page" in shown
    document = terminal.json("review", "s1")
    assert [each["id"] for each in document["learned"]] == ["south", "north"]
    assert [each["id"] for each in document["tainted"]] == ["outside"]
    assert (document["used"], document["tokens"], document["level"]) == (1, 24, "cautious")
    terminal.ok("trust", "autonomous")
    assert terminal.json("review", "s1")["learned"] == []
    assert len(terminal.json("review", "s1", "--all")["learned"]) == 2
    assert "no observed session" in terminal.refused("review", "nothing")
    assert "no session was observed" in terminal.refused("review", "last")


def test_trust_shows_the_evidence_and_the_next_rule(terminal: Terminal) -> None:
    shown = terminal.ok("trust")
    assert "cautious: a review asks about every new record" in shown
    assert "next: standard after 3 sessions" in shown
    assert terminal.json("trust", "standard")["min_confidence"] == 0.65
    assert "use one of cautious, standard" in terminal.refused("trust", "blind")


def test_what_a_session_was_given_is_shown_with_its_cost(terminal: Terminal) -> None:
    shown = terminal.ok("session", "s1", "--injected")
    assert "text of west" in shown
    assert "given 2 items of memory, 24 tokens, 1 used" in shown
    document = terminal.json("session", "s1", "--injected")
    assert (document["tokens"], document["used"]) == (24, 1)
    assert {(each["id"], each["point"], each["outcome"]) for each in document["items"]} == {
        ("west", "start", "used"),
        ("east", "start", "ignored"),
    }


def test_pauses_are_stored_shown_and_ended(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    assert "nothing is paused" in terminal.ok("pause", "--status")
    assert terminal.json("pause", "--for", "2h")["paused"] == {"observe": True, "inject": True}
    terminal.ok("pause", "--session", "s1", "--inject-only")
    found = terminal.json("pause", "--point", "tool", "--point", "step")
    assert (found["sessions"], found["points"]) == ({"s1": "inject"}, ["step", "tool"])
    [file] = (tmp_path / "data" / "hooks").glob("*/pause.json")
    assert json.loads(file.read_text())["points"] == ["step", "tool"]
    assert terminal.json("resume", "--point", "tool")["points"] == ["step"]
    assert "nothing is paused" in terminal.ok("resume")
    assert terminal.json("pause", "--inject-only")["paused"] == {"observe": False, "inject": True}
    assert "such as 30m or 2h" in terminal.refused("pause", "--for", "soon")
    assert "use one of start, prompt, tool, step" in terminal.refused("pause", "--point", "lunch")


def test_a_pause_reaches_the_hooks_of_every_memory_of_the_repository(tmp_path: Path) -> None:
    other = tmp_path / "data" / "hooks" / "0123456789abcdef"
    other.mkdir(parents=True, mode=0o700)
    (other / "target.json").write_text(json.dumps({"root": str(tmp_path.resolve()), "db": "x.db"}))
    Terminal(tmp_path).ok("pause")
    assert json.loads((other / "pause.json").read_text())["observe"] == "forever"


def test_a_short_id_names_a_record_wherever_one_is_named(terminal: Terminal) -> None:
    made = terminal.json("remember", "The pilot boards at buoy seven")["id"]
    short = made[-8:]
    assert terminal.json("get", short)["id"] == made
    for verb in ("confirm", "pin", "flag"):
        assert terminal.json(verb, short)["id"] == made
    assert terminal.json("history", short)["id"] == made
    assert terminal.json("used", short)["used"] == 1
    assert terminal.json("forget", short)["forgotten"] == made
    assert terminal.json("undo", made)["undone"] == made
