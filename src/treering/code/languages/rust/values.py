"""The meaning of a path in an expression: a local, function, constructor, constant or member of a type."""

import msgspec

from treering.code.languages.rust.body import Decl, Node
from treering.code.languages.rust.found import Findings
from treering.code.languages.rust.members import Members
from treering.code.languages.rust.modules import Module
from treering.code.languages.rust.names import VALUES, Found
from treering.code.languages.rust.terms import EXT, Context, Member, Ty
from treering.code.languages.rust.types import Types


class Meaning(msgspec.Struct, frozen=True, gc=False):
    """`member` is set if calling the path calls a function of the project.

    `ty` is the type of the value, or of its owner if that is external.
    """

    ty: Ty | None
    member: Member | None = None


class Values:
    def __init__(self, types: Types, members: Members, findings: Findings) -> None:
        self._types = types
        self._members = members
        self._findings = findings
        self._known: dict[tuple[Module, str], tuple[Found, Meaning]] = {}

    def meaning(self, node: Node, context: Context) -> Meaning | None:
        """Return the meaning of a path, or `None` if it is unknown."""
        if node.kind == "qual":
            return self._of_type(self._types.lower(node.parts[0], context), node.name)
        segments = tuple(node.name.split("::"))
        if segments[0] == "Self" or segments[0] in context.env:
            base = context.me if segments[0] == "Self" else context.env[segments[0]]
            for segment in segments[1:-1]:
                base = self._types.associated(base, segment)
            return self._of_type(base, segments[-1]) if len(segments) > 1 else _constructor(base)
        known = self._known.get((context.module, node.name))
        if known is not None:
            self._findings.reach(known[0])
            return known[1]
        return self._named(node, segments, context)

    def _named(self, node: Node, segments: tuple[str, ...], context: Context) -> Meaning | None:
        found = self._types.names.resolve(context.module, segments, VALUES)
        if found is None:
            return self._outside(node, segments, context, known=False)
        if found.outside:
            return self._outside(node, found.rest, context, known=True)
        self._findings.reach(found)
        if not found.rest:
            meaning = self._declared(found)
            self._known[context.module, node.name] = found, meaning
            return meaning
        written = self._types.lower(node.parts[0], context) if node.parts else None
        base = self._types.declared(found, written.args if written is not None else ())
        for segment in found.rest[:-1]:
            base = self._types.associated(base, segment)
        return self._of_type(base, found.rest[-1])

    def _outside(self, node: Node, segments: tuple[str, ...], context: Context, *, known: bool) -> Meaning | None:
        """Resolve an external path; a function of a standard type may come from a trait of the project."""
        if len(segments) < 2:
            return Meaning(EXT) if known else None
        written = Node("tpath", "::".join(segments[:-1]), node.parts[0].parts if node.parts else ())
        base = self._types.lower(written, context)
        if base is None:
            return Meaning(EXT) if known else None
        return self._of_type(base, segments[-1])

    def _of_type(self, base: Ty | None, name: str) -> Meaning | None:
        """`Type::name`: a variant, a function, a constant."""
        if base is None:
            return None
        if base.decl is not None and base.decl.kind == "enum" and any(node.name == name for node in base.decl.types):
            return Meaning(base)
        member = self._members.method(base, name)
        if member is not None:
            self._findings.reach_file(member.path)
            return Meaning(self._given(member), member)
        constant = self._types.of_impl(base, name, "const") if base.kind == "adt" else None
        if constant is not None:
            return Meaning(self._types.lower(constant.decl.types[0], constant.context))
        return Meaning(base if base.kind != "param" else None)

    def _declared(self, found: Found) -> Meaning:
        decl = found.decl
        if decl is None:
            return Meaning(None)
        inside = Context(Module(found.path, found.scope), {})
        if decl.kind == "const":
            return Meaning(self._types.lower(decl.types[0], inside))
        member = Member(found.path, decl, inside)
        if decl.kind == "fn":
            return Meaning(self._given(member), member)
        ty = Ty("adt", decl.name, (), found.path, decl)
        return Meaning(ty, member if _is_tuple(decl) and found.variant is None else None)

    def _given(self, member: Member) -> Ty:
        """Return the type of a function used as a value, for `.map(Type::new)`."""
        env = self._types.parameters(member.decl.generics, member.context)
        return Ty(
            "fn", "", (self._types.lower(member.decl.types[0], Context(member.context.module, env, member.context.me)),)
        )


def _constructor(base: Ty | None) -> Meaning | None:
    if base is None:
        return None
    called = base.decl is not None and _is_tuple(base.decl)
    inside = Context(Module(base.path, base.decl.scope if base.decl else ""), {})
    return Meaning(base, Member(base.path, base.decl, inside) if called and base.decl is not None else None)


def _is_tuple(decl: Decl) -> bool:
    return decl.kind == "struct" and decl.flag == "tuple"
