"""Where the `treering` command begins.

A client waits for `treering mcp` before it can do anything else, so that does not wait for the command line, whose
parts take longer to load than the first answer takes. Whatever is said in another than the plainest way goes through
the command line, where it means the same.
"""

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Place(NamedTuple):
    """Which memory to serve, and the folder to stand in."""

    root: str | None
    db: str | None
    project: str | None


_OBJECTS = 200_000
"""Objects after which circles of garbage are looked for: imports leave none, and a command is done by then."""
_OPTIONS = tuple(f"--{name}" for name in Place._fields)


def main() -> None:
    # Looking for plug-ins of pydantic takes longer than opening a database, and neither the command nor the processes
    # that it starts use any.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # OpenBLAS starts a thread a core, a quarter of what importing numpy takes; a search multiplies small matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    place = plain_place(sys.argv[1:], os.environ)
    if place is None or not _entered(place.root):
        gc.set_threshold(_OBJECTS)
        from treering.interfaces.cli.app import main as command_line

        command_line()
        return
    from treering.interfaces.mcp.stdio import serve_stdio

    serve_stdio(place.db, place.project, _reported)


def plain_place(arguments: Sequence[str], environment: Mapping[str, str]) -> Place | None:
    """What `mcp` with none but the plainest options names; None is for the command line to read."""
    if arguments[:1] != ["mcp"] or len(arguments) % 2 == 0:
        return None
    names, values = arguments[1::2], arguments[2::2]
    plain = set(names) <= set(_OPTIONS) and len(set(names)) == len(names)
    if not plain or any(not value or value.startswith("-") for value in values):
        return None
    named = {name.removeprefix("--"): value for name, value in zip(names, values, strict=True)}
    return Place(
        root=named.get("root"),
        db=named.get("db") or environment.get("TREERING_DB") or None,
        project=named.get("project") or environment.get("TREERING_PROJECT") or None,
    )


def _reported(error: Exception) -> int:
    from treering.interfaces.cli.exit_codes import reported

    return reported(error)


def _entered(folder: str | None) -> bool:
    if folder is None:
        return True
    try:
        os.chdir(folder)
    except OSError:
        return False
    return True
