"""Failures of the shell, make, git, containers, package installers and databases, and lines that only say "error"."""

import re

from treering.observe.errors.findings import Finding, first_finding, line_at

_NOT_FOUND = re.compile(
    r"^(?:\S*(?:bash|sh|zsh|dash|fish|env)\S*: )?(?:line \d+: |\d+: |eval:\d+: |\(eval\):\d+: )*+"
    r"(?:command not found: (?P<after>[^\n:]{1,100})"
    r"|[‘'`\"]?(?P<before>[^\n:'\"]{1,100}?)['’\"]?: (?:command not found|not found))$"
    r"|^[^\n]{0,60}executable file not found in \$PATH[^\n]*$",
    re.MULTILINE,
)
_SHELL = re.compile(
    r"^[^\n]{0,300}?(?:Permission denied|No such file or directory|Is a directory|Not a directory|Exec format error"
    r"|Address already in use|No space left on device|Read-only file system|Operation not permitted|Connection refused"
    r"|Could not resolve host|Segmentation fault|Too many open files|cannot execute|Directory not empty|Text file busy"
    r"|syntax error near unexpected token|unexpected EOF|unexpected end of file|unbound variable|invalid option"
    r"|unrecognized option|Argument list too long|Killed|Out of memory|Cannot allocate memory)[^\n]{0,200}$",
    re.MULTILINE,
)
_SHELL_NAME = re.compile(r"^(?:/[\w/]*/)?(?:bash|sh|zsh|dash)(?:: line \d+|: \d+)?: (?:line \d+: )?")
_MAKE = re.compile(
    r"^g?make(?:\[\d+\])?: \*\*\* (No rule to make target [^\n]+?|[^\n]*missing separator[^\n]*?)(?:\.  ?Stop\.)?$",
    re.MULTILINE,
)
_MAKE_TARGET = re.compile(
    r"^g?make(?:\[\d+\])?: \*\*\* \[(?:[^\]\n:]+:(?:\d+:)? ?)?([^\]\n]+)\] (Error \d+|[A-Z]\w+)", re.MULTILINE
)
_JUST = re.compile(r"^(?:error|task): (?:Recipe|Task|Justfile)[^\n]+$", re.MULTILINE)
_GIT = re.compile(
    r"^(?:fatal: |error: (?=pathspec|failed to push|Your local|src refspec|patch failed|could not (?:apply|lock|revert)"
    r"|The following|Merging|unable to|invalid path|cannot (?:lock|pull|rebase|delete)|Committing is|The branch"
    r"|unknown (?:switch|option)|branch |No such remote|object |remote |insufficient|you need to))(\S[^\n]*)$",
    re.MULTILINE,
)
_GIT_STATE = re.compile(
    r"^(CONFLICT \([^)\n]{1,40}\)[^\n]*| ! \[(?:remote )?rejected\][^\n]*|Automatic merge failed[^\n]*)$", re.MULTILINE
)
_HOOK = re.compile(r"^([^\n.]{2,80}?)\.{3,}Failed$", re.MULTILINE)
_DOCKER = re.compile(
    r"^(?:#\d+ [\d.]+ |)(?:ERROR: failed to (?:solve|build)[^\n]*|Cannot connect to the Docker daemon[^\n]*"
    r"|Error response from daemon: [^\n]+|Error from server[^\n]*|failed to solve[^\n]*"
    r"|no configuration file provided[^\n]*)$",
    re.MULTILINE,
)
_PIP = re.compile(
    r"^ERROR: ((?:Could not|No matching|Cannot|Failed|Package|Ignored|ResolutionImpossible)[^\n]*)$", re.MULTILINE
)
_UV = re.compile(
    r"^(?:  × |error: )((?:No solution found|Failed to|No interpreter|No `|Project|Distribution|Because)[^\n]*)$",
    re.MULTILINE,
)
_SQL = re.compile(
    r"^(?:psql:[^\n]{0,200}?: (?:error: )?)?(?:ERROR|FATAL):\s+(\S[^\n]*)$|^ERROR \d{4} \(\w{5}\)[^\n]*: ([^\n]+)$"
    r"|^(?:Parse error|Runtime error|Error)[^\n:]{0,40}: ((?:near \"|no such (?:table|column)"
    r"|UNIQUE constraint)[^\n]*)$",
    re.MULTILINE,
)
_TERRAFORM = re.compile(r"^│ Error: (\S[^\n]*)$", re.MULTILINE)
_NAMED = re.compile(
    r"^[^\w\n]{0,8}(?:\[[^\]\n]{1,40}\] ?){0,3}(?:\d[\d:T/. -]{6,28}Z? )?(?:[\w./-]{1,60}(?:\[\d+\])?: ){0,3}?"
    r"(?:fatal|error|err|failure|failed|exception|critical"
    r"|abort(?:ed)?)\b(?:\[\w+\])?(?: \w{1,20}\d{2,5})?(?:[:!]| -) ?(\S[^\n]*)$",
    re.MULTILINE | re.IGNORECASE,
)
_TELLING = re.compile(
    r"(?i)\b(?:error|fail(?:ed|ure|s)?|cannot|can't|could not|couldn't|unable|invalid|missing|undefined|unknown"
    r"|refused|denied|exceeded|not found|unexpected|timed out|unsupported|does not exist|doesn't exist|not allowed)\b"
)
_EMPTY_COUNT = re.compile(r"(?i)\b(?:0|no) (?:errors?|failures?|failed|warnings?)\b")


def find_missing_program(text: str) -> Finding | None:
    found = _NOT_FOUND.search(text)
    if found is None:
        return None
    name = (found["after"] or found["before"] or "").strip(" ‘’`")
    return Finding("shell", f"{name}: command not found" if name else found[0].strip(), at=found.start())


def find_shell(text: str) -> Finding | None:
    found = _SHELL.search(text)
    return Finding("shell", _SHELL_NAME.sub("", found[0].strip()), at=found.start()) if found else None


def find_make(text: str) -> Finding | None:
    return first_finding(_MAKE, text, "make")


def find_make_target(text: str) -> Finding | None:
    """A target that failed for a reason that is not visible."""
    found = _MAKE_TARGET.search(text)
    if found:
        return Finding("make", f"make: target {found[1]} failed ({found[2]})", at=found.start())
    found = _JUST.search(text)
    return Finding("make", found[0], at=found.start()) if found else None


def find_git(text: str) -> Finding | None:
    found = _GIT_STATE.search(text) or _GIT.search(text)
    return (
        Finding("git", found[1].strip() if found.re is _GIT_STATE else line_at(text, found.start()), at=found.start())
        if found
        else None
    )


def find_hook(text: str) -> Finding | None:
    """A failing hook of pre-commit."""
    found = _HOOK.search(text)
    return Finding("pre-commit", f"{found[1].strip()} failed", at=found.start()) if found else None


def find_container(text: str) -> Finding | None:
    found = _DOCKER.search(text)
    return Finding("docker", found[0].strip(), at=found.start()) if found else None


def find_install(text: str) -> Finding | None:
    return first_finding(_PIP, text, "pip") or first_finding(_UV, text, "uv")


def find_sql(text: str) -> Finding | None:
    found = _SQL.search(text)
    return Finding("sql", next(filter(None, found.groups())), at=found.start()) if found else None


def find_terraform(text: str) -> Finding | None:
    return first_finding(_TERRAFORM, text, "terraform")


def find_named(text: str) -> Finding | None:
    """The first line that begins with a word for an error."""
    found = _NAMED.search(text)
    return Finding("other", found[0].strip(), at=found.start()) if found else None


def find_last(text: str) -> Finding | None:
    """The last line that tells of a problem, else the last line, which may be about something else."""
    place = len(text)
    last: Finding | None = None
    for line in reversed(text.split("\n")[-200:]):
        place -= len(line) + 1
        plain = line.strip()
        if not plain or not any(map(str.isalpha, plain)):
            continue
        if _TELLING.search(plain) and not _EMPTY_COUNT.search(plain):
            return Finding("other", plain, at=max(place, 0))
        last = last or Finding("other", plain, at=max(place, 0), minor=True)
    return last
