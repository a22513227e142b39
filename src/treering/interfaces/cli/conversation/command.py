"""context: what of a conversation is in the model's window, what left it and why, and how full it is."""

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
    from treering.memory import Memory

EVERY = 1.0
"""Seconds between two looks."""
_SOONEST, _LATEST = 0.1, 3600.0
_NAMED = 5
"""Sessions that are named where the one that was asked for does not exist."""


@dataclass(frozen=True, slots=True)
class Did:
    """What was done before the picture: how many messages left, or which one was meant."""

    action: str
    left: int = 0
    id: str | None = None


def context(
    conversation: Annotated[str, typer.Argument(metavar="CONVERSATION", help="The id of the conversation.")],
    *,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="As if it were held with this model.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="TOKENS", help="As if the model's window were so large.")
    ] = None,
    whole: Annotated[
        bool, typer.Option("--all", help="Every message, also those that left, with all details.")
    ] = False,
    search: Annotated[
        str | None, typer.Option("--search", metavar="TEXT", help="List what left the window and matches.")
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Let messages leave until there is room again.")] = False,
    clear: Annotated[
        bool, typer.Option("--clear", help="Let all leave but system prompts and pinned messages. Asks first.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    pin: Annotated[
        str | None, typer.Option("--pin", metavar="ID", help="Keep a message in the window; the end of its id will do.")
    ] = None,
    unpin: Annotated[str | None, typer.Option("--unpin", metavar="ID", help="Let it leave like others again.")] = None,
    unimportant: Annotated[
        str | None, typer.Option("--unimportant", metavar="ID", help="Let a message be among the first to leave.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Draw it again whenever it changes, until Ctrl-C.")] = False,
    every: Annotated[
        float | None, typer.Option("--every", metavar="SECONDS", help=f"How often --watch looks. Default: {EVERY}.")
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Draw a conversation's window: what is in it, what left and why.

    Drawing changes nothing. Messages that left are stored as before.
    """
    meant = {"--pin": pin, "--unpin": unpin, "--unimportant": unimportant}
    asked = {"--search": search is not None, "--prune": prune, "--clear": clear, **meant}
    chosen = [name for name, given in asked.items() if given not in (None, False)]
    _refuse_contradictions(chosen, whole=whole, watch=watch, every=every, yes=yes)
    with opened(db, project) as memory:
        held = _held(memory, conversation, model, limit)
        if search is not None:
            _list_found(held, search, as_json=as_json)
        elif watch:
            _watch(memory, held, EVERY if every is None else every, as_json=as_json)
        else:
            if clear and not yes:
                _ask(conversation, as_json=as_json)
            did = _done(held, chosen[0] if chosen else "", next(filter(None, meant.values()), ""))
            told = held.explain()
            emit(_document(told, did), lambda: _picture(told, did, whole=whole), as_json=as_json)


def _refuse_contradictions(chosen: list[str], *, whole: bool, watch: bool, every: float | None, yes: bool) -> None:
    """Options that do not go together are an `InvalidInput`."""
    if len(chosen) > 1:
        raise InvalidInput(f"{' and '.join(chosen)} are different things to do; ask for one at a time")
    if chosen and watch:
        raise InvalidInput(f"--watch only looks; leave it or {chosen[0]} out")
    if whole and watch:
        raise InvalidInput("--watch draws what fits the screen; leave it or --all out")
    if whole and "--search" in chosen:
        raise InvalidInput("--search lists what it finds and draws no window; leave it or --all out")
    if yes and "--clear" not in chosen:
        raise InvalidInput("--yes answers what --clear asks; add --clear")
    if every is not None and not watch:
        raise InvalidInput("--every says how often --watch looks; add --watch")
    if every is not None and not _SOONEST <= every <= _LATEST:
        raise InvalidInput(f"--every takes {_SOONEST} to {_LATEST:.0f} seconds, not {every}")


def _held(memory: "Memory", id: str, model: str | None, limit: int | None) -> "Conversation":
    """The conversation as it is stored; one that is not there is not begun."""
    from treering.compose import now
    from treering.core.queries import Order

    with memory.store.reading(memory.scope, now()) as tx:
        session = tx.sessions.get(id)
        latest = () if session else tx.sessions.find(order=Order(by="started_at"), limit=_NAMED).items
    if session is None:
        there = f"the latest are {', '.join(repr(each.id) for each in latest)}" if latest else "none is kept yet"
        raise NotFound(f"no conversation {id!r} in project {memory.scope.project!r}; {there}")
    if model is None and limit is None and session.context is None:
        raise InvalidInput(
            f"session {id!r} was never held with a model, so its window is not known; "
            "add --model NAME, or --limit TOKENS"
        )
    return memory.conversation(id, model=model, limit=limit)


def _done(held: "Conversation", action: str, typed: str) -> Did | None:
    """Do what was asked for, if anything was: to the window, or to the message whose id was typed."""
    if action == "--prune":
        return Did("prune", left=held.prune())
    if action == "--clear":
        return Did("clear", left=held.clear())
    if not action:
        return None
    id = _message_id(held, typed)
    if action == "--unimportant":
        held.unimportant(id)
    else:
        held.pin(id, pinned=action == "--pin")
    return Did(action.removeprefix("--"), id=id)


def _message_id(held: "Conversation", typed: str) -> str:
    """The id that was typed, or the only one that ends so."""
    ids = [line.id for line in held.explain().lines]
    end = typed.removeprefix("…")
    matching = [typed] if typed in ids else [id for id in ids if end and id.endswith(end)]
    if not matching:
        raise NotFound(f"no message {typed!r} in conversation {held.id!r}; --all lists them with their ids")
    if len(matching) > 1:
        raise InvalidInput(f"{len(matching)} messages have ids that end in {end!r}; give more of it")
    return matching[0]


def _ask(id: str, *, as_json: bool) -> None:
    if as_json or not sys.stdin.isatty():
        raise InvalidInput(f"--clear empties the window of {id!r} and nobody is here to ask; add --yes")
    if not typer.confirm(f"Let all of {id!r} leave the window, but system prompts and pinned messages?"):
        raise InvalidInput("nothing was cleared")


def _list_found(held: "Conversation", query: str, *, as_json: bool) -> None:
    from treering.interfaces.cli.conversation.view import found

    messages = held.search(query)
    document = {"conversation": held.id, "query": query, "found": messages}
    emit(document, lambda: found(query, messages), as_json=as_json)


def _picture(told: "WindowExplanation", did: Did | None, *, whole: bool) -> "RenderableType":
    from rich.console import Group

    from treering.interfaces.cli.conversation.rows import messages
    from treering.interfaces.cli.conversation.view import Picture
    from treering.interfaces.cli.views import done

    picture = Picture(told, whole=whole)
    if did is None:
        return picture
    subject = f"{messages(did.left)} left the window" if did.id is None else did.id
    return Group(done(_DONE[did.action], subject, ""), picture)


def _watch(memory: "Memory", held: "Conversation", every: float, *, as_json: bool) -> None:
    from treering.interfaces.cli.conversation.watch import watch

    def tell(told: "WindowExplanation") -> None:
        emit(_document(told, None), lambda: _picture(told, None, whole=False), as_json=as_json)

    watch(memory, held, every, tell, as_json=as_json)


def _document(told: "WindowExplanation", did: Did | None) -> dict[str, Any]:
    stats = {field.name: getattr(told.stats, field.name) for field in fields(told.stats)}
    segments = [{"first": first, "opened": opened, "ended": ended} for first, opened, ended in told.segments]
    return {
        "did": did,
        "stats": {**stats, "percent": round(told.stats.percent, 2)},
        "lines": told.lines,
        "segments": segments,
    }


_DONE = {
    "prune": "pruned:",
    "clear": "cleared:",
    "pin": "pinned",
    "unpin": "unpinned",
    "unimportant": "marked unimportant:",
}
