"""The lines of a conversation: one per message, one per removed run, and a rule between tasks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from rich.text import Text

from treering.interfaces.cli.conversation.runs import RemovedRun, messages_and_runs
from treering.interfaces.cli.views import FAINT, HEAD, ID, bar, preview, when

if TYPE_CHECKING:
    from treering.conversation.views import ExplainedMessage, WindowExplanation

INDENT = 6
_BAR = 4
_MIN_LINES = 3
_MAX_ID = 12
_ROLES = {"system": "magenta", "user": "bold", "assistant": "", "tool": "blue"}
_MARKS = {"*": "pinned", "=": "protected", "~": "waits for its result", "x": "left out", "-": "removed"}
# Short names of modifiers.
_SHORT = {
    "tool call": "call",
    "tool result": "result",
    "references": "refs",
    "age in days": "age",
    "task complete": "done",
}
_ALONE = frozenset({"system prompt", "marked unimportant"})


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Lines that belong together; `removal` if they describe a removed run."""

    lines: tuple[Text, ...]
    removal: bool = False

    def __len__(self) -> int:
        return len(self.lines)


def blocks(explanation: "WindowExplanation", width: int, *, whole: bool) -> Iterator[LineBlock]:
    """The conversation in order; with `whole`, including every removed message. Each visible task has a heading."""
    columns, segment = MessageColumns.of(explanation, width), 0
    for piece in messages_and_runs(explanation.lines, explanation.stats.spans):
        if isinstance(piece, RemovedRun):
            yield LineBlock(_run(piece, columns), removal=True)
        for line in (piece.lines if whole else ()) if isinstance(piece, RemovedRun) else (piece,):
            if line.segment != segment:
                segment = line.segment
                yield LineBlock((_separator(explanation, segment, width),))
            details = _details(line, columns) if whole else ()
            yield LineBlock((columns.message(line), *details, *_reason(line, columns)))


def legend(lines: Iterable["ExplainedMessage"], *, whole: bool) -> str:
    """The legend of the marks in use."""
    seen = {_mark(line) for line in lines if whole or not line.removed}
    marks = "  ".join(f"{mark} {meaning}" for mark, meaning in _MARKS.items() if mark in seen)
    return f"{'':>{INDENT - 2}}{marks}" if marks else ""


def message_count(count: int) -> str:
    return f"{count:,} {'message' if count == 1 else 'messages'}"


@dataclass(frozen=True, slots=True)
class MessageColumns:
    """Widths of the columns of a message's line."""

    width: int
    place: int
    role: int
    tokens: int
    note: int
    id: int
    largest: int

    @classmethod
    def of(cls, explanation: "WindowExplanation", width: int) -> "MessageColumns":
        lines = explanation.lines
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
        """Place, mark, role, tokens, importance with its modifiers, text and id."""
        faint = FAINT if line.removed else ""
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
        words.truncate(max(_MIN_LINES, self.width - start.cell_len - self.id - 1), overflow="ellipsis", pad=True)
        drawn = Text.assemble(start, words, " ", (f"{_short_id(line.id):>{self.id}}", ID))
        drawn.no_wrap = True
        return drawn

    def indented(self, text: str, max_lines: int, lead: str = "") -> tuple[Text, ...]:
        """A faint, indented text on at most `max_lines` lines."""
        inside = max(20, self.width - INDENT)
        parts = wrap(preview(text, inside * max_lines), inside, max_lines=max_lines, placeholder="…")
        leads = (lead, *("" for _ in parts))
        return tuple(
            Text(f"{before:>{INDENT}}{part}", FAINT, no_wrap=True) for before, part in zip(leads, parts, strict=False)
        )


def _run(run: RemovedRun, columns: MessageColumns) -> tuple[Text, ...]:
    tokens = sum(line.tokens for line in run.lines)
    moment = f" {when(run.span.at)}" if run.span else ""
    description = f"{message_count(len(run.lines))}, {tokens:,} tokens removed{moment}: {run.lines[0].why}"
    lines = columns.indented(description, 3, lead="… ")
    if run.span is None or not run.span.summary:
        return lines
    author = f"summary by {run.span.written_by}: " if run.span.written_by else ""
    return lines + columns.indented(f"{author}{run.span.summary}", 2)


def _separator(explanation: "WindowExplanation", segment: int, width: int) -> Text:
    """The heading of a task: the evidence that it began, and how the previous one ended."""
    _, opened, _ = explanation.segments[segment]
    ended = explanation.segments[segment - 1][2] if segment else ""
    before = f" (task {segment}: {preview(ended)})" if ended else ""
    title = f"── task {segment + 1}: {preview(opened)}{before} "
    return Text(f"{title:─<{width}}", FAINT, no_wrap=True)


def _details(line: "ExplainedMessage", columns: MessageColumns) -> tuple[Text, ...]:
    """Time, full id, modifiers of the importance, and the words that matched cues."""
    parts = ", ".join(f"{name} {value:+.2f}" for name, value in line.importance.modifiers)
    cues = "; ".join(f"{cue}: {shown}" for cue, shown in line.cues)
    details = (f"{when(line.at)} {line.id}", parts, cues)
    return tuple(drawn for each in details if each for drawn in columns.indented(each, 2))


def _reason(line: "ExplainedMessage", columns: MessageColumns) -> tuple[Text, ...]:
    """The reason why it is not sent, or not in full."""
    return columns.indented(f"{_MARKS[_mark(line)]}: {line.why}", 3) if line.why else ()


def _mark(line: "ExplainedMessage") -> str:
    if line.removed:
        return "-"
    if line.why:
        return "~" if line.in_context else "x"
    return "*" if line.pinned else "=" if line.protected else " "


def _note(line: "ExplainedMessage") -> str:
    """The modifiers of a message's importance, without the base."""
    moving = [(name, value) for name, value in line.importance.modifiers if name != "base"]
    return " ".join(
        name if name in _ALONE else f"{'+' if value > 0 else '-'}{_SHORT.get(name, name)}" for name, value in moving
    )


def _short_id(id: str) -> str:
    """A shortened id: time-ordered ids differ at their end."""
    plain = preview(id)
    return plain if len(plain) <= _MAX_ID else f"…{plain[-7:]}"


def _fitted(text: str, width: int) -> str:
    return f"{text:<{width}}" if len(text) <= width else f"{text[: width - 1]}…"
