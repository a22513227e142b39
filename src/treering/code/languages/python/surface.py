"""The part of a Python file that is visible to other files, by lookup key."""

from collections.abc import Mapping
from typing import Any

from treering.code.facts import DefinitionKind, Facts, Key
from treering.code.languages.python.body import ExpressionKind, PythonClass, PythonSurfaceBody, Trait

FILE = "py.file"
"""`(FILE, path)`: the file exists."""
MODULE = "py.module"
"""`(MODULE, dotted)`: files that have this module name relative to some directory above them."""
NAME = "py.name"
"""`(NAME, path, scope, name)`: everything bound to a name of a module or class."""
FUNCTION = "py.function"
CLASS = "py.class"
"""`(CLASS, path, qualname)`."""
STARS = "py.stars"
"""`(STARS, path)`: the modules that a file imports with `*`."""
EXPORTS = "py.exports"
"""`(EXPORTS, path)`: a literal `__all__`."""
FIXTURE = "py.fixture"
"""`(FIXTURE, path, name)`: the functions of a file that pytest registers under the name."""

CONSTANT = "py.constant"
"""`(CONSTANT, path, name)`: a definition of a module that is neither function nor class."""
PROPERTY = "py.property"
"""`(PROPERTY, name)`: the files in which a class has a property of this name."""
CONSTANTS = frozenset({DefinitionKind.CONSTANT, DefinitionKind.TYPE})
PROTOCOL = "py.protocol"
"""`(PROTOCOL, method)`: the protocols of a file whose first method, by name, is this."""
AUTOUSE = "py.unasked"
"""`(AUTOUSE, path)`: the autouse fixtures of a file."""


def is_source(path: str) -> bool:
    return path.endswith((".py", ".pyi"))


def module_names(path: str) -> list[str]:
    """Return every dotted name the file may have, depending on which directory above it is a root."""
    parts = path.rpartition(".")[0].split("/")
    if parts[-1] == "__init__":
        parts.pop()
    names = []
    for start in range(len(parts) - 1, -1, -1):
        if not parts[start].isidentifier():
            break
        names.append(".".join(parts[start:]))
    return names


def protocol_methods(made: PythonClass) -> frozenset[str]:
    """Return the methods by which classes implement a protocol without naming it; empty if it is not a protocol.

    One with special methods only is implemented by too many classes.
    """
    bases = [base.parts[0] if base.kind is ExpressionKind.SUBSCRIPT else base for base in made.bases]
    if all(base.name.rpartition(".")[2] != "Protocol" for base in bases):
        return frozenset()
    public = frozenset(name for name in made.methods if not name.startswith("__"))
    return frozenset(made.methods) - {"__init__"} if public else frozenset()


def surface_of(facts: Facts) -> Mapping[Key, Any]:
    path, body = facts.path, facts.body
    assert isinstance(body, PythonSurfaceBody)
    given: dict[Key, Any] = {(FILE, path): True}
    if not is_source(path):
        return given
    for name in module_names(path):
        given[(MODULE, name)] = True
    for table in body.tables:
        for name, values in table.names:
            named = (NAME, path, table.scope, name)
            given[named] = (*given.get(named, ()), *values)
    for function in body.functions:
        given[(FUNCTION, path, function.qualname)] = function
        if function.fixture:
            key = (FIXTURE, path, function.fixture)
            given[key] = (*given.get(key, ()), function.qualname)
        if function.owner and function.traits & Trait.PROPERTY:
            given[(PROPERTY, function.qualname.rpartition(".")[2])] = True
    constants = (one.qualname for one in facts.definitions if one.kind in CONSTANTS)
    given.update(((CONSTANT, path, name), True) for name in constants)
    if body.requests.autouse:
        given[(AUTOUSE, path)] = body.requests.autouse
    for made in body.classes:
        given[(CLASS, path, made.qualname)] = made
        methods = protocol_methods(made)
        if methods:
            first: Key = (PROTOCOL, min(methods))
            given[first] = (*given.get(first, ()), made.qualname)
    stars = tuple(each.module for each in body.imports if "*" in each.names)
    if stars:
        given[(STARS, path)] = stars
    if body.exports is not None:
        given[(EXPORTS, path)] = body.exports
    return given
