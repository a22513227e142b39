"""The options that several commands about patterns share, each described once, and what they say wrongly."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Any

import typer

from treering.core.errors import InvalidInput, SecretRefused

MOST = 1_000_000
"""Records that a command asks for at once; more are exported."""

Several = list[str] | None
PatternId = Annotated[str, typer.Argument(metavar="ID", help="The id that `treering patterns list` shows.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done; nothing is written.")]
Limit = Annotated[int | None, typer.Option("--limit", metavar="N", min=1, max=MOST, help="At most so many.")]
Statuses = Annotated[
    Several,
    typer.Option("--status", metavar="STATUS", help="CANDIDATE, VALIDATED, UNDER_REVIEW or DEPRECATED; again."),
]
Categories = Annotated[
    Several,
    typer.Option("--category", metavar="NAME", help="strategy, decomposition, sequence, tool_selection…; again."),
]
ProblemTypes = Annotated[
    Several, typer.Option("--problem-type", metavar="TYPE", help="For tasks of this type; again for more.")
]
Domains = Annotated[Several, typer.Option("--domain", metavar="NAME", help="For tasks of this domain; again.")]


def statuses(given: Several) -> tuple[str, ...]:
    """As the records write them."""
    from treering.core.patterns import PatternStatus

    return tuple(one_of(PatternStatus, "--status", each.upper().replace("-", "_")) for each in given or ())


def categories(given: Several) -> tuple[str, ...]:
    return tuple(map(category, given or ()))


def category(given: str) -> str:
    from treering.core.patterns import PatternCategory

    return one_of(PatternCategory, "--category", given.lower().replace("-", "_"))


def one_of(kind: type[StrEnum], option: str, given: str) -> str:
    """One of the names that there are."""
    names = [each.value for each in kind]
    if given not in names:
        raise typer.BadParameter(f"{option} is {given!r}; use {', '.join(names)}")
    return given


def told_object(option: str, text: str, example: str) -> dict[str, Any]:
    """What an option says in JSON."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise typer.BadParameter(f"{option} is not JSON ({exc}); write an object such as '{example}'") from exc
    if not isinstance(found, dict):
        raise typer.BadParameter(f"{option} is JSON, but not an object; write one such as '{example}'")
    return found


@contextmanager
def wrong_where_refused() -> Iterator[None]:
    """Around what only the options decide: where it is refused, the command was used wrongly."""
    try:
        yield
    except SecretRefused:
        raise
    except InvalidInput as exc:
        raise typer.BadParameter(str(exc)) from exc
