"""The part of a Go file that is visible to other files, by lookup key."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from treering.code.facts import Facts, Key
from treering.code.languages.go.body import GoBody, GoDeclaration, directory_of, package_id

MODULES = "go.modules"
PACKAGE = "go.package"
NAME = "go.name"
METHOD = "go.method"
METHODS = "go.methods"
INTERFACES = "go.interfaces"

Interface = tuple[str, str, tuple[str, ...]]
"""Package, name and declared methods: the method names alone rule out most types."""


def surface_of(facts: Facts) -> Mapping[Key, Any]:
    body: GoBody = facts.body
    if body.module is not None:
        return {(MODULES,): body.module}
    directory = directory_of(facts.path)
    package = package_id(directory, body.package)
    found: dict[Key, Any] = {(PACKAGE, directory): (body.package, body.tags, facts.path.endswith("_test.go"))}
    methods: defaultdict[str, list[str]] = defaultdict(list)
    interfaces: defaultdict[str, list[Interface]] = defaultdict(list)
    for each in body.declared:
        if each.kind == "method":
            found.setdefault((METHOD, package, each.owner, each.name), each)
            methods[each.owner].append(each.name)
        else:
            found.setdefault((NAME, package, each.name), each)
            wanted = tuple(interface_methods(each))
            for name in wanted:
                interfaces[name].append((package, each.name, wanted))
    found.update({(METHODS, package, owner): tuple(names) for owner, names in methods.items()})
    found.update({(INTERFACES, name): tuple(those) for name, those in interfaces.items()})
    return found


def interface_methods(declared: GoDeclaration) -> list[str]:
    """Return the methods that an interface declares itself."""
    if declared.kind != "type" or declared.type is None or declared.type.op != "interface":
        return []
    return [each.name for each in declared.type.parts if each.op == "method"]
