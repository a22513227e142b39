"""What a credential looks like: whether a value that a secret word announces is one, by how it is written."""

import re
from collections.abc import Callable
from functools import cache

from treering.core.secret_formats import MARK, UUID
from treering.core.secret_words import MESSAGE_WORDS, NO_CREDENTIAL, PLACEHOLDER, REFERENCE, TECHNICAL_NAME, SecretWord

LONGEST_JUDGED = 128
SAME_CLASS = r"[a-z]+|[A-Z]+|[0-9]+|[^a-zA-Z0-9]+"
MIXED = r"\d[^\W\d]|[^\W_][!@#$%^*?~]"
NAME_PIECE = r"[^\W\d]+\d{0,2}|\d{1,3}|v\d{1,3}"
PATH_PIECE = rf"{NAME_PIECE}|\d+"
REPEATED_WORD = r"(?i)[a-z_]*(?:pass|pwd|token|key|secret|cred)[a-z_]*\d{0,2}"


def is_random(value: str) -> bool:
    """Long, of mixed case with digits throughout: no name, path or hash."""
    return (
        len(regex(r"\d+").findall(value)) >= 2
        and value.lower() != value != value.upper()
        and looks_random(value)
        and not _looks_like_words(value)
    )


def looks_random(value: str) -> bool:
    """Letters, digits and signs alternate as they do in generated text and not in words or CamelCase."""
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
    """`app-secrets-v2`, `os.environ`, `test_key_1`, `run/secrets/db`: names put together, not a credential."""
    pieces = regex(r"[-_.:/@\\]+").split(value.strip("-_.:/@\\"))
    piece_of_name = regex(PATH_PIECE if "/" in value else NAME_PIECE)
    return len(pieces) > 1 and all(piece_of_name.fullmatch(piece) for piece in pieces)


def _repeats_secret_word(value: str) -> bool:
    return regex(REPEATED_WORD).fullmatch(value) is not None


def _is_credential(kind: str, value: str) -> bool:
    if _looks_like_words(value) or _repeats_secret_word(value):
        return False
    digit = regex(r"\d").search(value) is not None
    if kind == "password":
        return digit or regex(r"(?<=.)[!@#$%^&*?+=~]").search(value) is not None or looks_random(value)
    if len(value) < 8 or not regex(r"[^\W\d_]").search(value):
        return False
    return digit or (len(value) >= 16 and looks_random(value))


def _is_spoken_credential(kind: str, value: str) -> bool:
    return not regex(r"[()\[\]{}]").search(value) and _is_credential(kind, value)


def _is_argument_credential(kind: str, value: str) -> bool:
    """Unquoted behind an equals sign, source code has expressions: only what no expression looks like counts."""
    if not _is_spoken_credential(kind, value):
        return False
    digit = regex(r"\d").search(value) is not None
    return looks_random(value) or (digit and bool(regex(r".[!@#$^~?]|^[A-Za-z0-9]{20}").search(value)))


def _is_credential_in_sentence(kind: str, value: str) -> bool:
    """Said between other words, `password=…` is seldom code; a digit and some length tell it from a name."""
    return len(value) >= 8 and bool(regex(r"\d").search(value)) and _is_spoken_credential(kind, value)


def _is_credential_in_list(kind: str, value: str) -> bool:
    """As in a sentence, but code can look the same: digits at the end of a name do not count."""
    return _is_mixed(value) and _is_credential_in_sentence(kind, value)


def _is_mixed(value: str) -> bool:
    """Has digits or signs among its letters, other than those of `sha256` or `oauth2`."""
    return regex(MIXED).search(regex(TECHNICAL_NAME).sub("", value)) is not None


def _is_adjacent_credential(_kind: str, value: str) -> bool:
    """Behind the secret word without any link: only what is random counts, and an id is not."""
    if len(value) < 20 or regex(UUID).search(value) or regex(r"[=:][^=]").search(value):
        return False
    return looks_random(value) and not _looks_like_words(value)


def is_phrase(word: SecretWord, value: str) -> bool:
    """Several words in quotes that are neither a message nor code; plain words only where a phrase is usual."""
    if not 8 <= len(value) <= LONGEST_JUDGED or value != value.strip() or not value[0].isalnum():
        return False
    if regex(r"[\n{}<>()\[\]=\\]|[,.:;] ").search(value) or MARK in value:
        return False
    words = value.lower().split()
    if len(words) == 1:
        return word.phrase and value.isalnum() and not _repeats_secret_word(value) and not _is_placeholder(value)
    if word.kind in ("password", "secret") and len(words) <= 4 and _is_mixed(value):
        return True
    telling = word.phrase or regex(r"\d").search(value) is not None
    plain = len(words) > 8 or not MESSAGE_WORDS.isdisjoint(words) or _is_placeholder(value)
    return word.kind == "password" and telling and not plain


STYLES: dict[str, Callable[[str, str], bool]] = {
    "quoted": _is_credential,
    "environment": _is_credential,
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
