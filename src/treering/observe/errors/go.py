"""Failures of Go: tests, panics, compile errors and the module system."""

import re

from treering.observe.errors.findings import Finding, distinct_tests, line_at, lines_after

_FAIL = re.compile(r"^( *)--- FAIL: (\S{1,300})", re.MULTILINE)
_LOGGED = re.compile(r"\s+(?:[\w.-]+/)*[\w.-]+\.go:\d+:\s?(.*)")
_TESTIFY = re.compile(r"^\s*Error:\s+(\S[^\n]*)$", re.MULTILINE)
_TESTIFY_END = re.compile(r"\s*(?:Test|Messages|Error Trace|---|===):?")
_PANIC = re.compile(r"^(?:panic: |fatal error: )([^\n]+)", re.MULTILINE)
_RECOVERED = re.compile(r" \[recovered(?:, repanicked)?\]$")
_RACE = re.compile(r"^WARNING: DATA RACE", re.MULTILINE)
_TIMEOUT = re.compile(r"test timed out after \S+")
_PACKAGE = re.compile(r"^FAIL\s+(\S+)(?: \[(build failed|setup failed)\]|\s+[\d.]+s)?$", re.MULTILINE)
_COMPILE = re.compile(r"^(?:vet: )?((?:\.{0,2}/)?[\w./@+-]{1,300}\.go):\d+:\d+: (?!warning)(\S[^\n]*)$", re.MULTILINE)
_MODULE = re.compile(
    r"^(?:go: |no required module |package [\w./-]+ is not in |no Go files |found packages )[^\n]+", re.MULTILINE
)
_MODULE_NOISE = re.compile(r"go: (?:downloading|finding|extracting|added|upgraded|downgraded|warning)\b")
_LINTER = re.compile(r" \((\w[\w-]{1,30})\)$")


def find_go_test(text: str) -> Finding | None:
    """The first failing test of the deepest level, with what it reported."""
    fails = list(_FAIL.finditer(text))
    if not fails:
        return None
    names = list(dict.fromkeys(found[2] for found in fails))
    parents = {name.rpartition("/")[0] for name in names}
    leaves = [name for name in names if name not in parents]
    tests = distinct_tests(iter(leaves or names))
    first = next(found for found in fails if found[2] == tests[0])
    panic = _PANIC.search(text)
    if panic:
        return Finding(
            "go test", f"panic: {_RECOVERED.sub('', panic[1])}", tests, panic.start(), "timed out" in panic[1]
        )
    at, message = _reported(text, first)
    return Finding("go test", message or "failed", tests, at, general=True)


def _reported(text: str, fail: re.Match[str]) -> tuple[int, str]:
    """What the test logged: after its line, or before it with `-v`."""
    for place, line in lines_after(text, fail.start(), 3):
        if line.lstrip().startswith(("--- ", "=== ", "FAIL", "ok ")) or not line.startswith(" "):
            break
        if logged := _LOGGED.match(line):
            return place, _with_testify(text, place, logged[1])
    before = text[max(0, fail.start() - 4000) : fail.start()]
    begin = before.rfind(f"=== RUN   {fail[2]}\n")
    offset = fail.start() - len(before)
    for place, line in lines_after(before, max(begin, 0), 40) if begin >= 0 else ():
        if logged := _LOGGED.match(line):
            return offset + place, _with_testify(text, offset + place, logged[1])
    return fail.start(), ""


def _with_testify(text: str, place: int, logged: str) -> str:
    """The text of a line, or of the labelled report of testify that follows it."""
    if logged.strip():
        return logged.strip()
    label = _TESTIFY.search(text, place, place + 2000)
    if label is None:
        return next((line.strip() for _, line in lines_after(text, place, 3) if line.strip()), "")
    parts = [label[1].strip()]
    for _, line in lines_after(text, label.start(1), 3):
        if _TESTIFY_END.match(line):
            break
        parts.append(line.strip())
    return " ".join(parts)


def find_go_compile(text: str) -> Finding | None:
    """The first compile or vet error, or an error of the module system."""
    for found in _COMPILE.finditer(text):
        if not _LINTER.search(found[2]) and found[2] != "too many errors":
            return Finding("go", found[2], at=found.start())
    for found in _MODULE.finditer(text):
        if not _MODULE_NOISE.match(found[0]):
            return Finding("go", found[0], at=found.start())
    return None


def find_go_panic(text: str) -> Finding | None:
    found = _PANIC.search(text)
    if found is None:
        race = _RACE.search(text)
        return Finding("go", "WARNING: DATA RACE", at=race.start()) if race else None
    if "goroutine " not in text and "[recovered]" not in text:
        return None
    return Finding("go", line_at(text, found.start()), at=found.start())


def find_go_package(text: str) -> Finding | None:
    """A failing package of which only the last lines are visible."""
    found = _PACKAGE.search(text)
    if found is None:
        return None
    timeout = _TIMEOUT.search(text)
    package = "/".join(found[1].rsplit("/", 2)[-2:])
    message = timeout[0] if timeout else found[2] or "failed"
    return Finding(
        "go test", f"package {found[1].rpartition('/')[2]}: {message}", (package,), found.start(), general=True
    )
