"""Search options that exclude the current session, which the model has read."""

from collections.abc import Mapping
from typing import Any

from treering.core.queries import SearchFilter
from treering.search.request import ALL_KNOWLEDGE, ALL_TURNS


def without_session(options: Mapping[str, Any], session: str) -> dict[str, Any]:
    """The options with filters that exclude records of this session."""
    named = {"knowledge": ALL_KNOWLEDGE, "turns": ALL_TURNS}
    if options.get("where") is not None or not options.keys() & named:
        filters = {"where": options.get("where") or SearchFilter.defaults()}
    else:
        filters = {name: options.get(name, default) for name, default in named.items()}
    excluded = {
        name: None if each is None else each.replace(not_sessions=(*each.not_sessions, session))
        for name, each in filters.items()
    }
    return {**options, **excluded}
