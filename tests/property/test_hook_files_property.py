"""Hooks come and go in any file of a client, and nothing else changes."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.property.test_client_files_property import TEXTS, VALUES, commented, formatted, toml_files
from treering.interfaces.client_configs import json_text
from treering.interfaces.client_configs.apply import apply_changes
from treering.interfaces.client_configs.connection import ConfigFile, planned_change
from treering.interfaces.client_configs.hooks import HOOK_SETUPS
from treering.interfaces.client_configs.ledger import Ledger
from treering.interfaces.client_configs.machine import ConfigScope, Machine
from treering.interfaces.client_configs.table import CLIENTS, client_named

COMMANDS = (
    ["/usr/bin/python3", "-I", "/opt/treering/hook_process.py", "agent"],
    ["/home/zoë 'x' $HOME/bin/python", "-I", "-m", "treering.interfaces.hooks", "agent", "--project", '"q" \\'],
)
EVENTS = sorted({event for setup in HOOK_SETUPS.values() for event in setup.events})
HOOKS = st.fixed_dictionaries({"command": TEXTS}, optional={"type": st.just("command"), "timeout": st.integers()})
GROUPS = st.fixed_dictionaries({"hooks": st.lists(HOOKS, max_size=2)}, optional={"matcher": TEXTS})


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A file of settings with hooks of others, or without."""
    names = TEXTS.filter(lambda name: name not in ("hooks", "mcpServers"))
    members = list(draw(st.dictionaries(names, VALUES, max_size=2)).items())
    if draw(st.booleans()):
        hooks = draw(st.dictionaries(st.sampled_from(EVENTS), st.lists(GROUPS | HOOKS, max_size=3), max_size=4))
        members.insert(draw(st.integers(0, len(members))), ("hooks", hooks))
    return dict(members)


@st.composite
def situations(draw: st.DrawFn) -> tuple[str, dict[str, str]]:
    """A client, and the texts of its files that exist before."""
    client = client_named(draw(st.sampled_from([client.name for client in CLIENTS])))
    texts = {}
    for file in client.files(machine(Path("/")), ConfigScope.PROJECT, None, None):
        if draw(st.booleans()):
            is_toml = file.path.suffix == ".toml" and "commands" not in file.path.parts
            is_text = file.path.suffix not in (".json", ".toml") or "commands" in file.path.parts
            text = draw(toml_files() if is_toml else TEXTS if is_text else json_texts())
            texts[str(file.path.relative_to("/shop"))] = text
    return client.name, texts


@st.composite
def json_texts(draw: st.DrawFn) -> str:
    write: Callable[[Any], st.SearchStrategy[str]] = draw(st.sampled_from([formatted, commented]))
    return draw(write(draw(documents())))


def machine(top: Path) -> Machine:
    return Machine(top / "shop", top / "home", {}, "linux")


def run(files: tuple[ConfigFile, ...], ledger: Ledger) -> None:
    apply_changes([planned_change(file, ledger) for file in files], ledger)


def contents(top: Path) -> dict[str, bytes | None]:
    return {str(path.relative_to(top)): path.read_bytes() if path.is_file() else None for path in top.rglob("*")}


@given(situations(), st.lists(st.sampled_from((*COMMANDS, None)), min_size=1, max_size=3))
def test_every_file_is_restored_byte_for_byte(
    drawn: tuple[str, dict[str, str]], commands: list[list[str] | None]
) -> None:
    name, texts = drawn
    client = client_named(name)
    with TemporaryDirectory() as folder:
        here, ledger = machine(Path(folder)), Ledger(Path(folder) / "kept")
        for path, text in texts.items():
            (here.project / path).parent.mkdir(parents=True, exist_ok=True)
            (here.project / path).write_bytes(text.encode())
        before = contents(here.project)
        for command in commands:
            files = client.files(here, ConfigScope.PROJECT, client.entry("treering"), command)
            run(files, ledger)
            written = contents(here.project)
            run(files, ledger)
            assert contents(here.project) == written
        run(client.files(here, ConfigScope.PROJECT, None, None), ledger)
        assert contents(here.project) == before
        assert not any((Path(folder) / "kept").glob("*.json"))


@given(st.sampled_from(sorted(HOOK_SETUPS)), json_texts(), json_texts(), st.booleans())
def test_hooks_of_others_stay_whatever_was_written_since(name: str, text: str, other: str, rewritten: bool) -> None:
    """Another tool adds a hook after ours, in the same array; it may write the whole file again."""
    setup = HOOK_SETUPS[name]
    event = setup.events[-1]
    theirs: dict[str, Any] = {"hooks": [{"command": "theirs"}]} if setup.grouped else {"command": "theirs"}
    with TemporaryDirectory() as folder:
        path, ledger = Path(folder) / "hooks.json", Ledger(Path(folder) / "kept")
        path.write_bytes(text.encode())
        before = json_text.content(text)
        run((ConfigFile(path, setup.parts(COMMANDS[0])),), ledger)
        after = json_text.append(path.read_bytes().decode(), ("hooks", event), theirs)
        path.write_bytes(json.dumps(json_text.content(after)).encode() if rewritten else after.encode())
        run((ConfigFile(path, setup.parts(COMMANDS[1])),), ledger)
        assert [part.found(path.read_bytes().decode()) for part in setup.parts(COMMANDS[1])] == [
            part.wanted for part in setup.parts(COMMANDS[1])
        ]
        run((ConfigFile(path, setup.parts(None)),), ledger)
        left = json_text.content(path.read_bytes().decode())
    expected = json.loads(json.dumps(before))
    expected.setdefault("hooks", {}).setdefault(event, []).append(theirs)
    assert without_empty(left) == without_empty(expected)


def without_empty(content: dict[str, Any]) -> dict[str, Any]:
    return {**content, "hooks": {event: hooks for event, hooks in content["hooks"].items() if hooks}}
