"""What keeps a graph from being what somebody may expect, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from treering.code.build.worker_pool import ENDED_ITS_RESOLVER
from treering.code.files.source_file import NO_GRAMMAR
from treering.code.language_choice import LANGUAGES, missing_grammar

if TYPE_CHECKING:
    from treering.code.build.file_cache import Shelf
    from treering.code.files.discovery import Discovery

_NAMED = 5
"""Paths that one sentence names."""


def left_out(shelf: Shelf, discovery: Discovery) -> Counter[str]:
    """How many files and folders nothing, or only a part, is known of, by reason."""
    unresolved = (shelf.files[path] for path, what in _ended(shelf).items() if what == ENDED_ITS_RESOLVER)
    return (
        discovery.skipped
        + Counter(file.skipped for file in shelf.files.values() if file.skipped)
        + Counter(ENDED_ITS_RESOLVER for file in unresolved if not file.skipped)
    )


def _ended(shelf: Shelf) -> Mapping[str, str]:
    """Files that ended a process, and are still there."""
    return {path: what for path, what in sorted(shelf.deadly.items()) if path in shelf.files}


def warnings(shelf: Shelf, discovery: Discovery) -> Iterator[str]:
    """In the order of what matters most."""
    read = [file for file in shelf.files.values() if not file.skipped]
    if not read and discovery.folders is None:
        languages = ", ".join(known.name for known in LANGUAGES)
        yield f"nothing here can be read as code ({languages}); is this the root of the project?"
    if discovery.unreadable:
        yield (
            f"could not look at {_listed(discovery.unreadable)}: what is known from there is kept, and left out of answers "
            "until it can be looked at again"
        )
    for language in sorted({file.language for file in shelf.files.values() if file.skipped == NO_GRAMMAR}):
        why = missing_grammar(language)
        if why is not None:
            yield f"files of {language} are left out: {why}, then `treering index`"
    ended = _ended(shelf)
    if ended:
        yield f"left alone until changed, because a process ended over it: {_listed(ended)}"


def _listed(paths: Collection[str]) -> str:
    first = sorted(paths)[:_NAMED]
    more = len(paths) - len(first)
    return ", ".join(first) + (f" and {more:,} more" if more else "")
