"""Assignments: members added to functions and objects, and CommonJS exports."""

from tree_sitter import Node

from treering.code.facts import DefinitionKind
from treering.code.languages.typescript.functions import FUNCTIONS, EnclosingDefinition, function, unwrapped
from treering.code.languages.typescript.reader import TermReader
from treering.code.languages.typescript.terms import NONE, STATIC

ATTACHED = FUNCTIONS | {"identifier"}
"""Expressions that become a member of the function or object they are assigned to."""
METHODS = FUNCTIONS - {"arrow_function"}
"""Functions with their own `this`."""


def assignment(r: TermReader, node: Node, expected: int) -> int:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return NONE
    if left.type == "identifier":
        name = r.text(left)
        term = r.read(right, r.cell("typeof", kids=(r.name(name),)))
        if name == "exports":
            return term
        if term != NONE:
            r.assigned.append((r.position.scope, name, term))
        return term
    if left.type == "member_expression":
        return _property_assignment(r, left, right)
    inner = unwrapped(right)
    if left.type == "subscript_expression" and inner.type in METHODS:
        r.read(left)
        return function(r, inner, own_name(r, inner), this=_receiver(r, left)).function
    r.read(left)
    return r.read(right)


def own_name(r: TermReader, node: Node) -> EnclosingDefinition:
    """Return the definition that a named function expression introduces."""
    name = node.child_by_field_name("name")
    return (
        EnclosingDefinition(*r.define(r.text(name), DefinitionKind.FUNCTION, node))
        if name is not None
        else EnclosingDefinition()
    )


def _receiver(r: TermReader, left: Node) -> int:
    """Return the `this` of a function assigned to `object[name]` or `F.prototype[name]`."""
    target = left.child_by_field_name("object")
    if target is None:
        return NONE
    owner, _dot, last = r.text(target).rpartition(".")
    return r.instance(owner) if last == "prototype" and owner.isidentifier() else r.read(target)


def _property_assignment(r: TermReader, left: Node, right: Node) -> int:
    target, prop = left.child_by_field_name("object"), left.child_by_field_name("property")
    if target is None or prop is None:
        return r.read(right)
    base, name = r.text(target), r.text(prop)
    if base in ("exports", "module.exports"):
        return _exported(r, right, name)
    if base == "module" and name == "exports":
        return _exported(r, right, "=")
    if target.type == "this":
        return _own_property(r, name, right)
    owner, _dot, last = base.rpartition(".")
    if name == "prototype" and target.type == "identifier":
        return _prototype(r, base, right)
    scope = r.position.scope
    if last == "prototype" and owner.isidentifier():
        term = _member_function(r, right, left, f"{owner}.{name}", r.instance(owner))
        r.attached.setdefault((scope, owner), []).append(r.cell("field", name, 0, (NONE, term)))
    elif target.type == "identifier" and scope == 0 and unwrapped(right).type in ATTACHED:
        term = _member_function(r, right, left, f"{base}.{name}", r.name(base))
        r.attached.setdefault((scope, base), []).append(r.cell("field", name, STATIC, (NONE, term)))
    else:
        term = r.read(right, r.read(left))
    return term


def _own_property(r: TermReader, name: str, right: Node) -> int:
    """`this.name = …`."""
    term = r.read(right, r.cell("member", name, 0, (r.position.this,)))
    if r.position.owner:
        r.properties[r.position.owner].setdefault(name, term)
    else:
        _attach_to_instance(r, name, term)
    return term


def _prototype(r: TermReader, base: str, right: Node) -> int:
    """`F.prototype = { … }`."""
    r.subject = r.instance(base) if right.type == "object" else NONE
    term = r.read(right)
    r.attached.setdefault((r.position.scope, base), []).append(r.cell("spread", kids=(term,)))
    return term


def _attach_to_instance(r: TermReader, name: str, term: int) -> None:
    """`this.name = …` in a function that is called with `new`."""
    owner = r.instances.get(r.position.this)
    if owner is not None:
        r.attached.setdefault(owner, []).append(r.cell("field", name, 0, (NONE, term)))


def _member_function(r: TermReader, node: Node, whole: Node, name: str, this: int) -> int:
    inner = unwrapped(node)
    if inner.type not in FUNCTIONS:
        return r.read(node)
    named = EnclosingDefinition(*r.define(name, DefinitionKind.METHOD, whole))
    return function(r, inner, named, this=None if inner.type == "arrow_function" else this).function


def _exported(r: TermReader, right: Node, name: str) -> int:
    """`module.exports = …`, `exports.name = …`."""
    inner = unwrapped(right)
    r.module = True
    if inner.type in FUNCTIONS and name != "=":
        term = function(
            r, inner, EnclosingDefinition(*r.define(name, DefinitionKind.FUNCTION, right)), this=r.cell("own")
        ).function
    elif inner.type in FUNCTIONS:
        own = inner.child_by_field_name("name")
        title = r.text(own) if own is not None else "default"
        term = function(
            r, inner, EnclosingDefinition(*r.define(title, DefinitionKind.FUNCTION, right)), this=NONE
        ).function
    else:
        r.subject = r.cell("own") if inner.type == "object" else NONE
        uses = dict(r.uses)
        term = r.read(right)
        r.uses = {key: line for key, line in r.uses.items() if key in uses or key[1] >= 0}
        r.subject = NONE
    r.exports[name] = term
    return term
