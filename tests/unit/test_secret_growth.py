"""Every pattern of the secret scanner takes time in proportion to the text, also on text made to slow it down."""

import random
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from time import thread_time
from typing import Any

import pytest

from bench.secrets_cases import fill, formats
from tests.growth import growth, seconds
from treering.core.delimiters import escaped, without_delimited
from treering.core.secret_assignments import assigned_values
from treering.core.secret_formats import PHRASES, TOKENS, SecretFormat
from treering.core.secret_words import SECRET_WORDS
from treering.core.secrets import redact, regex_of, scan

SMALL, LARGE = 10_000, 40_000
BOUND = 7.0
"""On these sizes as strict as a bound of 9 for texts twice as long, where a quadratic part weighs twice as much."""
QUICK = 0.025
"""Seconds for the large text that are harmless in any case; only slower work is compared with the small text."""
FORMS = (*TOKENS, *PHRASES)
TEMPLATES = formats()
ALPHABET = "a0A-_./+=: "
LINKS = (
    "=",
    ": ",
    " is ",
    ' = "',
    " for a ",
    " of ",
    "[a] ",
    "::",
    " string = ",
    "('",
    "_a",
    "-",
    "s",
    " ",
    "\n",
    " (",
    " → ",
    " - ",
    " | ",
)
VALUES = ("", "a", "a1b2c3d4e5f6", "$a", "[redacted:token]", "((", "&", '", ')


def repeated(piece: str, size: int) -> str:
    return (piece * (size // len(piece) + 1))[:size]


def assert_linear(work: Callable[[str], object], pieces: Iterable[str]) -> None:
    """Compare the two sizes; one run of each is enough to see linear work, and `growth` repeats any other."""
    for piece in pieces:
        small, large = repeated(piece, SMALL), repeated(piece, LARGE)
        if (slow := seconds(work, large)) > QUICK and slow / seconds(work, small) >= BOUND:
            assert growth(work, small, large, BOUND) < BOUND, piece


def test_quadratic_work_is_noticed() -> None:
    def rescanned(text: str) -> None:
        for start in range(0, len(text), 40):
            list(text[start:])

    assert_linear(lambda text: sum(map(ord, text)), ["a"])
    with pytest.raises(AssertionError, match="a"):
        assert_linear(rescanned, ["a"])


def pieces_of(form: SecretFormat) -> Iterator[str]:
    """The prefix alone, among its alphabet, and in secrets that are complete or lack their end."""
    prefix = form.prefixes[0]
    yield from (prefix, *(prefix + each for each in ALPHABET))
    for template in TEMPLATES.get(form.kind, ()):
        secret = fill(template, random.Random(1))
        yield from (secret, f"{secret[:-1]} ", secret[: len(secret) // 2])


def matches_of(form: SecretFormat, text: str) -> list[Any]:
    return list(regex_of(form, form.prefixes[0]).finditer(text))


@pytest.mark.parametrize("group", range(8))
def test_a_format_is_matched_in_linear_time(group: int) -> None:
    for form in FORMS[group::8]:
        assert_linear(partial(matches_of, form), pieces_of(form))


def test_words_and_values_are_matched_in_linear_time() -> None:
    pieces = [f"{word.stem} " for word in SECRET_WORDS[::6]]
    pieces += [f"a password{link}a1" for link in LINKS]
    pieces += [f"a, password={value} " for value in VALUES]
    pieces += ["credentials: a / ", "credentials: a/", "the psk is aaaaaaaaaa ", 'password="a b c d e ']
    assert_linear(assigned, pieces)


def assigned(text: str) -> None:
    list(assigned_values(text))


@pytest.mark.parametrize(
    "piece", ["-----BEGIN RSA PRIVATE KEY-----\na", "-----BEGIN RSA PRIVATE KEY----- a1+", "\\n", "+ "]
)
def test_key_material_is_read_in_linear_time(piece: str) -> None:
    def work(text: str) -> None:
        scan(f"-----BEGIN PRIVATE KEY-----{text}")

    assert_linear(work, [piece])


@pytest.mark.parametrize("piece", ["\n", " ", "\n<", "</memory>\n", "<memory>\n", "<", "&lt;", "< "])
def test_delimiters_are_found_in_linear_time(piece: str) -> None:
    assert_linear(lambda text: (escaped(f"<{text}"), without_delimited(f"<{text}")), [piece])


def test_the_text_that_froze_a_server_is_checked_at_once() -> None:
    text = "pa-" * 26_667
    began = thread_time()
    assert redact(text).text is text
    assert thread_time() - began < 1
