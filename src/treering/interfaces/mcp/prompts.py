"""What a user can start from a client's menu: remember, search, review. The words are in treering/prompts."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.core.delimiters import escaped
from treering.core.errors import InvalidInput, NotFound
from treering.interfaces.mcp.answers import cited, cited_ids, item_tokens
from treering.interfaces.mcp.texts import written
from treering.interfaces.mcp.tool import LONGEST_SEARCH, LONGEST_TEXT
from treering.interfaces.mcp.tools.search import SearchMemory, search_memory
from treering.render.listing import render_listing

if TYPE_CHECKING:
    from treering.interfaces.mcp.host import Call


Written = tuple[str, Iterable[str]]
"""The text of a prompt, and the ids of the records in it."""


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    about: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """One entry of the menu."""

    name: str
    title: str
    about: str
    arguments: tuple[Argument, ...]
    write: Callable[["Call", Mapping[str, str]], Written]


def _remember(_call: "Call", given: Mapping[str, str]) -> Written:
    what = given.get("what") or "what we found out or decided in this conversation"
    return written("remember").format(what=escaped(what)), ()


def _search(call: "Call", given: Mapping[str, str]) -> Written:
    about = given["about"]
    found = search_memory(call, SearchMemory(query=about[:LONGEST_SEARCH]))
    return written("search").format(about=escaped(about), found=found.text), cited_ids(found.result)


def _review(call: "Call", _given: Mapping[str, str]) -> Written:
    waiting = []
    for record in call.memory.context.to_review():
        piece = cited(record)
        states = [name for name in ("flagged", "needs_review", "tainted") if getattr(record, name)]
        states += ["stale"] if record.stale_at else []
        waiting.append(piece.model_copy(update={"source": f"{', '.join(states)}: {piece.source}"}))
    shown = render_listing(waiting, call.memory.settings.agents.answer_tokens, cost=item_tokens)
    text = written("review").format(found=shown.text) if shown.items else written("nothing_to_review")
    return text, cited_ids(shown.items)


PROMPTS = (
    Prompt(
        name="remember",
        title="Remember something",
        about="Keep something for later sessions.",
        arguments=(Argument("what", "What to remember; without it, what this conversation came to."),),
        write=_remember,
    ),
    Prompt(
        name="search",
        title="Search memory",
        about="What memory knows about something, before you begin.",
        arguments=(Argument("about", "What it is about.", required=True),),
        write=_search,
    ),
    Prompt(
        name="review",
        title="Review what was learned",
        about="Go through what is doubtful, learned without confirmation, or from outside, one by one.",
        arguments=(),
        write=_review,
    ),
)
_BY_NAME = {prompt.name: prompt for prompt in PROMPTS}


def prompted(call: "Call", name: str, given: Mapping[str, str]) -> Written:
    """The text of a prompt, and the ids of the records in it."""
    prompt = _BY_NAME.get(name)
    if prompt is None:
        raise NotFound(f"there is no prompt {name[:60]!r}; there are {', '.join(_BY_NAME)}")
    known = {argument.name for argument in prompt.arguments}
    if unknown := sorted(set(given) - known):
        raise InvalidInput(f"{name} takes no {unknown[0][:60]!r}; it takes {', '.join(sorted(known)) or 'nothing'}")
    for argument in prompt.arguments:
        told = given.get(argument.name, "")
        if argument.required and not told.strip():
            raise InvalidInput(f"{name} needs {argument.name!r}: {argument.about}")
        if len(told) > LONGEST_TEXT:
            raise InvalidInput(f"{argument.name} has {len(told):,} characters; give at most {LONGEST_TEXT:,}")
    return prompt.write(call, given)
