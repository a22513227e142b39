"""The part of the standard library that passes a project's types through; the rest is external."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from treering.code.languages.go.body import GoBody, GoDeclaration
from treering.code.languages.go.extraction import read_source

PREFIX = "std!"
"""Prefix of an import path in the id of a package outside the project."""
PATHS = frozenset(("sync", "sync/atomic", "cmp", "slices", "maps", "iter"))

INTERFACE_METHODS = frozenset(
    (
        *("Error", "Unwrap", "Is", "As", "String", "GoString", "Format", "Scan", "Value"),
        *("Read", "Write", "Close", "Seek", "ReadAt", "WriteAt", "ReadFrom", "WriteTo", "ReadByte", "WriteString"),
        *("ServeHTTP", "RoundTrip", "Flush", "Hijack", "Header", "WriteHeader", "Push"),
        *("MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "MarshalBinary", "UnmarshalBinary"),
        *("MarshalXML", "UnmarshalXML", "MarshalYAML", "UnmarshalYAML", "GobEncode", "GobDecode"),
        *("Len", "Less", "Swap", "Pop", "Set", "Open", "Stat", "ReadDir", "ReadFile", "Accept", "Timeout", "Temporary"),
        *("Deadline", "Done", "Err", "Lock", "Unlock", "Handle", "Enabled", "WithAttrs", "WithGroup", "LogValue"),
    )
)
"""Methods of interfaces of the standard library, and of YAML: it calls them on values that the project hands to it."""


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
