"""The options that several commands about patterns share, each described once."""

from typing import Annotated

import typer

Several = list[str] | None
PatternId = Annotated[str, typer.Argument(metavar="ID", help="The id that `treering patterns list` shows.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be done; nothing is written.")]
Limit = Annotated[int | None, typer.Option("--limit", metavar="N", help="At most so many.")]
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
    return tuple(each.upper().replace("-", "_") for each in given or ())


def categories(given: Several) -> tuple[str, ...]:
    return tuple(each.lower().replace("-", "_") for each in given or ())
