"""The assignments that reach a use of a name, by scopes, branches, loops and text offsets."""

from bisect import bisect_right
from enum import Enum
from operator import attrgetter

import msgspec
from tree_sitter import Node

from treering.code.languages.python.body import Expression

MAX_BINDINGS = 12
"""A name with more assignments than this has no evident value."""
_position = attrgetter("position")


class ScopeKind(Enum):
    MODULE = 0
    FUNCTION = 1
    CLASS = 2


class ConditionalBlock(msgspec.Struct, eq=False):
    """Statements that may not run: a branch or the body of a loop."""

    start: int
    end: int
    outer: "ConditionalBlock | None"
    branches_end: int
    """Offset up to which the other branches follow; they never run after this one."""
    leaves: bool
    """Whether it ends by leaving the function."""
    loop: bool


class Binding(msgspec.Struct, eq=False):
    """An assignment of a value to a name."""

    position: int
    """Offset from which it is in effect."""
    block: ConditionalBlock | None
    node: Node | None
    """The syntax node of its value."""
    role: str
    """Relation of the value to the node: a key of the table in `expressions`."""
    scope: "PythonScope"
    """The scope in which the names of its value are looked up."""
    detail: str = ""
    annotation: Node | None = None
    until: int = 0
    """Offset at which it ends, if before the end of its scope (comprehension variables, `isinstance`)."""
    classes: Node | None = None
    """Classes that the value is not an instance of."""
    path: tuple[int, ...] = ()
    """The indices of the item of the value, if it is unpacked."""
    index: int = -1
    written: Expression | None = None
    """The converted value."""


class PythonScope(msgspec.Struct, eq=False):
    kind: ScopeKind
    qualname: str
    outer: "PythonScope | None"
    names: dict[str, list[Binding]] = msgspec.field(default_factory=dict)
    declared_scopes: dict[str, "PythonScope"] = msgspec.field(default_factory=dict)
    """Names declared `global` or `nonlocal`, with the scope they belong to."""
    receiver: str = ""
    """The first parameter of a method."""
    owner: "PythonScope | None" = None
    """The class of a method."""
    attributes: dict[str, list[Binding]] = msgspec.field(default_factory=dict)
    """For a class: attributes that its methods assign to `self`."""
    returns: Node | None = None
    """The return annotation of a function."""
    dotted: bool = False
    """Whether some of the names are attributes, such as `self.x`."""
    prepared: bool = False

    def bind(self, name: str, binding: Binding) -> None:
        scope = self.declared_scopes.get(name, self)
        if "." in name:
            scope.dotted = True
        scope.names.setdefault(name, []).append(binding)

    def of(self, name: str) -> list[Binding] | None:
        """Return everything bound to the name here, in order of position."""
        if not self.prepared:
            for bindings in self.names.values():
                if len(bindings) > 1:
                    bindings.sort(key=_position)
            self.prepared = True
        return self.names.get(name)


def _reaches(binding: Binding, place: int) -> bool:
    if binding.until:
        return place < binding.until
    block = binding.block
    while block is not None and not block.start <= place < block.end:
        if block.leaves or place < block.branches_end:
            return False
        block = block.outer
    return True


def _always_ran(binding: Binding, place: int) -> bool:
    block = binding.block
    return bool(binding.until) or block is None or block.start <= place < block.end


def _loops_back(binding: Binding, place: int, after: int) -> bool:
    """Whether a loop that begins after `after` carries the binding back to an earlier place."""
    block = binding.block
    while block is not None:
        if block.loop and block.start > after and block.start <= place < block.end:
            return True
        block = block.outer
    return False


def reaching(bindings: list[Binding], place: int, excluded: Binding | None) -> list[Binding]:
    """Return the bindings that may reach a use at `place` in the same scope; `bindings` must be sorted by position."""
    only = bindings[0]
    if len(bindings) == 1 and only.block is None and not only.until and only.position <= place and only is not excluded:
        return bindings
    found: list[Binding] = []
    ran = -1
    first_later = bisect_right(bindings, place, key=_position)
    for number in range(first_later - 1, -1, -1):
        binding = bindings[number]
        if binding is not excluded and _reaches(binding, place):
            found.append(binding)
            if _always_ran(binding, place):
                ran = binding.position
                break
            if len(found) >= MAX_BINDINGS:
                break
    for binding in bindings[first_later : first_later + MAX_BINDINGS]:
        if binding is not excluded and not binding.until and _loops_back(binding, place, ran):
            found.append(binding)
    return found


def visible_inside(bindings: list[Binding], place: int, excluded: Binding | None) -> list[Binding]:
    """Return the bindings that a nested function may see when it is called later."""
    ranged = [binding for binding in bindings if binding.until and binding.position <= place < binding.until]
    if ranged:
        return ranged[-1:]
    plain = [binding for binding in bindings if not binding.until and binding is not excluded]
    return plain if len(plain) <= MAX_BINDINGS else []
