"""The commands that carry the records of a database into the memory of the repository around."""

from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import quote

from treering.core.errors import TreeringError

ProjectsIn = Callable[[Path], Sequence[str]]
"""The projects that have a record in a file, which is only looked into."""
_MOST = 3


def carrying(file: Path, projects_in: ProjectsIn, when: str) -> str:
    """How to have what is in the file, in words that can be followed to the letter."""
    try:
        projects = projects_in(file)
    except TreeringError as exc:
        return f"what is in it cannot be read ({exc})"
    if not projects:
        return "it holds nothing that could be carried over"
    return f"{when}, carry over what is in it: {commands(str(file), projects)}"


def commands(file: str, projects: Sequence[str]) -> str:
    """Each project goes by a file of its own; with many, the first show how."""
    carried = [f"carried{'' if number == 1 else f'-{number}'}.jsonl" for number in range(1, len(projects) + 1)]
    told = [
        f"`treering export --history --db {quote(file)} --project {quote(project)} {name}` and `treering import {name}`"
        for project, name in zip(projects, carried, strict=True)
    ]
    more = f" (and {len(told) - _MOST:,} more projects)" if len(told) > _MOST else ""
    return ", ".join(told[:_MOST]) + more
