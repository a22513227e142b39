"""Names bound by patterns, with types from the matched value."""

from treering.code.languages.rust.body import RustNode
from treering.code.languages.rust.findings import Findings
from treering.code.languages.rust.members import RustMembers
from treering.code.languages.rust.names import TYPES, VALUES, PathTarget
from treering.code.languages.rust.resolved_types import ResolvedType, TypeContext
from treering.code.languages.rust.standard_library import CONSTRUCTORS, element
from treering.code.languages.rust.type_lowering import TypeLowering
from treering.core.graph import EdgeKind


class Locals:
    """The local names of a function, innermost block last."""

    def __init__(self) -> None:
        self._blocks: list[dict[str, ResolvedType | None]] = [{}]

    def enter(self) -> None:
        self._blocks.append({})

    def leave(self) -> None:
        self._blocks.pop()

    def bind(self, name: str, ty: ResolvedType | None) -> None:
        self._blocks[-1][name] = ty

    def refine(self, name: str, ty: ResolvedType) -> None:
        """Refine the type of a bound name."""
        for block in reversed(self._blocks):
            if name in block:
                block[name] = ty
                return

    def knows(self, name: str) -> bool:
        return any(name in block for block in self._blocks)

    def type_of(self, name: str) -> ResolvedType | None:
        for block in reversed(self._blocks):
            if name in block:
                return block[name]
        return None


class PatternBinder:
    def __init__(self, types: TypeLowering, members: RustMembers, findings: Findings) -> None:
        self._types = types
        self._members = members
        self._findings = findings
        self._in_error = False

    def bind(self, pattern: RustNode, ty: ResolvedType | None, context: TypeContext, names: Locals) -> None:
        """Bind the names of a pattern to the parts of the matched type."""
        kind = pattern.kind
        if kind == "pbind":
            names.bind(pattern.name, ty)
            for part in pattern.parts:
                self.bind(part, ty, context, names)
        elif kind == "ppath":
            self._constructed(pattern.name, ty, context)
        elif kind == "por":
            for part in pattern.parts:
                self.bind(part, ty, context, names)
        elif kind == "ptuple":
            for part, inside in _aligned(pattern.parts, ty.args if ty is not None and ty.kind == "tuple" else ()):
                self.bind(part, inside, context, names)
        elif kind == "pslice":
            for part in pattern.parts:
                self.bind(part, element(ty), context, names)
        elif kind == "pcall":
            self._bind_call(pattern, ty, context, names)
        elif kind == "pstruct":
            whole, variant = self._constructed(pattern.name, ty, context)
            for field in pattern.parts:
                inside = self._members.inside(whole, field.name, variant) if whole is not None else None
                self.bind(field.parts[0], inside, context, names)

    def _bind_call(self, pattern: RustNode, ty: ResolvedType | None, context: TypeContext, names: Locals) -> None:
        last = pattern.name.rpartition("::")[2]
        if last in CONSTRUCTORS and (ty is None or ty.kind != "adt"):
            family, place = CONSTRUCTORS[last]
            known = ty is not None and ty.kind == "std" and ty.name == family
            inside = ty.args[place] if ty is not None and known and place < len(ty.args) else None
            before, self._in_error = self._in_error, self._in_error or last == "Err"
            for part in pattern.parts:
                self.bind(part, inside, context, names)
            self._in_error = before
            return
        whole, variant = self._constructed(pattern.name, ty, context)
        for place, part in enumerate(pattern.parts):
            inside = self._members.inside(whole, str(place), variant) if whole is not None else None
            self.bind(part, inside, context, names)

    def _constructed(self, name: str, ty: ResolvedType | None, context: TypeContext) -> tuple[ResolvedType | None, str]:
        """Return the struct or enum that a pattern's path names (as the matched type, if the same) and the variant."""
        segments = tuple(name.split("::"))
        if segments[0] == "Self" and context.self_type is not None:
            self_type = ty if ty is not None and ty.decl == context.self_type.decl else context.self_type
            return self_type, segments[1] if len(segments) > 1 else ""
        found = self._types.names.resolve(context.module, segments, TYPES)
        if not _names_type(found):
            found = self._types.names.resolve(context.module, segments, VALUES)
        if found is None or found.decl is None:
            return None, ""
        self._findings.reach(found, name, EdgeKind.CATCHES if self._in_error else EdgeKind.REFERENCES)
        variant = found.variant.name if found.variant is not None else "".join(found.rest[:1])
        whole = self._types.declared(found, ())
        if ty is not None and whole is not None and ty.decl == whole.decl and ty.path == whole.path:
            whole = ty
        return whole, variant


def _names_type(found: PathTarget | None) -> bool:
    return found is not None and found.decl is not None


def _aligned(
    patterns: tuple[RustNode, ...], types: tuple[ResolvedType | None, ...]
) -> list[tuple[RustNode, ResolvedType | None]]:
    """Pair patterns with types by position; after `..`, counted from the end."""
    rest = next((place for place, part in enumerate(patterns) if part.kind == "prest"), len(patterns))
    after = len(patterns) - rest - 1
    aligned: list[tuple[RustNode, ResolvedType | None]] = []
    for place, part in enumerate(patterns):
        if place == rest:
            continue
        at = place if place < rest else len(types) - after + (place - rest - 1)
        aligned.append((part, types[at] if 0 <= at < len(types) else None))
    return aligned
