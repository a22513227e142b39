"""context: search results as cited text for a prompt, within a token budget."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from treering.core.errors import InvalidInput
from treering.interfaces.cli.options import QUICK_DRAIN, AsJson, Db, InPlay, Project, WorkPhase, opened
from treering.interfaces.cli.output import emit_text

if TYPE_CHECKING:
    from treering import RenderedContext
    from treering.context.stages.stage_context import StageContext
    from treering.memory import Memory


def context(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Task or question that the context is for.")],
    *,
    budget: Annotated[
        int | None,
        typer.Option(
            "--budget",
            metavar="TOKENS",
            help="Maximum length of the text. Default: that of the phase, else context.budget.",
        ),
    ] = None,
    phase: WorkPhase = None,
    stage: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="STAGE",
            help="planner: estimates, failed approaches, coupled files, outcomes and recipes; qa: behaviour of "
            "screens, known errors and requirements. Default: everything that matches.",
        ),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="Current session: its records are left out, the model has them."),
    ] = None,
    in_play: InPlay = None,
    tainted: Annotated[
        bool, typer.Option("--tainted", help="Include unconfirmed records from outside. Default: left out.")
    ] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Print context for a prompt: rules and search results as cited text within a token budget."""
    with opened(db, project, drain_seconds=QUICK_DRAIN) as memory:
        if stage is not None:
            if phase or session or tainted:
                raise InvalidInput("--for does not combine with --phase, --session or --tainted; leave these out")
            made = _for_stage(memory, stage, query, tuple(in_play or ()), budget)
            emit_text(made, f"{made.text}\n" if made.text else "", as_json=as_json)
            return
        built = memory.context.build(
            query, budget=budget, phase=phase, session=session, files=tuple(in_play or ()), tainted=tainted
        )
    emit_text(built, built.text, as_json=as_json)
    _warn_if_nothing_fits(built)


def _for_stage(memory: "Memory", stage: str, task: str, files: tuple[str, ...], budget: int | None) -> "StageContext":
    stages = {"planner": memory.context.for_planner, "qa": memory.context.for_qa}
    if stage not in stages:
        raise InvalidInput(f"--for is {stage!r}; use one of {', '.join(stages)}")
    return stages[stage](task, files=files, budget=budget)


def _warn_if_nothing_fits(built: "RenderedContext") -> None:
    left_out = sum(reason == "budget" for _, reason in built.left_out)
    if left_out and not built.text:
        results = f"{left_out:,} result{'s' * (left_out != 1)}"
        print(f"nothing fits into {built.budget:,} tokens: {results} left out; raise --budget", file=sys.stderr)
