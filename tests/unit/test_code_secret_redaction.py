"""Redaction of secrets in strings and comments of source code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from treering.code.files.secrets import redact_secrets
from treering.code.language_choice import language_named, load_language

KEY = "AKIA" + "IOSFODNN7EXAMPLX"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PASSWORD = "Tr0ub4dor" + "!3x"
PEM = "-----BEGIN PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2, "-----END PRIVATE KEY-----"


def blanked(path: str, source: str | bytes) -> str:
    before = source if isinstance(source, bytes) else source.encode()
    language = language_named(path)
    assert language is not None
    after = redact_secrets(path, language, before)
    assert len(after) == len(before)
    assert [place for place, byte in enumerate(after) if byte in b"\r\n"] == [
        place for place, byte in enumerate(before) if byte in b"\r\n"
    ]
    return after.decode("utf-8", "surrogateescape")


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ("a.py", 'f("{}")\n'),
        ("a.py", "x = r'{}'  # é\n"),
        ("a.py", 'x = """é\n{}\n"""\n'),
        ("a.py", "# {}\nclass A: ...\n"),
        ("a.py", 'x = f"{{a}} {} {{b}}"\n'),
        ("a.ts", "f('{}')\n"),
        ("a.ts", "const a = `${{b}} {} ${{c}}`\n"),
        ("a.js", "/* {} */ f()\n"),
        ("a.js", "const r = /{}/g\n"),
        ("a.tsx", 'const a = <b c="x">{}</b>\n'),
        ("a.go", 'package a\n\nvar b = "{}"\n'),
        ("a.go", "package a\n\nvar b = `{}`\n"),
        ("a.rs", 'const A: &str = "{}";\n'),
        ("a.rs", '/// {}\nconst A: &str = r#"{0}"#;\n'),
        ("package.json", '{{"main": "{}"}}'),
        ("Cargo.toml", 'a = "{}"\n'),
        ("go.mod", "replace x => ../{}\n"),
        ("a.py", 'def f(:\n    x = "{}\n'),
    ],
)
@pytest.mark.parametrize("secret", [KEY, TOKEN])
def test_a_secret_is_replaced_by_the_same_number_of_x(path: str, written: str, secret: str) -> None:
    written = written.replace("{0}", "{}")
    times = written.count("{}")
    expected = written.format(*["x" * len(secret)] * times)
    assert blanked(path, written.format(*[secret] * times)) == expected


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("a.py", f"{KEY} = 1\n{KEY}.go()\n"),
        ("a.ts", f"class {KEY} {{ {TOKEN}() {{}} }}\n"),
        ("a.go", f"package a\n\nfunc {TOKEN}() {{}}\n"),
        ("a.rs", f"fn {TOKEN}() {{}}\n"),
        ("a.py", f"password = 'nothing'\ntoken = {TOKEN}_name\n"),
    ],
)
def test_redacted_code_still_parses(path: str, source: str) -> None:
    assert blanked(path, source) == source


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.ts", f"/* password: {PASSWORD}*/ f()", f"/* password: {'x' * len(PASSWORD)}*/ f()"),
        ("a.js", r'a = {password: "ab1cd2!\"cd"}; f()', r'a = {password: "xxxxxxx\"cd"}; f()'),
        ("package.json", r'{"password": "ab1\u0041cd!\n2"}', r'{"password": "xxx\u0041xxx\nx"}'),
    ],
)
def test_delimiters_and_escapes_are_kept(path: str, source: str, expected: str) -> None:
    assert blanked(path, source) == expected


def test_a_key_split_over_strings_leaves_valid_strings() -> None:
    source = "KEY = (\n" + "".join(f'    "{line}\\n"\n' for line in PEM) + ")\n\ndef f():\n    g()\n"
    after = blanked("a.py", source)
    assert PEM[1][:32] not in after
    python = load_language("python")
    assert python.extract("a.py", after.encode()) == python.extract("a.py", source.encode())


def test_invalid_utf8_does_not_shift_positions() -> None:
    source = b'a = "\xff\xfe \xe2\x82" # \xc3\xa9\nb = "' + KEY.encode() + b'" # \xff\n'
    assert blanked("a.py", source).encode("utf-8", "surrogateescape") == source.replace(KEY.encode(), b"x" * len(KEY))


def test_a_file_without_a_secret_is_returned_unchanged() -> None:
    source = b'password = input("password: ")\n'
    assert redact_secrets("a.py", "python", source) is source


PIECES = st.sampled_from(
    ["def f():\n", "    g(", ")\n", '"', "'", "`", "${", "}", "{", "/*", "*/", "//", "#", '"""', "\\", "\\u", "\n", "é",
     "password = ", "password: ", PASSWORD, KEY, TOKEN, "https://me:", "@x.org", *PEM, "class A ", "func f() ",
     "fn f() ", " "]
)  # fmt: skip


@pytest.mark.parametrize("path", ["a.py", "a.ts", "a.tsx", "a.js", "a.go", "a.rs", "package.json", "Cargo.toml"])
@given(st.lists(PIECES, max_size=12).map("".join))
def test_redaction_keeps_lines_and_columns_of_any_text(path: str, source: str) -> None:
    before, after = source.encode(), blanked(path, source).encode()
    assert all(new in (old, ord("x")) for old, new in zip(before, after, strict=True))
