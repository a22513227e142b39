"""A conversation's messages with those that left gathered into runs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from treering.conversation.window_context import ORPHAN

if TYPE_CHECKING:
    from treering.conversation.views import Line
    from treering.core.contexts import RemovedRun


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbours that left together, and what is known of it."""

    lines: tuple["Line", ...]
    span: "RemovedRun | None"


def removed(line: "Line") -> bool:
    """Whether it left; a result whose call is not there was never sent."""
    return not line.in_context and line.why != ORPHAN


def pieces(lines: Iterable["Line"], spans: Sequence["RemovedRun"]) -> Iterator["Line | Run"]:
    """Messages and runs in order. What was never sent does not part a run; it comes after it."""
    run, beside = list["Line"](), list["Line"]()

    def ended() -> Iterator["Line | Run"]:
        for _, together in groupby(run, key=lambda line: (_span_of(line, spans), line.why)):
            gathered = tuple(together)
            yield Run(gathered, _span_of(gathered[0], spans))
        yield from beside
        run.clear()
        beside.clear()

    for line in lines:
        if removed(line):
            run.append(line)
        elif run and not line.in_context:
            beside.append(line)
        else:
            yield from ended()
            yield line
    yield from ended()


def _span_of(line: "Line", spans: Sequence["RemovedRun"]) -> "RemovedRun | None":
    return next((span for span in spans if span.first <= line.seq <= span.last), None)
