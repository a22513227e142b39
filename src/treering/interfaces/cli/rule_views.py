"""Views of imported and exported rule files."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from treering.interfaces.cli import views as show
from treering.interfaces.cli.layout import counted, indented

if TYPE_CHECKING:
    from treering.archive.rule_files.rule_export import RuleExport
    from treering.archive.rule_files.rule_import import RuleChange, RuleImport


def imported(done: "RuleImport") -> RenderableType:
    """Each statement that was added or corrected, with its lines, and the records whose statements are gone."""
    groups = (
        (done.added, "would add" if done.dry_run else "added", show.GOOD),
        (done.corrected, "would correct" if done.dry_run else "corrected", show.GOOD),
        (done.retired, "would retire" if done.dry_run else "retired", show.FAINT),
        (done.missing, "gone from the file", "yellow"),
    )
    lines = [line for changes, what, style in groups for line in _changes(changes, what, style)]
    files = ", ".join(map(show.safe, done.files))
    counts = ", ".join(f"{len(changes)} {what}" for changes, what, _ in groups if changes)
    unchanged = f"{counted(done.unchanged, 'statement')} unchanged"
    total = Text(f"{files}: {f'{counts}, {unchanged}' if counts else unchanged}", "bold")
    advice = [Text("  --retire retires the records of statements that are gone", show.FAINT)] if done.missing else []
    return Group(*lines, total, *advice)


def exported(made: "RuleExport") -> RenderableType:
    """The file, and what its block holds."""
    what = "wrote" if made.changed else "unchanged"
    left = f"; {made.left_out} did not fit, --budget raises the limit" if made.left_out else ""
    held = f"{counted(made.records, 'record')}, {counted(made.tokens, 'token')}{left}"
    return show.done(what, str(made.path), held)


def _changes(changes: "Iterable[RuleChange]", what: str, style: str) -> Iterator[RenderableType]:
    for each in changes:
        lines = f"{each.first_line}" if each.first_line == each.last_line else f"{each.first_line}-{each.last_line}"
        where = f"{show.safe(each.file)}:{lines}"
        yield Text.assemble((f"{what} ", style), (each.type, "bold"), (f"  {where}", show.FAINT))
        yield indented(Text(show.preview(each.text)))
        if each.before is not None:
            yield indented(Text(f"was: {show.preview(each.before)}", show.FAINT))
