"""Definitions of a file as a tree of line spans."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from treering.code.facts import MODULE, Definition, DefinitionKind


@dataclass(slots=True)
class Span:
    """Lines from `start` to before `end`, counted from 0, of one definition and those nested in it."""

    symbol: str
    start: int
    end: int
    body: int
    """First line that nested definitions can begin at: after the line with the name."""
    children: list["Span"] = field(default_factory=list)


def outline_of(lines: Sequence[str], definitions: Sequence[Definition]) -> Span:
    """Span of the file with its definitions nested. Each includes the comments and decorators directly above it."""
    whole = Span("", 0, len(lines), 0)
    open_spans = [whole]
    for each in sorted(definitions, key=lambda each: (each.line, -each.end_line, each.qualname)):
        if each.kind is DefinitionKind.CONSTANT or each.qualname == MODULE:
            continue
        line, end = each.line - 1, min(each.end_line, len(lines))
        while open_spans[-1] is not whole and open_spans[-1].end <= line:
            open_spans.pop()
        holder = open_spans[-1]
        first_free = holder.children[-1].end if holder.children else holder.body
        if not first_free <= line < end <= holder.end:
            continue
        span = Span(each.qualname, _first_line(lines, line, first_free), end, line + 1)
        holder.children.append(span)
        open_spans.append(span)
    return whole


def _first_line(lines: Sequence[str], line: int, first_free: int) -> int:
    """The first of the contiguous lines above a definition that are indented at least as deeply."""
    depth = _indent(lines[line])
    while line > first_free and lines[line - 1].strip() and _indent(lines[line - 1]) >= depth:
        line -= 1
    return line


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
