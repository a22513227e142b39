"""Renders what an agent is given unasked: one delimited block of cited items under titles, within a token budget."""

from collections.abc import Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from treering.core.citations import citation
from treering.core.delimiters import MEMORY, delimited, one_line
from treering.core.excerpts import ELLIPSIS, shortened
from treering.core.injection_rules import INJECTION_NOTE
from treering.core.tokens import estimate_tokens
from treering.core.visible_text import visible
from treering.render.page import MAX_CHARACTERS_PER_TOKEN

MAX_ITEM_TOKENS = 120  # two or three sentences; a search or `get` gives the rest


class InjectedText(Protocol):
    """An item to render. `id` is empty for files, which are not cited."""

    @property
    def id(self) -> str: ...
    @property
    def section(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def source(self) -> str: ...
    @property
    def estimate(self) -> float: ...


T = TypeVar("T", bound=InjectedText)


class RenderedInjection(NamedTuple, Generic[T]):
    """The text, its tokens, and the items that it contains with the tokens of each, in the order of the text."""

    text: str = ""
    tokens: int = 0
    items: tuple[tuple[T, int], ...] = ()


def render_injection(items: Sequence[T], budget: int, *, notice: str = "") -> RenderedInjection[T]:
    """The items under their titles, in their order; those with the lowest chance are left out until the text fits."""
    kept = [(item, _line(item)) for item in items]
    while True:
        text = _text(kept, notice)
        tokens = estimate_tokens(text) if text else 0
        if tokens <= budget:
            return RenderedInjection(text, tokens, tuple((item, estimate_tokens(f"{line}\n")) for item, line in kept))
        if not kept:
            return RenderedInjection()
        kept.remove(min(reversed(kept), key=lambda each: each[0].estimate))


def _text(lines: Sequence[tuple[T, str]], notice: str) -> str:
    if not lines and not notice:
        return ""
    parts = [INJECTION_NOTE] if lines else []
    parts += ["", one_line(notice)] if lines and notice else [one_line(notice)] if notice else []
    for section in dict.fromkeys(item.section for item, _ in lines):
        parts += ["", f"## {one_line(section)}", *(line for item, line in lines if item.section == section)]
    return delimited(MEMORY, visible("\n".join(parts)))


def _line(item: InjectedText) -> str:
    if not item.id:
        return f"- {one_line(item.text)} ({one_line(item.source)})"
    return f"- {_shortened(one_line(item.text))} {citation(item.id, item.source)}"


def _shortened(line: str) -> str:
    if estimate_tokens(line) <= MAX_ITEM_TOKENS:
        return line
    start = line[: MAX_ITEM_TOKENS * MAX_CHARACTERS_PER_TOKEN]
    fitting = shortened(start, lambda text: estimate_tokens(text) <= MAX_ITEM_TOKENS)
    return fitting or f"{line[:MAX_ITEM_TOKENS]}{ELLIPSIS}"
