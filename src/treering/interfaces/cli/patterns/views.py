"""Views of patterns: lists, verdicts, candidates, changes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from treering.core.pattern_words import requirement_lines
from treering.core.patterns import Pattern, PatternCategory
from treering.interfaces.cli import views as show
from treering.interfaces.cli.layout import WideOrNarrow, counted, indented, rows
from treering.interfaces.cli.patterns.change_lines import changes
from treering.interfaces.cli.patterns.chart import STYLES, odds, status, transition
from treering.interfaces.cli.patterns.episode_names import episodes

if TYPE_CHECKING:
    from treering.core.history import HistoryEntry
    from treering.core.patterns import Application
    from treering.patterns.matching.ranking import RankedPattern
    from treering.patterns.mining.findings import MinedPattern
    from treering.patterns.pruning import LowValuePattern
    from treering.patterns.reviews import PatternReview, RefinedPattern
    from treering.patterns.similarity import SimilarPattern
    from treering.patterns.transfer import PatternImport
    from treering.patterns.validation import PatternVerdict
    from treering.patterns.validation_stage import ValidatedPattern

_BAR = 16
_NUMBERS: Mapping[str, Callable[["PatternVerdict"], str]] = {
    "success": lambda judged: _percent(judged.success_rate),
    "without": lambda judged: _percent(judged.base_rate),
    "p-value": lambda judged: "–" if judged.p_value is None else f"{judged.p_value:.2g}",
    "e-value": lambda judged: odds(judged.e_value),
    "sure": lambda judged: f"{judged.confidence:.2f}",
}
_MAX_FAILED = 10  # failed applications shown in a review
_MAX_EPISODES = 3
# Labels of the success rate and of the rate that mining compares with.
_COMPARED: Mapping[PatternCategory, tuple[str, str]] = {
    PatternCategory.TOOL_SELECTION: ("succeeded", "without it"),
    PatternCategory.RECOVERY: ("worked", "of all that was tried did"),
    PatternCategory.FAILURE: ("went wrong", "of all such tasks did"),
}


def changed(title: str, pattern: Pattern, advice: str = "") -> RenderableType:
    """A pattern after a change."""
    return Group(_tick(title), indented(*_named(pattern), *([Text(show.safe(advice), show.FAINT)] if advice else [])))


def listing(patterns: Sequence[Pattern], more: bool) -> RenderableType:
    """Two lines per pattern: its name; status, evidence, category and id."""
    if not patterns:
        return Text("no patterns; `treering patterns mine` searches the episodes for some", show.FAINT)
    rest = [Text("there are more; raise --limit to see them", show.FAINT)] if more else []
    return Group(*(part for each in patterns for part in _listed(each)), *rest)


def found(ranked: Sequence["RankedPattern"], *, proven_only: bool) -> RenderableType:
    """Patterns that apply to a task, best first, with the terms of their score."""
    if not ranked:
        advice = Text("only validated patterns are shown; --status CANDIDATE shows unproven ones", show.FAINT)
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


def validated(verdicts: Sequence["ValidatedPattern"], *, dry_run: bool, everything: bool) -> RenderableType:
    """Changes of status with the reasons; the others are counted, or listed with `everything`."""
    moved = [each for each in verdicts if each.moved]
    shown = verdicts if everything else moved
    head = [Text("nothing was written; this would be done:", show.FAINT)] if dry_run and shown else []
    counts = Text(f"{len(verdicts):,} judged, {_many(len(moved))} moved", show.FAINT)
    if not shown:
        return counts
    return Group(*head, WideOrNarrow(_numbers_beside(shown), Group(*map(_numbers_below, shown))), counts)


def mined(candidates: Sequence["MinedPattern"], *, dry_run: bool) -> RenderableType:
    """Each candidate with the episodes for and against it."""
    if not candidates:
        return Text("no pattern found: nothing in the episodes is frequent and successful enough")
    head = [Text("nothing was written; these would be candidates:", show.FAINT)] if dry_run else []
    drawn = rows((Text(each.category.value, show.FAINT), Group(*_candidate(each))) for each in candidates)
    return Group(*head, drawn, Text("only episodes stored from now on count as evidence for candidates", show.FAINT))


def review(found: "PatternReview") -> RenderableType:
    """The failed applications, and the proposed refinement."""
    counts = Text.assemble(
        (f"{found.succeeded:,} succeeded", show.GOOD), ", ", (f"{len(found.failed):,} did not", show.BAD)
    )
    failed = rows(
        (Text(show.when(each.at), show.FAINT), Text(each.outcome.value, show.BAD), _application(each))
        for each in found.failed[:_MAX_FAILED]
    )
    more = len(found.failed) - _MAX_FAILED
    rest = [Text(f"and {more:,} more", show.FAINT)] if more > 0 else []
    advice = "`treering patterns refine` applies it" if found.proposed.applicability is not None else ""
    proposed = [Text.assemble(("proposed: ", show.HEAD), show.safe(found.proposed.reason))]
    return Group(
        *_named(found.pattern), counts, failed, *rest, *proposed, *([Text(advice, show.FAINT)] if advice else [])
    )


def refined(found: "RefinedPattern", *, dry_run: bool) -> RenderableType:
    """The change of conditions in words."""
    if found.after is found.before or found.after == found.before:
        return Group(*_named(found.before), Text(f"unchanged: {show.safe(found.refinement.reason)}"))
    title = "would be narrowed" if dry_run else "narrowed; its evidence is reset"
    return Group(
        *_named(found.before),
        Text.assemble((f"{title}: ", show.HEAD), show.safe(found.refinement.reason)),
        difference(found.before, found.after),
    )


def difference(before: Pattern, after: Pattern) -> RenderableType:
    """Applicability before and after, and every other changed line."""
    applies = rows(
        (
            Text(f"{name}, version {pattern.version}", show.FAINT),
            Group(*(Text(show.safe(line)) for line in requirement_lines(pattern.applicability))),
        )
        for name, pattern in (("before", before), ("after", after))
    )
    marks = {True: ("+ ", show.GOOD), False: ("− ", show.BAD)}
    lines = [Text.assemble(marks[each.added], show.safe(each.line)) for each in changes(before, after)]
    return Group(applies, *(lines or [Text("no differences", show.FAINT)]))


def similar(others: Sequence["SimilarPattern"]) -> RenderableType:
    if not others:
        return Text("no similar patterns")
    return rows(
        (f"{each.likeness.score:.2f}", Group(*_named(each.pattern), Text(each.likeness.in_words(), show.FAINT)))
        for each in others
    )


def pruned(low: Sequence["LowValuePattern"], *, dry_run: bool) -> RenderableType:
    if not low:
        return Text("no patterns of low value")
    head = "these would be deprecated:" if dry_run else "deprecated:"
    lines = (line for each in low for line in (*_named(each.pattern), Text(show.safe(each.why), "yellow")))
    return Group(Text(head, show.FAINT), *lines)


def history(entries: Sequence["HistoryEntry"]) -> RenderableType:
    """Every change, newest first, with the evidence for it."""
    return rows((Text(show.when(entry.at), show.FAINT), _happened(entry)) for entry in entries)


def applied(application: "Application", pattern: Pattern) -> RenderableType:
    return Group(_tick(f"counted as {application.outcome.value}"), indented(*_named(pattern)))


def imported(result: "PatternImport") -> RenderableType:
    """Numbers of imported patterns, and why others were skipped."""
    counts = {"added": result.added, "updated": result.updated, "skipped": result.left}
    summary = ", ".join(f"{len(ids):,} {name}" for name, ids in counts.items())
    skipped = (
        Text.assemble((f"skipped, {why}  ", "yellow"), (show.safe(id), show.ID)) for id, why in result.left.items()
    )
    done = show.done("imported", summary, "")
    return Group(done, indented(*skipped)) if result.left else done


def _listed(pattern: Pattern) -> tuple[RenderableType, ...]:
    proof, id = _proof(pattern), Text(show.safe(pattern.id), show.ID)
    evidence = (Text(pattern.status.value, STYLES[pattern.status]), *([Text(proof)] if proof else []))
    category = Text(pattern.category.value, show.FAINT)
    return Text(show.preview(pattern.name, 100)), indented(Text("  ").join((*evidence, category, id)))


def _numbers_beside(verdicts: Sequence["ValidatedPattern"]) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(overflow="fold")
    for _ in _NUMBERS:
        grid.add_column(justify="right", no_wrap=True)
    grid.add_row("", *(Text(name, show.FAINT) for name in _NUMBERS))
    for each in verdicts:
        grid.add_row(Group(*_verdict(each)), *(number(each.judged) for number in _NUMBERS.values()))
    return grid


def _numbers_below(each: "ValidatedPattern") -> RenderableType:
    name, *below = _verdict(each)
    numbers = ", ".join(f"{name} {number(each.judged)}" for name, number in _NUMBERS.items())
    return Group(name, indented(*below, Text(numbers)))


def _verdict(each: "ValidatedPattern") -> tuple[Text, ...]:
    after = each.judged.status
    before = Text.assemble((each.before.value, STYLES[each.before]), " → ") if each.moved else Text()
    return (
        Text(show.preview(each.name, 100)),
        Text.assemble(before, (after.value, STYLES[after]), "  ", (show.safe(each.pattern), show.ID)),
        Text(show.safe(each.judged.reason), show.FAINT),
    )


def _candidate(each: "MinedPattern") -> Iterable[Text]:
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
            yield Text.assemble((f"{mark} {count:,}  ", style), episodes(count, ids, _MAX_EPISODES))


def _happened(entry: "HistoryEntry") -> RenderableType:
    detail = {name: value for name, value in entry.detail.items() if value is not None}
    reason, cause = detail.pop("reason", ""), detail.pop("cause", entry.action.value)
    rest = ((name, value) for name, value in detail.items() if name not in ("from", "to"))
    details = ", ".join(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in rest)
    undone = " (undone)" if entry.undone else ""
    lines = (f"by {entry.actor}, {cause}{undone}", str(reason), details)
    return Group(transition(entry), *(Text(show.safe(line), show.FAINT) for line in lines if line))


def _named(pattern: Pattern) -> list[Text]:
    proof = _proof(pattern)
    summary = Text.assemble(
        (f"{pattern.category.value}, ", show.FAINT),
        status(pattern),
        (f", {proof}  " if proof else "  ", show.FAINT),
        (show.safe(pattern.id), show.ID),
    )
    return [Text(show.preview(pattern.name, 100)), summary]


def _proof(pattern: Pattern) -> str:
    known = pattern.evidence
    if known.success_rate is None:
        return ""
    return f"{known.success_rate:.0%} success in {counted(known.sessions, 'session')}"


def _score(score: float, terms: Mapping[str, float]) -> Text:
    """A bar divided by the terms of the score."""
    shades = zip(terms.items(), ("█", "▓", "▒", "░", "▪"), strict=False)
    drawn = "".join(shade * round(term * _BAR) for (_, term), shade in shades)
    return Text.assemble((f"{score:.2f} ", show.HEAD), (drawn, show.GOOD))


def _application(each: "Application") -> Text:
    parts = [each.task_type or "", f"session {each.session}" if each.session else ""]
    known = ", ".join(show.safe(part) for part in parts if part)
    return Text.assemble((f"{known}  " if known else "", show.FAINT), (show.safe(each.episode or each.id), show.ID))


def _gain(each: "MinedPattern") -> str:
    if each.saved_ms is not None:
        return f"saves {each.saved_ms / 1000:,.1f} s a time"
    if each.saved_steps is not None:
        return f"saves {each.saved_steps:,.1f} steps a time"
    success, baseline = _COMPARED.get(each.category, ("succeeded", "of all such tasks did"))
    return f"{each.success_rate:.0%} {success}, {each.base_rate:.0%} {baseline}"


def _many(count: int) -> str:
    return f"{count:,}" if count else "none"


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def _tick(title: str) -> Text:
    return Text.assemble(("✓ ", show.GOOD), (show.safe(title), show.HEAD))
