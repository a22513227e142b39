"""Entry point of the `treering` command.

Clients wait for `treering mcp`, so its plain form starts the server without importing the command line, which takes
longer to load than the first answer. Every other form goes through the command line, with the same meaning.
"""

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class ServerOptions(NamedTuple):
    """The memory to serve, and the working directory."""

    root: str | None
    db: str | None
    project: str | None


_GC_THRESHOLD = 200_000
"""Allocations before the garbage collector runs: imports leave no cycles, and most commands end before."""
_OPTIONS = tuple(f"--{name}" for name in ServerOptions._fields)


def main() -> None:
    # Discovering pydantic plug-ins takes longer than opening a database; neither this process nor its children use any.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Starting a thread per core takes a quarter of the import time of numpy, and a search multiplies small matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    options = plain_options(sys.argv[1:], os.environ)
    if options is None or not _enter(options.root):
        gc.set_threshold(_GC_THRESHOLD)
        from treering.interfaces.cli.app import main as command_line

        command_line()
        return
    from treering.interfaces.hooks.beside import hooks_beside
    from treering.interfaces.mcp.stdio import serve_stdio

    serve_stdio(options.db, options.project, _report, hooks_beside(options.db, options.project))


def plain_options(arguments: Sequence[str], environment: Mapping[str, str]) -> ServerOptions | None:
    """Options of `treering mcp` in their plain form `--name value`; None if the command line has to parse them."""
    if arguments[:1] != ["mcp"] or len(arguments) % 2 == 0:
        return None
    names, values = arguments[1::2], arguments[2::2]
    plain = set(names) <= set(_OPTIONS) and len(set(names)) == len(names)
    if not plain or any(not value or value.startswith("-") for value in values):
        return None
    named = {name.removeprefix("--"): value for name, value in zip(names, values, strict=True)}
    return ServerOptions(
        root=named.get("root"),
        db=named.get("db") or environment.get("TREERING_DB") or None,
        project=named.get("project") or environment.get("TREERING_PROJECT") or None,
    )


def _report(error: Exception) -> int:
    from treering.interfaces.cli.exit_codes import report

    return report(error)


def _enter(folder: str | None) -> bool:
    if folder is None:
        return True
    try:
        os.chdir(folder)
    except OSError:
        return False
    return True
