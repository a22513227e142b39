"""Contents of prefetched files within a token budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from treering.context.prefetch.checkout import Refused
from treering.core.errors import CheckTimedOut
from treering.core.secrets import redact
from treering.core.time_limit import time_limit
from treering.core.tokens import estimate_tokens

if TYPE_CHECKING:
    from treering.context.prefetch.checkout import Checkout
    from treering.context.prefetch.ranking import PrefetchedFile

MAX_SHARE = 0.5  # of the budget, for one file
MIN_HEAD = 200  # tokens; a shorter beginning of a file says little
NO_ROOM = "no room left in the budget"
NO_CHECKOUT = "the project's folder is not on this machine"
UNCHECKED = "too complex to check for secrets"

_CHARACTERS_PER_TOKEN = 6  # a head with more, such as one of blank lines, is cut short


def with_contents(
    files: Sequence[PrefetchedFile], checkout: Checkout | None, budget: int
) -> tuple[PrefetchedFile, ...]:
    """The files with their contents, at most `budget` tokens in total; the first ones are served first.

    A file that does not fit is cut after a line, and its last line says so. Secrets are redacted. A file without
    contents has the reason in `omitted`.
    """
    if checkout is None:
        return tuple(replace(file, omitted=NO_CHECKOUT) for file in files)
    filled: list[PrefetchedFile] = []
    left = budget
    for file in files:
        with_content = _filled(file, checkout, min(left, max(int(budget * MAX_SHARE), MIN_HEAD)))
        left -= with_content.tokens
        filled.append(with_content)
    return tuple(filled)


def _filled(file: PrefetchedFile, checkout: Checkout, room: int) -> PrefetchedFile:
    try:
        text = redact(checkout.read(file.path), time_limit()).text
    except Refused as exc:
        return replace(file, omitted=str(exc))
    except CheckTimedOut:
        return replace(file, omitted=UNCHECKED)
    tokens = estimate_tokens(text) if text else 0
    if tokens <= room:
        return replace(file, content=text, tokens=tokens)
    head = _head(text, room) if room >= MIN_HEAD else ""
    if not head:
        return replace(file, omitted=NO_ROOM)
    return replace(file, content=head, tokens=estimate_tokens(head), truncated=True)


def _head(text: str, room: int) -> str:
    """As many lines from the beginning as fit, with a last line that says how many there are; empty if none fits."""
    lines = text.splitlines(keepends=True)
    low, high = 0, min(len(text[: room * _CHARACTERS_PER_TOKEN].splitlines()), len(lines) - 1)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_tokens(_marked(lines, middle)) <= room:
            low = middle
        else:
            high = middle - 1
    return _marked(lines, low) if low > 0 else ""


def _marked(lines: Sequence[str], shown: int) -> str:
    return f"{''.join(lines[:shown])}[… {shown:,} of {len(lines):,} lines shown]"
