"""demo: plays a recorded story on a temporary memory through the public API, and shows the results."""

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

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
class DemoRun:
    """Everything that the memory returned."""

    turns: "tuple[Turn, ...]"
    lessons: "tuple[Knowledge, ...]"
    found: "Answer"
    correction: "Knowledge"
    found_after_correction: "Answer"
    history: "tuple[HistoryEntry, ...]"
    found_after_undo: "Answer"
    sent: "ConversationContext"
    window: "ConversationStats"


def demo(
    *,
    serve: Annotated[bool, typer.Option("--serve", help="Serve the demo project with its panel until Ctrl-C.")] = False,
    as_json: AsJson = False,
) -> None:
    """Demonstrate Treering on a temporary project; nothing is kept."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="treering-demo-") as folder:
        run = _play(Path(folder))
        if serve:
            _serve(Path(folder), as_json=as_json)
            return
    emit(run, lambda: _view(run), as_json=as_json)


def _serve(folder: "Path", *, as_json: bool) -> None:
    """Serve the demo project on a free port. Its token is in the temporary folder too."""
    from treering.interfaces.cli.served_applications import announcement, serve_here
    from treering.interfaces.servers.http.options import HttpOptions

    os.environ["TREERING_DATA_DIR"] = str(folder)
    options = HttpOptions("127.0.0.1", 0, (), story.PROJECT, None, None, "TREERING_TOKEN")
    serve_here(str(folder / "memory.db"), options, announcement(options, opens=False, as_json=as_json))


def _play(folder: "Path") -> DemoRun:
    from treering.compose import open
    from treering.core.settings import Settings

    settings = Settings.make(embedder={"provider": "bundled"})
    place, blobs = folder / "memory.db", folder / "blobs"
    with open(place, project=story.PROJECT, blobs=blobs, settings=settings, background=False) as memory:
        turns = tuple(_say(memory, spoken) for spoken in story.CONVERSATION)
        facts = tuple(_remember(memory, fact) for fact in story.FACTS)
        found = memory.search(story.QUESTION, limit=3, explain=True)
        old = facts[story.CORRECTED]
        correction = memory.correct(old.id, story.REASON, text=story.CORRECTION)
        after_correction = memory.search(story.FOLLOW_UP)
        history = memory.history(old.id)
        memory.undo(old.id)
        after_undo = memory.search(story.FOLLOW_UP)
        talk = memory.conversation(story.NEXT_NIGHT, model="gpt-4o", limit=story.SMALL_WINDOW, keep_recent=2)
        for role, text in story.LONG_TALK:
            talk.add(role, text)
        sent = talk.build()
        return DemoRun(turns, facts, found, correction, after_correction, history, after_undo, sent, talk.stats())


def _say(memory: "Memory", spoken: story.DemoTurn) -> "Turn":
    return memory.turn(session=story.SESSION, role=spoken.role, speaker=spoken.speaker, text=spoken.text, at=spoken.at)


def _remember(memory: "Memory", fact: story.DemoFact) -> "Knowledge":
    return memory.remember(fact.text, type=fact.type, files=fact.files, tags=fact.tags, session=story.SESSION)


def _view(run: DemoRun) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from treering.interfaces.cli import views as show

    return Group(
        Text.assemble(("Treering", "bold green"), ": memory for AI agents. ", (story.SETTING, show.FAINT)),
        *_chapter("turn", "a conversation is stored word for word, except for secrets", _conversation(run)),
        *_chapter("remember", "what was learned is stored as knowledge", _facts(run)),
        *_chapter("search", f"the next session asks: {story.QUESTION}", _found(run)),
        *_chapter("correct", "later a person corrects it; nothing is overwritten", _correction(run)),
        *_chapter("undo", "was that a mistake? the earlier record is valid again", show.hits(run.found_after_undo)),
        *_chapter("conversation", "all of a long one is stored; what fits the model's window is sent", _sent(run)),
        Text(),
        _next_steps(),
    )


def _chapter(verb: str, title: str, body: "RenderableType") -> "tuple[RenderableType, ...]":
    from rich.padding import Padding
    from rich.text import Text

    return Text(), Text.assemble((f" {verb} ", "reverse"), (f" {title}", "bold")), Padding(body, (0, 0, 0, 2))


def _conversation(run: DemoRun) -> "RenderableType":
    from rich.text import Text

    from treering.interfaces.cli import views as show

    def text_of(turn: "Turn") -> Text:
        text = Text(show.preview(turn.text))
        text.highlight_regex(r"\[redacted:\w+\]", "black on yellow")
        return text

    return _columns((turn.speaker or "", text_of(turn)) for turn in run.turns)


def _facts(run: DemoRun) -> "RenderableType":
    return _columns((record.type, record.content) for record in run.lessons)


def _found(run: DemoRun) -> "RenderableType":
    """The results, each with the reasons for its rank."""
    from rich.console import Group
    from rich.text import Text

    from treering.interfaces.cli import explanations as reasons
    from treering.interfaces.cli import views as show

    why = reasons.in_brief(run.found.explanation) if run.found.explanation else []
    return _columns(
        (str(place), Group(show.preview(hit.text), Text(hit.source, show.FAINT), reason))
        for place, (hit, reason) in enumerate(zip(run.found, why, strict=True), start=1)
    )


def _correction(run: DemoRun) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text

    from treering.interfaces.cli import views as show

    corrected = run.history[0]
    why = f"valid until {show.when(corrected.at)}, when {corrected.actor} said: {corrected.detail['reason']}"
    before = Group(show.preview(corrected.content_before or ""), Text(why, show.FAINT))
    return Group(show.hits(run.found_after_correction), _columns([("before", before)]))


def _sent(run: DemoRun) -> "RenderableType":
    """How full the window is, and the marker in place of removed messages."""
    from rich.console import Group
    from rich.text import Text

    from treering.interfaces.cli import views as show
    from treering.interfaces.cli.conversation.gauge import usage_bar

    marker = next(message.text for message in run.sent.messages if message.text.startswith("…"))
    return Group(*usage_bar(run.window, 60), Text(show.preview(marker, 150), show.FAINT))


def _next_steps() -> "RenderableType":
    from shutil import which

    from rich.console import Group
    from rich.text import Text

    command = "treering" if which("treering") else sys.argv[0]
    steps = [(label, step.replace("{treering}", command)) for label, step in story.NEXT]
    return Group(Text("Next steps", "bold green"), _columns(steps))


def _columns(rows: "Iterable[tuple[str, RenderableType]]") -> "RenderableType":
    from rich.table import Table

    from treering.interfaces.cli import views as show

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style=show.FAINT, no_wrap=True)
    grid.add_column(overflow="fold")
    for label, body in rows:
        grid.add_row(label, body)
    return grid
