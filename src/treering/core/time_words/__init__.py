"""Time words of a query, in six languages: "last week", "seit Mai", "avant la migration", "三天前"."""

from treering.core.time_words.parser import read_times
from treering.core.time_words.values import (
    Anchor,
    TimeDirection,
    TimeKind,
    TimeOrder,
    TimeRelation,
    TimeWords,
    resolve_anchor,
)

__all__ = [
    "Anchor",
    "TimeDirection",
    "TimeKind",
    "TimeOrder",
    "TimeRelation",
    "TimeWords",
    "read_times",
    "resolve_anchor",
]
