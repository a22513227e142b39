"""The part of the standard library that passes a project's types through; the rest is external."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from treering.code.languages.go.body import GoBody, GoDeclaration
from treering.code.languages.go.extraction import read_source

PREFIX = "std!"
"""Prefix of an import path in the id of a package outside the project."""
PATHS = frozenset(("sync", "sync/atomic", "cmp", "slices", "maps", "iter"))

_INTERFACE_METHODS = {
    (0, 0): "Flush Lock Unlock",
    (0, 1): "Error Unwrap String GoString Close Len Pop Done Err Header Timeout Temporary LogValue",
    (0, 2): "Value Stat ReadByte Accept Deadline MarshalJSON MarshalText MarshalBinary MarshalYAML GobEncode",
    (0, 3): "Hijack",
    (1, 0): "Push WriteHeader",
    (1, 1): "Is As Scan Set UnmarshalJSON UnmarshalText UnmarshalBinary UnmarshalYAML GobDecode WithAttrs WithGroup",
    (1, 2): "Read Write ReadFrom WriteTo WriteString RoundTrip Open ReadDir ReadFile",
    (2, 0): "ServeHTTP Format Swap",
    (2, 1): "Less Handle Enabled Push MarshalXML UnmarshalXML",
    (2, 2): "Seek ReadAt WriteAt",
}
"""By the numbers of parameters and results, methods of interfaces of the standard library, and of YAML."""
_METHOD_SHAPES = frozenset((name, shape) for shape, names in _INTERFACE_METHODS.items() for name in names.split())


def is_called_from_outside(method: GoDeclaration) -> bool:
    """Whether the standard library may call a method, by its name and the numbers of its parameters and results."""
    if method.type is None or method.type.op != "func":
        return False
    params, results = method.type.parts
    return (method.name, (len(params.parts), len(results.parts))) in _METHOD_SHAPES


def package_of(path: str) -> str | None:
    return f"{PREFIX}{path}:{path.rpartition('/')[2]}" if path in PATHS else None


def is_standard(package: str) -> bool:
    return package.startswith(PREFIX)


def standard_name(package: str, name: str, owner: str = "") -> GoDeclaration | None:
    """Return a function or type, or a method of `owner`."""
    path = package[len(PREFIX) :].rpartition(":")[0].replace("/", "_")
    return _declared().get((f"{path}_{owner}", name) if owner else ("", f"{path}_{name}"))


@cache
def _declared() -> Mapping[tuple[str, str], GoDeclaration]:
    source = files("treering.code.languages.go").joinpath("standard_library.go.txt").read_bytes()
    body: GoBody = read_source("standard.go", source).body
    return {(each.owner, each.name): each for each in body.declared}
