"""Views that explain the ranking of search results."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from treering.interfaces.cli.views import (
    BAD,
    FAINT,
    GOOD,
    HEAD,
    ID,
    NOTHING_FOUND,
    bar,
    preview,
    safe,
    unreadable,
    without,
)

if TYPE_CHECKING:
    from treering.search.answer import Answer, Explanation, Hit, RankExplanation, ScorePart

_BAR_WIDTH = 16
_MAX_PARTS = 6
# Descriptions of parts whose names are not self-explanatory.
_PART_NAMES = {
    "asks": "is a question",
    "answers": "answers a question",
    "names_time": "names a time",
    "feedback_words": "words of the best",
    "feedback_meaning": "like the best",
    "words_before": "words, turn before",
    "words_after": "words, turn after",
    "words_2_before": "words, 2 before",
    "words_2_after": "words, 2 after",
    "meaning_before": "meaning, turn before",
    "meaning_after": "meaning, turn after",
    "meaning_2_before": "meaning, 2 before",
    "meaning_2_after": "meaning, 2 after",
}


def explained(found: "Answer") -> RenderableType:
    """How the query was understood, each result with its reasons, the runners-up, and the timings."""
    explanation = found.explanation
    if explanation is None:
        return Group(*without(found.missing))
    scale = _scale(explanation)
    pairs = zip(found.hits, explanation.results, strict=True)
    results = [_result(place, hit, why, scale) for place, (hit, why) in enumerate(pairs, start=1)]
    return Group(
        Text("understood as", HEAD),
        Padding(_table((name, safe(value)) for name, value in explanation.understood.items()), (0, 0, 0, 3)),
        *(line for result in results for line in (Text(), result)),
        *([] if results else [Text(), Text(NOTHING_FOUND)]),
        *_runners_up(explanation.runners_up),
        Text(),
        _timings(found.milliseconds),
        *without(found.missing),
        *unreadable(found),
    )


def in_brief(explanation: "Explanation") -> list[Text]:
    """The reasons of each result on one line: the largest parts, then the factors of its score."""
    scale = _scale(explanation)
    return [_brief(why, scale) for why in explanation.results]


def _brief(why: "RankExplanation", scale: float) -> Text:
    line = Text()
    for part in why.parts[:2]:
        line.append_text(
            Text.assemble((f"{_name(part)} ", FAINT), _coloured_bar(part.added, scale, _BAR_WIDTH // 2), "  ")
        )
    factors = (f"×{factor:.2f} {name}" for name, factor in why.factors.items() if round(factor, 2) != 1)
    return line.append(" ".join(factors), FAINT)


def _scale(explanation: "Explanation") -> float:
    """Value of the longest bar, the same for all results so that they can be compared."""
    return max((abs(part.added) for why in explanation.results for part in why.parts), default=1.0)


def _result(place: int, hit: "Hit", why: "RankExplanation", scale: float) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(justify="right", style=FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    source = Text.assemble((safe(hit.source), FAINT), "  ", (safe(hit.id), ID))
    also = [Text(f"also said by {', '.join(map(safe, hit.also))}", FAINT)] if hit.also else []
    passed = [Text(f"passed, {safe(why.passed)}", GOOD)] if why.passed else []
    reasons = (*passed, Text(f"found by {_paths(why.ranks)}"), _parts(why, scale), _score(why, hit))
    grid.add_row(str(place), Group(Text(preview(hit.text)), source, *also, *reasons))
    return grid


def _paths(ranks: Mapping[str, int]) -> str:
    return ", ".join(f"{name} #{rank}" for name, rank in ranks.items()) or "its neighbours"


def _parts(why: "RankExplanation", scale: float) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=FAINT, no_wrap=True)
    grid.add_column(no_wrap=True, width=_BAR_WIDTH)
    grid.add_column(justify="right", no_wrap=True)
    grid.add_column(style=FAINT, no_wrap=True)
    shown, rest = why.parts[:_MAX_PARTS], why.parts[_MAX_PARTS:]
    for part in shown:
        weighed = f"{part.value:.2f} × {part.weight:.2f}"
        grid.add_row(_name(part), _coloured_bar(part.added, scale), f"{part.added:+.2f}", weighed)
    if rest:
        added = sum(part.added for part in rest)
        grid.add_row(f"{len(rest)} smaller", _coloured_bar(added, scale), f"{added:+.2f}", "")
    return grid


def _name(part: "ScorePart") -> str:
    return _PART_NAMES.get(part.name, part.name.replace("_", " "))


def _coloured_bar(added: float, scale: float, length: int = _BAR_WIDTH) -> Text:
    return Text(bar(abs(added), scale, length), GOOD if added > 0 else BAD)


def _score(why: "RankExplanation", hit: "Hit") -> Text:
    """The score as relevance times factors, without factors of 1."""
    shown = (_factor(name, factor, hit) for name, factor in why.factors.items() if round(factor, 2) != 1)
    factors = "".join(f" × {each}" for each in shown)
    return Text.assemble((f"score {why.score:.3f}", HEAD), f": relevance {why.relevance:.2f}{factors}")


def _factor(name: str, factor: float, hit: "Hit") -> str:
    stored = getattr(hit.record, "confidence", None) if name == "confidence" else None
    lowered = stored is not None and round(stored, 2) != round(factor, 2)
    return f"{safe(name)} {factor:.2f}{f' (stored {stored:.2f})' if lowered else ''}"


def _runners_up(next_best: Sequence["RankExplanation"]) -> Iterator[RenderableType]:
    if not next_best:
        return
    yield Text()
    yield Text("runners-up", HEAD)
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for why in next_best:
        reason = Text.assemble((f"{safe(why.lost)}; {_paths(why.ranks)}", FAINT), "  ", (safe(why.id), ID))
        grid.add_row(f"{why.score:.3f}", Group(Text(preview(why.text, 100)), reason))
    yield Padding(grid, (0, 0, 0, 3))


def _timings(milliseconds: Mapping[str, float]) -> Text:
    stages = {name: taken for name, taken in milliseconds.items() if name != "total"}
    by_stage = ", ".join(f"{name} {taken:.1f}" for name, taken in stages.items())
    return Text.assemble(f"took {milliseconds.get('total', 0.0):.1f} ms", (f": {by_stage}" if by_stage else "", FAINT))


def _table(rows: Iterator[tuple[str, str]]) -> RenderableType:
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, value)
    return grid
