"""The edges of a Rust file."""

from treering.code.facts import Facts, Resolved, SymbolLookup
from treering.code.languages.edges import EVIDENT, SURE
from treering.code.languages.rust.body import (
    FUNCTION_MARK,
    Declaration,
    RustBody,
    RustItem,
    RustNode,
    inner_scope,
    qualname,
)
from treering.code.languages.rust.findings import Findings
from treering.code.languages.rust.inference import BodyInference
from treering.code.languages.rust.members import RustMembers
from treering.code.languages.rust.modules import RustModule
from treering.code.languages.rust.names import MACROS, TYPES, VALUES, RustNames
from treering.code.languages.rust.resolved_types import ResolvedType, TypeContext
from treering.code.languages.rust.type_lowering import TypeLowering
from treering.core.graph import EdgeKind

_NAMING = frozenset({"fn", "struct", "enum", "union", "trait", "type", "const"})
_EXPORTED = frozenset({"fn", "struct", "enum", "trait", "type", "const", "macro"})


def resolve(facts: Facts, lookup: SymbolLookup) -> Resolved:
    body: RustBody = facts.body
    if body.manifest is not None or not body.items:
        return Resolved((), ())
    return _FileResolution(facts, lookup).run()


class _FileResolution:
    def __init__(self, facts: Facts, lookup: SymbolLookup) -> None:
        self._path = facts.path
        self._items: tuple[RustItem, ...] = facts.body.items
        self._findings = Findings(facts)
        self._scopes = {item.decl.scope for item in self._items}
        self._lookup = lookup
        self._names = RustNames(facts, lookup)
        self._types = TypeLowering(facts.path, self._names, lookup, self._findings.reach)
        self._inference = BodyInference(self._types, RustMembers(self._types), self._findings, lookup)

    def run(self) -> Resolved:
        for item in self._items:
            self._findings.line = item.line
            self._findings.origin = self._path
            # Finding the user lowers types, which must not count as uses by the previous item.
            self._findings.written = frozenset()
            self._findings.user = self._user(item.decl)
            self._findings.written = _written_paths(item)
            self._declaration(item.decl, item.line)
            self._body(item)
        return self._findings.all()

    def _declaration(self, decl: Declaration, line: int) -> None:
        if decl.kind in {"use", "glob"}:
            self._use(decl, line)
            return
        context = self._context(decl)
        for node in decl.types:
            self._mention(node, context)
        for parameter in decl.generics:
            for bound in parameter.parts:
                self._types.lower(bound, context)
        if decl.kind == "impl" and len(decl.types) > 1:
            self._implementation(decl, context, line)
            if decl.flag == "derive":
                self._derive(decl.types[1].name.rpartition("::")[2], line)
        elif decl.kind == "trait":
            for trait in self._types.supertraits(ResolvedType("adt", decl.name, (), self._path, decl)):
                self._findings.relate(self._id(self._path, decl), _id_of(trait), EdgeKind.EXTENDS, SURE, line)
        elif (
            decl.kind == "fn" and decl.header is not None and len(decl.header.types) > 1 and decl.header.kind == "impl"
        ):
            self._override(decl, context, line)
        if decl.public and decl.header is None and decl.kind in _EXPORTED:
            self._findings.relate(self._path, self._id(self._path, decl), EdgeKind.EXPORTS, SURE, line)

    def _context(self, decl: Declaration) -> TypeContext:
        module = RustModule(self._path, decl.scope)
        if decl.header is not None:
            around = self._types.context(self._path, decl.header)
        elif decl.kind in {"impl", "trait"}:
            return self._types.context(self._path, decl)
        else:
            around = TypeContext(module, {})
        return TypeContext(around.module, self._types.parameters(decl.generics, around), around.self_type)

    def _mention(self, node: RustNode, context: TypeContext) -> None:
        """Record every type named in a declaration."""
        if node.kind in {"fielddecl", "variant", "tbind"}:
            for part in node.parts:
                self._mention(part, context)
        else:
            self._types.lower(node, context)

    def _use(self, decl: Declaration, line: int) -> None:
        """Record the target of a use; a `pub use` exports it from this file."""
        if decl.kind == "glob":
            return
        module = RustModule(self._path, decl.scope)
        for wanted in (TYPES, VALUES, MACROS):
            found = self._names.resolve_use(module, decl.text, wanted)
            if found is not None and found.outside and "::".join(found.rest) == decl.text and "::" in decl.text:
                break
            if found is None or found.decl is None or found.rest:
                continue
            self._findings.reach(found, decl.text, None)
            if decl.public and found.variant is None:
                self._findings.relate(self._path, self._id(found.path, found.decl), EdgeKind.EXPORTS, SURE, line)

    def _implementation(self, decl: Declaration, context: TypeContext, line: int) -> None:
        trait = self._types.lower(decl.types[1], context)
        if trait is None or trait.kind != "adt" or context.self_type is None or context.self_type.kind != "adt":
            return
        self._findings.relate(_id_of(context.self_type), _id_of(trait), EdgeKind.IMPLEMENTS, SURE, line)

    def _derive(self, name: str, line: int) -> None:
        """A type that derives a trait runs the project's procedural macro of that name."""
        for path, entries in self._lookup("rs.derive", name):
            for made in entries:
                self._findings.reach_file(path)
                function = f"{path}::{qualname(Declaration('fn', made.text, made.scope))}"
                self._findings.relate(self._findings.user, function, EdgeKind.REFERENCES, EVIDENT, line)

    def _override(self, decl: Declaration, context: TypeContext, line: int) -> None:
        if decl.header is None:
            return
        trait = self._types.lower(decl.header.types[1], context)
        if trait is None or trait.kind != "adt":
            if context.self_type is not None and context.self_type.kind == "adt":
                # Code outside the project calls it: a user of the type reaches it.
                own = self._id(self._path, decl)
                self._findings.relate(_id_of(context.self_type), own, EdgeKind.REGISTERS, EVIDENT, line)
            return
        declared = self._types.of_trait(trait, decl.name, context.self_type, "fn")
        if declared is not None:
            target = self._id(declared.path, declared.decl)
            self._findings.relate(self._id(self._path, decl), target, EdgeKind.IMPLEMENTS, EVIDENT, line)

    def _body(self, item: RustItem) -> None:
        decl = item.decl
        if item.body is None:
            return
        context = self._context(decl)
        if decl.kind == "macro":
            self._findings.origin = self._id(self._path, decl)
        elif decl.kind == "fn":
            self._findings.origin = self._id(self._path, decl)
            owner = f"{decl.header.text}." if decl.header is not None else ""
            scope = inner_scope(decl.scope, f"{owner}{decl.name}{FUNCTION_MARK}")
            if scope in self._scopes:
                context = TypeContext(RustModule(self._path, scope), context.env, context.self_type)
        else:
            self._findings.origin = self._enclosing(decl)
        result = self._types.lower(decl.types[0], context) if decl.kind == "fn" else None
        self._inference.function(item.body, item.params, context, takes_self=decl.flag == "self", result=result)

    def _user(self, decl: Declaration) -> str:
        """The definition that an item belongs to: itself, or the type that an implementation is for."""
        if decl.kind in _NAMING:
            return self._id(self._path, decl)
        if decl.kind == "impl":
            self_type = self._types.context(self._path, decl).self_type
            if self_type is not None and self_type.kind == "adt" and self_type.path == self._path:
                return _id_of(self_type)
        return self._enclosing(decl)

    def _enclosing(self, decl: Declaration) -> str:
        """Code outside functions belongs to the enclosing function, else to the file."""
        scopes = decl.scope.split("/")
        while scopes and not scopes[-1].endswith("()"):
            scopes.pop()
        return f"{self._path}::{'.'.join(scopes).replace('()', '')}" if scopes else self._path

    def _id(self, path: str, decl: Declaration) -> str:
        return f"{path}::{qualname(decl)}"


def _id_of(ty: ResolvedType) -> str:
    return f"{ty.path}::{qualname(ty.decl)}" if ty.decl is not None else ty.path


def _written_paths(item: RustItem) -> frozenset[str]:
    """Paths in an item, of types, values and patterns."""
    found: set[str] = set()
    pending = [*item.decl.types, *item.decl.generics, *item.params]
    if item.body is not None:
        pending.append(item.body)
    while pending:
        node = pending.pop()
        if node.name and node.kind not in _NOT_PATHS:
            found.add(node.name)
        pending.extend(node.parts)
    return frozenset(found)


_NOT_PATHS = frozenset({"method", "field", "binary", "lit", "pbind", "fielddecl", "variant", "tparam", "macro"})
