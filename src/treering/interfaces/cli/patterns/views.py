"""Draws what the commands about patterns answer: lists, verdicts, candidates, changes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from treering.core.pattern_words import requirement_lines
from treering.core.patterns import Pattern, PatternCategory
from treering.interfaces.cli import views as show
from treering.interfaces.cli.layout import Fitting, counted, indented, rows
from treering.interfaces.cli.patterns.change_lines import changes
from treering.interfaces.cli.patterns.chart import STYLES, odds, status, transition
from treering.interfaces.cli.patterns.episode_names import episodes

if TYPE_CHECKING:
    from treering.core.history import HistoryEntry
    from treering.core.patterns import Application
    from treering.patterns.matching.ranking import Ranked
    from treering.patterns.mining.findings import Mined
    from treering.patterns.pruning import LowValue
    from treering.patterns.reviews import Refined, Review
    from treering.patterns.similarity import Similar
    from treering.patterns.transfer import TakenIn
    from treering.patterns.validation import Judged
    from treering.patterns.validation_stage import Validated

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
# What mining compares with: only a choice of tools is held against those that went without.
_COMPARED: Mapping[PatternCategory, tuple[str, str]] = {
    PatternCategory.TOOL_SELECTION: ("succeeded", "without it"),
    PatternCategory.RECOVERY: ("worked", "of all that was tried did"),
    PatternCategory.FAILURE: ("went wrong", "of all such tasks did"),
}


def changed(what: str, pattern: Pattern, advice: str = "") -> RenderableType:
    """A pattern after something was done to it."""
    return Group(_tick(what), indented(*_named(pattern), *([Text(show.safe(advice), show.FAINT)] if advice else [])))


def listing(patterns: Sequence[Pattern], more: bool) -> RenderableType:
    """Two lines a pattern: its name; below it status, what it is proven by, category and id."""
    if not patterns:
        return Text("no pattern here; `treering patterns mine` looks for some in the episodes", show.FAINT)
    rest = [Text("there are more; --limit shows them", show.FAINT)] if more else []
    return Group(*(part for each in patterns for part in _listed(each)), *rest)


def found(ranked: Sequence["Ranked"], *, proven_only: bool) -> RenderableType:
    """What applies to a task, the best first, with what each term of its score adds."""
    if not ranked:
        advice = Text("only validated ones are suggested; --status CANDIDATE shows those to be proven", show.FAINT)
        return Group(Text("no pattern applies to this task"), *([advice] if proven_only else []))
    return rows(
        (
            (
                Text(str(place), show.FAINT),
                Group(*_named(row.pattern), _score(row.score, row.terms), Text(show.safe(row.why), show.FAINT)),
            )
            for place, row in enumerate(ranked, start=1)
        ),
        right=True,
    )


def validated(verdicts: Sequence["Validated"], *, dry_run: bool, everything: bool) -> RenderableType:
    """What moved and why; the others are counted, or listed as well."""
    moved = [each for each in verdicts if each.moved]
    shown = verdicts if everything else moved
    head = [Text("nothing was written; this would be done:", show.FAINT)] if dry_run and shown else []
    counts = Text(f"{len(verdicts):,} judged, {_many(len(moved))} moved", show.FAINT)
    if not shown:
        return counts
    return Group(*head, Fitting(_numbers_beside(shown), Group(*map(_numbers_below, shown))), counts)


def mined(candidates: Sequence["Mined"], *, dry_run: bool) -> RenderableType:
    """Each candidate in words, with the episodes that support it and those that do not."""
    if not candidates:
        return Text("nothing in the episodes happens often enough, and well enough, to be a pattern")
    head = [Text("nothing was written; these would be candidates:", show.FAINT)] if dry_run else []
    drawn = rows((Text(each.category.value, show.FAINT), Group(*_candidate(each))) for each in candidates)
    return Group(*head, drawn, Text("candidates prove themselves by episodes that come from now on", show.FAINT))


def review(found: "Review") -> RenderableType:
    """Where it failed, and what would set the failures apart."""
    counts = Text.assemble(
        (f"{found.succeeded:,} succeeded", show.GOOD), ", ", (f"{len(found.failed):,} did not", show.BAD)
    )
    failed = rows(
        (Text(show.when(each.at), show.FAINT), Text(each.outcome.value, show.BAD), _application(each))
        for each in found.failed[:_FAILED]
    )
    more = len(found.failed) - _FAILED
    rest = [Text(f"and {more:,} more", show.FAINT)] if more > 0 else []
    advice = "`treering patterns refine` does this" if found.proposed.applicability is not None else ""
    proposed = [Text.assemble(("proposed: ", show.HEAD), show.safe(found.proposed.reason))]
    return Group(
        *_named(found.pattern), counts, failed, *rest, *proposed, *([Text(advice, show.FAINT)] if advice else [])
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
    applies = rows(
        (
            Text(f"{name}, version {pattern.version}", show.FAINT),
            Group(*(Text(show.safe(line)) for line in requirement_lines(pattern.applicability))),
        )
        for name, pattern in (("before", before), ("after", after))
    )
    marks = {True: ("+ ", show.GOOD), False: ("− ", show.BAD)}
    lines = [Text.assemble(marks[each.added], show.safe(each.line)) for each in changes(before, after)]
    return Group(applies, *(lines or [Text("nothing that it says changed", show.FAINT)]))


def alike(others: Sequence["Similar"]) -> RenderableType:
    if not others:
        return Text("none is alike enough to be the same lesson")
    return rows(
        (f"{each.likeness.score:.2f}", Group(*_named(each.pattern), Text(each.likeness.in_words(), show.FAINT)))
        for each in others
    )


def pruned(low: Sequence["LowValue"], *, dry_run: bool) -> RenderableType:
    if not low:
        return Text("every pattern is worth its place")
    head = "these would be deprecated:" if dry_run else "deprecated:"
    lines = (line for each in low for line in (*_named(each.pattern), Text(show.safe(each.why), "yellow")))
    return Group(Text(head, show.FAINT), *lines)


def history(entries: Sequence["HistoryEntry"]) -> RenderableType:
    """Every change, newest first: what moved, and by which evidence."""
    return rows((Text(show.when(entry.at), show.FAINT), _happened(entry)) for entry in entries)


def applied(application: "Application", pattern: Pattern) -> RenderableType:
    return Group(_tick(f"counted as {application.outcome.value}"), indented(*_named(pattern)))


def taken_in(taken: "TakenIn") -> RenderableType:
    """How many patterns of a file came in, and why the others did not."""
    counts = {"added": taken.added, "updated": taken.updated, "left": taken.left}
    told = ", ".join(f"{len(ids):,} {name}" for name, ids in counts.items())
    left = (Text.assemble((f"left, {why}  ", "yellow"), (show.safe(id), show.ID)) for id, why in taken.left.items())
    return Group(show.done("imported", told, ""), indented(*left)) if taken.left else show.done("imported", told, "")


def _listed(pattern: Pattern) -> tuple[RenderableType, ...]:
    proof, id = _proof(pattern), Text(show.safe(pattern.id), show.ID)
    told = (Text(pattern.status.value, STYLES[pattern.status]), *([Text(proof)] if proof else []))
    category = Text(pattern.category.value, show.FAINT)
    return Text(show.preview(pattern.name, 100)), indented(Text("  ").join((*told, category, id)))


def _numbers_beside(verdicts: Sequence["Validated"]) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(overflow="fold")
    for _ in _NUMBERS:
        grid.add_column(justify="right", no_wrap=True)
    grid.add_row("", *(Text(name, show.FAINT) for name in _NUMBERS))
    for each in verdicts:
        grid.add_row(Group(*_verdict(each)), *(number(each.judged) for number in _NUMBERS.values()))
    return grid


def _numbers_below(each: "Validated") -> RenderableType:
    name, *below = _verdict(each)
    numbers = ", ".join(f"{name} {number(each.judged)}" for name, number in _NUMBERS.items())
    return Group(name, indented(*below, Text(numbers)))


def _verdict(each: "Validated") -> tuple[Text, ...]:
    after = each.judged.status
    before = Text.assemble((each.before.value, STYLES[each.before]), " → ") if each.moved else Text()
    return (
        Text(show.preview(each.name, 100)),
        Text.assemble(before, (after.value, STYLES[after]), "  ", (show.safe(each.pattern), show.ID)),
        Text(show.safe(each.judged.reason), show.FAINT),
    )


def _candidate(each: "Mined") -> Iterable[Text]:
    yield Text(show.preview(each.name, 100))
    if each.summary:
        yield Text(show.safe(each.summary), show.FAINT)
    seen = f"{_gain(each)}, in {counted(each.sessions, 'session')}"
    yield Text.assemble((seen, show.FAINT), "  ", (show.safe(each.key), show.ID))
    for mark, style, count, ids in (
        ("+", show.GOOD, each.support, each.supporting),
        ("−", show.BAD, each.against, each.counter),
    ):
        if count:
            yield Text.assemble((f"{mark} {count:,}  ", style), episodes(count, ids, _NAMED))


def _happened(entry: "HistoryEntry") -> RenderableType:
    detail = {name: value for name, value in entry.detail.items() if value is not None}
    reason, cause = detail.pop("reason", ""), detail.pop("cause", entry.action.value)
    rest = ((name, value) for name, value in detail.items() if name not in ("from", "to"))
    rested = ", ".join(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in rest)
    undone = " (undone)" if entry.undone else ""
    told = (f"by {entry.actor}, {cause}{undone}", str(reason), rested)
    return Group(transition(entry), *(Text(show.safe(line), show.FAINT) for line in told if line))


def _named(pattern: Pattern) -> list[Text]:
    proof = _proof(pattern)
    told = Text.assemble(
        (f"{pattern.category.value}, ", show.FAINT),
        status(pattern),
        (f", {proof}  " if proof else "  ", show.FAINT),
        (show.safe(pattern.id), show.ID),
    )
    return [Text(show.preview(pattern.name, 100)), told]


def _proof(pattern: Pattern) -> str:
    known = pattern.evidence
    if known.success_rate is None:
        return ""
    return f"{known.success_rate:.0%} success in {counted(known.sessions, 'session')}"


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
    went, otherwise = _COMPARED.get(each.category, ("succeeded", "of all such tasks did"))
    return f"{each.success_rate:.0%} {went}, {each.base_rate:.0%} {otherwise}"


def _many(count: int) -> str:
    return f"{count:,}" if count else "none"


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def _tick(what: str) -> Text:
    return Text.assemble(("✓ ", show.GOOD), (show.safe(what), show.HEAD))
