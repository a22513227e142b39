"""What holds of redaction whatever the text."""

import random
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bench.secrets_cases import fill, formats, load
from treering.core.secret_formats import MARK_PATTERN, TOKENS
from treering.core.secrets import redact, scan

FRAGMENTS = st.sampled_from(
    ["password", "token", "secret", "api_key", "=", ": ", " is ", '"', "'", "`", "[redacted:token]", "[redacted:", "]",
     "hunter2!", "://", "@", "user:", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "\n", "\\n", " ",
     "--", "Bearer ", "Authorization: ", "Basic ", "curl -u a:", "eyJ", ".", "sk-", "SK", "İ", "密码", "é", "\ud800",
     "\x00", "key", "PASSWORD", "pass", "for bob", "value=", ">", "<", "(", ")", "{", "$", "a1B2c3D4",
     "0123456789abcdef" * 2]
)  # fmt: skip
ANY_CHARACTER = st.characters(codec=None)
CASES = load("secret")
SECRETS = st.sampled_from([case.text[start:end] for case in CASES for start, end in case.secrets])
TEXTS = st.lists(FRAGMENTS | st.text(ANY_CHARACTER, max_size=12) | SECRETS, max_size=14).map("".join)
FORMATS = formats()
PUBLIC_PART = (
    r"^(?:AccountKey=|SharedAccessKey=|hooks\.slack\.com/|discord\.com/api/webhooks/|\.webhook\S+?b2/|\d{8}:|\d{15}\|)"
)
SURROUNDINGS = st.text(st.characters(codec="utf-8"), max_size=40).filter(lambda text: "[redacted" not in text)


@given(TEXTS)
@example("ghp_" + "a1B2c3D4e5" * 4 + "]=hunter2!")
@example("SK" + "0123456789abcdef" * 2 + "AC" + "0123456789abcdef" * 2)
def test_redacting_twice_changes_nothing_and_finds_nothing(text: str) -> None:
    once = redact(text).text
    assert scan(once) == ()
    assert redact(once).text is once


@given(TEXTS)
def test_findings_are_ordered_disjoint_and_inside_the_text(text: str) -> None:
    reached = 0
    for finding in scan(text):
        assert reached <= finding.start < finding.end <= len(text)
        reached = finding.end


@given(TEXTS)
def test_text_outside_the_findings_is_unchanged(text: str) -> None:
    redaction = redact(text)
    expected, kept_to = "", 0
    for finding in redaction.findings:
        expected += text[kept_to : finding.start] + f"[redacted:{finding.kind}]"
        kept_to = finding.end
    assert redaction.text == expected + text[kept_to:]


@given(st.text(ANY_CHARACTER, max_size=300))
def test_any_unicode_is_accepted(text: str) -> None:
    redact(text)


@pytest.mark.parametrize("kind", sorted(FORMATS))
@settings(max_examples=25)
@given(before=SURROUNDINGS, after=SURROUNDINGS, seed=st.integers(0, 2**32), around=st.sampled_from(" \n\t\"'`,;(|"))
def test_every_format_is_redacted_in_any_surroundings(
    kind: str, before: str, after: str, seed: int, around: str
) -> None:
    for template in FORMATS[kind]:
        found = fill(template, random.Random(seed))
        secret = re.sub(PUBLIC_PART, "", found)
        redacted = re.sub(MARK_PATTERN, "", redact(f"{before}{around}{found}{around}{after}").text)
        pieces = {secret[start : start + 7] for start in range(len(secret) - 6)}
        left = {piece for piece in pieces if piece in redacted and piece not in f"{before} {after}"}
        assert not left, found


def test_every_format_has_a_template() -> None:
    assert {form.kind for form in TOKENS} == FORMATS.keys()
