"""Registration of the `treering patterns` commands."""

from collections.abc import Callable

import typer

from treering.interfaces.cli.patterns import changes, queries, validation

VERBS: tuple[tuple[str, tuple[Callable[..., None], ...]], ...] = (
    ("Find", (queries.find, queries.list_, queries.show, queries.history, queries.similar)),
    ("Change", (changes.add, changes.apply, changes.merge, changes.deprecate, changes.export, changes.import_)),
    (
        "Judge",
        (validation.mine, validation.validate, validation.review, validation.refine, validation.diff, validation.prune),
    ),
)

patterns = typer.Typer(
    help="Find, validate and correct patterns of what works.",
    epilog="Start with `treering patterns mine`, then `treering patterns list`.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _panel, _verbs in VERBS:
    for _verb in _verbs:
        patterns.command(name=_verb.__name__.rstrip("_"), rich_help_panel=_panel)(_verb)


@patterns.callback(invoke_without_command=True)
def _show_help(invoked: typer.Context) -> None:
    """Find, validate and correct patterns of what works."""
    if invoked.invoked_subcommand is None:
        print(invoked.get_help())
