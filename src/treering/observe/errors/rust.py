"""Failures of Rust: rustc and cargo test."""

import re

from treering.observe.errors.findings import Finding, distinct_tests, line_at, lines_after

_OUTPUT = re.compile(r"^---- (\S[^\n]{0,300}?) (?:stdout|stderr) ----$", re.MULTILINE)
_FAILED = re.compile(r"^test (\S[^\n]{0,300}?) (?:- should panic )?\.\.\. FAILED", re.MULTILINE)
_PANIC = re.compile(
    r"^\s*thread '[^'\n]{0,300}' (?:\(\d+\) )?panicked at (?:'([^\n]*)', )?([^\s',]+:\d+(?::\d+)?):?$", re.MULTILINE
)
_ERROR = re.compile(
    r"^error(\[E\d{4}\])?: (?!could not compile|aborting due|test failed|\d+ targets? failed|process didn't"
    r"|recipe )([^\n]+)",
    re.MULTILINE,
)


def find_cargo_test(text: str) -> Finding | None:
    """The first failing test with the message of its panic."""
    names = [found[1] for found in _OUTPUT.finditer(text)] or [found[1] for found in _FAILED.finditer(text)]
    if not names:
        return None
    first = _OUTPUT.search(text) or _FAILED.search(text)
    begin = first.start() if first else 0
    at, message = _panic_message(text, begin) or (begin, "failed")
    return Finding("cargo test", message, distinct_tests(iter(names)), at, general=True)


def _panic_message(text: str, begin: int) -> tuple[int, str] | None:
    panic = _PANIC.search(text, begin)
    if panic is None:
        error = text.find("Error: ", begin)
        return (error, line_at(text, error)) if error >= 0 else None
    if panic[1] is not None:
        return panic.start(), panic[1]
    message = next((line.strip() for _, line in lines_after(text, panic.start(2), 2) if line.strip()), "")
    return panic.start(), message or "panicked"


def find_rust_panic(text: str) -> Finding | None:
    found = _panic_message(text, 0) if "panicked at" in text else None
    return Finding("rust", found[1], at=found[0]) if found else None


def find_rustc(text: str) -> Finding | None:
    """The first error of the compiler or of cargo."""
    found = _ERROR.search(text)
    if found is None or ("-->" not in text and "could not compile" not in text and "Cargo.toml" not in text):
        return None
    return Finding("rust", f"error{found[1] or ''}: {found[2]}", at=found.start())
