"""What the secret scanner redacts, what it leaves alone, and what it costs."""

import random
import re
import subprocess
import sys
from itertools import pairwise
from time import thread_time

import pytest

from bench.secrets_cases import fill, load
from tests.growth import LINEAR, growth
from treering.core.secret_formats import MARK_PATTERN, PHRASES, TOKENS
from treering.core.secrets import SecretFinding, may_hold_secret, redact, scan


def longest_left(findings: tuple[SecretFinding, ...], start: int, end: int) -> int:
    covered = "".join(
        "x" if any(f.start <= position < f.end for f in findings) else " " for position in range(start, end)
    )
    return max(map(len, covered.split("x")))


@pytest.mark.parametrize("group", sorted({case.group for case in load("secret")}))
def test_labelled_secrets_are_redacted_whole(group: str) -> None:
    for case in load("secret"):
        if case.group == group:
            findings = scan(case.text)
            assert all(longest_left(findings, *secret) <= 6 for secret in case.secrets), case.text


@pytest.mark.parametrize("group", sorted({case.group for case in load("plain")}))
def test_labelled_plain_texts_are_left_alone(group: str) -> None:
    assert [(case.text, scan(case.text)) for case in load("plain") if case.group == group and scan(case.text)] == []


def test_clean_text_comes_back_as_the_same_object() -> None:
    text = "Nothing to hide here, 42 times."
    assert redact(text).text is text
    assert redact(text).findings == ()


def test_only_the_value_is_replaced() -> None:
    assert redact('password = "hunter2!"').text == 'password = "[redacted:password]"'
    assert redact("postgres://ada:l0velace@db/x").text == "postgres://ada:[redacted:connection_password]@db/x"
    assert redact("the password is hunter2.").text == "the password is [redacted:password]."


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("host\n", ""),
        ("user=admin\n", "\nport=5432\n"),
        ("Deploy with user admin and ", " then go"),
        ("It runs with ", "."),
    ],
)
def test_a_value_is_found_on_any_line_and_between_other_words(before: str, behind: str) -> None:
    assert redact(f"{before}password=hunter2hunter2{behind}").text == f"{before}password=[redacted:password]{behind}"


@pytest.mark.parametrize("code", ["connect(host, password=config2)", "let password=reader12345;", "f(a, token=token2)"])
def test_names_in_code_are_no_values(code: str) -> None:
    assert redact(code).text == code


def test_published_example_keys_are_redacted() -> None:
    key_id, key = "AKIA" + "IOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY"
    redacted = redact(f"aws_access_key_id={key_id}\naws_secret_access_key={key}").text
    assert key_id not in redacted
    assert key not in redacted


def test_a_known_format_names_the_finding_that_an_assignment_also_found() -> None:
    text = fill("GITHUB_TOKEN=ghp_{alnum:36}", random.Random(1))
    assert scan(text) == (SecretFinding("github_token", 13, len(text)),)


def test_a_private_key_cut_off_before_its_end_is_redacted_and_the_prose_behind_it_is_kept() -> None:
    text = fill(
        "-----BEGIN RSA PRIVATE KEY-----\n{b64:64}\n{b64:64}\n{b64:30}\n\nand then it stopped", random.Random(1)
    )
    assert redact(text).text == "[redacted:private_key]\n\nand then it stopped"


def test_a_secret_longer_than_what_is_judged_is_redacted_to_its_end() -> None:
    assert redact("API_KEY=" + "a1B2+c3/" * 500).text == "API_KEY=[redacted:api_key]"


@pytest.mark.parametrize(
    "value",
    ["<your-key>", "xxxxxxxx", "...", "${VAR_1}", "$VAR_1", "{{ var_1 }}", "changeme", "none", "os.environ['A1']",
     "process.env.KEY_1", "get_secret(1234)", "config.secrets.v2", "password", "next_token_2", "https://a.dev/v1"],
)  # fmt: skip
@pytest.mark.parametrize("assignment", ["password={}", 'api_key = "{}"', "token: {}", "--secret {}"])
def test_placeholders_and_references_are_no_secrets(assignment: str, value: str) -> None:
    assert scan(assignment.format(value)) == ()


def test_a_found_secret_does_not_shield_the_next() -> None:
    secrets = [fill(each, random.Random(1)) for each in ("ghp_{alnum:36}", "password=S3cret99x=", "token: Zu7xQ99abc")]
    for first in secrets:
        for between in (" ", ", ", "; ", " and ", "\n"):
            assert "S3cret99x" not in redact(f"{first}{between}password=S3cret99x").text


@pytest.mark.parametrize("text", [
    "password=secret=S3cret99x", "api_key=password=S3cret99x", "secret:password:S3cret99x", "token: pwd: S3cret99x",
])  # fmt: skip
def test_a_secret_word_as_a_value_does_not_shield_the_next(text: str) -> None:
    assert "S3cret99x" not in redact(text).text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password: 'my dog has 3 legs'", "my dog has 3 legs"),
        ('network={\n ssid="home"\n psk="my wifi is great"\n}', "my wifi is great"),
        ("password: |\n  S3cret99x!", "S3cret99x!"),
        ("the secret we use there: 7f3kQ9zLm2Xv8Rt1Bn6W", "7f3kQ9zLm2Xv8Rt1Bn6W"),
        ("WIFI:S:Home\\;net;T:WPA;P:sun\\;flower;H:true;;", "sun\\;flower"),
    ],
)
def test_phrases_blocks_and_short_random_values_are_found(text: str, secret: str) -> None:
    assert secret not in redact(text).text
    assert redact(redact(text).text).findings == ()
    assert may_hold_secret(text.encode())


@pytest.mark.parametrize("text", [
    "github.com/sethvargo/go-password v0.2.0 h1:BTDl4CC/gjf/axHMaDQtw507ogrXLci6XRiLc7i/UHI=",
    "js-tokens: integrity sha512-RdJUflcE3cUzKiMqQgsCu06FPu9UdIJO0beYbPhHN4k6apgJtFwFzYgv2ZU0bmQoFLzF8PzQe1xy9e",
    "secret.js sha256:RdJUflcE3cUzKiMqQgsCu06FPu9UdIJO0beYbPhHN4k",
    "arn:aws:secretsmanager:eu-central-1:123456789012:secret:prod/db-AbC123",
    "password: 'Choose one with 3 words'",
])  # fmt: skip
def test_checksums_beside_a_secret_word_and_messages_are_left_alone(text: str) -> None:
    assert redact(text).text is text


@pytest.mark.parametrize("word", ["pass\u200bword", "pass\u00adword", "\ufeffpassword", "ｐａｓｓｗｏｒｄ", "𝐩𝐚𝐬𝐬word"])
def test_invisible_and_compatibility_characters_do_not_hide_a_secret(word: str) -> None:
    text = f"a\u200b {word}=S3cret99x\u200b b"
    assert redact(text).text == f"a\u200b {word}=[redacted:password]\u200b b"
    assert redact(redact(text).text).findings == ()
    assert may_hold_secret(text.encode())


def test_an_already_redacted_text_is_left_alone() -> None:
    text = "password=[redacted:password] [redacted:github_token]: hunter2! https://a:[redacted:x]@b"
    assert redact(text).text is text


def test_kinds_fit_into_a_mark() -> None:
    assert all(re.fullmatch(MARK_PATTERN, f"[redacted:{form.kind}]") for form in (*TOKENS, *PHRASES))


HOSTILE = (
    "a", "=", '"', "'", "-----BEGIN ", "-----BEGIN RSA PRIVATE KEY-----\n", "password ", "password=", 'password="',
    "password for ", "eyJ", "eyJ-", "://a:b", "sk-", "SK", "Bearer ", "curl -u ", "[redacted:", "key", "token, 'a",
    "AKIA", "\\n", "İ", "mot de passe", "api_key: $a1", "password=x1", "@", "://", "dp.pt.aa",
    "token: [redacted:token] ", "pa-", "eyJhbGciOi-", "a password=a1b2c3d4 ",
    "password (", "password → ", "password - a1", "credentials: a / ", "pass\u200bword=a1", "\u200b",
    "ｐassword=a1b2c3d4 ", "WIFI:" + "A:\\;" * 100, "password: |\n ", "token=password=a1 ", "secret:token:",
)  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = (piece * (800_000 // len(piece)))[:400_000]
    assert growth(redact, text[:100_000], text) < LINEAR


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_scan_of_hostile_text_can_be_ended_at_any_time(piece: str) -> None:
    moments = [thread_time()]
    scan((piece * (200_000 // len(piece) + 1))[:200_000], lambda: moments.append(thread_time()))
    assert max(after - before for before, after in pairwise([*moments, thread_time()])) < 0.5


def test_long_base64_takes_linear_time_and_is_no_secret() -> None:
    text = fill("{b64:1000000}", random.Random(3))
    assert scan(text) == ()
    assert growth(scan, text[:250_000], text) < LINEAR


def test_importing_the_scanner_compiles_no_format() -> None:
    code = (
        "import treering.core.secrets as s;"
        "assert s._regex.cache_info().currsize == s.regex_of.cache_info().currsize == 0"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
