"""Exit codes: every outcome of a command becomes an exit code and at most one line on stderr."""

import gc
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, NoReturn

import typer

from treering.core.errors import TreeringError
from treering.core.visible_text import visible


class ExitCode(IntEnum):
    FINE = 0
    FAILED = 1
    USAGE = 2
    UNEXPECTED = 70
    """EX_SOFTWARE of sysexits.h: a bug in Treering."""
    INTERRUPTED = 130


def run(command: Callable[..., Any], arguments: Sequence[str]) -> int:
    """Run a command and return its exit code."""
    as_json = "--json" in arguments
    _replace_closed_streams()
    try:
        outcome = command(list(arguments), prog_name="treering", standalone_mode=False)
        sys.stdout.flush()
    except TreeringError as exc:
        _show_trace()
        return _fail(_with_options(str(exc)), type(exc).__name__, ExitCode.FAILED, as_json=as_json)
    except typer.TyperException as exc:
        return _fail(_usage_error(exc), "Usage", ExitCode.USAGE, as_json=as_json)
    except (typer.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return ExitCode.FAILED
    except Exception as exc:  # noqa: BLE001 - the outermost handler: a bug is reported in one line
        _show_trace()
        return _fail(_unexpected(exc), "Unexpected", ExitCode.UNEXPECTED, as_json=as_json)
    return outcome if isinstance(outcome, int) else ExitCode.FINE


def _with_options(message: str) -> str:
    """The library's message with `pass name=True` rewritten as `pass --name`."""
    return re.sub(r"\bpass (\w+)=True\b", lambda found: f"pass --{found[1].replace('_', '-')}", message)


def report(error: Exception) -> int:
    """Report an error that occurred outside of `run`; return the exit code."""

    def failing(*_given: object, **_named: object) -> NoReturn:
        raise error

    return run(failing, [])


def leave(code: int) -> NoReturn:
    """End the process with this code.

    A closed stdout is replaced, because Python flushes it once more and would print an error. Freezing the garbage
    collector skips its last run, which takes longer than many commands.
    """
    gc.freeze()
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _replace_closed_streams() -> None:
    """`>&-` leaves `sys.stdout` None."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open until the process ends


def _fail(message: str, kind: str, code: ExitCode, *, as_json: bool) -> int:
    one_line = " ".join(message.split())
    line = json.dumps({"error": one_line, "kind": kind}) if as_json else f"error: {visible(one_line)}"
    print(line, file=sys.stderr)
    return code


def _usage_error(exc: typer.TyperException) -> str:
    context = getattr(exc, "ctx", None)
    command = context.command_path if context else "treering"
    message = exc.format_message()
    if message.endswith("?"):
        return f"{message} Run `{command} --help` for usage"
    return f"{message.rstrip('.')}; run `{command} --help` for usage"


def _unexpected(exc: Exception) -> str:
    error = f"unexpected {type(exc).__name__}: {exc}"[:500]
    return f"{error}; this is a bug in Treering: please report it with the output of TREERING_DEBUG=1"


def _show_trace() -> None:
    if os.environ.get("TREERING_DEBUG"):
        traceback.print_exc()
