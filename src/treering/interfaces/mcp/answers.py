"""Answers of tools: records as cited items, and the token budget of an answer in both of its forms."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Self, TypeVar

from treering.core.citations import cite, conflict_mark
from treering.core.tokens import estimate_tokens
from treering.interfaces.mcp.tool import Reply, Result, ToolAnswer, as_json
from treering.render.listing import block_tokens

if TYPE_CHECKING:
    from treering import Episode, Knowledge, Turn

R = TypeVar("R", bound=Reply)


class Cited(Result):
    """A text of a result, with the id and the source under which it is cited."""

    id: str
    source: str
    text: str

    def with_text(self, text: str) -> Self:
        return self.model_copy(update={"text": text})


def cited(record: "Knowledge | Turn | Episode") -> Cited:
    """A record as a cited item, marked if it is in conflict with others."""
    text, source = cite(record)
    return Cited(id=record.id, source=", ".join(filter(None, (source, conflict_mark(record)))), text=text)


def cited_ids(result: object) -> Iterator[str]:
    """The ids of all cited items in a result."""
    if isinstance(result, Cited):
        yield result.id
    elif isinstance(result, Result):
        yield from cited_ids(tuple(result.__dict__.values()))
    elif isinstance(result, tuple):
        for each in result:
            yield from cited_ids(each)


def within(budget: int, answer_in: Callable[[int], ToolAnswer[R]]) -> ToolAnswer[R]:
    """The answer of `answer_in`, called with ever fewer tokens until text and structured content both fit.

    The same items take more tokens as JSON than as text, and some clients show the model one, some the other.
    """
    room = budget
    while True:
        answer = answer_in(room)
        taken = max(estimate_tokens(answer.text), estimate_tokens(as_json(answer.sent)))
        if taken <= budget or room <= 0:
            return answer
        room -= max(taken - budget, room // 8 + 1)


def item_tokens(item: Cited) -> int:
    """Tokens of an item in the form that takes more, text or structured content."""
    return max(block_tokens(item), estimate_tokens(item.sent_json()))
