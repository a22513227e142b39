"""Failures of Python: pytest, unittest and tracebacks."""

import re

from treering.observe.errors.findings import Finding, distinct_tests, line_at, lines_after

_SUMMARY = re.compile(r"^(?:FAILED|ERROR) (?=\S*(?:::|\.py\b))([^\n]+)$", re.MULTILINE)
_VERBOSE = re.compile(r"^(\S+::[^\n]{1,300}?) (?:FAILED|ERROR)(?: +\[ *\d+%\])?$", re.MULTILINE)
_HEADING = re.compile(r"^_{3,} (?:ERROR (?:collecting|at (?:setup|teardown) of) )?([^\n]{1,300}?) _{3,}$", re.MULTILINE)
_DETAIL = re.compile(r"^(?:\[gw\d+\] )?E {2,}(\S[^\n]*)$", re.MULTILINE)
_RAISED = re.compile(r"(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Warning|Exit|Interrupt|Failed|Fault)\w*(?::|$)|Failed:")
_USAGE = re.compile(
    r"^(?:ERROR: (?=file or directory|not found:|usage:|found no|Wrong expression|while parsing)"
    r"|(?:py\.?test|__main__\.py): error: |INTERNALERROR> (?=\w+Error))([^\n]+)",
    re.MULTILINE,
)
_ASSERTION = re.compile(r"assert\b|AssertionError\b|Failed: DID NOT RAISE|Failed\b(?!: \w)")
_UNIT = re.compile(r"^(?:FAIL|ERROR): (\S+) \(([\w.]+)\)", re.MULTILINE)
_EXCEPTION = re.compile(r"^(?:[ |+-]{2,40}\| ?)?([A-Za-z_][\w.]*)(?:: ([^\n]*))?$", re.MULTILINE)
_EXCEPTION_NAME = re.compile(r"(?:[\w.]+\.)?(?:[A-Z]\w*|error|timeout|gaierror)(?:\[\w+\])?")
_SYNTAX = re.compile(r"^(?:SyntaxError|IndentationError|TabError): [^\n]*", re.MULTILINE)
_MODULE = re.compile(r"^\S*python\S*: (No module named [^\n]+|can't open file [^\n]+)$", re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last)"
_CHAINED = ("During handling of the above", "The above exception was")


def find_pytest(text: str) -> Finding | None:
    """The first failing test of pytest and its exception, or the reason why nothing was collected."""
    named: list[tuple[int, str, str]] = []
    for found in _SUMMARY.finditer(text):
        test, _, message = found[1].partition(" - ")
        named.append((found.start(), test.strip(), message.strip()))
    named += [(found.start(), found[1], "") for found in _VERBOSE.finditer(text)] if not named else []
    named += [(found.start(), found[1], "") for found in _HEADING.finditer(text)] if not named else []
    at, message = _pytest_message(text, named)
    if not message:
        usage = _USAGE.search(text)
        if usage is None:
            return (
                Finding("pytest", "failed", distinct_tests(test for _, test, _ in named), at, True) if named else None
            )
        return Finding("pytest", usage[1], at=usage.start())
    tests = distinct_tests(test for _, test, _ in named if "::" in test or not test.endswith(".py"))
    if _ASSERTION.match(message):
        return Finding("pytest", message, tests, at, general=True)
    return Finding("pytest", message, tests, at, general=_is_bare(message))


def _pytest_message(text: str, named: list[tuple[int, str, str]]) -> tuple[int, str]:
    """The first complete message: of the details, else of the summary, else a shortened one."""
    first_at = -1
    first = ""
    for found in _DETAIL.finditer(text):
        if _RAISED.match(found[1]):
            if first and _ASSERTION.match(first):
                break
            return found.start(), found[1]
        if not first:
            first_at, first = found.start(), found[1]
    if first:
        return first_at, first
    for at, _, message in named:
        if message:
            return at, message.removesuffix("...").rstrip()
    return (named[0][0] if named else 0), ""


def _is_bare(message: str) -> bool:
    """Does the message only name a key, an index or nothing?"""
    name, _, rest = message.partition(":")
    return len(rest.split()) < 3 and not name.endswith(("NotFoundError", "ImportError", "ModuleNotFoundError"))


def find_unittest(text: str) -> Finding | None:
    """The first failing test of unittest or Django, with the exception of its traceback."""
    names = [
        (found.start(), found[2] if found[2].endswith(f".{found[1]}") else f"{found[2]}.{found[1]}")
        for found in _UNIT.finditer(text)
    ]
    if not names:
        return None
    tests = distinct_tests(name for _, name in names)
    begin = text.find(_TRACEBACK, names[0][0])
    raised = _exception_after(text, begin) if begin >= 0 else None
    if raised is None:
        return Finding("unittest", "failed", tests, names[0][0], general=True)
    at, message = raised
    return Finding("unittest", message, tests, at, general=bool(_ASSERTION.match(message)) or _is_bare(message))


def find_python(text: str) -> Finding | None:
    """The exception of the last traceback, or a syntax error."""
    begin = text.rfind(_TRACEBACK)
    raised = _exception_after(text, begin) if begin >= 0 else None
    if raised is None:
        found = _SYNTAX.search(text) or _MODULE.search(text)
        if found is None:
            return None
        raised = found.start(), found[found.re.groups]
    return Finding("python", raised[1], at=raised[0])


def _exception_after(text: str, begin: int) -> tuple[int, str] | None:
    """The line with the exception of the traceback at `begin`."""
    for found in _EXCEPTION.finditer(text, begin + len(_TRACEBACK)):
        line = line_at(text, found.start())
        if line.startswith(_CHAINED) or not _EXCEPTION_NAME.fullmatch(found[1]):
            continue
        if (found[2] or "").strip():
            return found.start(), f"{found[1]}: {found[2]}"
        # Some messages begin in the next line.
        following = next((after.strip() for _, after in lines_after(text, found.start(), 1)), "")
        return found.start(), f"{found[1]}: {following}" if found[2] is not None and following else found[1]
    return None
