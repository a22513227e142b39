"""Where the command line ends: whatever happens inside leaves as an exit code and at most one line."""

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
    """EX_SOFTWARE of sysexits.h: our mistake, not the caller's."""
    INTERRUPTED = 130


def run(command: Callable[..., Any], arguments: Sequence[str]) -> int:
    """Run a command and say how it ended."""
    as_json = "--json" in arguments
    _replace_closed_streams()
    try:
        outcome = command(list(arguments), prog_name="treering", standalone_mode=False)
        sys.stdout.flush()
    except TreeringError as exc:
        _show_trace()
        return _complain(_with_options(str(exc)), type(exc).__name__, ExitCode.FAILED, as_json=as_json)
    except typer.TyperException as exc:
        return _complain(_wrong_usage(exc), "Usage", ExitCode.USAGE, as_json=as_json)
    except (typer.Abort, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        return ExitCode.FAILED
    except Exception as exc:  # noqa: BLE001 - the door: what nobody expected is reported, not dumped
        _show_trace()
        return _complain(_unexpected(exc), "Unexpected", ExitCode.UNEXPECTED, as_json=as_json)
    return outcome if isinstance(outcome, int) else ExitCode.FINE


def _with_options(message: str) -> str:
    """The advice of an error of the library, with the option in place of the argument."""
    return re.sub(r"\bpass (\w+)=True\b", lambda found: f"pass --{found[1].replace('_', '-')}", message)


def reported(error: Exception) -> int:
    """The same for what went wrong elsewhere."""

    def failing(*_given: object, **_named: object) -> NoReturn:
        raise error

    return run(failing, [])


def leave(code: int) -> NoReturn:
    """End the process. Python flushes stdout once more; where that cannot work, nobody needs to hear of it.

    It would also look through everything for circles of garbage, which takes longer than many a command.
    """
    gc.freeze()
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _replace_closed_streams() -> None:
    """`>&-` leaves Python without a stdout at all."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open until the process ends


def _complain(message: str, kind: str, code: ExitCode, *, as_json: bool) -> int:
    one_line = " ".join(message.split())
    told = json.dumps({"error": one_line, "kind": kind}) if as_json else f"error: {visible(one_line)}"
    print(told, file=sys.stderr)
    return code


def _wrong_usage(exc: typer.TyperException) -> str:
    context = getattr(exc, "ctx", None)
    command = context.command_path if context else "treering"
    return f"{exc.format_message().rstrip('.?')}; `{command} --help` shows what it takes"


def _unexpected(exc: Exception) -> str:
    told = f"unexpected {type(exc).__name__}: {exc}"[:500]
    return f"{told}; this is a mistake in Treering: please report it with what TREERING_DEBUG=1 shows"


def _show_trace() -> None:
    if os.environ.get("TREERING_DEBUG"):
        traceback.print_exc()
