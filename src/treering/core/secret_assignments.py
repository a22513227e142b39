"""Values given to a secret word: `password = "…"`, `--token …`, `"apiKey": "…"`, "the password is …".

A secret word alone means little in source code, so the value decides: how it is written (quoted, in an environment
file, after a colon, after an equals sign) says how much it must look like a credential.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from treering.core.secret_formats import MARK, Hit, follows_mark
from treering.core.secret_words import (
    ABOUT,
    LINKING_ADVERBS,
    LINKING_VERBS,
    NO_CREDENTIAL,
    PLACEHOLDER,
    PLAIN_AFTER,
    PLAIN_BEFORE,
    REFERENCE,
    SECRET_WORDS,
    SecretWord,
)
from treering.core.time_limit import Check, unlimited

LONGEST_QUOTED = 512
LONGEST_JUDGED = 128
SHORTEST_VALUE = 6
CLOSING_QUOTE = {'"': '"', "'": "'", "`": "`", "“": "”", "«": "»", "„": "“"}

LINK = rf"""
    (?P<suffix>(?:[sS](?![A-Za-z]))?(?:[A-Z0-9_.-][\w.-]{{0,31}}+)?)
    (?P<close>[\\"'`\])*]{{0,4}}+)(?:[ ]\[[\w* ]{{0,24}}\])?[ \t]{{0,8}}+
    (?P<link>
        [:?]{{1,2}}[ \t]{{0,4}}[&*A-Za-z_][\w.\[\]|?<>' ]{{0,30}}?=[ \t]{{0,4}}(?=[bru&]{{0,2}}["'`])
      | (?::{{1,3}}=|=>|===?|!==?|\?=|\+=|[:=]|：|＝)[ \t*]{{0,8}}
      | [是为為は][ \t]{{0,2}}
      | (?P<call>[,(][ \t]{{0,4}}(?=[bru]{{0,2}}["'`]))
      | >
      | (?<=[ \t])(?:
            (?:string|String|str)[ \t]{{0,4}}:?=[ \t]{{0,4}}(?=["'`])
          | value[ \t]{{0,2}}=[ \t]{{0,2}}(?=["'])
          | (?:(?:{ABOUT})[ \t][^\n:="'`]{{1,40}}?(?::|[ \t](?={LINKING_VERBS})))?
            (?:(?:{LINKING_VERBS})(?:[ \t](?:{LINKING_ADVERBS}))?:?)?(?<![ \t])[ \t]{{1,4}}
          | (?P<gap>)
        )
    )
    (?P<open>(?:[bBrRuUfF@&]{{0,2}}\\?["'`“«„])?)
"""
UNQUOTED_RUN = r"[^\s\"'`]+"
BARE_RUN = r"[^\s\"'`,;&<>|\\“”«»„、。，]+"
WORTH_JUDGING = (
    r"(?!(?i:\w{0,16}?(?:pass|pwd|secret|token|key|cred)\w{0,16}[=:]))"
    r"(?=[^\s\"'`]{6})(?:[^\s\"'`]{0,11}?[\d!@#$%^&*?+=~]|[^\s\"'`]{12})"
)
"""Long enough, with something that is no letter, and not itself the beginning of another assignment."""
SAME_CLASS = r"[a-z]+|[A-Z]+|[0-9]+|[^a-zA-Z0-9]+"
WORD_BEFORE = r"[\w.$-]{0,24}\Z"
WORD_BREAK = r"[_.$-]+|(?<=[a-z])(?=[A-Z])"
IN_SENTENCE = (
    r"(?<![\w.$-])(?!(?i:let|var|const|val|local|my|our|auto|string|str|char|final|static|new|return|if|elif|else)[ ])"
    r"[^\W\d_]{2,20}[ ]\Z"
)
"""A plain word and a space: code has a comma, a bracket or the beginning of a declaration before a name."""
NAME_PIECE = r"[^\W\d]+\d{0,2}|\d{1,3}|v\d{1,3}"
PATH_PIECE = rf"{NAME_PIECE}|\d+"
REPEATED_WORD = r"(?i)[a-z_]*(?:pass|pwd|token|key|secret|cred)[a-z_]*\d{0,2}"
CLOSES_SENTENCE = ".,;:?)]}*"

ASCII_STEMS = tuple(sorted({word.stem for word in SECRET_WORDS if word.stem.isascii()}))
OTHER_STEMS = tuple(sorted({word.stem for word in SECRET_WORDS if not word.stem.isascii()}))


def assigned_values(text: str, check: Check = unlimited) -> Iterable[Hit]:
    """Every value in `text` that a secret word announces and that looks like a credential."""
    folded = _folded(text)
    stems = ASCII_STEMS if folded.isascii() else ASCII_STEMS + OTHER_STEMS
    return _assigned(text, folded, check) if [stem for stem in stems if stem in folded] else ()


def announces_value(text: str, words: str) -> bool:
    """Whether `assigned_values` finds any in `text`; `words` are all of it, in any order."""
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
    link = _regex(LINK, re.VERBOSE)
    for word in _words_by_stem()[stem]:
        ended = _regex(word.ending).match(folded, start + len(stem))
        linked = None if ended is None else link.match(text, ended.end())
        if linked is not None and _stands_free(word, text, folded, start) and _judged(text, word, start, linked):
            return True
    return False


def _assigned(text: str, folded: str, check: Check) -> Iterator[Hit]:
    link = _regex(LINK, re.VERBOSE)
    reached = 0
    for found in _secret_words().finditer(folded):
        check()
        start, end = found.span()
        linked = link.match(text, end)
        if linked is None or start < reached:
            continue
        word = SECRET_WORDS[(found.lastindex or 1) - 1]
        if _stands_free(word, text, folded, start):
            hit = _judged(text, word, start, linked)
            if hit is not None:
                reached = hit.end
                yield hit


def _stands_free(word: SecretWord, text: str, folded: str, start: int) -> bool:
    if word.alone and not _begins_word(text, start):
        return False
    return not word.owners or folded[max(0, start - 16) : start].rstrip("_ .-").endswith(word.owners)


def _begins_word(text: str, start: int) -> bool:
    previous = text[start - 1 : start]
    return not previous.isalpha() or (previous.islower() and text[start].isupper())


def looks_random(value: str) -> bool:
    """Letters, digits and signs alternate as they do in generated text and not in words or CamelCase."""
    judged = value[:64]
    runs = len(_regex(SAME_CLASS).findall(judged))
    if judged.isalpha():
        return len(judged) >= 16 and runs * 9 >= len(judged) * 4
    return len(judged) >= 12 and runs * 3 >= len(judged)


def _judged(text: str, word: SecretWord, start: int, linked: re.Match[str]) -> Hit | None:
    value_start = linked.end()
    if linked["gap"] is not None and "-" not in text[max(0, start - 24) : start]:
        return None
    if not _regex(WORTH_JUDGING).match(text, value_start):
        return None
    before = _before(text, start)
    if before is None or not _names_a_secret(text, word, linked):
        return None
    style = _style(text, start, linked, before)
    if style is None:
        return None
    end = _value_end(text, linked, style)
    value = text[value_start : min(end, value_start + LONGEST_JUDGED)]
    if len(value) < SHORTEST_VALUE or _points_elsewhere(value) or not STYLES[style](word.kind, value):
        return None
    return Hit(word.kind, start, value_start, end if end - value_start < LONGEST_JUDGED else _run_end(text, end))


def _before(text: str, start: int) -> str | None:
    """The rest of the identifier in front of the secret word; None where it makes the word harmless."""
    found = _regex(WORD_BEFORE).search(text[max(0, start - 24) : start])
    before = found.group() if found else ""
    if follows_mark(text, start - len(before)):
        return None
    pieces = [piece for piece in _regex(WORD_BREAK).split(before) if piece]
    return None if pieces and pieces[-1].lower() in PLAIN_BEFORE else before


def _names_a_secret(text: str, word: SecretWord, linked: re.Match[str]) -> bool:
    suffix = linked["suffix"]
    if not suffix:
        return True
    if suffix in ("s", "S") or (word.alone and suffix[0].isalpha()):
        return False
    if suffix[0].isupper() and text[linked.start() - 1].isupper():
        return False
    return _regex(WORD_BREAK).split(suffix)[-1].lower() not in PLAIN_AFTER


def _style(text: str, start: int, linked: re.Match[str], before: str) -> str | None:
    """How the value is written, or None where the secret word is not followed by a value at all."""
    link = linked["link"]
    flag = before.startswith("-")
    line_start = start - len(before)
    in_resource_name = link == ":" and text[line_start - 1 : line_start] == ":"
    if (linked["gap"] is not None and not flag) or (link == ">" and linked["close"]) or in_resource_name:
        return None
    if linked["open"]:
        return "call" if linked["call"] else "quoted"
    if flag or (link == "=" and text[start : linked.start()].isupper()):
        return "environment"
    if "=" not in link:
        return "spoken"
    if line_start == 0 or text[line_start - 1] in "\n?&;":
        return "setting"
    return (
        "in a sentence"
        if link == "=" and _regex(IN_SENTENCE).search(text[max(0, line_start - 24) : line_start])
        else "argument"
    )


def _value_end(text: str, linked: re.Match[str], style: str) -> int:
    start = linked.end()
    opened = linked["open"]
    closed = text.find(CLOSING_QUOTE[opened[-1]], start, start + LONGEST_QUOTED) if opened else -1
    if closed >= 0:
        return closed - 1 if "\\" in opened and text[closed - 1] == "\\" else closed
    if opened or style == "environment":
        return _run_end(text, start, start + LONGEST_JUDGED)
    run = _regex(BARE_RUN).match(text, start, start + LONGEST_JUDGED)
    return start + len(run.group().rstrip(CLOSES_SENTENCE)) if run else start


def _run_end(text: str, start: int, limit: int | None = None) -> int:
    run = _regex(UNQUOTED_RUN).match(text, start, len(text) if limit is None else limit)
    return run.end() if run else start


def _points_elsewhere(value: str) -> bool:
    if MARK in value or _regex(r"\s").search(value):
        return True
    if _regex(REFERENCE).search(value) or _regex(NO_CREDENTIAL).match(value):
        return True
    return not looks_random(value) and _regex(PLACEHOLDER).search(value.lower()) is not None


def _looks_like_words(value: str) -> bool:
    """`app-secrets-v2`, `os.environ`, `test_key_1`, `run/secrets/db`: names put together, not a credential."""
    pieces = _regex(r"[-_.:/@\\]+").split(value.strip("-_.:/@\\"))
    piece_of_name = _regex(PATH_PIECE if "/" in value else NAME_PIECE)
    return len(pieces) > 1 and all(piece_of_name.fullmatch(piece) for piece in pieces)


def _repeats_secret_word(value: str) -> bool:
    return _regex(REPEATED_WORD).fullmatch(value) is not None


def _is_credential(kind: str, value: str) -> bool:
    if _looks_like_words(value) or _repeats_secret_word(value):
        return False
    digit = _regex(r"\d").search(value) is not None
    if kind == "password":
        return digit or _regex(r"(?<=.)[!@#$%^&*?+=~]").search(value) is not None or looks_random(value)
    if len(value) < 8 or not _regex(r"[^\W\d_]").search(value):
        return False
    return digit or (len(value) >= 16 and looks_random(value))


def _is_spoken_credential(kind: str, value: str) -> bool:
    return not _regex(r"[()\[\]{}]").search(value) and _is_credential(kind, value)


def _is_argument_credential(kind: str, value: str) -> bool:
    """Unquoted behind an equals sign, source code has expressions: only what no expression looks like counts."""
    if not _is_spoken_credential(kind, value):
        return False
    digit = _regex(r"\d").search(value) is not None
    return looks_random(value) or (digit and bool(_regex(r".[!@#$^~?]|^[A-Za-z0-9]{20}").search(value)))


def _is_credential_in_sentence(kind: str, value: str) -> bool:
    """Said between other words, `password=…` is seldom code; a digit and some length tell it from a name."""
    return len(value) >= 8 and bool(_regex(r"\d").search(value)) and _is_spoken_credential(kind, value)


STYLES: dict[str, Callable[[str, str], bool]] = {
    "quoted": _is_credential,
    "environment": _is_credential,
    "setting": _is_spoken_credential,
    "spoken": _is_spoken_credential,
    "in a sentence": _is_credential_in_sentence,
    "argument": _is_argument_credential,
    "call": _is_argument_credential,
}


def _folded(text: str) -> str:
    """Lower case of the same length: İ is the one character that lower case makes longer."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.replace("İ", "i").lower()


@cache
def _secret_words() -> re.Pattern[str]:
    """One alternative a word, each beginning with a letter for the engine to skip to; its empty group tells which."""
    return re.compile("|".join(f"{word.stem}(?:{word.ending})()" for word in SECRET_WORDS))


@cache
def _words_by_stem() -> dict[str, tuple[SecretWord, ...]]:
    return {stem: tuple(word for word in SECRET_WORDS if word.stem == stem) for stem in ASCII_STEMS + OTHER_STEMS}


@cache
def _regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(pattern, flags)
