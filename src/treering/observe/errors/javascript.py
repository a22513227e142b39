"""Failures of JavaScript and TypeScript: test runners, package managers and stack traces."""

import re

from treering.observe.errors.findings import Finding, distinct_tests, lines_after

_JEST = re.compile(r"^ {0,4}● (?!Console\b|Validation Warning)([^\n]{1,300})$", re.MULTILINE)
_JEST_SKIPPED = re.compile(r"\s*(?:\d+ \||>|at |$|\|)")
_VITEST = re.compile(r"^ {0,3}FAIL +(?:\|[^|\n]{1,60}\| +)?(\S[^\n]{0,400})$", re.MULTILINE)
_RAISED = re.compile(
    r"^\s{0,8}(?:Uncaught |Unhandled \w+ ?\w*:? ?|\[?(?:vite|plugin)[^\]\n]{0,40}\]? ?)?"
    r"((?:[A-Z][\w.]*)?(?:Error|Exception)(?: \[\w+\])?(?:: [^\n]*)?)$",
    re.MULTILINE,
)
_STACK = re.compile(r"^\s+at (?:async )?(?:\S[^\n]{0,300}\(|\S{0,300}:\d+)", re.MULTILINE)
_MOCHA_COUNT = re.compile(r"^\s{0,4}\d+ failing\b", re.MULTILINE)
_MOCHA = re.compile(r"^\s{1,8}1\) ([^\n]{1,300})$", re.MULTILINE)
_PLAYWRIGHT = re.compile(
    r"^\s{1,4}\d+\) (?:\[[^\]\n]{1,40}\] › )?(\S+\.\w+:\d+:\d+ › [^\n]{1,300}?)(?: ─*)?$", re.MULTILINE
)
_NODE_TEST = re.compile(
    r"^\s{0,8}(?:✖ |✗ |\(fail\) |not ok \d+ - )(?!failing tests|\d+ problems? )([^\n(\[]{1,300})", re.MULTILINE
)
_TAP_ERROR = re.compile(r"^\s*error: (?:\|-\s*)?['\"]?([^\n]{1,300}?)['\"]?$", re.MULTILINE)
_POSITION = re.compile(r"^\S+?\.\w+:\d+:\d+ › ")
_DURATION = re.compile(r"(?: \(?\d[\d.]*\s?m?s\)?)+$")
_NPM = re.compile(
    r"^npm (?:ERR!|error) (?!code |path |command |errno |syscall |A complete|Lifecycle|workspace "
    r"|location )(\S[^\n]*)$",
    re.MULTILINE,
)
_PNPM = re.compile(r"^\s?((?:ERR_PNPM_\w+)[^\n]*|ELIFECYCLE[^\n]*|ERROR  [^\n]+)$", re.MULTILINE)
_YARN = re.compile(
    r"^(?:error (?!Command failed)|➤ YN\d{4}: .{0,3}|Usage Error: |Internal Error: )(\S[^\n]*)$", re.MULTILINE
)
_LOADING = re.compile(
    r"(?:Cannot find (?:module|package)|Failed to (?:resolve|load)|SyntaxError|Transform failed)[^\n]*"
)
_ASSERTION = re.compile(r"expect\(|AssertionError|expected |Expected |Timed out|Timeout|Exceeded timeout|thrown: ")


def find_jest(text: str) -> Finding | None:
    """The first failing test of jest with its first line of text, or why a suite did not run."""
    found = _JEST.search(text)
    if found is None:
        return None
    at, message = found.start(), ""
    for place, line in lines_after(text, found.start(), 14):
        if not _JEST_SKIPPED.match(line):
            at, message = place, line.strip()
            break
    if "Test suite failed to run" in found[1]:
        loading = _LOADING.search(text, found.start(), found.start() + 3000)
        return Finding("jest", (loading[0] if loading else message) or "Test suite failed to run", at=at)
    tests = distinct_tests(match[1] for match in _JEST.finditer(text) if "Test suite failed" not in match[1])
    return Finding("jest", message or "failed", tests, at, general=not message or bool(_ASSERTION.search(message)))


def find_vitest(text: str) -> Finding | None:
    """The first failing test of vitest with its error."""
    found = _VITEST.search(text)
    if found is None:
        return None
    raised = _RAISED.search(text, found.end(), found.end() + 4000)
    names = (match[1] for match in _VITEST.finditer(text))
    tests = distinct_tests(_DURATION.sub("", name).strip() for name in names if " > " in name)
    if raised is None:
        return Finding("vitest", "failed", tests, found.start(), True) if tests else None
    return Finding("vitest", raised[1], tests, raised.start(1), general=bool(_ASSERTION.search(raised[1])))


def find_mocha(text: str) -> Finding | None:
    count = _MOCHA_COUNT.search(text)
    found = _MOCHA.search(text, count.end()) if count else None
    if found is None:
        return None
    name = [found[1].strip()]
    for _, line in lines_after(text, found.start(), 4):
        if name[-1].endswith(":") or not line.strip():
            break
        name.append(line.strip())
    raised = _RAISED.search(text, found.end())
    message = raised[1] if raised else "failed"
    test = " ".join(name).removesuffix(":")
    return Finding(
        "mocha", message, distinct_tests(iter((test,))), found.start(), general=bool(_ASSERTION.search(message))
    )


def find_playwright(text: str) -> Finding | None:
    found = _PLAYWRIGHT.search(text)
    if found is None:
        return None
    raised = _RAISED.search(text, found.end())
    tests = distinct_tests(_POSITION.sub("", match[1]).rstrip("─ ") for match in _PLAYWRIGHT.finditer(text))
    return Finding("playwright", raised[1] if raised else "failed", tests, found.start(), general=True)


def find_node_test(text: str) -> Finding | None:
    """The first failing test of node:test, Bun or another producer of TAP."""
    found = _NODE_TEST.search(text)
    if found is None:
        return None
    raised = _TAP_ERROR.search(text, found.end()) or _RAISED.search(text, found.end()) or _TAP_ERROR.search(text)
    tests = distinct_tests(match[1].strip() for match in _NODE_TEST.finditer(text))
    return Finding("node test", raised[1].strip() if raised else "failed", tests, found.start(), general=True)


def find_node(text: str) -> Finding | None:
    """The first error that a stack trace follows."""
    for found in _RAISED.finditer(text):
        if _STACK.search(text, found.end(), found.end() + 1500):
            return Finding("node", found[1], at=found.start(1))
    return None


def find_packages(text: str) -> Finding | None:
    """Errors of npm, pnpm and yarn themselves; a failed script is only reported if nothing else is."""
    found = _NPM.search(text) or _PNPM.search(text) or _YARN.search(text)
    return Finding("npm", found[1], at=found.start()) if found else None
