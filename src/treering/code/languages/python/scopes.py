"""Which assignments of a name reach a use of it: scopes, branches and loops, by their places in the text."""

from bisect import bisect_right
from enum import Enum
from operator import attrgetter

import msgspec
from tree_sitter import Node

from treering.code.languages.python.model import Expression

FEW = 12
"""A name with more assignments than this around a use has no evident value."""
_position = attrgetter("position")


class ScopeKind(Enum):
    MODULE = 0
    FUNCTION = 1
    CLASS = 2


class Block(msgspec.Struct, eq=False):
    """Statements that may not run: the arm of a branch, the body of a loop."""

    start: int
    end: int
    outer: "Block | None"
    apart_until: int
    """Up to here other arms of the same branch follow, which never run after this one."""
    leaves: bool
    """Whether it ends by leaving the function."""
    loop: bool


class Binding(msgspec.Struct, eq=False):
    """One place that gives a name a value."""

    position: int
    """Where in the text it begins to hold."""
    block: Block | None
    node: Node | None
    """Where its value is written."""
    how: str
    """What the value is to the node: a key of the table in `expressions`."""
    scope: "Scope"
    """Where the names in its value are looked up."""
    detail: str = ""
    annotation: Node | None = None
    until: int = 0
    """Where it ends to hold, if before the end of its scope (comprehension variables, `isinstance`)."""
    classes: Node | None = None
    """What the value is not an instance of."""
    path: tuple[int, ...] = ()
    """Which item of the value, where it is unpacked."""
    index: int = -1
    written: Expression | None = None
    """Its value, once it has been written out in place of the name."""


class Scope(msgspec.Struct, eq=False):
    kind: ScopeKind
    qualname: str
    outer: "Scope | None"
    names: dict[str, list[Binding]] = msgspec.field(default_factory=dict)
    elsewhere: dict[str, "Scope"] = msgspec.field(default_factory=dict)
    """Names declared `global` or `nonlocal`, and the scope they belong to."""
    receiver: str = ""
    """The first parameter of a method."""
    owner: "Scope | None" = None
    """The class of a method."""
    attributes: dict[str, list[Binding]] = msgspec.field(default_factory=dict)
    """Of a class: what its methods assign to `self.…`."""
    returns: Node | None = None
    """The return annotation of a function."""
    dotted: bool = False
    """Whether some of the names are attributes, such as `self.x`."""
    prepared: bool = False

    def bind(self, name: str, binding: Binding) -> None:
        scope = self.elsewhere.get(name, self)
        if "." in name:
            scope.dotted = True
        scope.names.setdefault(name, []).append(binding)

    def of(self, name: str) -> list[Binding] | None:
        """Everything bound to the name here, in the order in which it begins to hold."""
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
        if block.leaves or place < block.apart_until:
            return False
        block = block.outer
    return True


def _surely_ran(binding: Binding, place: int) -> bool:
    block = binding.block
    return bool(binding.until) or block is None or block.start <= place < block.end


def _comes_round(binding: Binding, place: int, after: int) -> bool:
    """Whether a loop that begins after `after` brings the binding back to the place before it."""
    block = binding.block
    while block is not None:
        if block.loop and block.start > after and block.start <= place < block.end:
            return True
        block = block.outer
    return False


def reaching(bindings: list[Binding], place: int, but: Binding | None) -> list[Binding]:
    """The bindings whose value a use at `place`, in the same scope, may see; they come sorted by position."""
    only = bindings[0]
    if len(bindings) == 1 and only.block is None and not only.until and only.position <= place and only is not but:
        return bindings
    found: list[Binding] = []
    ran = -1
    first_later = bisect_right(bindings, place, key=_position)
    for number in range(first_later - 1, -1, -1):
        binding = bindings[number]
        if binding is not but and _reaches(binding, place):
            found.append(binding)
            if _surely_ran(binding, place):
                ran = binding.position
                break
            if len(found) >= FEW:
                break
    for binding in bindings[first_later : first_later + FEW]:
        if binding is not but and not binding.until and _comes_round(binding, place, ran):
            found.append(binding)
    return found


def visible_inside(bindings: list[Binding], place: int, but: Binding | None) -> list[Binding]:
    """The bindings that a function inside the scope may see when it is called, at any time later."""
    ranged = [binding for binding in bindings if binding.until and binding.position <= place < binding.until]
    if ranged:
        return ranged[-1:]
    plain = [binding for binding in bindings if not binding.until and binding is not but]
    return plain if len(plain) <= FEW else []
