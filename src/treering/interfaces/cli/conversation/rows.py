"""Draws the messages of a conversation: one line each, removed ones as runs, a thin line between tasks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.text import Text

from treering.interfaces.cli.conversation.runs import Run, pieces, removed
from treering.interfaces.cli.views import FAINT, HEAD, ID, bar, preview, when

if TYPE_CHECKING:
    from treering.conversation.views import ExplainedMessage, WindowExplanation

INDENT = 6
_BAR = 4
_FEWEST = 3
_LONGEST_ID = 12
_ROLES = {"system": "magenta", "user": "bold", "assistant": "", "tool": "blue"}
_MARKS = {"*": "pinned", "=": "stays", "~": "waits for its result", "x": "left out", "-": "removed"}
# Names of modifiers that are too long for a line.
_SHORT = {
    "tool call": "call",
    "tool result": "result",
    "references": "refs",
    "age in days": "age",
    "task complete": "done",
}
_ALONE = frozenset({"system prompt", "marked unimportant"})


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together, and whether they tell of a removal."""

    lines: tuple[Text, ...]
    removal: bool = False

    def __len__(self) -> int:
        return len(self.lines)


def blocks(told: "WindowExplanation", width: int, *, whole: bool) -> Iterator[Block]:
    """The conversation in order, where `whole` with every message that left. A task is headed where it is seen."""
    columns, segment = Columns.of(told, width), 0
    for piece in pieces(told.lines, told.stats.spans):
        if isinstance(piece, Run):
            yield Block(_run(piece, columns), removal=True)
        for line in (piece.lines if whole else ()) if isinstance(piece, Run) else (piece,):
            if line.segment != segment:
                segment = line.segment
                yield Block((_separator(told, segment, width),))
            details = _details(line, columns) if whole else ()
            yield Block((columns.message(line), *details, *_reason(line, columns)))


def legend(lines: Iterable["ExplainedMessage"], *, whole: bool) -> str:
    """What the marks mean that are there."""
    seen = {_mark(line) for line in lines if whole or not removed(line)}
    marks = "  ".join(f"{mark} {meaning}" for mark, meaning in _MARKS.items() if mark in seen)
    return f"{'':>{INDENT - 2}}{marks}" if marks else ""


def messages(count: int) -> str:
    return f"{count:,} {'message' if count == 1 else 'messages'}"


@dataclass(frozen=True, slots=True)
class Columns:
    """How wide each part of a message's line is."""

    width: int
    place: int
    role: int
    tokens: int
    note: int
    id: int
    largest: int

    @classmethod
    def of(cls, told: "WindowExplanation", width: int) -> "Columns":
        lines = told.lines
        return cls(
            width=width,
            place=max(INDENT - 3, len(str(len(lines)))),
            role=max((len(line.role.value) for line in lines), default=0),
            tokens=max((len(f"{line.tokens:,}") for line in lines), default=0),
            note=min(max((len(_note(line)) for line in lines), default=0), max(14, width // 5)),
            id=max((len(_short_id(line.id)) for line in lines), default=0),
            largest=max((line.tokens for line in lines), default=0),
        )

    def message(self, line: "ExplainedMessage") -> Text:
        """Place, mark, role, tokens, importance and what it is made of, the words, the id."""
        faint = FAINT if removed(line) else ""
        start = Text.assemble(
            (f"{line.place + 1:>{self.place}} ", FAINT),
            (f"{_mark(line)} ", HEAD),
            (f"{line.role.value:<{self.role}} ", faint or _ROLES.get(line.role.value, "")),
            (f"{bar(line.tokens, self.largest, _BAR):<{_BAR}} ", faint or "green"),
            (f"{line.tokens:>{self.tokens},} ", FAINT),
            (f"{line.importance.score:.2f} ", faint),
            (_fitted(_note(line), self.note), FAINT),
            " ",
        )
        words = Text(preview(line.text), faint)
        words.truncate(max(_FEWEST, self.width - start.cell_len - self.id - 1), overflow="ellipsis", pad=True)
        drawn = Text.assemble(start, words, " ", (f"{_short_id(line.id):>{self.id}}", ID))
        drawn.no_wrap = True
        return drawn

    def indented(self, text: str, most: int, lead: str = "") -> tuple[Text, ...]:
        """A faint text on at most so many lines."""
        inside = max(20, self.width - INDENT)
        parts = wrap(preview(text, inside * most), inside, max_lines=most, placeholder="…")
        leads = (lead, *("" for _ in parts))
        return tuple(
            Text(f"{before:>{INDENT}}{part}", FAINT, no_wrap=True) for before, part in zip(leads, parts, strict=False)
        )


def _run(run: Run, columns: Columns) -> tuple[Text, ...]:
    tokens = sum(line.tokens for line in run.lines)
    moment = f" {when(run.span.at)}" if run.span else ""
    told = f"{messages(len(run.lines))}, {tokens:,} tokens removed{moment}: {run.lines[0].why}"
    lines = columns.indented(told, 3, lead="… ")
    if run.span is None or not run.span.summary:
        return lines
    author = f"summary by {run.span.written_by}: " if run.span.written_by else ""
    return lines + columns.indented(f"{author}{run.span.summary}", 2)


def _separator(told: "WindowExplanation", segment: int, width: int) -> Text:
    """A task begins: what showed it, and how the one before ended."""
    _, opened, _ = told.segments[segment]
    ended = told.segments[segment - 1][2] if segment else ""
    before = f" (task {segment}: {preview(ended)})" if ended else ""
    title = f"── task {segment + 1}: {preview(opened)}{before} "
    return Text(f"{title:─<{width}}", FAINT, no_wrap=True)


def _details(line: "ExplainedMessage", columns: Columns) -> tuple[Text, ...]:
    """When it was said, its whole id, what its importance is made of, and the words that showed it."""
    parts = ", ".join(f"{name} {value:+.2f}" for name, value in line.importance.modifiers)
    cues = "; ".join(f"{cue}: {shown}" for cue, shown in line.cues)
    told = (f"{when(line.at)} {line.id}", parts, cues)
    return tuple(drawn for each in told if each for drawn in columns.indented(each, 2))


def _reason(line: "ExplainedMessage", columns: Columns) -> tuple[Text, ...]:
    """Why it is not sent, or not whole."""
    return columns.indented(f"{_MARKS[_mark(line)]}: {line.why}", 3) if line.why else ()


def _mark(line: "ExplainedMessage") -> str:
    if removed(line):
        return "-"
    if line.why:
        return "~" if line.in_context else "x"
    return "*" if line.pinned else "=" if line.protected else " "


def _note(line: "ExplainedMessage") -> str:
    """What moves a message's importance off the base."""
    moving = [(name, value) for name, value in line.importance.modifiers if name != "base"]
    return " ".join(
        name if name in _ALONE else f"{'+' if value > 0 else '-'}{_SHORT.get(name, name)}" for name, value in moving
    )


def _short_id(id: str) -> str:
    """An id as a line has room for it: those that time orders differ at their end."""
    plain = preview(id)
    return plain if len(plain) <= _LONGEST_ID else f"…{plain[-7:]}"


def _fitted(text: str, width: int) -> str:
    return f"{text:<{width}}" if len(text) <= width else f"{text[: width - 1]}…"
