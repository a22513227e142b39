"""Draws what the commands about patterns answer: lists, verdicts, candidates, changes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from treering.core.patterns import Pattern
from treering.interfaces.cli import show
from treering.interfaces.cli.patterns import words
from treering.interfaces.cli.patterns.chart import STYLES, odds, status, transition

if TYPE_CHECKING:
    from treering.core.history import HistoryEntry
    from treering.core.patterns import Application
    from treering.learn.patterns.mining.mined import Mined
    from treering.learn.patterns.pruning import LowValue
    from treering.learn.patterns.reviewing import Refined, Review
    from treering.learn.patterns.similarity import Similar
    from treering.learn.patterns.validating import Validated
    from treering.learn.patterns.validation import Judged
    from treering.retrieve.patterns.ranking import Ranked

_BAR = 16
_NUMBERS: Mapping[str, Callable[["Judged"], str]] = {
    "success": lambda judged: _percent(judged.success_rate),
    "without": lambda judged: _percent(judged.base_rate),
    "p-value": lambda judged: "–" if judged.p_value is None else f"{judged.p_value:.2g}",
    "e-value": lambda judged: odds(judged.e_value),
    "sure": lambda judged: f"{judged.confidence:.2f}",
}
_FAILED = 10
"""Failed applications that a review shows."""
_NAMED = 3


def changed(what: str, pattern: Pattern, advice: str = "") -> RenderableType:
    """A pattern after something was done to it."""
    lines = [_tick(what), *(Text.assemble("  ", line) for line in _named(pattern))]
    return Group(*lines, *([Text(f"  {show.safe(advice)}", show.FAINT)] if advice else []))


def listing(patterns: Sequence[Pattern], more: bool) -> RenderableType:
    """A line a pattern: status, what it is proven by, name and id."""
    if not patterns:
        return Text("no pattern here; `treering patterns mine` looks for some in the episodes", show.FAINT)
    grid = _grid("left", "right", "left", "left")
    for each in patterns:
        known = each.evidence
        rate = "" if known.success_rate is None else f"{known.success_rate:.0%} in {known.sessions:,}"
        name = Text.assemble(show.preview(each.name, 100), (f"  {each.category.value}", show.FAINT))
        grid.add_row(Text(each.status.value, STYLES[each.status]), rate, name, Text(show.safe(each.id), show.ID))
    rest = [Text("there are more; --limit shows them", show.FAINT)] if more else []
    return Group(grid, *rest)


def found(rows: Sequence["Ranked"], *, proven_only: bool) -> RenderableType:
    """What applies to a task, the best first, with what each term of its score adds."""
    if not rows:
        advice = Text("only validated ones are suggested; --status CANDIDATE shows those to be proven", show.FAINT)
        return Group(Text("no pattern applies to this task"), *([advice] if proven_only else []))
    grid = _grid("right", "left")
    for place, row in enumerate(rows, start=1):
        lines = [*_named(row.pattern), _score(row.score, row.terms), Text(show.safe(row.why), show.FAINT)]
        grid.add_row(Text(str(place), show.FAINT), Group(*lines))
    return grid


def validated(verdicts: Sequence["Validated"], *, dry_run: bool, everything: bool) -> RenderableType:
    """What moved and why; the others are counted, or listed as well."""
    moved = [each for each in verdicts if each.moved]
    shown = verdicts if everything else moved
    head = [Text("nothing was written; this would be done:", show.FAINT)] if dry_run and shown else []
    counts = Text(f"{len(verdicts):,} judged, {_many(len(moved))} moved", show.FAINT)
    if not shown:
        return counts
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(overflow="fold")
    for _ in _NUMBERS:
        grid.add_column(justify="right", no_wrap=True)
    grid.add_row("", *(Text(name, show.FAINT) for name in _NUMBERS))
    for each in shown:
        grid.add_row(Group(*_verdict(each)), *(number(each.judged) for number in _NUMBERS.values()))
    return Group(*head, grid, counts)


def mined(candidates: Sequence["Mined"], *, dry_run: bool) -> RenderableType:
    """Each candidate in words, with the episodes that support it and those that do not."""
    if not candidates:
        return Text("nothing in the episodes happens often enough, and well enough, to be a pattern")
    head = [Text("nothing was written; these would be candidates:", show.FAINT)] if dry_run else []
    grid = _grid("left", "left")
    for each in candidates:
        seen = f"{_gain(each)}, in {each.sessions:,} sessions"
        lines = [
            Text(show.preview(each.name, 100)),
            *([Text(show.safe(each.summary), show.FAINT)] if each.summary else []),
            Text.assemble((seen, show.FAINT), "  ", (show.safe(each.key), show.ID)),
            *_episodes("+", show.GOOD, each.support, each.supporting),
            *_episodes("−", show.BAD, each.against, each.counter),
        ]
        grid.add_row(Text(each.category.value, show.FAINT), Group(*lines))
    told = "candidates prove themselves by episodes that come from now on"
    return Group(*head, grid, Text(told, show.FAINT))


def review(found: "Review") -> RenderableType:
    """Where it failed, and what would set the failures apart."""
    counts = Text.assemble(
        (f"{found.succeeded:,} succeeded", show.GOOD), ", ", (f"{len(found.failed):,} did not", show.BAD)
    )
    grid = _grid("left", "left", "left")
    for each in found.failed[:_FAILED]:
        grid.add_row(Text(show.when(each.at), show.FAINT), Text(each.outcome.value, show.BAD), _application(each))
    more = len(found.failed) - _FAILED
    rest = [Text(f"and {more:,} more", show.FAINT)] if more > 0 else []
    advice = "`treering patterns refine` does this" if found.proposed.applicability is not None else ""
    proposed = [Text.assemble(("proposed: ", show.HEAD), show.safe(found.proposed.reason))]
    return Group(
        *_named(found.pattern), counts, grid, *rest, *proposed, *([Text(advice, show.FAINT)] if advice else [])
    )


def refined(found: "Refined", *, dry_run: bool) -> RenderableType:
    """The change of conditions in words, before and after."""
    if found.after is found.before or found.after == found.before:
        return Group(*_named(found.before), Text(f"left as it is: {show.safe(found.refinement.reason)}"))
    what = "would become narrower" if dry_run else "is narrower now; its evidence begins anew"
    return Group(
        *_named(found.before),
        Text.assemble((f"{what}: ", show.HEAD), show.safe(found.refinement.reason)),
        difference(found.before, found.after),
    )


def difference(before: Pattern, after: Pattern) -> RenderableType:
    """Where it applied and where it applies, and every other line that changed."""
    grid = _grid("left", "left")
    for name, pattern in (("before", before), ("after", after)):
        lines = [Text(show.safe(line)) for line in words.where(pattern.applicability)]
        grid.add_row(Text(f"{name}, version {pattern.version}", show.FAINT), Group(*lines))
    marks = {True: ("+ ", show.GOOD), False: ("− ", show.BAD)}
    lines = [Text.assemble(marks[each.added], show.safe(each.line)) for each in words.changes(before, after)]
    return Group(grid, *(lines or [Text("nothing that it says changed", show.FAINT)]))


def alike(others: Sequence["Similar"]) -> RenderableType:
    if not others:
        return Text("none is alike enough to be the same lesson")
    grid = _grid("right", "left")
    for each in others:
        told = Text(each.likeness.in_words(), show.FAINT)
        grid.add_row(f"{each.likeness.score:.2f}", Group(*_named(each.pattern), told))
    return grid


def pruned(low: Sequence["LowValue"], *, dry_run: bool) -> RenderableType:
    if not low:
        return Text("every pattern is worth its place")
    head = "these would be deprecated:" if dry_run else "deprecated:"
    grid = _grid("left")
    for each in low:
        grid.add_row(Group(*_named(each.pattern), Text(show.safe(each.why), "yellow")))
    return Group(Text(head, show.FAINT), grid)


def history(entries: Sequence["HistoryEntry"]) -> RenderableType:
    """Every change, newest first: what moved, and by which evidence."""
    grid = _grid("left", "left")
    for entry in entries:
        detail = {name: value for name, value in entry.detail.items() if value is not None}
        reason, cause = detail.pop("reason", ""), detail.pop("cause", entry.action.value)
        rest = ((name, value) for name, value in detail.items() if name not in ("from", "to"))
        rested = ", ".join(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in rest)
        undone = " (undone)" if entry.undone else ""
        told = (f"by {entry.actor}, {cause}{undone}", str(reason), rested)
        lines = [Text(show.safe(line), show.FAINT) for line in told if line]
        grid.add_row(Text(show.when(entry.at), show.FAINT), Group(transition(entry), *lines))
    return grid


def applied(application: "Application", pattern: Pattern) -> RenderableType:
    return Group(
        _tick(f"counted as {application.outcome.value}"), *(Text.assemble("  ", line) for line in _named(pattern))
    )


def _verdict(each: "Validated") -> Iterable[Text]:
    after = each.judged.status
    yield Text.assemble(show.preview(each.name, 80), "  ", (show.safe(each.pattern), show.ID))
    before = Text.assemble((each.before.value, STYLES[each.before]), " → ") if each.moved else Text()
    yield Text.assemble(before, (after.value, STYLES[after]))
    yield Text(show.safe(each.judged.reason), show.FAINT)


def _named(pattern: Pattern) -> list[Text]:
    known = pattern.evidence
    proof = "" if known.success_rate is None else f", {known.success_rate:.0%} success in {known.sessions:,} sessions"
    told = Text.assemble(
        (f"{pattern.category.value}, ", show.FAINT),
        status(pattern),
        (f"{proof}  ", show.FAINT),
        (show.safe(pattern.id), show.ID),
    )
    return [Text(show.preview(pattern.name, 100)), told]


def _score(score: float, terms: Mapping[str, float]) -> Text:
    """A bar whose pieces are the terms, each in its share."""
    shades = zip(terms.items(), ("█", "▓", "▒", "░", "▪"), strict=False)
    drawn = "".join(shade * round(term * _BAR) for (_, term), shade in shades)
    return Text.assemble((f"{score:.2f} ", show.HEAD), (drawn, show.GOOD))


def _application(each: "Application") -> Text:
    told = [each.task_type or "", f"session {each.session}" if each.session else ""]
    known = ", ".join(show.safe(part) for part in told if part)
    return Text.assemble((f"{known}  " if known else "", show.FAINT), (show.safe(each.episode or each.id), show.ID))


def _gain(each: "Mined") -> str:
    if each.saved_ms is not None:
        return f"saves {each.saved_ms / 1000:,.1f} s a time"
    if each.saved_steps is not None:
        return f"saves {each.saved_steps:,.1f} steps a time"
    return f"{each.success_rate:.0%} success, {each.base_rate:.0%} without it"


def _many(count: int) -> str:
    return f"{count:,}" if count else "none"


def _episodes(mark: str, style: str, count: int, ids: Sequence[str]) -> Iterable[Text]:
    if count:
        more = f" and {count - _NAMED:,} more" if count > _NAMED else ""
        named = ", ".join(show.safe(id) for id in ids[:_NAMED])
        yield Text.assemble((f"{mark} {count:,}  ", style), (named, show.ID), (more, show.FAINT))


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def _tick(what: str) -> Text:
    return Text.assemble(("✓ ", show.GOOD), (show.safe(what), show.HEAD))


def _grid(*columns: str) -> Table:
    """The last column folds, the others keep their lines."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    for place, justify in enumerate(columns, start=1):
        last = place == len(columns)
        grid.add_column(justify=justify, no_wrap=not last, overflow="fold" if last else "ellipsis")  # type: ignore[arg-type]
    return grid
