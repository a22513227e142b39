"""Files that are ours as a whole: the plug-in for Claude Code, and custom commands of other agents."""

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from treering import __version__
from treering.interfaces.client_configs.connection import ConfigFile
from treering.interfaces.client_configs.formats import Entry
from treering.interfaces.client_configs.hooks import HOOK_SETUPS
from treering.interfaces.client_configs.parts import HOOKS, WholeFilePart

_DESCRIPTION = "Memory of this project across sessions"
_TEXTS = (
    "commands/remember.md",
    "commands/memory.md",
    "commands/forget.md",
    "skills/treering/SKILL.md",
)


def plugin_files(folder: Path, entry: Entry | None, hook: Sequence[str] | None) -> tuple[ConfigFile, ...]:
    """The files of the plug-in with this server and this command of the hooks; without them, no files."""
    documents = {
        ".claude-plugin/plugin.json": {
            "name": "treering",
            "version": __version__,
            "description": _DESCRIPTION,
            "author": {"name": "Treering"},
        },
        ".mcp.json": {"mcpServers": {"treering": entry}},
        "hooks/hooks.json": {"description": _DESCRIPTION, HOOKS: dict(_hooks(hook or ()))},
    }
    texts = {name: f"{json.dumps(value, indent=2, ensure_ascii=False)}\n" for name, value in documents.items()}
    return whole_files(folder, texts | package_texts("plugin_texts", _TEXTS), wanted=entry is not None)


def whole_files(folder: Path, texts: Mapping[str, str], *, wanted: bool) -> tuple[ConfigFile, ...]:
    """Files with these texts in a folder, or none of them."""
    return tuple(ConfigFile(folder / name, (WholeFilePart(text if wanted else None),)) for name, text in texts.items())


def package_texts(folder: str, names: Sequence[str]) -> dict[str, str]:
    """Files of this package by their names."""
    top = files("treering.interfaces.client_configs").joinpath(folder)
    return {name: top.joinpath(name).read_text("utf-8") for name in names}


def _hooks(command: Sequence[str]) -> Iterator[tuple[str, Any]]:
    for part in HOOK_SETUPS["claude"].parts(command or None):
        yield part.event, [{HOOKS: [part.wanted]}]
