"""Detection and redaction of credentials in texts before they are stored.

Pure, and linear in the length of the text. Redaction is idempotent: evidence that touches a `[redacted:…]` mark does
not count, and a mark is never the end of the word before it.
"""

import math
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from treering.core.secret_assignments import announces_value, assigned_values
from treering.core.secret_formats import (
    BREAKS_TOKEN,
    CONTEXT_REACH,
    MARK,
    MARK_PATTERN,
    MIN_BARE_TOKEN,
    MIN_TOKEN,
    PHRASES_BY_PREFIX,
    TOKENS_BY_PREFIX,
    SecretFormat,
    SecretMatch,
    follows_mark,
)
from treering.core.secret_words import DEFAULT_PASSWORDS, PLACEHOLDER
from treering.core.time_limit import Check, unlimited

PrefixedFormats = tuple[str, tuple[SecretFormat, ...]]
PRECEDENCE = {prefix: place for place, (prefix, _) in enumerate(TOKENS_BY_PREFIX)}
_APART = bytes(ord(" ") if chr(code) in BREAKS_TOKEN else code for code in range(256))
PAGE = 100_000
PAGE_OVERLAP = 256
"""Longer than any prefix with the shortest token."""

KEY_HEADER = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
KEY_EDGE = r"-----(?:BEGIN|END) "
KEY_FOOTER = r"-----END [A-Z0-9 ]{0,60}(?:-----|$)?"
KEY_LINE = (
    r"(?:\s|\\[nrt]|[\"'+,>|\\]){0,40}+(?:[\w-]{2,30}:[ ][^\n\\]{1,80}(?:\n|\\n)\s{0,4}){0,6}+"
    r"([A-Za-z0-9+/_=-]{4,}+)(?!\[redacted:)"
)
SHORT_KEY_LINE = (
    r"MI[A-Z]|b3B|.*(?:[a-z0-9][A-Z].*\d|\d[A-Z]|[A-Z]\d[a-z]|=$)|.*[a-z].*[/+]|(?=.*[a-z][A-Z])[A-Za-z0-9+/_-]{12}"
)
"""Distinguishes a key line of up to 15 characters from a word: `MIIEvQIBAD`, not `PKCS8` or `OpenSSH`."""
LONG_KEY_LINE = 16
KEY_MATERIAL = r"[A-Za-z0-9+/]{32}"
LONGEST_KEY = 65_536

PASSWORD_IN_URL = r"://(?P<user>[^\s:/?#@\"'<>`]{0,128}):(?P<password>[^\s\"'<>`/]{3,256})@(?=[\w\[.%$-])"
INVISIBLE = "[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]"
OTHER_WIDTH = "[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff\u24b6-\u24e9]"
"""Letters and digits that read as plain ones: full width, mathematical, circled."""
NO_URL_PASSWORD = r"^\d{1,5}(?:[?#,].*)?$|^[$%<{]|[(\[{].*[)\]}]|\\|\*{3}|^[x.*_-]+$|\.\.\.|…"


@dataclass(frozen=True, slots=True)
class SecretFinding:
    """Position and kind of a secret."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Redaction:
    """A text without its secrets, and their positions in the original."""

    text: str
    findings: tuple[SecretFinding, ...]


def scan(text: str, check: Check = unlimited) -> tuple[SecretFinding, ...]:
    """The secrets of `text`, in order and without overlaps.

    `check` is called repeatedly and may raise to end the scan. A text with invisible characters or letters of other
    widths is scanned both as written and as it reads.
    """
    hits = _hits(text, check)
    if _is_disguised(text):
        hits += _hits_as_read(text, check)
    return _merged(hits) if hits else ()


def _hits(text: str, check: Check) -> list[SecretMatch]:
    hits: list[SecretMatch] = []
    for detect in DETECTORS:
        check()
        hits += detect(text, check)
    hits += assigned_values(text, check, (hit.end for hit in hits))
    if hits and MARK in text:
        marks = [mark.span() for mark in _regex(MARK_PATTERN).finditer(text)]
        hits = [hit for hit in hits if not _touches(marks, hit)]
    return hits


def _is_disguised(text: str) -> bool:
    return not text.isascii() and _regex(f"{INVISIBLE}|{OTHER_WIDTH}").search(text) is not None


def _hits_as_read(text: str, check: Check) -> list[SecretMatch]:
    """Matches in the plain reading of `text`, at their positions in `text`."""
    invisible = _regex(INVISIBLE)
    places: list[int] = []
    read: list[str] = []
    for start in range(0, len(text), PAGE):
        check()
        seen = [at for at, each in enumerate(text[start : start + PAGE], start) if not invisible.match(each)]
        places += seen
        read += [_as_read(text[at]) for at in seen]
    return [
        SecretMatch(hit.kind, places[hit.anchor], places[hit.start], places[hit.end - 1] + 1)
        for hit in _hits("".join(read), check)
    ]


@lru_cache(maxsize=4096)
def _as_read(character: str) -> str:
    """The plain form of a character, if that is a single character."""
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 else character


def may_hold_secret(source: bytes) -> bool:
    """False only if `scan` finds nothing; several times as fast in source code.

    Each distinct word is checked once, because tokens and secret words contain no spaces.
    """
    pieces = set(source.translate(_APART).split())
    words, text = _text_of(b" ".join(pieces)), _text_of(source)
    if _is_disguised(text):
        return bool(scan(text))
    return (
        announces_value(text, words)
        or _may_hold_token(_text_of(b" ".join([piece for piece in pieces if len(piece) >= MIN_BARE_TOKEN])))
        or any(True for detect in (_private_keys, _passwords_in_urls) for _ in detect(text, unlimited))
        or any(True for _ in _announced(text, words))
    )


def _text_of(source: bytes) -> str:
    return source.decode("utf-8", "surrogateescape")


def redact(text: str, check: Check = unlimited) -> Redaction:
    """`text` with each secret replaced by `[redacted:<kind>]`; unchanged without secrets."""
    findings = scan(text, check)
    if not findings:
        return Redaction(text, ())
    pieces: list[str] = []
    kept_to = 0
    for finding in findings:
        pieces += (text[kept_to : finding.start], f"{MARK}{finding.kind}]")
        kept_to = finding.end
    return Redaction("".join((*pieces, text[kept_to:])), findings)


def _tokens(text: str, check: Check) -> Iterable[SecretMatch]:
    searched = _long_runs(text) if len(text) <= PAGE else " ".join(map(_long_runs, _pages(text)))
    return _matches(text, _present(searched), check) if searched else ()


def _may_hold_token(bare: str) -> bool:
    return any(True for prefix, formats in _present(bare) for form in formats for _ in matches_of(bare, form, prefix))


def _present(searched: str) -> list[PrefixedFormats]:
    """Tokens whose prefix occurs, in order of precedence.

    Only those are searched for whose first three characters occur, which is faster than a search for each prefix.
    """
    begun = _by_beginning().keys() & zip(searched, searched[1:], searched[2:], strict=False)
    present = [entry for beginning in (*begun, ()) for entry in _by_beginning()[beginning] if entry[0] in searched]
    return sorted(present, key=lambda entry: PRECEDENCE[entry[0]])


@cache
def _by_beginning() -> dict[tuple[str, ...], tuple[PrefixedFormats, ...]]:
    """Tokens by the first three characters of their prefixes; shorter prefixes under an empty key."""
    beginning = {prefix: tuple(prefix[:3]) if len(prefix) >= 3 else () for prefix in PRECEDENCE}
    return {
        each: tuple(entry for entry in TOKENS_BY_PREFIX if beginning[entry[0]] == each)
        for each in {*beginning.values(), ()}
    }


def _phrases(text: str, check: Check) -> Iterable[SecretMatch]:
    return _matches(text, [entry for entry in PHRASES_BY_PREFIX if entry[0] in text], check)


def _announced(text: str, words: str) -> Iterator[SecretMatch]:
    """Phrases whose context occurs anywhere: ` -` is in every program, `curl` in few."""
    present = ((prefix, formats) for prefix, formats in PHRASES_BY_PREFIX if prefix.strip() in words)
    forms = ((prefix, form) for prefix, formats in present for form in formats if form.context.strip() in words)
    return (hit for prefix, form in forms for hit in matches_of(text, form, prefix))


def _pages(text: str) -> Iterator[str]:
    return (text[start : start + PAGE + PAGE_OVERLAP] for start in range(0, len(text), PAGE))


def _long_runs(page: str) -> str:
    """Runs without spaces that are long enough for a token."""
    runs = page.split()
    if max(map(len, runs), default=0) < MIN_TOKEN:
        return ""
    return " ".join([run for run in runs if len(run) >= MIN_TOKEN])


def _matches(text: str, present: list[PrefixedFormats], check: Check) -> list[SecretMatch]:
    return [hit for prefix, formats in present for form in formats for hit in matches_of(text, form, prefix, check)]


def matches_of(text: str, form: SecretFormat, prefix: str, check: Check = unlimited) -> Iterator[SecretMatch]:
    """The secrets of one format that begin with `prefix`."""
    if form.context not in text:
        return
    pattern = regex_of(form, prefix)
    place = text.find(prefix)
    while place >= 0:
        check()
        found = pattern.match(text, place)
        hit = _hit_of(text, form, found) if found else None
        if hit:
            yield hit
        place = text.find(prefix, max(found.end(), place + 1) if found else place + 1)


def _hit_of(text: str, form: SecretFormat, found: re.Match[str]) -> SecretMatch | None:
    start, end = found.span(1) if found.re.groups else (found.start() - form.before, found.end())
    first = min(found.start(), start)
    if (form.starts_word or form.before) and follows_mark(text, first):
        return None
    anchor = _anchor(text, form, first)
    return (
        SecretMatch(form.kind, anchor, start, end)
        if anchor is not None and _entropy(text[start:end]) >= form.entropy
        else None
    )


@cache
def regex_of(form: SecretFormat, prefix: str) -> re.Pattern[str]:
    literal = re.escape(prefix)
    boundary = rf"(?<![\w+]{literal})" if form.starts_word else ""
    return re.compile(f"{literal}{boundary}(?:{form.body})")


def _anchor(text: str, form: SecretFormat, start: int) -> int | None:
    """Start of the evidence; None if the format needs a context that is missing."""
    if not form.context:
        return start
    found = text.rfind(form.context, max(0, start - CONTEXT_REACH), start)
    return found if found >= 0 else None


def _private_keys(text: str, check: Check) -> Iterator[SecretMatch]:
    position = text.find("-----BEGIN ")
    while position >= 0:
        check()
        header = _regex(KEY_HEADER).match(text, position + 11)
        if header is None:
            position = text.find("-----BEGIN ", position + 11)
            continue
        end = _key_end(text, header.end())
        if end > header.end():
            yield SecretMatch("private_key", position, position, end)
        position = text.find("-----BEGIN ", max(end, header.end()))


def _key_end(text: str, start: int) -> int:
    """End of the closing line or, without one, of the key material; `start` if there is no key."""
    edge = _regex(KEY_EDGE).search(text, start, start + LONGEST_KEY)
    if edge and text.startswith("-----END ", edge.start()) and _regex(KEY_MATERIAL).search(text, start, edge.start()):
        footer = _regex(KEY_FOOTER).match(text, edge.start())
        return footer.end() if footer else edge.end()
    end, limit = start, edge.start() if edge else len(text)
    while (line := _regex(KEY_LINE).match(text, end, limit)) and _is_key_line(text, line, first=end == start):
        end = line.end()
    return end


def _is_key_line(text: str, line: re.Match[str], *, first: bool) -> bool:
    if len(line[1]) >= LONG_KEY_LINE or _regex(SHORT_KEY_LINE).match(line[1]):
        return True
    # A sentence continues with a space, and rarely with a single word on the next line.
    alone = "\n" in text[line.start() : line.start(1)] and text[line.end() : line.end() + 1] in ("", "\n", "\r")
    return first and (line.start() == line.start(1) or alone) and not _regex(PLACEHOLDER).search(line[1].lower())


def _passwords_in_urls(text: str, check: Check) -> Iterable[SecretMatch]:
    return _url_passwords(text, check) if "://" in text and "@" in text else ()


def _url_passwords(text: str, check: Check) -> Iterator[SecretMatch]:
    for found in _regex(PASSWORD_IN_URL).finditer(text):
        check()
        password = found["password"]
        if password.lower() in DEFAULT_PASSWORDS or password == found["user"]:
            continue
        if not _regex(NO_URL_PASSWORD).search(password):
            yield SecretMatch("connection_password", found.start(), *found.span("password"))


def _touches(marks: list[tuple[int, int]], hit: SecretMatch) -> bool:
    """Whether one of the ordered `marks` overlaps the match or its evidence."""
    following = bisect_left(marks, (max(hit.end, hit.reach), 0))
    return following > 0 and marks[following - 1][1] > hit.anchor


def _merged(hits: list[SecretMatch]) -> tuple[SecretFinding, ...]:
    """Overlapping matches merged into one finding of the detector with the highest precedence."""
    rank = {id(hit): position for position, hit in enumerate(hits)}
    groups: list[list[SecretMatch]] = []
    reached = -1
    for hit in sorted(hits, key=lambda hit: (hit.start, hit.end)):
        if hit.start < reached:
            groups[-1].append(hit)
        else:
            groups.append([hit])
        reached = max(reached, hit.end)
    return tuple(
        SecretFinding(min(group, key=lambda hit: rank[id(hit)]).kind, group[0].start, max(hit.end for hit in group))
        for group in groups
    )


def _entropy(value: str) -> float:
    """Bits per character, over the first 64 characters."""
    counts = Counter(value[:64])
    total = sum(counts.values())
    return -sum(count / total * math.log2(count / total) for count in counts.values()) if total else 0.0


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


DETECTORS: tuple[Callable[[str, Check], Iterable[SecretMatch]], ...] = (
    _tokens,
    _private_keys,
    _passwords_in_urls,
    _phrases,
)
"""Detectors in order of precedence: of overlapping matches, the first names the finding. Assignments come last."""
