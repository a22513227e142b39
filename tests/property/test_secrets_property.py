"""What holds of redaction whatever the text."""

import random
import re
import string
from importlib import import_module

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bench.secrets_cases import fill, formats, load
from treering.core.secret_formats import BREAKS_TOKEN, MARK_PATTERN, MIN_BARE_TOKEN, TOKENS
from treering.core.secrets import may_hold_secret, redact, scan

FRAGMENTS = st.sampled_from(
    ["password", "token", "secret", "api_key", "=", ": ", " is ", '"', "'", "`", "[redacted:token]", "[redacted:", "]",
     "hunter2!", "://", "@", "user:", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "\n", "\\n", " ",
     "--", "Bearer ", "Authorization: ", "Basic ", "curl -u a:", "eyJ", ".", "sk-", "SK", "İ", "密码", "é", "\ud800",
     "\x00", "key", "PASSWORD", "pass", "for bob", "value=", ">", "<", "(", ")", "{", "$", "a1B2c3D4",
     "0123456789abcdef" * 2, "S3cret99x", "x7Kq2mVt9LpZ4cRb8WnD3sYh6JfA1gUe", ", ", "&", "password=S3cret99x", "psk",
     "passphrase", "WIFI:T:WPA;P:", "MIIEvQIBAD"]
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
@example("x7Kq2mVt9LpZ4cRb8WnD3sYh6JfA1gUe, JWT_SECRET=a1B2c3D4e5F6g7H8")
@example('x7Kq2mVt9LpZ4cRb8WnD3sYh6JfA1gUe \'SKsecretKey := "gFtgtdWK22SnPyfKT0WtGZVb"')
@example("ntn_" + "3y69unFeVq9L" * 4 + "= password=S3cret99x")
@example("PASSWORD è Tiramisu!8 x7Kq2mVt9LpZ4cRb8WnD3sYh6JfA1gUe the token: password=S3cret99x")
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


CODE = st.sampled_from(
    [*string.punctuation, "\n", "    ", "\\n", "const KEY = ", "self.client(key=", "x[", "]()", "// ", "# ", "/* ",
     "*/", '"""', "r#", 'f"{', "https://me:", "@example.org", "curl -u ", "mysql", "--password ", "machine a password ",
     "PASSWORD", "api_key: ", "passwords", "İ", "\u212a", "é", "密码", "\ud800", "[redacted:token]", "pass\n",
     "token_count"]
)  # fmt: skip
FORMATTED = st.tuples(st.sampled_from([each for some in FORMATS.values() for each in some]), st.integers(0, 2**32)).map(
    lambda chosen: fill(chosen[0], random.Random(chosen[1]))
)


@given(st.lists(CODE | FRAGMENTS | SECRETS | FORMATTED, max_size=10).map("".join))
@example("to\u212aen = 'a1b2c3d4e5f6'")
@example("LTAI" + "a1B2c3D4e5F6 and a long run of text around it".replace(" ", ""))
def test_where_no_secret_may_be_none_is_found(code: str) -> None:
    source = code.encode("utf-8", "surrogatepass")
    assert may_hold_secret(source) or not scan(source.decode("utf-8", "surrogateescape"))


@pytest.mark.parametrize("around", ["", "()", '""', "''", "``", "[]", "{}", "<>", "#\n", "//"])
def test_every_labelled_secret_and_every_format_is_looked_for_in_code(around: str) -> None:
    texts = [case.text for case in CASES]
    texts += [fill(template, random.Random(7)) for templates in FORMATS.values() for template in templates]
    for text in (f"a = f({around[:1]}{text}{around[1:]})" if around else text for text in texts):
        assert may_hold_secret(text.encode()) or not scan(text), text


def test_a_text_without_a_secret_is_mostly_known_to_have_none() -> None:
    plain = [case.text for case in load("plain")]
    assert sum(may_hold_secret(text.encode()) for text in plain) <= len(plain) // 20


def test_no_token_is_shorter_than_those_that_are_looked_at_or_has_a_break_in_it() -> None:
    for form in TOKENS:
        in_front = sum(int(size) for size in re.findall(r"\(\?<=[^)]*?\{(\d+)\}", form.body))
        width = import_module("re._parser").parse(form.body).getwidth()[0]
        assert min(map(len, form.prefixes)) + in_front + width >= MIN_BARE_TOKEN, form
        assert not set(BREAKS_TOKEN) & set("".join(form.prefixes))
        classes = re.findall(r"\[((?:[^\]\\]|\\.)*)\]", re.sub(r"\(\?![^)]*\)", "", form.body))
        assert not set(BREAKS_TOKEN) & set("".join(classes).replace("\\w", "").replace("\\d", "")), form
