"""Prompts that a user starts from the menu of a client. Their texts are in treering/prompts."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treering.core.delimiters import escaped
from treering.core.errors import InvalidInput, NotFound
from treering.interfaces.mcp.answers import cited, cited_ids, item_tokens
from treering.interfaces.mcp.texts import prompt_text
from treering.interfaces.mcp.tool import MAX_QUERY, MAX_TEXT
from treering.interfaces.mcp.tools.search import SearchMemory, search_memory
from treering.render.listing import render_listing

if TYPE_CHECKING:
    from treering.interfaces.mcp.host import CallContext


RenderedPrompt = tuple[str, Iterable[str]]
"""The text of a prompt, and the ids of the records in it."""


@dataclass(frozen=True, slots=True)
class PromptArgument:
    name: str
    about: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """An entry of the menu."""

    name: str
    title: str
    about: str
    arguments: tuple[PromptArgument, ...]
    render: Callable[["CallContext", Mapping[str, str]], RenderedPrompt]


def _remember(_call: "CallContext", given: Mapping[str, str]) -> RenderedPrompt:
    what = given.get("what") or "what we learned or decided in this conversation"
    return prompt_text("remember").format(what=escaped(what)), ()


def _search(call: "CallContext", given: Mapping[str, str]) -> RenderedPrompt:
    about = given["about"]
    found = search_memory(call, SearchMemory(query=about[:MAX_QUERY]))
    return prompt_text("search").format(about=escaped(about), found=found.text), cited_ids(found.result)


def _review(call: "CallContext", _given: Mapping[str, str]) -> RenderedPrompt:
    waiting = []
    for record in call.memory.context.to_review():
        item = cited(record)
        states = [name for name in ("flagged", "needs_review", "tainted") if getattr(record, name)]
        states += ["stale"] if record.stale_at else []
        waiting.append(item.model_copy(update={"source": f"{', '.join(states)}: {item.source}"}))
    shown = render_listing(waiting, call.memory.settings.agents.answer_tokens, cost=item_tokens)
    text = prompt_text("review").format(found=shown.text) if shown.items else prompt_text("nothing_to_review")
    return text, cited_ids(shown.items)


PROMPTS = (
    Prompt(
        name="remember",
        title="Remember something",
        about="Store something for later sessions.",
        arguments=(PromptArgument("what", "What to remember. Default: the results of this conversation."),),
        render=_remember,
    ),
    Prompt(
        name="search",
        title="Search memory",
        about="Show what memory knows about something, before you begin.",
        arguments=(PromptArgument("about", "Subject of the search.", required=True),),
        render=_search,
    ),
    Prompt(
        name="review",
        title="Review memory",
        about="Review flagged, unconfirmed and outside records one by one.",
        arguments=(),
        render=_review,
    ),
)
_BY_NAME = {prompt.name: prompt for prompt in PROMPTS}


def render_prompt(call: "CallContext", name: str, given: Mapping[str, str]) -> RenderedPrompt:
    """The text of a prompt, and the ids of the records in it."""
    prompt = _BY_NAME.get(name)
    if prompt is None:
        raise NotFound(f"unknown prompt {name[:60]!r}; use one of {', '.join(_BY_NAME)}")
    known = {argument.name for argument in prompt.arguments}
    if unknown := sorted(set(given) - known):
        raise InvalidInput(
            f"{unknown[0][:60]!r} is not an argument of {name}; its arguments: {', '.join(sorted(known)) or 'none'}"
        )
    for argument in prompt.arguments:
        value = given.get(argument.name, "")
        if argument.required and not value.strip():
            raise InvalidInput(f"{name} requires {argument.name!r}: {argument.about}")
        if len(value) > MAX_TEXT:
            raise InvalidInput(f"{argument.name} has {len(value):,} characters; the maximum is {MAX_TEXT:,}")
    return prompt.render(call, given)
