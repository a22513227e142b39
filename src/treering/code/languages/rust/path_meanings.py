"""The meaning of a path in an expression: a local, function, constructor, constant or member of a type."""

import msgspec

from treering.code.languages.rust.body import Declaration, RustNode
from treering.code.languages.rust.findings import Findings
from treering.code.languages.rust.members import RustMembers
from treering.code.languages.rust.modules import RustModule
from treering.code.languages.rust.names import VALUES, PathTarget
from treering.code.languages.rust.resolved_types import EXT, ResolvedType, RustMember, TypeContext
from treering.code.languages.rust.type_lowering import TypeLowering
from treering.core.graph import EdgeKind


class PathMeaning(msgspec.Struct, frozen=True, gc=False):
    """`member` is set if calling the path calls a function of the project.

    `ty` is the type of the value, or of its owner if that is external.
    """

    ty: ResolvedType | None
    member: RustMember | None = None


class PathMeanings:
    def __init__(self, types: TypeLowering, members: RustMembers, findings: Findings) -> None:
        self._types = types
        self._members = members
        self._findings = findings
        self._known: dict[tuple[RustModule, str], tuple[PathTarget, PathMeaning]] = {}

    def meaning(self, node: RustNode, context: TypeContext) -> PathMeaning | None:
        """Return the meaning of a path, or `None` if it is unknown."""
        if node.kind == "qual":
            return self._of_type(self._types.lower(node.parts[0], context), node.name)
        segments = tuple(node.name.split("::"))
        if segments[0] == "Self" or segments[0] in context.env:
            base = context.self_type if segments[0] == "Self" else context.env[segments[0]]
            for segment in segments[1:-1]:
                base = self._types.associated(base, segment)
            return self._of_type(base, segments[-1]) if len(segments) > 1 else _constructor(base)
        known = self._known.get((context.module, node.name))
        if known is not None:
            self._findings.reach(known[0], node.name, EdgeKind.REFERENCES)
            return known[1]
        return self._named(node, segments, context)

    def _named(self, node: RustNode, segments: tuple[str, ...], context: TypeContext) -> PathMeaning | None:
        found = self._types.names.resolve(context.module, segments, VALUES)
        if found is None:
            return self._outside(node, segments, context, known=False)
        if found.outside:
            return self._outside(node, found.rest, context, known=True)
        self._findings.reach(found, node.name, EdgeKind.REFERENCES)
        if not found.rest:
            meaning = self._declared(found)
            self._known[context.module, node.name] = found, meaning
            return meaning
        written = self._types.lower(node.parts[0], context) if node.parts else None
        base = self._types.declared(found, written.args if written is not None else ())
        for segment in found.rest[:-1]:
            base = self._types.associated(base, segment)
        return self._of_type(base, found.rest[-1])

    def _outside(
        self, node: RustNode, segments: tuple[str, ...], context: TypeContext, *, known: bool
    ) -> PathMeaning | None:
        """Resolve an external path; a function of a standard type may come from a trait of the project."""
        if len(segments) < 2:
            return PathMeaning(EXT) if known else None
        written = RustNode("tpath", "::".join(segments[:-1]), node.parts[0].parts if node.parts else ())
        base = self._types.lower(written, context)
        if base is None:
            return PathMeaning(EXT) if known else None
        return self._of_type(base, segments[-1])

    def _of_type(self, base: ResolvedType | None, name: str) -> PathMeaning | None:
        """`Type::name`: a variant, a function, a constant."""
        if base is None:
            return None
        if base.decl is not None and base.decl.kind == "enum" and any(node.name == name for node in base.decl.types):
            return PathMeaning(base)
        member = self._members.method(base, name)
        if member is not None:
            self._findings.reach_file(member.path)
            return PathMeaning(self._given(member), member)
        constant = self._types.of_impl(base, name, "const") if base.kind == "adt" else None
        if constant is not None:
            return PathMeaning(self._types.lower(constant.decl.types[0], constant.context))
        return PathMeaning(base if base.kind != "param" else None)

    def _declared(self, found: PathTarget) -> PathMeaning:
        decl = found.decl
        if decl is None:
            return PathMeaning(None)
        inside = TypeContext(RustModule(found.path, found.scope), {})
        if decl.kind == "const":
            return PathMeaning(self._types.lower(decl.types[0], inside))
        member = RustMember(found.path, decl, inside)
        if decl.kind == "fn":
            return PathMeaning(self._given(member), member)
        ty = ResolvedType("adt", decl.name, (), found.path, decl)
        return PathMeaning(ty, member if _is_tuple(decl) and found.variant is None else None)

    def _given(self, member: RustMember) -> ResolvedType:
        """Return the type of a function used as a value, for `.map(Type::new)`."""
        env = self._types.parameters(member.decl.generics, member.context)
        return ResolvedType(
            "fn",
            "",
            (
                self._types.lower(
                    member.decl.types[0], TypeContext(member.context.module, env, member.context.self_type)
                ),
            ),
        )


def _constructor(base: ResolvedType | None) -> PathMeaning | None:
    if base is None:
        return None
    called = base.decl is not None and _is_tuple(base.decl)
    inside = TypeContext(RustModule(base.path, base.decl.scope if base.decl else ""), {})
    return PathMeaning(base, RustMember(base.path, base.decl, inside) if called and base.decl is not None else None)


def _is_tuple(decl: Declaration) -> bool:
    return decl.kind == "struct" and decl.flag == "tuple"
