"""Ids of the records that an agent stored through our own tools, from the events of a hook."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

_STORING_TOOL = re.compile(r"treering.*_(?:record_memory|remember_fact|correct_fact)\Z")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def recorded_ids(events: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, ...], datetime]:
    """Ids in the results of tools that store, and the time of the first of these results.

    A result names similar records, too: tell the new ones by the time at which they were stored.
    """
    listed = tuple(events)
    tools = {each.get("call_id"): each.get("tool") for each in listed if each.get("tool")}
    results = [
        each
        for each in listed
        if each.get("kind") == "tool_result" and _STORING_TOOL.search(str(tools.get(each.get("call_id")) or ""))
    ]
    ids = dict.fromkeys(id for each in results for id in _ID.findall(str(each.get("text") or "")))
    return tuple(ids), min((each["at"] for each in results), default=datetime.max)
