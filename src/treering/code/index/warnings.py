"""Warnings about files that the graph lacks, with what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from treering.code.index.worker_pool import ENDED_ITS_RESOLVER
from treering.code.language_choice import NO_GRAMMAR, is_text_format, missing_grammars, without_grammar
from treering.code.language_table import LANGUAGES

if TYPE_CHECKING:
    from treering.code.files.discovery import Discovery
    from treering.code.index.file_cache import FileCache

_MAX_LISTED = 5
"""Maximum number of paths in one message."""


def skipped_counts(cache: FileCache, discovery: Discovery) -> Counter[str]:
    """Number of files and folders that were skipped or not resolved, by reason; files without a grammar are unread."""
    unresolved = (cache.files[path] for path, what in _fatal_files(cache).items() if what == ENDED_ITS_RESOLVER)
    return (
        discovery.skipped
        + Counter(file.skipped for file in cache.files.values() if file.skipped not in ("", NO_GRAMMAR))
        + Counter(ENDED_ITS_RESOLVER for file in unresolved if not file.skipped)
    )


def _fatal_files(cache: FileCache) -> Mapping[str, str]:
    """Files that ended a process and still exist."""
    return {path: what for path, what in sorted(cache.fatal.items()) if path in cache.files}


def warnings(cache: FileCache, discovery: Discovery) -> Iterator[str]:
    """The most important first."""
    read = any(not (file.skipped or is_text_format(file.language)) for file in cache.files.values())
    if not read and discovery.folders is None:
        languages = ", ".join(known.name for known in LANGUAGES)
        yield f"no source files found ({languages}); is this the root of the project?"
    if discovery.unreadable:
        yield (
            f"could not read {_listed(discovery.unreadable)}: what is stored from there is kept, but left out of "
            "answers until it can be read again"
        )
    yield from missing_grammars(without_grammar(cache.files.values()))
    ended = _fatal_files(cache)
    if ended:
        yield f"skipped until changed, because reading it ended a process: {_listed(ended)}"


def _listed(paths: Collection[str]) -> str:
    first = sorted(paths)[:_MAX_LISTED]
    more = len(paths) - len(first)
    return ", ".join(first) + (f" and {more:,} more" if more else "")
