"""Finds credentials in any text, and replaces them before it is written anywhere.

Pure, and linear in the length of the text. Redacting twice changes nothing: evidence that touches a `[redacted:…]` mark
does not count, and a mark never counts as the end of the word in front of it.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from treering.core.secret_assignments import assigned_values
from treering.core.secret_formats import CONTEXT_REACH, PHRASES_BY_PREFIX, SHORTEST_TOKEN, TOKENS_BY_PREFIX, Format, Hit
from treering.core.secret_words import DEFAULT_PASSWORDS

MARK = "[redacted:"
MARK_PATTERN = r"\[redacted:[a-z0-9_]{1,40}\]"
PAGE = 100_000
PAGE_OVERLAP = 256
"""More than a prefix and the shortest token around it."""

KEY_HEADER = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
KEY_EDGE = r"-----(?:BEGIN|END) "
KEY_FOOTER = r"-----END [A-Z0-9 ]{0,60}(?:-----|$)?"
KEY_LINES = r"(?:(?:\s|\\[nrt]|[\"'+,>|\\]){0,40}(?:[\w-]{2,30}:[ ][^\n\\]{1,80}(?:\n|\\n))?[A-Za-z0-9+/_=-]{16,}+)+"
KEY_MATERIAL = r"[A-Za-z0-9+/]{32}"
LONGEST_KEY = 65_536

PASSWORD_IN_URL = r"://(?P<user>[^\s:/?#@\"'<>`]{0,128}):(?P<password>[^\s\"'<>`/]{3,256})@(?=[\w\[.%$-])"
NO_URL_PASSWORD = r"^\d{1,5}(?:[?#].*)?$|^[$%<{]|[(\[{].*[)\]}]|\\|\*{3}|^[x.*_-]+$|\.\.\.|…"


@dataclass(frozen=True, slots=True)
class Finding:
    """Where a secret stands, and what kind it is."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text without its secrets, and where they stood in the original."""

    text: str
    findings: tuple[Finding, ...]


def scan(text: str) -> tuple[Finding, ...]:
    """The secrets of `text`, in order, none overlapping another."""
    hits = [
        *_matches(text, TOKENS_BY_PREFIX, _long_runs(text)),
        *_private_keys(text),
        *_passwords_in_urls(text),
        *_matches(text, PHRASES_BY_PREFIX, text),
        *assigned_values(text),
    ]
    if not hits:
        return ()
    if MARK in text:
        marks = [mark.span() for mark in _regex(MARK_PATTERN).finditer(text)]
        hits = [hit for hit in hits if not _touches(marks, hit)]
    return _merged(hits)


def redact(text: str) -> Redaction:
    """`text` with each secret replaced by `[redacted:<kind>]`; the same string where there is none."""
    findings = scan(text)
    if not findings:
        return Redaction(text, ())
    pieces = []
    kept_to = 0
    for finding in findings:
        pieces += (text[kept_to : finding.start], f"{MARK}{finding.kind}]")
        kept_to = finding.end
    return Redaction("".join((*pieces, text[kept_to:])), findings)


def _long_runs(text: str) -> str:
    """The unbroken runs that are long enough for a token, a page of the text at a time to spare memory."""
    if len(text) <= PAGE:
        return _long_runs_of_page(text)
    pages = (text[start : start + PAGE + PAGE_OVERLAP] for start in range(0, len(text), PAGE))
    return " ".join(_long_runs_of_page(page) for page in pages)


def _long_runs_of_page(page: str) -> str:
    return " ".join([run for run in page.split() if len(run) >= SHORTEST_TOKEN])


def _matches(text: str, by_prefix: tuple[tuple[str, tuple[Format, ...]], ...], searched: str) -> Iterator[Hit]:
    if not searched:
        return
    for prefix, formats in [entry for entry in by_prefix if entry[0] in searched]:
        for form in formats:
            yield from _matches_of(text, form, prefix)


def _matches_of(text: str, form: Format, prefix: str) -> Iterator[Hit]:
    body = _regex(form.body)
    position = text.find(prefix)
    while position >= 0:
        found = body.match(text, position + len(prefix))
        position_after = position + len(prefix)
        if found and not (form.starts_word and _inside_word(text, position)):
            start, end = found.span(1) if body.groups else (position - form.before, found.end())
            anchor = _anchor(text, form, min(position, start))
            if anchor is not None and _entropy(text[start:end]) >= form.entropy:
                yield Hit(form.kind, anchor, start, end)
                position_after = end
        position = text.find(prefix, position_after)


def _anchor(text: str, form: Format, start: int) -> int | None:
    """Where the evidence begins; None where the format needs a context that is not there."""
    if not form.context:
        return start
    found = text.rfind(form.context, max(0, start - CONTEXT_REACH), start)
    return found if found >= 0 else None


def _inside_word(text: str, position: int) -> bool:
    previous = text[position - 1 : position]
    if previous == "]":
        opened = text.rfind(MARK, max(0, position - 64), position)
        return opened >= 0 and "]" not in text[opened : position - 1]
    return previous.isalnum() or previous in ("_", "+")


def _private_keys(text: str) -> Iterator[Hit]:
    position = text.find("-----BEGIN ")
    while position >= 0:
        header = _regex(KEY_HEADER).match(text, position + 11)
        if header is None:
            position = text.find("-----BEGIN ", position + 11)
            continue
        end = _key_end(text, header.end())
        if _regex(KEY_MATERIAL).search(text, header.end(), end):
            yield Hit("private_key", position, position, end)
        position = text.find("-----BEGIN ", max(end, header.end()))


def _key_end(text: str, start: int) -> int:
    """The end of the closing line, or of what looks like key material where the block was cut off."""
    edge = _regex(KEY_EDGE).search(text, start, start + LONGEST_KEY)
    if edge and text.startswith("-----END ", edge.start()):
        footer = _regex(KEY_FOOTER).match(text, edge.start())
        return footer.end() if footer else edge.end()
    lines = _regex(KEY_LINES).match(text, start, edge.start() if edge else len(text))
    return lines.end() if lines else start


def _passwords_in_urls(text: str) -> Iterator[Hit]:
    if "://" not in text or "@" not in text:
        return
    for found in _regex(PASSWORD_IN_URL).finditer(text):
        password = found["password"]
        if password.lower() in DEFAULT_PASSWORDS or password == found["user"]:
            continue
        if not _regex(NO_URL_PASSWORD).search(password):
            yield Hit("connection_password", found.start(), *found.span("password"))


def _touches(marks: list[tuple[int, int]], hit: Hit) -> bool:
    return any(start < hit.end and hit.anchor < end for start, end in marks)


def _merged(hits: list[Hit]) -> tuple[Finding, ...]:
    """Overlapping hits become one finding over all they cover, named after the detector that comes first."""
    rank = {id(hit): position for position, hit in enumerate(hits)}
    groups: list[list[Hit]] = []
    reached = -1
    for hit in sorted(hits, key=lambda hit: (hit.start, hit.end)):
        if hit.start < reached:
            groups[-1].append(hit)
        else:
            groups.append([hit])
        reached = max(reached, hit.end)
    return tuple(
        Finding(min(group, key=lambda hit: rank[id(hit)]).kind, group[0].start, max(hit.end for hit in group))
        for group in groups
    )


def _entropy(value: str) -> float:
    """Bits a character, over the first 256."""
    counts = Counter(value[:256])
    total = sum(counts.values())
    return -sum(count / total * math.log2(count / total) for count in counts.values()) if total else 0.0


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
