"""demo: plays a recorded story on a temporary memory, through the public API, and shows what came of it."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.interfaces.cli import demo_story as story
from treering.interfaces.cli.options import AsJson
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rich.console import RenderableType

    from treering.conversation.views import ConversationStats
    from treering.conversation.window_context import ConversationContext
    from treering.core.history import HistoryEntry
    from treering.core.records import Knowledge
    from treering.core.turns import Turn
    from treering.memory import Memory
    from treering.search.answer import Answer


@dataclass(frozen=True, slots=True)
class Played:
    """Everything the memory answered on the way."""

    turns: "tuple[Turn, ...]"
    lessons: "tuple[Knowledge, ...]"
    found: "Answer"
    correction: "Knowledge"
    found_after_correction: "Answer"
    history: "tuple[HistoryEntry, ...]"
    found_after_undo: "Answer"
    sent: "ConversationContext"
    window: "ConversationStats"


def demo(as_json: AsJson = False) -> None:
    """Show on a temporary project what this is; nothing is kept."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="treering-demo-") as folder:
        played = _play(Path(folder))
    emit(played, lambda: _picture(played), as_json=as_json)


def _play(folder: "Path") -> Played:
    from treering.compose import open
    from treering.core.settings import Settings

    settings = Settings.make(embedder={"provider": "bundled"})
    place, blobs = folder / "memory.db", folder / "blobs"
    with open(place, project=story.PROJECT, blobs=blobs, settings=settings, background=False) as memory:
        turns = tuple(_say(memory, spoken) for spoken in story.CONVERSATION)
        lessons = tuple(_learn(memory, lesson) for lesson in story.LESSONS)
        found = memory.search(story.QUESTION, limit=3, explain=True)
        old = lessons[story.CORRECTED]
        correction = memory.correct(old.id, story.REASON, text=story.CORRECTION)
        after_correction = memory.search(story.FOLLOW_UP)
        history = memory.history(old.id)
        memory.undo(old.id)
        after_undo = memory.search(story.FOLLOW_UP)
        talk = memory.conversation(story.NEXT_NIGHT, model="gpt-4o", limit=story.SMALL_WINDOW, keep_recent=2)
        for role, text in story.LONG_TALK:
            talk.add(role, text)
        sent = talk.build()
        return Played(turns, lessons, found, correction, after_correction, history, after_undo, sent, talk.stats())


def _say(memory: "Memory", spoken: story.Spoken) -> "Turn":
    return memory.turn(session=story.SESSION, role=spoken.role, speaker=spoken.speaker, text=spoken.text, at=spoken.at)


def _learn(memory: "Memory", lesson: story.Lesson) -> "Knowledge":
    return memory.remember(lesson.text, type=lesson.type, files=lesson.files, tags=lesson.tags, session=story.SESSION)


def _picture(played: Played) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from treering.interfaces.cli import views as show

    return Group(
        Text.assemble(("Treering", "bold green"), ": memory for AI agents. ", (story.SETTING, show.FAINT)),
        *_chapter("turn", "a conversation is kept word for word, except its secrets", _conversation(played)),
        *_chapter("remember", "what the task taught is kept as knowledge", _lessons(played)),
        *_chapter("search", f"the next session asks: {story.QUESTION}", _found(played)),
        *_chapter("correct", "later a person knows better; nothing is overwritten", _correction(played)),
        *_chapter("undo", "that was a mistake? the first belief is back", show.hits(played.found_after_undo)),
        *_chapter("context", "a long talk is kept whole; what fits the model's window is sent", _sent(played)),
        Text(),
        _next_steps(),
    )


def _chapter(verb: str, title: str, body: "RenderableType") -> "tuple[RenderableType, ...]":
    from rich.padding import Padding
    from rich.text import Text

    return Text(), Text.assemble((f" {verb} ", "reverse"), (f" {title}", "bold")), Padding(body, (0, 0, 0, 2))


def _conversation(played: Played) -> "RenderableType":
    from rich.text import Text

    from treering.interfaces.cli import views as show

    def told(turn: "Turn") -> Text:
        text = Text(show.preview(turn.text))
        text.highlight_regex(r"\[redacted:\w+\]", "black on yellow")
        return text

    return _columns((turn.speaker or "", told(turn)) for turn in played.turns)


def _lessons(played: Played) -> "RenderableType":
    return _columns((record.type, record.content) for record in played.lessons)


def _found(played: Played) -> "RenderableType":
    """The results, each with the reasons why it stands there."""
    from rich.console import Group
    from rich.text import Text

    from treering.interfaces.cli import explanations as reasons
    from treering.interfaces.cli import views as show

    why = reasons.in_brief(played.found.explanation) if played.found.explanation else []
    return _columns(
        (str(place), Group(show.preview(hit.text), Text(hit.source, show.FAINT), told))
        for place, (hit, told) in enumerate(zip(played.found, why, strict=True), start=1)
    )


def _correction(played: Played) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from treering.interfaces.cli import views as show

    corrected = played.history[0]
    why = f"believed until {show.when(corrected.at)}, when {corrected.actor} said: {corrected.detail['reason']}"
    before = Group(show.preview(corrected.content_before or ""), Text(why, show.FAINT))
    return Group(show.hits(played.found_after_correction), _columns([("before", before)]))


def _sent(played: Played) -> "RenderableType":
    """How full the window is, and what stands in it where messages left."""
    from rich.console import Group
    from rich.text import Text

    from treering.interfaces.cli import views as show
    from treering.interfaces.cli.conversation.gauge import usage_bar

    told = next(message.text for message in played.sent.messages if message.text.startswith("…"))
    return Group(*usage_bar(played.window, 60), Text(show.preview(told, 150), show.FAINT))


def _next_steps() -> "RenderableType":
    from shutil import which

    from rich.console import Group
    from rich.text import Text

    command = "treering" if which("treering") else sys.argv[0]
    steps = [(label, step.replace("{treering}", command)) for label, step in story.NEXT]
    return Group(Text("Now you", "bold green"), _columns(steps))


def _columns(rows: "Iterable[tuple[str, RenderableType]]") -> "RenderableType":
    from rich.table import Table

    from treering.interfaces.cli import views as show

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=show.FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    for label, body in rows:
        grid.add_row(label, body)
    return grid
