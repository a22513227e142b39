"""Build constraints: whether a file is part of a linux/amd64 build."""

import re

_SYSTEMS = """
    aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos
"""
_PROCESSORS = """
    386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 mips64p32le ppc ppc64
    ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm
"""
OPERATING_SYSTEMS = frozenset(_SYSTEMS.split())
ARCHITECTURES = frozenset(_PROCESSORS.split())
SATISFIED = frozenset(("linux", "amd64", "unix", "gc", "cgo"))

_GO_BUILD = re.compile(r"^//go:build[ \t]+(.+?)[ \t\r]*$", re.M)
_PLUS_BUILD = re.compile(r"^//[ \t]*\+build[ \t]+(.+?)[ \t\r]*$", re.M)
_TOKEN = re.compile(r"&&|\|\||[!()]|[\w.]+")
_RELEASE = re.compile(r"go1\.\d+$")


def unmet_constraint(path: str, header: str) -> str:
    """Return the constraint that excludes the file from the build, as written; empty if it is included."""
    unmet = [] if _name_is_satisfied(path) else [_named_constraint(path)]
    if written := _written_constraint(header):
        unmet += [] if _is_satisfied(written) else [written]
    return " && ".join(unmet)


def _name_is_satisfied(path: str) -> bool:
    return all(part in SATISFIED for part in _named_constraint(path).split(" && ") if part)


def _named_constraint(path: str) -> str:
    parts = path.rpartition("/")[2].removesuffix(".go").removesuffix("_test").split("_")[1:]
    if len(parts) >= 2 and parts[-1] in ARCHITECTURES and parts[-2] in OPERATING_SYSTEMS:
        return f"{parts[-2]} && {parts[-1]}"
    if parts and (parts[-1] in ARCHITECTURES or parts[-1] in OPERATING_SYSTEMS):
        return parts[-1]
    return ""


def _written_constraint(header: str) -> str:
    if found := _GO_BUILD.search(header):
        return found[1]
    return " && ".join(f"({_from_plus_build(line)})" for line in _PLUS_BUILD.findall(header))


def _from_plus_build(line: str) -> str:
    return " || ".join(f"({option.replace(',', ' && ')})" for option in line.split())


def _is_satisfied(constraint: str) -> bool:
    """Precedence: `!`, `&&`, `||`; a constraint that does not parse is treated as satisfied."""
    output: list[bool] = []
    waiting: list[str] = []
    for token in _TOKEN.findall(constraint):
        if token in ("!", "("):
            waiting.append(token)
        elif token in ("&&", "||"):
            while waiting and waiting[-1] != "(" and (token == "||" or waiting[-1] == "&&"):
                _apply(waiting.pop(), output)
            waiting.append(token)
        elif token == ")":
            while waiting and waiting[-1] != "(":
                _apply(waiting.pop(), output)
            if waiting:
                waiting.pop()
            _negate(waiting, output)
        else:
            output.append(token in SATISFIED or _RELEASE.match(token) is not None)
            _negate(waiting, output)
    while waiting:
        _apply(waiting.pop(), output)
    return output[-1] if output else True


def _negate(waiting: list[str], output: list[bool]) -> None:
    while waiting and waiting[-1] == "!":
        waiting.pop()
        if output:
            output[-1] = not output[-1]


def _apply(operator: str, output: list[bool]) -> None:
    if operator in ("&&", "||") and len(output) >= 2:
        right, left = output.pop(), output.pop()
        output.append(left and right if operator == "&&" else left or right)
