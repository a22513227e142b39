"""Options shared by the commands about patterns, and their errors."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Any

import typer

from treering.core.errors import InvalidInput, SecretRefused

MAX_RECORDS = 1_000_000  # per command; use export for more

Several = list[str] | None
PatternId = Annotated[str, typer.Argument(metavar="ID", help="Id of the pattern, as in `treering patterns list`.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done; write nothing.")]
Limit = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=1, max=MAX_RECORDS, help="Maximum number of results.")
]
Statuses = Annotated[
    Several,
    typer.Option("--status", metavar="STATUS", help="CANDIDATE, VALIDATED, UNDER_REVIEW or DEPRECATED; repeatable."),
]
Categories = Annotated[
    Several,
    typer.Option("--category", metavar="NAME", help="strategy, decomposition, sequence, tool_selection…; repeatable."),
]
ProblemTypes = Annotated[
    Several, typer.Option("--problem-type", metavar="TYPE", help="For tasks of this type; repeatable.")
]
Domains = Annotated[Several, typer.Option("--domain", metavar="NAME", help="For tasks of this domain; repeatable.")]


def statuses(given: Several) -> tuple[str, ...]:
    """The statuses as stored."""
    from treering.core.patterns import PatternStatus

    return tuple(one_of(PatternStatus, "--status", each.upper().replace("-", "_")) for each in given or ())


def categories(given: Several) -> tuple[str, ...]:
    return tuple(map(category, given or ()))


def category(given: str) -> str:
    from treering.core.patterns import PatternCategory

    return one_of(PatternCategory, "--category", given.lower().replace("-", "_"))


def one_of(kind: type[StrEnum], option: str, given: str) -> str:
    """The value, if it is one of the enumeration; else a usage error."""
    names = [each.value for each in kind]
    if given not in names:
        raise typer.BadParameter(f"{option} is {given!r}; use {', '.join(names)}")
    return given


def json_option(option: str, text: str, example: str) -> dict[str, Any]:
    """The JSON object of an option."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise typer.BadParameter(f"{option} is not JSON ({exc}); write an object such as '{example}'") from exc
    if not isinstance(found, dict):
        raise typer.BadParameter(f"{option} is JSON, but not an object; write one such as '{example}'")
    return found


@contextmanager
def usage_errors() -> Iterator[None]:
    """Report `InvalidInput` as a usage error; for checks that depend on the options only."""
    try:
        yield
    except SecretRefused:
        raise
    except InvalidInput as exc:
        raise typer.BadParameter(str(exc)) from exc
