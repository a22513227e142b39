"""Views of episodes."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from treering.core.episodes import Episode, EpisodeFailure, EpisodeInsight, OutcomeStatus, TraceEntry
from treering.interfaces.cli import views as show

if TYPE_CHECKING:
    from treering.episodes.answer import EpisodeAnswer, EpisodeHit, FailureAnswer, FailureHit, Trend

_REDACTED = re.compile(r"\[redacted:([a-z0-9_]+)\]")
_STYLES = {OutcomeStatus.SUCCESS: show.GOOD, OutcomeStatus.PARTIAL: "yellow", OutcomeStatus.FAILURE: show.BAD}
_BAR = 20


def stored(episode: Episode, given: str) -> RenderableType:
    """An episode that was just stored, and the kinds of redacted secrets."""
    known = set(_REDACTED.findall(given))
    kinds = [kind for kind in dict.fromkeys(_REDACTED.findall(episode.to_json())) if kind not in known]
    lines = [show.changed("stored", episode)]
    lines += [Text(f"  {each.name}, {show.size(each.size)}", show.FAINT) for each in episode.outcome.artifacts]
    if kinds:
        lines.append(Text(f"  not stored: {', '.join(kinds)} (secrets are redacted)", "yellow"))
    return Group(*lines)


def answer(found: "EpisodeAnswer") -> RenderableType:
    """Results in order, each with its outcome and id; then unavailable search paths."""
    if not found.hits:
        message = "nothing found for this query" if found.query else "nothing found"
        return Group(Text(message, "" if found.query else show.FAINT), *show.without(found.missing))
    grid = _grid("right")
    for place, hit in enumerate(found, start=1):
        grid.add_row(str(place), _hit(hit))
    return Group(grid, *show.without(found.missing), *_unreadable(found.unreadable))


def failures(found: "FailureAnswer") -> RenderableType:
    """Episodes with the failure, and how they recovered."""
    if not found.hits:
        return Text("no episode with this or a similar failure")
    grid = _grid("right")
    for place, hit in enumerate(found, start=1):
        grid.add_row(str(place), Group(*_failure(hit)))
    return Group(grid, *_unreadable(found.unreadable))


def trend(rows: Sequence["Trend"]) -> RenderableType:
    """One line per period and group: number of episodes and success rate."""
    if not rows:
        return Text("no episodes in this time", show.FAINT)
    grid = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(5):
        grid.add_column(no_wrap=True)
    for row in rows:
        share = show.bar(row.successes, row.episodes, _BAR)
        cells = (f"{row.since:%Y-%m-%d}", show.safe(row.group), f"{row.episodes:,}", f"{row.success_rate:.0%}")
        grid.add_row(*(Text(each) for each in cells), Text(share, show.GOOD))
    return grid


def episode_view(episode: Episode) -> RenderableType:
    """The complete episode."""
    grid = _grid("left")
    for name, lines in _sections(episode):
        if lines:
            grid.add_row(name, Group(*lines))
    return Group(Text(show.safe(episode.task.input)), Text(), grid)


def _sections(episode: Episode) -> Iterable[tuple[str, list[Text]]]:
    task, execution, outcome, reflection = episode.task, episode.execution, episode.outcome, episode.reflection
    yield "outcome", [_status(episode)]
    for name, texts in (("goals", task.goals), ("constraints", task.constraints), ("plan", execution.plan)):
        yield name, _texts(texts)
    yield "steps", [_step(entry) for entry in execution.trace]
    yield "changes", _texts(f"{each.change} ({each.reason})" for each in execution.adaptations)
    yield "output", _texts(filter(None, (outcome.output,)))
    yield "side effects", _texts(outcome.side_effects)
    yield "artifacts", _texts(f"{each.name}, {each.media_type}, {show.size(each.size)}" for each in outcome.artifacts)
    yield "insights", _texts(map(_insight, reflection.insights))
    yield "failures", _texts(map(_failure_analysis, reflection.failures))
    yield "patterns", _texts(reflection.patterns)
    if (done := reflection.performance) is not None:
        measured = (f"{key}: {value}" for key, value in done.measures.items())
        yield "performance", _texts((done.text, *measured, *(f"bottleneck: {each}" for each in done.bottlenecks)))
    for name, mapping in (("context", task.context), ("resources", execution.resources), ("quality", outcome.quality)):
        yield name, _texts(f"{key}: {value}" for key, value in mapping.items())
    yield "complexity", _texts([] if task.complexity is None else [f"{task.complexity:.2f}"])
    for name, value in episode.metadata:
        yield name.replace("_", " "), _texts([value] if isinstance(value, str) else [", ".join(value or ())])
    if (made := episode.consolidation) is not None:
        yield (
            "represents",
            _texts([f"{made.instances:,} episodes, {made.success_rate:.0%} with success", *made.members]),
        )
    yield "session", _texts(filter(None, (episode.session,)))
    yield "lifecycle", _texts([_lifecycle(episode)])
    yield "id", [Text(show.safe(episode.id), show.ID)]


def _insight(insight: EpisodeInsight) -> str:
    sure = "" if insight.confidence is None else f" (confidence {insight.confidence:.0%})"
    return "\n".join((f"{insight.text}{sure}", *(f"  shown by {each}" for each in insight.evidence)))


def _failure_analysis(failure: EpisodeFailure) -> str:
    details = {"cause": failure.cause, "resolved by": failure.resolution}
    return "\n".join((failure.text, *(f"  {name}: {each}" for name, each in details.items() if each)))


def _lifecycle(episode: Episode) -> str:
    life = episode.lifecycle
    used = f", used {life.access_count:,} times" if life.access_count else ""
    into = f", part of {life.consolidated_into}" if life.consolidated_into else ""
    private = ", tainted" if episode.tainted else ""
    return f"{life.status.value}{used}{into}, {episode.visibility.value} of {episode.owner}{private}"


def _status(episode: Episode) -> Text:
    took = episode.execution.duration_ms
    lasted = "" if took is None else f" in {took / 1000:,.1f} s"
    status = episode.outcome.status
    return Text.assemble((status.value, _STYLES[status]), f"{lasted}, {show.when(episode.at)}")


def _step(entry: TraceEntry) -> Text:
    mark = ("✗ ", show.BAD) if entry.is_error else ("· ", show.FAINT)
    tool = f" ({show.safe(entry.tool)})" if entry.tool else ""
    given = f"\n  → {show.safe(entry.input)}" if entry.input else ""
    output = f"\n  ← {show.safe(entry.output)}" if entry.output else ""
    return Text.assemble(mark, show.safe(entry.action), (tool, show.FAINT), (f"{given}{output}", show.FAINT))


def _hit(hit: "EpisodeHit") -> RenderableType:
    represented = f", with {len(hit.stands_for)} similar" if hit.stands_for else ""
    score = f", {hit.score:.2f}" if hit.parts else ""
    source = (f"{show.safe(hit.source)}{represented}{score}", show.FAINT)
    return Group(Text(show.preview(hit.text)), Text.assemble(source, "  ", (show.safe(hit.id), show.ID)))


def _failure(hit: "FailureHit") -> Iterable[Text]:
    similarity = "" if hit.same else f" ({hit.likeness:.0%} similar)"
    yield Text.assemble(show.preview(hit.error), (similarity, show.FAINT))
    for step in hit.recovery:
        yield Text.assemble(("→ ", show.GOOD), show.preview(step))
    for insight in hit.insights:
        yield Text.assemble(("! ", show.GOOD), show.preview(insight))
    for id in hit.solved_by:
        yield Text.assemble(("✓ ", show.GOOD), "done later by ", (show.safe(id), show.ID))
    if not (hit.recovery or hit.solved_by):
        yield Text("no recovery known" if not hit.recovered else "recovered; steps unknown", show.FAINT)
    yield Text.assemble((show.safe(hit.source), show.FAINT), "  ", (show.safe(hit.id), show.ID))


def _texts(lines: Iterable[object]) -> list[Text]:
    return [Text(show.safe(str(line))) for line in lines if str(line)]


def _unreadable(names: Iterable[str]) -> list[RenderableType]:
    lost: list[RenderableType] = [Text(f"found, but cannot be read: {show.safe(name)}", "yellow") for name in names]
    return [*lost, Text("`treering doctor` shows details", show.FAINT)] if lost else []


def _grid(first: str) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right" if first == "right" else "left", style=show.FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    return grid
