"""The group of commands, as it is registered."""

from collections.abc import Callable

import typer

from treering.interfaces.cli.patterns import changes as keeping
from treering.interfaces.cli.patterns import queries as looking
from treering.interfaces.cli.patterns import validation as judging

VERBS: tuple[tuple[str, tuple[Callable[..., None], ...]], ...] = (
    ("Find", (looking.find, looking.list_, looking.show, looking.history, looking.similar)),
    ("Keep", (keeping.add, keeping.apply, keeping.merge, keeping.deprecate, keeping.export, keeping.import_)),
    ("Judge", (judging.mine, judging.validate, judging.review, judging.refine, judging.diff, judging.prune)),
)

patterns = typer.Typer(
    help="What works, proven by evidence: find it, prove it, put it right.",
    epilog="Start with `treering patterns mine`, then `treering patterns list`.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _panel, _verbs in VERBS:
    for _verb in _verbs:
        patterns.command(name=_verb.__name__.rstrip("_"), rich_help_panel=_panel)(_verb)


@patterns.callback(invoke_without_command=True)
def _shown_alone(invoked: typer.Context) -> None:
    """What works, proven by evidence: find it, prove it, put it right."""
    if invoked.invoked_subcommand is None:
        print(invoked.get_help())
