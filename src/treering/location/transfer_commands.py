"""Commands that transfer the records of a database into the memory of the current repository."""

from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import quote

from treering.core.errors import TreeringError

ProjectsIn = Callable[[Path], Sequence[str]]
"""Returns the projects with records in a file. Only inspects the file."""
_MAX_COMMANDS = 3


def transfer_advice(file: Path, projects_in: ProjectsIn, when: str) -> str:
    """Advice with copyable commands to transfer the content of the file."""
    try:
        projects = projects_in(file)
    except TreeringError as exc:
        return f"its content cannot be read ({exc})"
    if not projects:
        return "it contains nothing to transfer"
    return f"{when}, transfer its records: {transfer_commands(str(file), projects)}"


def transfer_commands(file: str, projects: Sequence[str]) -> str:
    """One export file per project; with many projects, only the first ones are listed."""
    carried = [f"carried{'' if number == 1 else f'-{number}'}.jsonl" for number in range(1, len(projects) + 1)]
    lines = [
        f"`treering export --history --db {quote(file)} --project {quote(project)} {name}` and `treering import {name}`"
        for project, name in zip(projects, carried, strict=True)
    ]
    more = f" (and {len(lines) - _MAX_COMMANDS:,} more projects)" if len(lines) > _MAX_COMMANDS else ""
    return ", ".join(lines[:_MAX_COMMANDS]) + more
