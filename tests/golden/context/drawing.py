"""A fixed conversation, and how its window is drawn.

Rewritten on purpose with `.venv/bin/python -m tests.golden.context.drawing`; then read the diff.
"""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

from rich.console import Console

from tests.samples import NOW
from treering.conversation.exchanges import ORPHAN
from treering.conversation.importance import Importance
from treering.conversation.views import ConversationStats, ExplainedMessage, WindowExplanation
from treering.conversation.window_context import UNANSWERED
from treering.core.contexts import RemovedMessages, WindowRules
from treering.core.messages import Role
from treering.interfaces.cli.conversation.view import WindowView

FOLDER = Path(__file__).parent
WIDTH = 80
FULL = "window 88 % full: its task is complete"


def line(place: int, role: str = "user", text: str = "hello", **fields: object) -> ExplainedMessage:
    """A message in the window that nothing is said about."""
    plain: dict[str, object] = {
        "seq": place,
        "id": f"01a1dec9-926b-70ee-aea3-1fa73b{place:06x}",
        "at": NOW + timedelta(minutes=place),
        "tokens": 10 + len(text),
        "importance": Importance(0.5, (("base", 0.5),)),
        "segment": 0,
        "pinned": False,
        "protected": False,
        "in_context": True,
        "why": "",
        "cues": (),
    }
    return ExplainedMessage(place=place, role=Role(role), text=text, **{**plain, **fields})  # type: ignore[arg-type]


def gone(place: int, role: str = "user", text: str = "hello", why: str = FULL, **fields: object) -> ExplainedMessage:
    return line(place, role, text, in_context=False, why=why, **fields)


def span(first: int, last: int, **fields: object) -> RemovedMessages:
    known = {"messages": last - first + 1, "tokens": 100, "why": FULL, "at": NOW + timedelta(hours=1)}
    return RemovedMessages.make(first=first, last=last, **{**known, **fields})


def explained(
    lines: Iterable[ExplainedMessage], spans: Iterable[RemovedMessages] = (), **numbers: object
) -> WindowExplanation:
    """The lines with numbers that fit them; `numbers` replace some, `segments` the tasks."""
    said, segments = tuple(lines), numbers.pop("segments", ((0, "the conversation begins", ""),))
    inside = [each for each in said if each.in_context]
    counted: dict[str, object] = {
        "id": "deploy",
        "rules": WindowRules(model="gpt-4o", limit=1000, tokenizer="o200k_base", max_tokens=800),
        "exact": True,
        "messages": len(said),
        "in_context": len(inside),
        "removed": len(said) - len(inside),
        "left_out": 0,
        "tokens": sum(each.tokens for each in inside),
        "total_tokens": sum(each.tokens for each in said),
        "tokens_by_role": {},
        "marker_tokens": 12,
        "oldest": inside[0].at if inside else None,
        "last_removal": max((each.at for each in spans), default=None),
        "spans": tuple(spans),
        "counts_from_cache": 0.0,
        "counts_estimated": 0,
    }
    stats = ConversationStats(**{**counted, **numbers})  # type: ignore[arg-type]
    return WindowExplanation(stats, said, segments)  # type: ignore[arg-type]


DIRECTIVE = Importance(0.4, (("base", 0.5), ("directive", 0.2), ("task complete", -0.3)))
CALL = Importance(1.0, (("base", 0.5), ("tool call", 0.3), ("recent", 0.4)))
SYSTEM = Importance(1.0, (("system prompt", 1.0),))
CONVERSATION = explained(
    (
        line(0, "system", "You deploy the shop.", importance=SYSTEM, protected=True),
        line(1, "user", "Never deploy on Friday", importance=DIRECTIVE, pinned=True, protected=True, id="rule-1"),
        gone(2, "assistant", "I will not."),
        gone(3, "user", "Deploy it \x1b[31mnow", importance=DIRECTIVE, cues=(("directive", "deploy it"),)),
        gone(4, "tool", "strange", why=ORPHAN),
        gone(5, "assistant", "Done, it is deployed."),
        line(6, "user", "Another task: 漢字 in the address of a customer break the invoice", segment=1, protected=True),
        line(7, "assistant", "Let me look", segment=1, importance=CALL, protected=True, why=UNANSWERED),
    ),
    (span(2, 5, messages=3, summary="Asked: Deploy it now\nDone: it is deployed", written_by="qwen3"),),
    segments=((0, "the conversation begins", "said to be done"), (6, "another task begins", "")),
    tokens_by_role={"system": 30, "user": 120, "assistant": 21},
    left_out=1,
    removed=3,
    tokens=623,
)
PICTURES = {"window": WindowView(CONVERSATION), "all": WindowView(CONVERSATION, whole=True)}


def golden(name: str) -> Path:
    return FOLDER / f"{name}.txt"


def drawn(picture: WindowView, width: int = WIDTH) -> list[str]:
    console = Console(width=width, highlight=False, markup=False, emoji=False, no_color=True)
    with console.capture() as captured:
        console.print(picture)
    return [line.rstrip() for line in captured.get().splitlines()]


def shown(name: str) -> str:
    return "".join(f"{line}\n" for line in drawn(PICTURES[name]))


if __name__ == "__main__":
    for name in PICTURES:
        golden(name).write_text(shown(name), encoding="utf-8")
