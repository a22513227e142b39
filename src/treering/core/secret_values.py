"""Whether a value that a secret word announces is a credential, depending on its style."""

import re
from collections.abc import Callable
from functools import cache

from treering.core.secret_formats import MARK, UUID
from treering.core.secret_words import (
    DIRECTIVE_WORDS,
    MESSAGE_WORDS,
    NO_CREDENTIAL,
    PLACEHOLDER,
    REFERENCE,
    STATE_ENDINGS,
    TECHNICAL_NAME,
    SecretWord,
)

LONGEST_JUDGED = 128
SAME_CLASS = r"[a-z]+|[A-Z]+|[0-9]+|[^a-zA-Z0-9]+"
MIXED = r"\d[^\W\d]|[^\W_][!@#$%^*?~]"
NAME_PIECE = r"[^\W\d]+\d{0,2}|\d{1,3}|v\d{1,3}"
PATH_PIECE = rf"{NAME_PIECE}|\d+"
CAMEL_PIECE = r"[A-Z]?[a-z]+|[A-Z]"
DIGIT_INSIDE = r"[A-Za-z]\d+[a-z]|[^\W_][!@#$%^*?~]"
REPEATED_WORD = r"(?i)[a-z_]*(?:pass|pwd|token|key|secret|cred)[a-z_]*\d{0,2}"


def is_random(value: str) -> bool:
    """Whether a value is long and of mixed case with digits throughout, unlike a name, path or hash."""
    return (
        len(regex(r"\d+").findall(value)) >= 2
        and value.lower() != value != value.upper()
        and looks_random(value)
        and not _looks_like_words(value)
    )


def looks_random(value: str) -> bool:
    """Whether letters, digits and signs alternate as in generated text, unlike in words or CamelCase."""
    judged = value[:64]
    runs = len(regex(SAME_CLASS).findall(judged))
    if judged.isalpha():
        return len(judged) >= 16 and runs * 9 >= len(judged) * 4
    return len(judged) >= 12 and runs * 3 >= len(judged)


def points_elsewhere(value: str) -> bool:
    if MARK in value or regex(r"\s").search(value):
        return True
    if regex(REFERENCE).search(value) or regex(NO_CREDENTIAL).match(value):
        return True
    return not looks_random(value) and _is_placeholder(value)


def _is_placeholder(value: str) -> bool:
    return regex(PLACEHOLDER).search(value.lower()) is not None


def _looks_like_words(value: str) -> bool:
    """Whether a value is made of names: `app-secrets-v2`, `os.environ`, `test_key_1`, `run/secrets/db`."""
    pieces = regex(r"[-_.:/@\\]+").split(value.strip("-_.:/@\\"))
    piece_of_name = regex(PATH_PIECE if "/" in value else NAME_PIECE)
    return len(pieces) > 1 and all(piece_of_name.fullmatch(piece) for piece in pieces)


def _is_joined_password(value: str) -> bool:
    """Whether hyphenated words have both cases and a digit (`foo-bar-Baz9`), which is rare for names."""
    return bool(regex(r"[\w-]+").fullmatch(value) and regex(r"\d").search(value) and _has_both_cases(value))


def _has_both_cases(value: str) -> bool:
    return value.lower() != value != value.upper()


def _repeats_secret_word(value: str) -> bool:
    return regex(REPEATED_WORD).fullmatch(value) is not None


def _is_credential(kind: str, value: str) -> bool:
    joined = kind == "password" and "-" in value and _is_joined_password(value)
    if (_looks_like_words(value) and not joined) or _repeats_secret_word(value):
        return False
    digit = regex(r"\d").search(value) is not None
    if kind == "password":
        return digit or regex(r"(?<=.)[!@#$%^&*?+=~]").search(value) is not None or looks_random(value)
    if len(value) < 8 or not regex(r"[^\W\d_]").search(value):
        return False
    return digit or (len(value) >= 16 and looks_random(value))


def _is_environment_credential(kind: str, value: str) -> bool:
    """The value of `DB_PASSWORD` is the password, also if it is words joined by hyphens, unless it names a secret."""
    if kind == "password" and regex(r"[A-Za-z]\d|\d[A-Za-z]").search(value) and regex(r"\w+(?:-\w+)+").fullmatch(value):
        return not any(regex(rf"{REPEATED_WORD}|v\d+").fullmatch(piece) for piece in value.split("-"))
    return _is_credential(kind, value)


def _is_spoken_credential(kind: str, value: str) -> bool:
    return not regex(r"[()\[\]{}]").search(value) and _is_credential(kind, value)


def _is_argument_credential(kind: str, value: str) -> bool:
    """Unquoted after an equals sign: expressions of source code do not count."""
    if not _is_spoken_credential(kind, value):
        return False
    digit = regex(r"\d").search(value) is not None
    return looks_random(value) or (digit and bool(regex(r".[!@#$^~?]|^[A-Za-z0-9]{20}").search(value)))


def _is_credential_in_sentence(kind: str, value: str) -> bool:
    """In a sentence, where `password=…` is rarely code: a digit and some length distinguish it from a name."""
    return len(value) >= 8 and bool(regex(r"\d").search(value)) and _is_spoken_credential(kind, value)


def _is_credential_in_list(kind: str, value: str) -> bool:
    """As in a sentence, but code may look the same, so digits at the end of a name do not count."""
    return _is_mixed(value) and _is_credential_in_sentence(kind, value)


def _is_mixed(value: str) -> bool:
    """Has digits or signs among its letters, other than those of `sha256` or `oauth2`."""
    return regex(MIXED).search(regex(TECHNICAL_NAME).sub("", value)) is not None


def _is_adjacent_credential(kind: str, value: str) -> bool:
    """Directly after the secret word: only random text counts, not ids or names in code."""
    if regex(UUID).search(value) or regex(r"[=:][^=]|[()\[\]{}]").search(value) or _looks_like_words(value):
        return False
    if not _has_both_cases(value):
        return len(value) >= 20 and looks_random(value)
    if _is_camel_case(value):
        return False
    digit = regex(r"\d").search(value) is not None
    if len(value) >= (12 if digit else 20) and looks_random(value):
        return True
    bare = regex(TECHNICAL_NAME).sub("", value)
    return digit and kind == "password" and len(value) >= 8 and regex(DIGIT_INSIDE).search(bare) is not None


def _is_camel_case(value: str) -> bool:
    """Whether letters come in pieces as long as words (`getUserById2FromCache`); in random text they are shorter."""
    pieces = regex(CAMEL_PIECE).findall(regex(TECHNICAL_NAME).sub("", value))
    return sum(map(len, pieces)) * 2 >= len(pieces) * 5 and len(value) >= 12


def is_unquoted_phrase(word: SecretWord, value: str) -> bool:
    """One plain word as the value of `psk`, long enough not to be an adjective: `correcthorse`, not `required`."""
    if not word.phrase or not regex(r"[a-z]{10,}").fullmatch(value):
        return False
    if regex(rf"(?:{STATE_ENDINGS})\Z").search(value) or regex(r"pass|psk|key|secret|cred").search(value):
        return False
    return not _is_placeholder(value)


def is_phrase(word: SecretWord, value: str, *, compact: bool = False) -> bool:
    """Whether quoted words are a pass phrase rather than a message or code.

    Plain words count if a phrase is usual for the secret word, and from four words on. With `compact`, the assignment
    is not written like a message (spaces around the equals sign, a capital letter after a colon): four words then also
    count if they include short words of a sentence, provided that they have a digit or a phrase is usual.
    """
    if not 8 <= len(value) <= LONGEST_JUDGED or value != value.strip() or not value[0].isalnum():
        return False
    if regex(r"[\n{}<>()\[\]=\\]|[,.:;] ").search(value) or MARK in value:
        return False
    words = value.lower().split()
    if len(words) == 1:
        return word.phrase and value.isalnum() and not _repeats_secret_word(value) and not _is_placeholder(value)
    if word.kind in ("password", "secret") and len(words) <= 4 and _is_mixed(value):
        return True
    return word.kind == "password" and len(words) <= 8 and _is_pass_phrase(word, value, words, compact=compact)


def _is_pass_phrase(word: SecretWord, value: str, words: list[str], *, compact: bool) -> bool:
    digit = regex(r"\d").search(value) is not None
    if compact and (digit or word.phrase) and len(words) >= 4 and DIRECTIVE_WORDS.isdisjoint(words):
        return True
    plain = len(words) >= 4 and "".join(value.split()).isalpha() and (value.islower() or value.istitle())
    return (word.phrase or digit or plain) and MESSAGE_WORDS.isdisjoint(words) and not _is_placeholder(value)


STYLES: dict[str, Callable[[str, str], bool]] = {
    "quoted": _is_credential,
    "environment": _is_environment_credential,
    "setting": _is_spoken_credential,
    "spoken": _is_spoken_credential,
    "in a sentence": _is_credential_in_sentence,
    "in a list": _is_credential_in_list,
    "adjacent": _is_adjacent_credential,
    "argument": _is_argument_credential,
    "call": _is_argument_credential,
}


@cache
def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(pattern, flags)
