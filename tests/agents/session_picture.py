"""Records docs/images/session.svg: one session of Claude Code learns, and the next one is given what was learned.

Run it with `make picture`. The sessions are real; only the model is scripted. Ids and dates are replaced, so that the
picture changes only with what it shows.
"""

import io
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.text import Text

from tests.agents.coding_agents import AGENTS
from tests.agents.script import Edit, Read, Run, Say, Step
from tests.agents.scripted_model import ScriptedModel
from tests.agents.shop import FILES, FIX, TEST
from tests.agents.workplace import Workplace

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "session.svg"
WIDTH = 100
GIVEN = "This failure happened before"
FIRST = "The total in prices.py is wrong. Make the test pass."
LATER = "Run the checks of this branch."
ID, DATE = "3f9a1c7e", "2026-03-02"
_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)  # they would be loaded from the network
_MEMORY = re.compile(r"<memory>\n.*?\n</memory>", re.DOTALL)
_RESULT = re.compile(r"^\w*Error: .*$|^OK$", re.MULTILINE)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{4}([0-9a-f]{8})")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


class Recording:
    """A terminal whose lines become a picture."""

    def __init__(self) -> None:
        self._console = Console(record=True, width=WIDTH, force_terminal=True, file=io.StringIO())
        self._record = ""  # the end of the id that the picture replaces

    def command(self, command: str, note: str) -> None:
        line = Text.assemble(("$ ", "bold green"), (command, "bold"), (f"  # {note}", "dim"))
        self._console.print(Padding(line, (1, 0, 0, 0)))

    def output(self, text: str) -> None:
        self._console.print(Text(self._constant(text)))

    def session(self, prompt: str, steps: Sequence[Step], model: ScriptedModel) -> None:
        """A session as its model saw it: each step, its result, and what memory added before it."""
        self._console.print(Text.assemble(("> ", "bold"), prompt))
        results = [*model.tool_results(), ""]
        shown = set[str]()
        for step, request, result in zip(steps, model.requests, results, strict=True):
            for block in (each for each in _memory_blocks(request) if each not in shown):
                shown.add(block)
                text = Text(self._constant(block), style="cyan")
                self._console.print(Panel(text, title="Treering", title_align="left", border_style="cyan"))
            self._step(step, result)

    def _step(self, step: Step, result: str) -> None:
        match step:
            case Say(text):
                self._console.print(Text.assemble(("● ", "green"), self._constant(text)))
            case Read(path) | Edit(path):
                self._console.print(Text.assemble(("● ", "blue"), (type(step).__name__, "bold"), f"({path})"))
            case Run(command):
                self._console.print(Text.assemble(("● ", "blue"), ("Bash", "bold"), f"({command})"))
                [line] = _RESULT.findall(result)
                self._console.print(Text(f"  └  {line}", style="green" if line == "OK" else "red"))

    def _constant(self, text: str) -> str:
        """The text without what differs between two recordings."""
        self._record = next(iter(_UUID.findall(text)), self._record)
        text = _UUID.sub(ID, text)
        return _DATE.sub(DATE, text.replace(self._record, ID) if self._record else text)

    def save(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        picture = self._console.export_svg(title="Claude Code with Treering")
        file.write_text(_FONTS.sub("", picture), "utf-8")


def record(file: Path) -> None:
    with TemporaryDirectory() as folder:
        recording, shop = Recording(), _shop(Path(folder))
        fixed = Say("Tax is a share of the price now, and the receipt shows it. The test passes.")
        steps = (Read("prices.py"), Read("receipt.py"), Run(TEST), *FIX, fixed)
        recording.command("claude", "Monday")
        recording.session(FIRST, steps, shop.session(*steps, prompt=FIRST))
        recording.command("claude", "Tuesday: the same failure on another branch, and the same fix")
        shop.run("git", "checkout", "--quiet", ".")
        shop.session(*steps, prompt=FIRST)
        learned = _learned(shop)
        recording.command(f"treering confirm {ID}", "what the two sessions taught")
        recording.output(shop.treering("confirm", learned).rstrip())
        shop.run("git", "checkout", "--quiet", ".")
        say = f"This failed before, and the fix was in prices.py [Memory #{learned[-8:]}]. I apply it here."
        recording.command("claude", "Wednesday, on a third branch")
        with shop.other_session():
            model = shop.session_given(GIVEN, Run(TEST), Say(say), prompt=LATER)
        recording.session(LATER, (Run(TEST), Say(say)), model)
        recording.save(file)


def _shop(folder: Path) -> Workplace:
    agent = next(each for each in AGENTS if each.name == "claude")
    program = agent.program()
    assert program is not None, "Claude Code is not installed; `make picture` does it"
    shop = Workplace(agent, program, folder / "home", folder / "project")
    shop.set_up(FILES)
    shop.configure("[context]\ncontrol_groups = false\n")
    shop.treering("init", "claude", "--yes")
    return shop


def _learned(shop: Workplace) -> str:
    """Id of the record that the sessions created."""
    sessions = shop.treering_json("sessions")["sessions"]
    found = [shop.treering_json("session", session["id"])["candidates"] for session in sessions]
    [record] = [each["record"] for each in chain(*found) if each["decision"] == "promoted"]
    return str(record)


def _memory_blocks(value: Any) -> Iterator[str]:
    """What hooks have added to a request."""
    if isinstance(value, str):
        yield from _MEMORY.findall(value)
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _memory_blocks(each)


if __name__ == "__main__":
    record(PICTURE)
