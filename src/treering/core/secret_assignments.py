"""Values given to a secret word: `password = "…"`, `--token …`, `"apiKey": "…"`, "the password is …".

In source code a secret word alone is not evidence, so the value decides. Its style (quoted, in an environment file,
after a colon, after an equals sign) determines how much it must look like a credential (`secret_values`).
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from treering.core.secret_formats import MARK, SecretMatch, follows_mark
from treering.core.secret_values import (
    LONGEST_JUDGED,
    STYLES,
    is_phrase,
    is_random,
    is_unquoted_phrase,
    points_elsewhere,
    regex,
)
from treering.core.secret_words import (
    ABOUT,
    LINKING_ADVERBS,
    LINKING_VERBS,
    PLAIN_AFTER,
    PLAIN_BEFORE,
    SECRET_WORDS,
    SecretWord,
)
from treering.core.time_limit import Check, unlimited

LONGEST_QUOTED = 512
SHORTEST_VALUE = 6
CLOSING_QUOTE = {'"': '"', "'": "'", "`": "`", "“": "”", "«": "»", "„": "“"}

SUFFIX = r"(?P<suffix>(?:[sS](?![A-Za-z]))?(?:[A-Z0-9_.-][\w.-]{0,31}+)?)"
LINK = rf"""
    {SUFFIX}
    (?P<close>[\\"'`\])*]{{0,4}}+)(?:[ ]\[[\w* ]{{0,24}}\])?[ \t]{{0,8}}+
    (?P<link>
        [:?]{{1,2}}[ \t]{{0,4}}[&*A-Za-z_][\w.\[\]|?<>' ]{{0,30}}?=[ \t]{{0,4}}(?=[bru&]{{0,2}}["'`])
      | (?::{{1,3}}=|=>|===?|!==?|\?=|\+=|[:=]|：|＝)[ \t*]{{0,8}}(?:[|>][+-]?\n[ ]{{1,16}})?
      | [是为為は][ \t]{{0,2}}
      | (?P<call>[,(][ \t]{{0,4}}(?=[bru]{{0,2}}["'`]))
      | >
      | (?<=[ \t])(?:
            (?:string|String|str)[ \t]{{0,4}}:?=[ \t]{{0,4}}(?=["'`])
          | value[ \t]{{0,2}}=[ \t]{{0,2}}(?=["'])
          | (?:(?:{ABOUT})[ \t][^\n:="'`]{{1,40}}?(?::|[ \t](?={LINKING_VERBS})))?
            (?:(?:{LINKING_VERBS})(?:[ \t](?:{LINKING_ADVERBS}))?:?)?(?<![ \t])[ \t]{{1,4}}
          | (?P<gap>(?:(?:->|-->|[→⇒➜➡|(]|[–—-](?=[ \t]))[ \t]{{0,4}})?)
        )
    )
    (?P<open>(?:[bBrRuUfF@&]{{0,2}}\\?["'`“«„])?)
"""
UNQUOTED_RUN = r"[^\s\"'`]+"
UNMARKED_RUN = r"(?:[^\s\"'`\[]|\[(?!redacted:))+"
BARE_RUN = (
    r"(?:[^\s\"'`,;&<>|\\“”«»„、。，]"
    r"|&(?![\w.%\[\]-]{0,40}=|[a-z]{2,8};|[&\s\"'`,;<>|\\]|\Z))+"
)
"""An ampersand belongs to the value, except between the fields of a form, in an entity or as an operator."""
WORTH_JUDGING = (
    r"(?!(?i:\w{0,16}?(?:pass|pwd|secret|token|key|cred)\w{0,16}[=:]))"
    r"(?=[^\s\"'`]{6})(?:[^\s\"'`]{0,11}?[\d!@#$%^&*?+=~]|[^\s\"'`]{12})"
)
"""Long enough, with a non-letter, and not the beginning of another assignment."""
WORD_BEFORE = r"[\w.$-]{0,24}\Z"
SECRET_WORD_BEFORE = r"(?i:pass|password|passwd|pwd|secret|token|key|credentials?)(?<!=)[:=]\Z"
WORD_BREAK = r"[_.$-]+|(?<=[a-z])(?=[A-Z])"
DECLARED = r"(?i:let|var|const|val|local|my|our|auto|string|str|char|final|static|new|return|if|elif|else)[ \t]+\Z"
USER_BEFORE = r"[\w.@+-]{1,64}+[ \t]{0,2}[/|][ \t]{0,2}"
"""The user of `credentials: admin / …`."""
NEAR_RUN = r"(?<![A-Za-z0-9+/_~.-])[A-Za-z0-9+/_~-]{20,128}={0,2}"
CHECKSUM_BEFORE = r"(?i:sha\d{1,3}|md5|h1)[:=-]\Z"
CHECKSUM = r"(?i:sha\d{1,3}|md5)-"
"""Checksums in lock files: `sha512-…`, `h1:…`."""
REST_OF_RUN = r"[A-Za-z0-9+/_~-]*+={0,2}"
NEAR = 60
"""Characters of the same line, on each side of a secret word, in which a random value counts."""
CLOSES_SENTENCE = ".,;:?)]}*"

ASCII_STEMS = tuple(sorted({word.stem for word in SECRET_WORDS if word.stem.isascii()}))
OTHER_STEMS = tuple(sorted({word.stem for word in SECRET_WORDS if not word.stem.isascii()}))


def assigned_values(text: str, check: Check = unlimited, ended: Iterable[int] = ()) -> Iterable[SecretMatch]:
    """Every value in `text` that a secret word announces and that looks like a credential.

    `ended` are end positions of secrets of other detectors, which count as words of a sentence, like their marks.
    """
    folded = _folded(text)
    stems = ASCII_STEMS if folded.isascii() else ASCII_STEMS + OTHER_STEMS
    return _assigned(text, folded, check, set(ended)) if [stem for stem in stems if stem in folded] else ()


def announces_value(text: str, words: str) -> bool:
    """Whether `assigned_values` finds a value in `text`; `words` are all words of it, in any order."""
    among = _folded(words)
    stems = ASCII_STEMS if among.isascii() else ASCII_STEMS + OTHER_STEMS
    present = [stem for stem in stems if stem in among]
    folded = _folded(text) if present else ""
    return any(_is_announced(text, folded, start, stem) for stem in present for start in _places(stem, folded))


def _places(stem: str, folded: str) -> Iterator[int]:
    start = folded.find(stem)
    while start >= 0:
        yield start
        start = folded.find(stem, start + 1)


def _is_announced(text: str, folded: str, start: int, stem: str) -> bool:
    for word in _words_by_stem()[stem]:
        ended = regex(word.ending).match(folded, start + len(stem))
        if ended is not None and any(True for _ in _values_of(text, folded, word, (start, ended.end()), set())):
            return True
    return False


def _assigned(text: str, folded: str, check: Check, ended: set[int]) -> Iterator[SecretMatch]:
    value_start = value_end = 0
    for found in _secret_words().finditer(folded):
        check()
        if value_start <= found.start() < value_end:
            continue
        word = SECRET_WORDS[(found.lastindex or 1) - 1]
        for hit in _values_of(text, folded, word, found.span(), ended):
            if not hit.reach:
                value_start, value_end = hit.start, hit.end
            yield hit


def _values_of(
    text: str, folded: str, word: SecretWord, span: tuple[int, int], ended: set[int]
) -> Iterator[SecretMatch]:
    """The value assigned to one secret word, and random values near it."""
    start, end = span
    if not _stands_free(word, text, folded, start):
        return
    beside = list(_beside(text, word, start, end)) if _begins_word(text, start) else []
    ended.update(hit.end for hit in beside)
    linked = regex(LINK, re.VERBOSE).match(text, end)
    assigned = None if linked is None else _judged(text, word, start, linked, ended)
    if assigned is not None:
        ended.add(assigned.end)
        yield assigned
    yield from beside


def _beside(text: str, word: SecretWord, start: int, end: int) -> Iterator[SecretMatch]:
    line = max(text.rfind("\n", max(0, start - NEAR), start) + 1, start - NEAR, 0)
    line_end = text.find("\n", end, end + NEAR)
    runs = regex(NEAR_RUN).finditer(text, line, end + NEAR + LONGEST_JUDGED if line_end < 0 else line_end)
    found = [run for run in runs if run.start() < end + NEAR and not run.start() <= start < run.end()]
    suffix = regex(SUFFIX).match(text, end)
    if not found or suffix is None or _before(text, start) is None:
        return
    if text[suffix.end() : suffix.end() + 1].isalnum() or text.startswith(MARK, suffix.end()):
        return
    if suffix["suffix"] not in ("s", "S") and not _names_a_secret(text, word, suffix):
        return
    for run in found:
        if _is_checksum(text, run):
            continue
        if is_random(run.group()) and not follows_mark(text, run.start()) and not text.startswith(MARK, run.end()):
            whole = regex(REST_OF_RUN).match(text, run.end())
            yield SecretMatch(word.kind, min(start, run.start()), run.start(), whole.end() if whole else run.end(), end)


def _is_checksum(text: str, run: re.Match[str]) -> bool:
    before = text[max(0, run.start() - 8) : run.start()]
    return regex(CHECKSUM).match(run.group()) is not None or regex(CHECKSUM_BEFORE).search(before) is not None


def _stands_free(word: SecretWord, text: str, folded: str, start: int) -> bool:
    if word.alone and not _begins_word(text, start):
        return False
    return not word.owners or folded[max(0, start - 16) : start].rstrip("_ .-").endswith(word.owners)


def _begins_word(text: str, start: int) -> bool:
    previous = text[start - 1 : start]
    return not previous.isalpha() or (previous.islower() and text[start].isupper())


def _judged(text: str, word: SecretWord, start: int, linked: re.Match[str], ended: set[int]) -> SecretMatch | None:
    value_start = linked.end()
    before = _before(text, start)
    if before is None or not _names_a_secret(text, word, linked):
        return None
    style = _style(text, start, linked, before, ended)
    if style is None:
        return None
    if word.kind == "credential" and (user := regex(USER_BEFORE).match(text, value_start)):
        value_start, style = user.end(), "in a list"
    end = _value_end(text, linked, style, value_start)
    if _is_plain_phrase(text, word, linked, style, text[value_start:end]):
        return SecretMatch(word.kind, start, value_start, end)
    if not regex(WORTH_JUDGING).match(text, value_start):
        return None
    value = text[value_start : min(end, value_start + LONGEST_JUDGED)]
    if len(value) < SHORTEST_VALUE or points_elsewhere(value) or not _is_judged_credential(word, style, value):
        return None
    return SecretMatch(
        word.kind, start, value_start, end if end - value_start < LONGEST_JUDGED else _run_end(text, end)
    )


def _is_plain_phrase(text: str, word: SecretWord, linked: re.Match[str], style: str, value: str) -> bool:
    if style == "quoted":
        compact = linked["link"] == "=" and text[linked.start("link") - 1] != " "
        return is_phrase(word, value, compact=compact or (linked["link"].strip() == ":" and value[:1].islower()))
    return style in ("setting", "environment", "spoken") and is_unquoted_phrase(word, value)


def _is_judged_credential(word: SecretWord, style: str, value: str) -> bool:
    # `psk` has no other meaning, so any value with a digit counts.
    return STYLES["in a sentence" if style == "adjacent" and word.phrase else style](word.kind, value)


def _before(text: str, start: int) -> str | None:
    """The rest of the identifier before the secret word; None if it makes the word harmless."""
    found = regex(WORD_BEFORE).search(text[max(0, start - 24) : start])
    before = found.group() if found else ""
    if follows_mark(text, start - len(before)):
        return None
    pieces = [piece for piece in regex(WORD_BREAK).split(before) if piece]
    return None if pieces and pieces[-1].lower() in PLAIN_BEFORE else before


def _names_a_secret(text: str, word: SecretWord, linked: re.Match[str]) -> bool:
    suffix = linked["suffix"]
    if not suffix:
        return True
    if suffix in ("s", "S") or (word.alone and suffix[0].isalpha()):
        return False
    if suffix[0].isupper() and text[linked.start() - 1].isupper():
        return False
    return regex(WORD_BREAK).split(suffix)[-1].lower() not in PLAIN_AFTER


def _style(text: str, start: int, linked: re.Match[str], before: str, ended: set[int]) -> str | None:
    """Style of the value; None if no value follows the secret word."""
    link = linked["link"]
    flag = before.startswith("-")
    line_start = start - len(before)
    in_resource_name = (
        link == ":" and text[line_start - 1 : line_start] == ":" and not _follows_secret_word(text, line_start)
    )
    if (link == ">" and linked["close"]) or in_resource_name:
        return None
    if linked["gap"] is not None and not flag:
        return "adjacent"
    if linked["open"]:
        return "call" if linked["call"] else "quoted"
    return _unquoted_style(text, start, linked, line_start, ended) if not flag else "environment"


def _unquoted_style(text: str, start: int, linked: re.Match[str], line_start: int, ended: set[int]) -> str:
    link = linked["link"]
    if link == "=" and text[start : linked.start()].isupper():
        return "environment"
    if "=" not in link:
        return "spoken"
    if line_start == 0 or text[line_start - 1] in "\n?&;":
        return "setting"
    if _follows_secret_word(text, line_start):
        return "in a sentence"
    return _style_within_line(text, line_start, ended) if link == "=" else "argument"


def _follows_secret_word(text: str, start: int) -> bool:
    """Whether the assignment at `start` is itself the value of a secret word: `token=password=…`."""
    return regex(SECRET_WORD_BEFORE).search(text[max(0, start - 24) : start]) is not None


def _style_within_line(text: str, line_start: int, ended: set[int]) -> str:
    """Style of an assignment inside a line: rarely code, unless a bracket, operator or declaration precedes it."""
    before = text[max(0, line_start - 24) : line_start]
    words = before.rstrip(" \t")
    last = words[-1:]
    if words == before or not last or regex(DECLARED).search(before):
        return "argument"
    end = line_start - len(before) + len(words)
    if last.isalnum() or last in ".:!?" or end in ended or follows_mark(text, end):
        return "in a sentence"
    return "in a list" if last in ",;)]}\"'`" else "argument"


def _value_end(text: str, linked: re.Match[str], style: str, start: int) -> int:
    opened = linked["open"]
    closed = text.find(CLOSING_QUOTE[opened[-1]], start, start + LONGEST_QUOTED) if opened else -1
    if closed >= 0:
        return closed - 1 if "\\" in opened and text[closed - 1] == "\\" else closed
    if opened or style == "environment":
        return _run_end(text, start, start + LONGEST_JUDGED)
    run = regex(BARE_RUN).match(text, start, start + LONGEST_JUDGED)
    return start + len(run.group().rstrip(CLOSES_SENTENCE)) if run else start


def _run_end(text: str, start: int, limit: int | None = None) -> int:
    """End of the unquoted run, cut at a limit because text beyond it was not judged."""
    run = regex(UNMARKED_RUN).match(text, start) if limit is None else regex(UNQUOTED_RUN).match(text, start, limit)
    return run.end() if run else start


def _folded(text: str) -> str:
    """Lower case of the same length; İ is the only character whose lower case is longer."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.replace("İ", "i").lower()


@cache
def _secret_words() -> re.Pattern[str]:
    """One alternative per word, each starting with a letter for fast scanning and identified by an empty group."""
    return re.compile("|".join(f"{word.stem}(?:{word.ending})()" for word in SECRET_WORDS))


@cache
def _words_by_stem() -> dict[str, tuple[SecretWord, ...]]:
    return {stem: tuple(word for word in SECRET_WORDS if word.stem == stem) for stem in ASCII_STEMS + OTHER_STEMS}
