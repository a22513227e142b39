"""The command that an agent runs for each of its hooks."""

import os
import sys


def hook_command(agent: str, db: str = "", project: str = "") -> list[str]:
    """The command in exec form: an absolute interpreter and script, so that neither a shell, PATH nor a shim is used.

    `-I` ignores the user's Python settings and `-S` skips site-packages, which the hook process does not need: it finds
    its own package by its path. This works for wheels and editable installs, until the package is moved.
    """
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    script = os.path.join(package, "hook_process.py")
    options = [part for name, value in (("--db", db), ("--project", project)) if value for part in (name, value)]
    return [_interpreter(), "-I", "-S", script, agent, *options]


def _interpreter() -> str:
    """The interpreter of this environment by its own path: the base one may be replaced by an upgrade."""
    return os.path.abspath(sys.executable)
