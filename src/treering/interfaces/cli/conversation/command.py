"""The command `conversation`: the window of a conversation, and changes to it."""

import sys
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treering.core.errors import InvalidInput, NotFound
from treering.interfaces.cli.options import AsJson, Db, Project, opened
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from rich.console import RenderableType

    from treering.conversation.api import Conversation
    from treering.conversation.views import WindowExplanation

EVERY = 1.0
"""Seconds between two checks."""
_MIN_INTERVAL, _MAX_INTERVAL = 0.1, 3600.0


@dataclass(frozen=True, slots=True)
class CompletedAction:
    """The action performed before drawing, with the number of messages removed or the id of the message."""

    action: str
    left: int = 0
    id: str | None = None


def conversation(
    id: Annotated[str, typer.Argument(metavar="CONVERSATION", help="Id of the conversation.")],
    *,
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="Use the window of this model.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="TOKENS", help="Use a window of this size.")] = None,
    whole: Annotated[
        bool, typer.Option("--all", help="Show every message, including removed ones, with all details.")
    ] = False,
    search: Annotated[
        str | None, typer.Option("--search", metavar="TEXT", help="List removed messages that match.")
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove messages until the window has space again.")] = False,
    clear: Annotated[
        bool, typer.Option("--clear", help="Remove all but system prompts and pinned messages. Asks first.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    pin: Annotated[
        str | None,
        typer.Option("--pin", metavar="ID", help="Keep a message in the window; the end of its id is enough."),
    ] = None,
    unpin: Annotated[str | None, typer.Option("--unpin", metavar="ID", help="Unpin a message.")] = None,
    unimportant: Annotated[
        str | None, typer.Option("--unimportant", metavar="ID", help="Remove this message among the first.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Redraw after every change, until Ctrl-C.")] = False,
    every: Annotated[
        float | None, typer.Option("--every", metavar="SECONDS", help=f"Interval of --watch. Default: {EVERY}.")
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show the window of a conversation: its messages, those removed, and why.

    Showing changes nothing. Removed messages stay stored.
    """
    meant = {"--pin": pin, "--unpin": unpin, "--unimportant": unimportant}
    asked = {"--search": search is not None, "--prune": prune, "--clear": clear, **meant}
    chosen = [name for name, given in asked.items() if given not in (None, False)]
    _check_options(chosen, whole=whole, watch=watch, every=every, yes=yes)
    with opened(db, project) as memory:
        talk = memory.conversation(id, model=model, limit=limit, create=False)
        if search is not None:
            _list_matches(talk, search, as_json=as_json)
        elif watch:
            _watch(talk, EVERY if every is None else every, as_json=as_json)
        else:
            if clear and not yes:
                _confirm_clear(id, as_json=as_json)
            did = _perform(talk, chosen[0] if chosen else "", next(filter(None, meant.values()), ""))
            explanation = talk.explain()
            emit(_document(explanation, did), lambda: _view(explanation, did, whole=whole), as_json=as_json)


def _check_options(chosen: list[str], *, whole: bool, watch: bool, every: float | None, yes: bool) -> None:
    """Raise `InvalidInput` for options that contradict each other."""
    if len(chosen) > 1:
        raise InvalidInput(f"{' and '.join(chosen)} cannot be combined; pass one at a time")
    if chosen and watch:
        raise InvalidInput(f"--watch cannot be combined with {chosen[0]}; pass one of them")
    if whole and watch:
        raise InvalidInput(
            "--watch draws only what fits the screen and cannot be combined with --all; pass one of them"
        )
    if whole and "--search" in chosen:
        raise InvalidInput("--search does not draw the window and cannot be combined with --all; pass one of them")
    if yes and "--clear" not in chosen:
        raise InvalidInput("--yes has no effect without --clear; add --clear")
    if every is not None and not watch:
        raise InvalidInput("--every has no effect without --watch; add --watch")
    if every is not None and not _MIN_INTERVAL <= every <= _MAX_INTERVAL:
        raise InvalidInput(f"--every takes {_MIN_INTERVAL} to {_MAX_INTERVAL:.0f} seconds, not {every}")


def _perform(talk: "Conversation", action: str, typed: str) -> CompletedAction | None:
    """Perform the chosen action, if any, on the window or on the message with the typed id."""
    if action == "--prune":
        return CompletedAction("prune", left=talk.prune())
    if action == "--clear":
        return CompletedAction("clear", left=talk.clear())
    if not action:
        return None
    id = _message_id(talk, typed)
    if action == "--unimportant":
        talk.unimportant(id)
    else:
        talk.pin(id, pinned=action == "--pin")
    return CompletedAction(action.removeprefix("--"), id=id)


def _message_id(talk: "Conversation", typed: str) -> str:
    """The id that was typed, or the only id with that ending."""
    ids = [line.id for line in talk.explain().lines]
    end = typed.removeprefix("…")
    matching = [typed] if typed in ids else [id for id in ids if end and id.endswith(end)]
    if not matching:
        raise NotFound(f"no message {typed!r} in conversation {talk.id!r}; --all lists the ids")
    if len(matching) > 1:
        raise InvalidInput(f"{len(matching)} messages have ids that end in {end!r}; type more of the id")
    return matching[0]


def _confirm_clear(id: str, *, as_json: bool) -> None:
    if as_json or not sys.stdin.isatty():
        raise InvalidInput(
            f"--clear empties the window of {id!r}, but stdin is not a terminal to confirm it; pass --yes"
        )
    if not typer.confirm(f"Remove all messages of {id!r} from the window, except system prompts and pinned messages?"):
        raise InvalidInput("not confirmed; nothing was cleared")


def _list_matches(talk: "Conversation", query: str, *, as_json: bool) -> None:
    from treering.interfaces.cli.conversation.view import render_matches

    messages = talk.search(query)
    document = {"conversation": talk.id, "query": query, "found": messages}
    emit(document, lambda: render_matches(query, messages), as_json=as_json)


def _view(explanation: "WindowExplanation", did: CompletedAction | None, *, whole: bool) -> "RenderableType":
    from rich.console import Group

    from treering.interfaces.cli.conversation.rows import message_count
    from treering.interfaces.cli.conversation.view import WindowView
    from treering.interfaces.cli.views import done

    view = WindowView(explanation, whole=whole)
    if did is None:
        return view
    subject = f"{message_count(did.left)} removed from the window" if did.id is None else did.id
    return Group(done(_DONE[did.action], subject, ""), view)


def _watch(talk: "Conversation", every: float, *, as_json: bool) -> None:
    from treering.interfaces.cli.conversation.watch import watch

    def show(explanation: "WindowExplanation") -> None:
        emit(_document(explanation, None), lambda: _view(explanation, None, whole=False), as_json=as_json)

    watch(talk, every, show, as_json=as_json)


def _document(explanation: "WindowExplanation", did: CompletedAction | None) -> dict[str, Any]:
    stats = {field.name: getattr(explanation.stats, field.name) for field in fields(explanation.stats)}
    segments = [{"first": first, "opened": opened, "ended": ended} for first, opened, ended in explanation.segments]
    return {
        "did": did,
        "stats": {**stats, "percent": round(explanation.stats.percent, 2)},
        "lines": explanation.lines,
        "segments": segments,
    }


_DONE = {
    "prune": "pruned:",
    "clear": "cleared:",
    "pin": "pinned",
    "unpin": "unpinned",
    "unimportant": "marked unimportant:",
}
