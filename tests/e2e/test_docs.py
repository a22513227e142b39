"""Documentation that is tested: what exists is in the reference, what is shown runs, what is linked is there."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import treering
from tests.e2e.snippets import ROOT, Reader, blocks_of
from treering.archive.portable import PARTS
from treering.code.api import Code
from treering.core.errors import TreeringError
from treering.core.patterns import Application, Evidence, Pattern
from treering.core.payloads import knowledge_types
from treering.core.queries import KnowledgeFilter, PatternFilter, TurnFilter
from treering.core.records import Knowledge
from treering.core.settings import Settings
from treering.core.turns import Turn
from treering.core.values import Value
from treering.interfaces.cli.app import COMMANDS, app
from treering.interfaces.cli.patterns.commands import VERBS as PATTERN_VERBS
from treering.interfaces.mcp.prompts import PROMPTS
from treering.interfaces.mcp.resources import RESOURCES
from treering.interfaces.mcp.tool import Tool
from treering.interfaces.mcp.tools import TOOLS
from treering.memory import Memory
from treering.patterns.api import Patterns

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
RUNNABLE = [page for page in PAGES if blocks_of(page)]


def reference(name: str) -> str:
    return (DOCS / "reference" / f"{name}.md").read_text()


def undocumented(names: Iterator[str] | list[str], page: str) -> list[str]:
    """Those that do not stand in backticks, alone or at the head of a call."""
    text = reference(page)
    return [name for name in names if not re.search(rf"`(?:treering )?{re.escape(name)}(?![\w-])", text)]


@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: str(page.relative_to(DOCS)))
def test_what_a_page_shows_does_what_it_says(page: Path, tmp_path: Path, postgres_url: str) -> None:
    Reader(tmp_path, postgres_url).follow(page)


def test_every_command_is_documented() -> None:
    commands = [command.name for command in COMMANDS]
    commands += [f"patterns {verb.__name__.rstrip('_')}" for _, verbs in PATTERN_VERBS for verb in verbs]
    assert undocumented(commands, "cli") == []


def test_every_option_is_documented_with_its_command() -> None:
    page = reference("cli")
    shared, *_ = page.split("\n### ")
    missing = []
    group: Any = typer.main.get_command(app)
    shown = {command.name: group.loaded(command.name) for command in COMMANDS}
    shown |= {f"patterns {name}": each for name, each in shown["patterns"].commands.items()}
    for name, command in shown.items():
        section = re.search(rf"^### `treering {name}\b.*?(?=^##|\Z)", page, re.M | re.S)
        options = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
        missing += [f"{name} {option}" for option in options if f"`{option}" not in shared + (section or [""])[0]]
    assert missing == []


def test_every_verb_of_the_library_is_documented() -> None:
    verbs = [name for name, _ in inspect.getmembers(Memory, inspect.isfunction) if not name.startswith("_")]
    assert undocumented([*verbs, *treering.__all__], "library") == []


def test_every_verb_of_patterns_is_documented() -> None:
    verbs = [name for name, _ in inspect.getmembers(Patterns, inspect.isfunction) if not name.startswith("_")]
    assert undocumented(verbs, "library") == []


def test_every_verb_of_code_is_documented() -> None:
    verbs = [name for name, _ in inspect.getmembers(Code, inspect.isfunction) if not name.startswith("_")]
    assert undocumented(verbs, "library") == []


def test_every_filter_is_documented() -> None:
    fields = [*KnowledgeFilter.model_fields, *TurnFilter.model_fields, *PatternFilter.model_fields]
    assert undocumented(fields, "library") == []


def settings_in(values: Value, group: str = "") -> Iterator[tuple[str, object]]:
    """Each setting by its whole name."""
    for name, value in values:
        if isinstance(value, Value):
            yield from settings_in(value, f"{group}{name}.")
        else:
            yield f"{group}{name}", value


def test_every_setting_is_documented_with_its_default() -> None:
    page = reference("settings")
    defaults = dict(settings_in(Settings()))
    shown = {name: '""' if value == "" else value for name, value in defaults.items()}
    rows = [f"| `{name}` | `{value}` |" for name, value in shown.items()]
    assert [row for row in rows if row not in page] == []
    shown_names = re.findall(r"^\| `([a-z]+\.[a-z_]+)` \|", page, re.M)
    assert shown_names == list(defaults)
    assert f"{len(defaults)} settings." in page


def test_every_environment_variable_is_documented() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    assert undocumented(sorted(set(re.findall(r"TREERING_[A-Z_]+", sources))), "settings") == []


def test_everything_that_agents_get_is_documented() -> None:
    page = reference("mcp")
    rows = {tool.name: ", ".join(_argument(tool, name) for name in tool.arguments.model_fields) for tool in TOOLS}
    prompts = {
        each.name: ", ".join(f"*`{a.name}`*" if a.required else f"`{a.name}`" for a in each.arguments)
        for each in PROMPTS
    }
    shown = {
        name: f"| `{name}` | {arguments} |".replace("|  |", "| |") for name, arguments in {**rows, **prompts}.items()
    }
    assert [row for row in shown.values() if row not in page] == []
    assert [each.uri for each in RESOURCES if f"| `{each.uri}` |" not in page] == []


def _argument(tool: Tool[Any, Any], name: str) -> str:
    return f"*`{name}`*" if tool.arguments.model_fields[name].is_required() else f"`{name}`"


def test_every_error_is_documented() -> None:
    def tree(error: type[TreeringError]) -> Iterator[str]:
        yield error.__name__
        for narrower in error.__subclasses__():
            yield from tree(narrower)

    assert undocumented(tree(TreeringError), "errors") == []


def test_every_knowledge_type_is_documented_with_its_payload() -> None:
    page = reference("records")
    rows = {
        kind.name: f"| {', '.join(f'`{name}`' for name in kind.payload.model_fields)} |"
        for kind in knowledge_types().values()
        if kind.payload.__module__.startswith("treering.")
    }
    assert len(rows) == 18
    assert [name for name, row in rows.items() if not re.search(rf"^\| `{name}` .*{re.escape(row)}$", page, re.M)] == []


def test_every_field_of_a_record_is_documented() -> None:
    kinds = (Knowledge, Turn, Pattern, Evidence, Application)
    assert undocumented([name for kind in kinds for name in kind.model_fields], "records") == []


def test_every_kind_of_an_export_is_documented() -> None:
    assert undocumented([part.name for part in PARTS], "export-format") == []


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    links = [link.split("#")[0] for link in re.findall(r"\]\((?!https://)([^)]+)\)", page.read_text())]
    assert [link for link in links if link and not (page.parent / link).exists()] == []
