"""Text that memory itself gave to an agent and that comes back in events, and the agent's citations of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from treering.core.citations import citations_in
from treering.core.delimiters import MEMORY, without_delimited
from treering.core.events import EventKind

_MAX_CITED = 200
_TEXTS = frozenset({EventKind.PROMPT.value, EventKind.REASONING.value, EventKind.TOOL_RESULT.value})


def without_given_text(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The event without delimited blocks of memory, so that nothing is learned from memory's own words."""
    text = fields.get("text")
    # Most texts do not contain the word, and searching a long result for blocks takes longer than the rest.
    if not isinstance(text, str) or fields.get("kind") not in _TEXTS or MEMORY not in text.lower():
        return fields
    own = without_delimited(text)
    return fields if own == text else {**fields, "text": own}


class CitedRecords:
    """Ids, short or complete, that the agent cited in its own words, in bounded memory."""

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self._ids = dict.fromkeys(ids)

    def add(self, fields: Mapping[str, Any]) -> None:
        """Note the citations in an event without memory's own text."""
        text = fields.get("text")
        if fields.get("kind") == EventKind.REASONING and isinstance(text, str):
            for id in citations_in(text):
                if len(self._ids) < _MAX_CITED:
                    self._ids[id] = None

    def state(self) -> list[str]:
        return list(self._ids)
