"""Failures in results of tool calls."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

from treering.core.failures import normalised_failure
from treering.observe.commands import Purpose, ShellCommand, parse_command
from treering.observe.errors.dialects import DIALECTS
from treering.observe.errors.findings import Finding
from treering.observe.errors.system import find_last
from treering.observe.errors.tool_errors import tool_message, was_not_made, without_tags
from treering.observe.paths import is_file_name, project_path, without_position
from treering.observe.tools import ToolUse

_HALF = 16 * 1024
_MAX_SUMMARY = 200
_MAX_FILES = 5
_MAX_LINE = 1_000
_ANSI = re.compile(r"\x1b(?:\[[0-9;?:]*+[ -/]*+[@-~]|\][^\x07\x1b\n]{0,500}(?:\x07|\x1b\\)|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\ud800-\udfff\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
_LONG_LINE = re.compile(rf"([^\n]{{{_MAX_LINE}}})[^\n]++")
_SPACE = re.compile(r"\s+")
# Words without which no output is a failure if its exit code is unknown.
_SIGNS = (
    "error", "fail", "panic", "traceback", "fatal", "not found", "denied", "no such file", "conflict", "exception", "✖",
    "✕", "rejected", "reformat", "undefined", "cannot", "refused", "killed", "***", "not ok", "data race", ".go:",
)  # fmt: skip
_EXIT = re.compile(
    r"\A\s*(?:<[a-z_]+>\s*)?(?:Exit code:? (-?\d+)|(?:[^\n]*\n){0,4}?(?:Process"
    r"|ShellCommand) exited with (?:exit )?code:? (-?\d+)"
    r"|Error: Exit code:? (-?\d+))[^\n]*\n?"
)
_EXIT_END = re.compile(r"^(?:Exit Code|exit code|ShellCommand exited with code):? (-?\d+)$", re.MULTILINE)
_ENVELOPE = re.compile(
    r"\A(?:Chunk ID: [^\n]*\n|Wall time: [^\n]*\n|Total output lines: [^\n]*\n|Original token count: [^\n]*\n"
    r"|Process exited with code[^\n]*\n|Exit code:? -?\d+\n?|Output:\n|\s*\n)*+"
)
_TIMEOUT = re.compile(
    r"(?i)\bcommand timed out after\b|\btimed out after \d[\d.]* ?(?:ms|s|m|min|milliseconds|seconds|minutes)\b"
)
_JSON_EXIT = re.compile(r'"exit_code":\s?(-?\d+)')
_SUCCESS = re.compile(
    r"^=+ (?:\d+ (?:passed|skipped|deselected|xfailed|xpassed|warnings?)(?:, )?)+ in |^ok  \t|^test result: ok\."
    r"|^Tests:\s+\d+ passed, \d+ total"
    r"|^\s+Tests  \d+ passed|^OK(?: \(|$)|^BUILD SUCCESS|^All checks passed!|^Success: no issues|^0 errors"
    r"|^ *\d+ pass\n(?: *\d+ (?:skip|todo)\n)* *0 fail$",
    re.MULTILINE,
)
_CHECKED = frozenset(
    {
        Purpose.TEST,
        Purpose.BUILD,
        Purpose.LINT,
        Purpose.FORMAT,
        Purpose.TYPECHECK,
        Purpose.INSTALL,
        Purpose.MIGRATE,
        Purpose.RUN,
        Purpose.VCS,
    }
)
_EXPLORING = frozenset({Purpose.READ, Purpose.SEARCH, Purpose.LIST, Purpose.EDIT, Purpose.OTHER})
_FILE = re.compile(r"(?<![\w@.:/\\-])((?:[A-Za-z]:[\\/])?[\w.@+~\\/-]{1,300}\.[A-Za-z]\w{0,7})(?=[\s:(),\"'`\]>]|$)")
_FOREIGN = re.compile(
    r"(?:^|/)(?:node_modules|site-packages|\.venv|venv|dist-packages|\.cargo|go/pkg/mod|\.tox|target/debug)/"
)
_DURATION = re.compile(r"(?i)\s*[\[(]?\b(?:took |in )?\d[\d.,]*\s?(?:ns|µs|us|ms|s|sec|seconds|min)\b[\])]?$")
_PARAMETERS = re.compile(r"\[.*$", re.DOTALL)
# What a task runner says about the command that it ran.
_SAYS_NOTHING = re.compile(
    r"(?i)\W*(?:\[[\w:./-]{1,60}\] )?(?:error\W+)?(?:the )?"
    r"(?:(?:task|command|script|job|process)(?: \S{1,60})?|run|build|checks?|tests?|lint)"
    r" failed(?: with (?:exit )?(?:code|status) \d+)?\W*"
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure that a result of a tool call reports.

    `minor` failures say little about the project: errors of the agent's own tools (`dialect` "tool"), paths that an
    exploring command did not find, commands without output, unformatted files.
    """

    fingerprint: str
    dialect: str
    summary: str
    tests: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    minor: bool = False


def failure_of(tool: str, use: ToolUse, text: str, *, is_error: bool, root: str) -> Failure | None:
    """The failure that a result reports, None if it reports none worth keeping. Never raises."""
    given: object = text
    if not isinstance(given, str):
        return None
    if use.command:
        return _of_command(use.command, text, is_error=is_error, root=root)
    if not is_error:
        return None
    plain = without_tags(cleaned(text))
    if was_not_made(text) or not plain.strip():
        return None
    foreign = tool.startswith("mcp")
    message = tool_message(plain)
    return _failure(Finding("tool", message, minor=not foreign), plain, root, prefix=tool[:100])


def _of_command(command: str, text: str, *, is_error: bool, root: str) -> Failure | None:
    code = _exit_code(text)
    if code is not None and code != 0:
        is_error = True
    parsed = parse_command(command, root)
    purpose = parsed.purpose
    if not is_error:
        if (code == 0 and "|" not in command) or purpose not in _CHECKED or not _has_sign(text):
            return None
    elif was_not_made(text):
        return None
    plain = _ENVELOPE.sub("", without_tags(cleaned(text)), count=1)
    hidden = any(mark in command for mark in "|;&")
    if not is_error and _SUCCESS.search(plain) and not _mixed(plain):
        return None
    finding = _find(plain, certain=not is_error and (not hidden or purpose is Purpose.VCS))
    if not is_error:
        return _failure(finding, plain, root) if finding and _is_proven(finding, plain, purpose) else None
    return _of_failed_command(parsed, plain, code, finding, root)


def _of_failed_command(
    command: ShellCommand, plain: str, code: int | None, finding: Finding | None, root: str
) -> Failure | None:
    """The failure of a command that is known to have failed; exit code 1 of a search means that nothing was found."""
    normal, purpose = command.normal or "command", command.purpose
    if _TIMEOUT.search(plain[:400]) or _TIMEOUT.search(plain[-400:]):
        return _failure(Finding("shell", f"`{normal}` timed out"), plain, root)
    exploring = purpose in _EXPLORING
    if exploring and (finding is None or finding.dialect not in ("shell", "python", "node")):
        if purpose in (Purpose.SEARCH, Purpose.READ, Purpose.LIST) and code in (None, 1):
            return None
        finding = finding or find_last(plain)
    finding = finding or find_last(plain)
    if finding is None:
        if code == 130:
            return None
        ended = "failed without output" if code is None else f"exited with code {code}"
        return _failure(Finding("shell", f"`{normal}` {ended}", minor=True), plain, root)
    return _failure(finding, plain, root, minor=exploring and finding.dialect in ("shell", "other"))


def _find(text: str, *, certain: bool) -> Finding | None:
    """What the first dialect that recognises the text finds."""
    lowered = f"\n{text.lower()}"  # markers of lines begin with a line break
    for dialect in DIALECTS:
        if certain and not dialect.certain:
            continue
        if any(marker in lowered for marker in dialect.markers) and (finding := dialect.find(text)) is not None:
            return finding
    return None


def _is_proven(finding: Finding, text: str, purpose: Purpose) -> bool:
    """Is the finding a failure although the exit code does not say so?"""
    if purpose is Purpose.VCS:
        return finding.dialect == "git"
    if finding.dialect == "other":
        return purpose in (Purpose.TEST, Purpose.BUILD, Purpose.MIGRATE, Purpose.INSTALL) and not _SUCCESS.search(text)
    return True


_MIXED = re.compile(
    r"\b[1-9]\d* (?:failed|failures?|errors?)\b|^FAIL\b|^FAILED |--- FAIL|FAILED \(|error TS\d", re.MULTILINE
)


def _mixed(text: str) -> bool:
    """Does a text with successes also count failures?"""
    return _MIXED.search(text) is not None


def _has_sign(text: str) -> bool:
    window = (text if len(text) <= 2 * _HALF else text[:_HALF] + text[-_HALF:]).lower()
    return any(sign in window for sign in _SIGNS)


def _exit_code(text: str) -> int | None:
    """The exit code that the agent put before or after the output."""
    begin = text[:600]
    if "xit" not in begin and "xit" not in text[-300:]:
        return None
    found = _EXIT.match(begin)
    if found:
        return int(next(filter(None, found.groups()))[:6])
    for pattern in (_EXIT_END, _JSON_EXIT):
        if last := pattern.search(text[-300:]):
            return int(last[1][:6])
    return None


def cleaned(text: str) -> str:
    """The first and the last 16 KB without control sequences, invisible characters and overlong lines."""
    if len(text) > 2 * _HALF:
        text = f"{text[:_HALF]}\n{text[-_HALF:]}"
    if text.startswith('{"output":"'):
        text = text[11:].replace("\\n", "\n").replace('\\"', '"').replace("\\t", "\t")
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    text = text.replace("\r\n", "\n")
    # Most texts have neither, which these tests show in a tenth of the time that the expressions take.
    if not text.replace("\n", "").replace("\t", "").isprintable():
        text = _CONTROL.sub("", text)
    return text if max(map(len, text.split("\n"))) <= _MAX_LINE else _LONG_LINE.sub(r"\1", text)


def _failure(finding: Finding, text: str, root: str, *, prefix: str = "", minor: bool = False) -> Failure:
    message = _relative(_SPACE.sub(" ", finding.message).strip(), root)
    named = finding.tests[0] if finding.tests else ""
    shown = f"{named}: {message}" if finding.general and named else message
    return Failure(
        fingerprint=fingerprint(message, _identity(named) if finding.general else prefix, is_test=finding.general),
        dialect=finding.dialect,
        summary=_shortened(_DURATION.sub("", shown) or shown),
        tests=finding.tests,
        files=tuple(_files(finding, text, root)),
        minor=minor or finding.minor or (not finding.general and _SAYS_NOTHING.fullmatch(message) is not None),
    )


@lru_cache(maxsize=512)  # the same errors come again and again
def fingerprint(message: str, context: str = "", *, is_test: bool = False) -> str:
    """32 hexadecimal digits, equal for messages that differ only in paths, numbers, addresses, times and ids."""
    if is_test and (message.startswith(("assert", "AssertionError")) or not message):
        message = "assertion"  # the compared values vary, and pytest shortens them
    normal = normalised_failure(message) or message.casefold()
    return blake2b(f"{context}\n{normal}".encode("utf-8", "replace"), digest_size=16).hexdigest()


def _identity(test: str) -> str:
    """The test without its folder, its parameters and its duration."""
    name = _DURATION.sub("", _PARAMETERS.sub("", test))
    path, separator, rest = name.partition("::")
    return f"{path.rpartition('/')[2]}{separator}{rest}" if separator else name


def _relative(message: str, root: str) -> str:
    root = root.rstrip("/\\")
    return message.replace(f"{root}/", "").replace(f"{root}\\", "") if root else message


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_SUMMARY else f"{text[: _MAX_SUMMARY - 1].rstrip()}…"


def _files(finding: Finding, text: str, root: str) -> Iterator[str]:
    """Files of the project near the decisive line; bare names in the output of Go are relative to a package."""
    region = f"{text[finding.at : finding.at + 1500]}\n{text[max(0, finding.at - 2500) : finding.at]}"
    seen: set[str] = set()
    names = [*finding.tests, *(found[1] for found in _FILE.finditer(region))]
    for name in names:
        word = without_position(name).replace("\\", "/")
        if not is_file_name(word) or _FOREIGN.search(word) or (finding.dialect.startswith("go") and "/" not in word):
            continue
        path = project_path(word, root)
        if path is not None and path not in seen:
            seen.add(path)
            yield path
            if len(seen) == _MAX_FILES:
                return
