"""Renders one pattern with its evidence as a small chart."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from treering.core.pattern_words import content_lines, listed, requirement_lines
from treering.core.patterns import Evidence, Pattern, PatternStatus, TemplateSubtask
from treering.interfaces.cli import views as show
from treering.interfaces.cli.layout import WideOrNarrow, counted, rows
from treering.interfaces.cli.patterns.episode_names import episodes
from treering.interfaces.cli.patterns.weeks import PatternWeek

if TYPE_CHECKING:
    from treering.core.history import HistoryEntry

STYLES: Mapping[PatternStatus, str] = {
    PatternStatus.CANDIDATE: "yellow",
    PatternStatus.VALIDATED: show.GOOD,
    PatternStatus.UNDER_REVIEW: "magenta",
    PatternStatus.DEPRECATED: show.FAINT,
}
_BAR, _SHORT_BAR = 30, 8
_MAX_EPISODES = 5  # shown for and against a pattern; `--json` has all


@dataclass(frozen=True, slots=True)
class PatternView:
    """A pattern with the data of its chart."""

    pattern: Pattern
    weeks: Sequence[PatternWeek]
    moves: Sequence["HistoryEntry"]
    """Changes of its status, newest first."""


def pattern_view(shown: PatternView) -> RenderableType:
    """The pattern, then its evidence."""
    pattern = shown.pattern
    return Group(
        Text(show.safe(pattern.name), show.HEAD),
        Text.assemble(f"{pattern.category.value}, ", status(pattern), f", version {pattern.version}"),
        Text(),
        _labelled(_sections(pattern)),
        Text(),
        Text("evidence", show.HEAD),
        _labelled(_evidence(pattern)),
        *_chart(shown.weeks, pattern.evidence.base_rate),
        *_moves(shown.moves),
    )


def status(pattern: Pattern) -> Text:
    since = f" since {pattern.status_since:%Y-%m-%d}" if pattern.status_since else ""
    return Text.assemble((pattern.status.value, STYLES[pattern.status]), since)


def odds(e_value: float) -> str:
    """An e-value, without decimals if it is large."""
    return f"{e_value:,.0f}" if 100 <= e_value < 1e9 else f"{e_value:.3g}"


def subtasks(filled: Iterable[TemplateSubtask]) -> RenderableType:
    """The subtasks of a template."""
    return rows((_numbered(number, each) for number, each in enumerate(filled, start=1)), right=True)


def transition(entry: "HistoryEntry") -> Text:
    """The status before and after, in their colours."""
    ends = [PatternStatus(entry.detail[name]) for name in ("from", "to") if name in entry.detail]
    if not ends:
        return Text(entry.action.value, show.HEAD)
    return Text(" → ").join(Text(each.value, STYLES[each]) for each in dict.fromkeys(ends))


def _sections(pattern: Pattern) -> Iterator[tuple[str, list[Text]]]:
    guidance, links = pattern.guidance, pattern.links
    yield "in short", _lines([pattern.summary])
    yield "applies", _lines(requirement_lines(pattern.applicability))
    yield "does", _lines(content_lines(pattern.content))
    yield "description", _lines([pattern.description])
    yield "why", _lines([pattern.explanation])
    yield "when", _lines([guidance.when])
    yield "how", _lines([guidance.how])
    yield "benefits", _lines(guidance.benefits)
    yield "risks", _lines(guidance.risks)
    yield "alternatives", _ids(guidance.alternatives)
    for name in ("specialises", "superseded_by"):
        yield name.replace("_", " "), _ids(filter(None, (getattr(links, name),)))
    for name in ("generalises", "contradicts", "complements"):
        yield name, _ids(getattr(links, name))
    yield "deprecated", _lines(filter(None, (pattern.deprecation_reason,)))
    yield "seen by", _lines([f"{pattern.visibility.value} of {pattern.owner}"])
    yield "id", [Text(show.safe(pattern.id), show.ID)]


def _evidence(pattern: Pattern) -> Iterator[tuple[str, list[Text]]]:
    known = pattern.evidence
    yield "used", _lines([_used(pattern)])
    yield "success", [_success(known)]
    yield "confidence", [_share(known.confidence)]
    yield (
        "p-value",
        _lines([] if known.p_value is None else [f"{known.p_value:.2g}, the probability of this result by chance"]),
    )
    yield "e-value", _lines([_likelihood(known.e_value)] if known.e_value is not None and known.sessions else [])
    yield "saves", _lines(_saved(known))
    yield "for it", _episodes(known.supporting)
    yield "against it", _episodes(known.counter)
    yield "judged", _lines([show.when(known.last_validated_at)] if known.last_validated_at else ["not yet"])


def _used(pattern: Pattern) -> str:
    if not pattern.usage_count:
        return "never"
    last = f", last {show.when(pattern.last_used_at)}" if pattern.last_used_at else ""
    resets = f", evidence reset {pattern.evidence.generation - 1} times" if pattern.evidence.generation > 1 else ""
    return f"{counted(pattern.usage_count, 'time')}{last}{resets.replace(' 1 times', ' once')}"


def _success(known: Evidence) -> Text:
    if known.success_rate is None:
        return Text("no session was judged", show.FAINT)
    style = show.GOOD if known.base_rate is None or known.success_rate >= known.base_rate else show.BAD
    seen = f" in {counted(known.sessions, 'session')} ({counted(known.applications, 'application')})"
    without = "" if known.base_rate is None else f"; {known.base_rate:.0%} without it"
    return Text.assemble((f"{known.success_rate:.0%}", style), f"{seen}{without}")


def _likelihood(e_value: float) -> str:
    return f"{odds(e_value)} times as likely if it helps as if it does not"


def _share(share: float) -> Text:
    return Text.assemble(f"{share:.2f} ", (show.bar(share, 1.0, _BAR), show.GOOD))


def _saved(known: Evidence) -> Iterator[str]:
    if known.mean_time_saved_ms is not None:
        yield f"{known.mean_time_saved_ms / 1000:,.1f} s a time"
    if known.mean_cost_saved is not None:
        yield f"{known.mean_cost_saved:,.4g} of cost a time"


def _episodes(ids: Sequence[str]) -> list[Text]:
    return [Text.assemble(f"{counted(len(ids), 'episode')}: ", episodes(len(ids), ids, _MAX_EPISODES))] if ids else []


def _chart(weeks: Sequence[PatternWeek], base_rate: float | None) -> Iterator[RenderableType]:
    """One bar per week, with a mark at the base rate."""
    if not weeks:
        return
    mark = "" if base_rate is None else f"; │ marks the {base_rate:.0%} without it"
    yield Text()
    yield Text.assemble(("success by week", show.HEAD), (mark, show.FAINT))
    yield WideOrNarrow(_weeks(weeks, base_rate, _BAR), _weeks(weeks, base_rate, _SHORT_BAR))


def _weeks(weeks: Sequence[PatternWeek], base_rate: float | None, cells: int) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=show.FAINT, no_wrap=True)
    grid.add_column(no_wrap=True, min_width=cells)
    grid.add_column(justify="right", no_wrap=True)
    sessions = [counted(week.sessions, "session") if week.sessions else "" for week in weeks]
    grid.add_column(style=show.FAINT, no_wrap=True, min_width=max(map(len, sessions)))
    for week, session_count in zip(weeks, sessions, strict=True):
        rate = "–" if week.success_rate is None else f"{week.success_rate:.0%}"
        grid.add_row(f"{week.since:%Y-%m-%d}", _week_bar(week, base_rate, cells), rate, session_count)
    return grid


def _week_bar(week: PatternWeek, base_rate: float | None, cells: int) -> Text:
    """A bar of the success rate with a mark at the base rate."""
    rate = week.success_rate or 0.0
    drawn = show.bar(rate, 1.0, cells).ljust(cells)
    if base_rate is None:
        return Text(drawn, show.GOOD)
    place = min(cells - 1, round(base_rate * cells))
    style = show.GOOD if rate >= base_rate else show.BAD
    return Text.assemble((drawn[:place], style), "│", (drawn[place + 1 :], style))


def _moves(moves: Sequence["HistoryEntry"]) -> Iterator[RenderableType]:
    if not moves:
        return
    yield Text()
    yield Text("status", show.HEAD)
    yield rows((Text(show.when(entry.at), show.FAINT), _move(entry)) for entry in moves)


def _move(entry: "HistoryEntry") -> RenderableType:
    reason = entry.detail.get("reason") or entry.detail.get("cause") or entry.action.value
    return Group(transition(entry), Text(show.safe(str(reason)), show.FAINT))


def _numbered(number: int, subtask: TemplateSubtask) -> tuple[Text, RenderableType]:
    after = f"after {listed(subtask.depends_on, 'and')}" if subtask.depends_on else ""
    lines = [(subtask.title, ""), (subtask.description, ""), (after, show.FAINT)]
    return Text(str(number), show.FAINT), Group(*(Text(show.safe(line), style) for line, style in lines if line))


def _lines(texts: Iterable[str]) -> list[Text]:
    return [Text(show.safe(text)) for text in texts if text]


def _ids(ids: Iterable[str]) -> list[Text]:
    return [Text(show.safe(id), show.ID) for id in ids]


def _labelled(sections: Iterable[tuple[str, list[Text]]]) -> RenderableType:
    return rows((Text(name, show.FAINT), Group(*lines)) for name, lines in sections if lines)
