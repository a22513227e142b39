"""Every pattern of the secret scanner takes time in proportion to the text, also on text made to slow it down."""

import random
from collections.abc import Callable, Iterable, Iterator
from time import thread_time

import pytest

from bench.secrets_cases import fill, formats
from tests.growth import LINEAR, growth
from treering.core.delimiters import escaped, without_ours
from treering.core.secret_assignments import assigned_values
from treering.core.secret_formats import PHRASES, TOKENS, Format
from treering.core.secret_words import SECRET_WORDS
from treering.core.secrets import redact, regex_of, scan

SIZES = (10_000, 20_000, 40_000, 80_000)
QUICK = 0.1
"""Seconds for the longest text that are harmless however they came about; only slower work is measured again."""
FORMS = (*TOKENS, *PHRASES)
TEMPLATES = formats()
ALPHABET = "a0A-_./+=: "
LINKS = ("=", ": ", " is ", ' = "', " for a ", " of ", "[a] ", "::", " string = ", "('", "_a", "-", "s", " ", "\n")
VALUES = ("", "a", "a1b2c3d4e5f6", "$a", "[redacted:token]", "((", "&", '", ')


def repeated(piece: str, size: int) -> str:
    return (piece * (size // len(piece) + 1))[:size]


def assert_linear(work: Callable[[str], object], pieces: Iterable[str]) -> None:
    for piece in pieces:
        longest = repeated(piece, SIZES[-1])
        began = thread_time()
        work(longest)
        if thread_time() - began > QUICK:
            for small, large in zip(SIZES, SIZES[2:], strict=False):
                assert growth(work, repeated(piece, small), repeated(piece, large)) < LINEAR, piece


def pieces_of(form: Format) -> Iterator[str]:
    """The prefix alone, among its alphabet, and in secrets that are complete or lack their end."""
    prefix = form.prefixes[0]
    yield from (prefix, *(prefix + each for each in ALPHABET))
    for template in TEMPLATES.get(form.kind, ()):
        secret = fill(template, random.Random(1))
        yield from (secret, f"{secret[:-1]} ", secret[: len(secret) // 2])


@pytest.mark.parametrize("group", range(8))
def test_a_format_is_matched_in_linear_time(group: int) -> None:
    for form in FORMS[group::8]:
        assert_linear(lambda text, form=form: list(regex_of(form, form.prefixes[0]).finditer(text)), pieces_of(form))


def test_words_and_values_are_matched_in_linear_time() -> None:
    pieces = [f"{word.stem} " for word in SECRET_WORDS[::6]]
    pieces += [f"a password{link}a1" for link in LINKS]
    pieces += [f"a, password={value} " for value in VALUES]
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
    assert_linear(lambda text: (escaped(f"<{text}"), without_ours(f"<{text}")), [piece])


def test_the_text_that_froze_a_server_is_checked_at_once() -> None:
    text = "pa-" * 26_667
    began = thread_time()
    assert redact(text).text is text
    assert thread_time() - began < 1
