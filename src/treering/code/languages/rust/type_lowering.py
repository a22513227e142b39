"""Lowering of written types to resolved types; associated types; bounds of type parameters."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from treering.code.facts import SymbolLookup
from treering.code.languages.rust.body import Declaration, RustNode
from treering.code.languages.rust.modules import RustModule
from treering.code.languages.rust.names import TYPES, PathTarget, RustNames
from treering.code.languages.rust.resolved_types import EXT, ResolvedType, RustMember, TypeContext, same_type
from treering.code.languages.rust.standard_library import SAME_AS, TRANSPARENT

_MAX_DEPTH = 16
"""Types nested or aliased deeper than this are unknown."""

_COMPOUND = {"ttuple": "tuple", "tfn": "fn"}
_NUMBERS = [f"{sort}{size}" for sort in "ui" for size in ("8", "16", "32", "64", "128", "size")]
_PRIMITIVES = frozenset((*_NUMBERS, "f32", "f64", "bool", "char", "str", "String"))


class TypeLowering:
    """Lowers types for the resolution of one file; `reach` is called with each declaration and path that it names."""

    def __init__(
        self, path: str, names: RustNames, lookup: SymbolLookup, reach: Callable[[PathTarget, str], None]
    ) -> None:
        self._path = path
        self.names = names
        self._lookup = lookup
        self._reach = reach
        self._contexts: dict[tuple[str, Declaration], TypeContext] = {}
        self._written: dict[
            tuple[RustNode, RustModule], tuple[ResolvedType | None, tuple[tuple[PathTarget, str], ...]]
        ] = {}
        self._trail: list[tuple[PathTarget, str]] = []
        self._known: dict[
            tuple[tuple[RustNode, ...], RustModule, ResolvedType | None], dict[str, ResolvedType | None]
        ] = {}
        self._depth = 0

    def lower(self, node: RustNode, context: TypeContext) -> ResolvedType | None:
        if self._depth > _MAX_DEPTH:
            return None
        self._depth += 1
        try:
            return self._lowered(node, context)
        finally:
            self._depth -= 1

    def _lowered(self, node: RustNode, context: TypeContext) -> ResolvedType | None:
        kind = node.kind
        if kind == "tpath":
            plain = self._depth == 1 and not context.env and not node.name.startswith("Self")
            return self._plain_path_type(node, context) if plain else self._path_type(node, context)
        if kind in _COMPOUND:
            return ResolvedType(_COMPOUND[kind], "", self._all(node.parts, context))
        if kind == "tbounds":
            return type_from_traits("dyn", self.bounds(node.parts, context))
        if kind == "tqual":
            return self.associated(self.lower(node.parts[0], context), node.name)
        return self._qualified_type(node, context) if kind == "tas" else None

    def _qualified_type(self, node: RustNode, context: TypeContext) -> ResolvedType | None:
        """`<T as Trait>`: the type, else any type with the trait."""
        itself = self.lower(node.parts[0], context)
        trait = self.lower(node.parts[1], context)
        return itself if itself is not None or trait is None else type_from_traits("dyn", (trait,))

    def _all(self, nodes: Iterable[RustNode], context: TypeContext) -> tuple[ResolvedType | None, ...]:
        return tuple(self.lower(node, context) for node in nodes)

    def _plain_path_type(self, node: RustNode, context: TypeContext) -> ResolvedType | None:
        """Lower a type that depends only on its module: the result is cached, its references are recorded each time."""
        key = (node, context.module)
        known = self._written.get(key)
        if known is None:
            self._trail = []
            ty = self._path_type(node, context)
            self._written[key] = ty, tuple(self._trail)
            return ty
        for found, path in known[1]:
            self._reach(found, path)
        return known[0]

    def _path_type(self, node: RustNode, context: TypeContext) -> ResolvedType | None:
        name = node.name
        if name in _PRIMITIVES:
            return ResolvedType("ext", name)
        if name in context.env:
            return context.env[name]
        segments = tuple(name.split("::"))
        if segments[0] == "Self" or segments[0] in context.env:
            ty = context.self_type if segments[0] == "Self" else context.env[segments[0]]
            for segment in segments[1:]:
                ty = self.associated(ty, segment)
            return ty
        found = self.names.resolve(context.module, segments, TYPES)
        if found is None or found.outside:
            name = found.rest[-1] if found is not None else segments[-1]
            return self._standard(name, node, context, outside=found is not None)
        if context.module.path == self._path:
            self._trail.append((found, node.name))
            self._reach(found, node.name)
        arguments = tuple(self.lower(part, context) for part in node.parts if part.kind != "tbind")
        ty = self.declared(found, arguments)
        for segment in found.rest:
            ty = self.associated(ty, segment)
        return ty

    def _standard(self, name: str, node: RustNode, context: TypeContext, *, outside: bool) -> ResolvedType | None:
        arguments = self._all(node.parts, context)
        bound = [self.lower(part.parts[0], context) for part in node.parts if part.kind == "tbind"]
        if name in TRANSPARENT:
            return bound[0] if bound else arguments[0] if arguments else None
        family = SAME_AS.get(name)
        if family == "Iter":
            return ResolvedType("std", "Iter", (bound[0] if bound else arguments[-1] if arguments else None,))
        if family is not None:
            return ResolvedType("std", family, tuple(bound) or arguments)
        return ResolvedType("ext", name) if outside else None

    def declared(self, found: PathTarget, arguments: tuple[ResolvedType | None, ...]) -> ResolvedType | None:
        """Return the type of a declaration with these arguments; an alias is resolved to its target."""
        decl = found.decl
        if decl is None:
            return None
        if decl.kind == "type":
            module = RustModule(found.path, found.scope)
            return self.lower(decl.types[0], TypeContext(module, self.environment(decl, arguments, module)))
        return ResolvedType("adt", decl.name, arguments, found.path, decl)

    def environment(
        self, decl: Declaration, arguments: tuple[ResolvedType | None, ...], module: RustModule
    ) -> dict[str, ResolvedType | None]:
        """Bind the type parameters of a declaration: to the arguments, else to their bounds."""
        names = [node.name for node in decl.generics if node.kind == "tparam"]
        if len(arguments) >= len(names) and None not in arguments:
            return dict(zip(names, arguments, strict=False))
        env = self.parameters(decl.generics, TypeContext(module, {}))
        defaults = {node.name: node.parts[0] for node in decl.generics if node.kind == "tdefault"}
        for name in names[len(arguments) :]:
            if name in defaults:
                env[name] = self.lower(defaults[name], TypeContext(module, env))
        env.update((name, given) for name, given in zip(names, arguments, strict=False) if given is not None)
        return env

    def parameters(self, generics: tuple[RustNode, ...], context: TypeContext) -> dict[str, ResolvedType | None]:
        """Bind the type parameters of an item to their bounds, which may refer to each other, inside the context."""
        if not generics:
            return dict(context.env)
        if context.env:
            return self._parameters(generics, context)
        key = (generics, context.module, context.self_type)
        if key not in self._known:
            self._known[key] = self._parameters(generics, context)
        return dict(self._known[key])

    def _parameters(self, generics: tuple[RustNode, ...], context: TypeContext) -> dict[str, ResolvedType | None]:
        env: dict[str, ResolvedType | None] = dict(context.env)
        env.update((node.name, ResolvedType("param", node.name)) for node in generics if node.kind == "tparam")
        for _ in range(2 if len(generics) > 1 else 1):
            known: dict[str, tuple[ResolvedType, ...]] = {}
            inside = TypeContext(context.module, env, context.self_type)
            for node in generics:
                if node.kind == "tdefault":
                    continue
                known[node.name] = known.get(node.name, ()) + self.bounds(node.parts, inside)
            env = {**env, **{name: type_from_traits(name, traits) for name, traits in known.items()}}
        return env

    def bounds(self, nodes: tuple[RustNode, ...], context: TypeContext) -> tuple[ResolvedType, ...]:
        return tuple(ty for ty in self._all(nodes, context) if ty is not None)

    def context(self, path: str, header: Declaration) -> TypeContext:
        """Return the context inside an implementation or a trait."""
        key = (path, header)
        if key not in self._contexts:
            module = RustModule(path, header.scope)
            env = self.parameters(header.generics, TypeContext(module, {}))
            if header.kind == "trait":
                self_type: ResolvedType | None = ResolvedType("adt", header.name, tuple(env.values()), path, header)
            else:
                self_type = self.lower(header.types[0], TypeContext(module, env))
            self._contexts[key] = TypeContext(module, env, self_type)
        return self._contexts[key]

    def lookup_members(self, owner: str, name: str) -> Iterator[tuple[str, Declaration]]:
        for path, decls in self._lookup("rs.member", owner, name):
            for decl in decls:
                yield path, decl

    def traits_of(self, ty: ResolvedType) -> Iterator[ResolvedType]:
        """Yield the project's traits that a type implements."""
        for path, impls in self._lookup("rs.traits", ty.name):
            for impl in impls:
                context = self.context(path, impl)
                if same_type(context.self_type, ty):
                    trait = self.lower(impl.types[1], context)
                    if trait is not None and trait.kind == "adt":
                        yield trait

    def supertraits(self, trait: ResolvedType) -> Iterator[ResolvedType]:
        if trait.decl is not None and trait.decl.kind == "trait":
            context = self.context(trait.path, trait.decl)
            for ty in self.bounds(trait.decl.types, context):
                if ty.kind == "adt":
                    yield ty

    def of_trait(self, trait: ResolvedType, name: str, self_type: ResolvedType | None, kind: str) -> RustMember | None:
        """Return a member that a trait or one of its supertraits declares."""
        pending, seen = [trait], 0
        while pending and seen < _MAX_DEPTH:
            current = pending.pop(0)
            seen += 1
            for path, decl in self.lookup_members(current.name, name):
                header = decl.header
                if header is None or header.kind != "trait" or decl.kind != kind or path != current.path:
                    continue
                if current.decl is not None and header.scope == current.decl.scope:
                    inside = self.context(path, header)
                    given = self.environment(header, current.args, inside.module) if current.args else inside.env
                    return RustMember(path, decl, TypeContext(inside.module, given, self_type))
            pending.extend(self.supertraits(current))
        return None

    def overloads(self, member: RustMember) -> list[RustMember]:
        """Return the same function in every implementation of a generic trait: `From<A>`, `From<B>`."""
        header, self_type = member.decl.header, member.context.self_type
        if self_type is None or header is None or len(header.types) < 2 or not header.types[1].parts:
            return [member]
        every = [member]
        for path, decl in self.lookup_members(self_type.name, member.decl.name):
            if decl.header is not None and decl.header.kind == "impl" and decl.kind == "fn":
                inside = self.context(path, decl.header)
                if same_type(inside.self_type, self_type):
                    every.append(RustMember(path, decl, TypeContext(inside.module, inside.env, self_type)))
        return every

    def of_impl(
        self, ty: ResolvedType, name: str, kind: str, traits: frozenset[str] = frozenset()
    ) -> RustMember | None:
        """Return a member of the type's own implementations, inherent ones first; only of these traits, if given."""
        found: RustMember | None = None
        for path, decl in self.lookup_members(ty.name, name):
            header = decl.header
            if header is None or header.kind != "impl" or decl.kind != kind:
                continue
            if traits and (len(header.types) < 2 or header.types[1].name.rpartition("::")[2] not in traits):
                continue
            inside = self.context(path, header)
            if same_type(inside.self_type, ty) and (ty.kind == "adt" or self._applies(path, header, inside)):
                member = RustMember(path, decl, TypeContext(inside.module, _bound(header, ty, inside.env), ty))
                if len(header.types) == 1:
                    return member
                found = found or member
        return found

    def _applies(self, path: str, header: Declaration, inside: TypeContext) -> bool:
        """Whether an implementation for a foreign type applies here: of a trait of the project, or in this file."""
        if not self.names.sees(path):
            return False
        if path == self._path or len(header.types) == 1:
            return True
        trait = self.lower(header.types[1], inside)
        return trait is not None and trait.kind == "adt"

    def associated(self, ty: ResolvedType | None, name: str) -> ResolvedType | None:
        """`T::Item`: from the implementation, else from the trait's bounds."""
        if ty is None or self._depth > _MAX_DEPTH:
            return None
        self._depth += 1
        try:
            return self._associated(ty, name)
        finally:
            self._depth -= 1

    def _associated(self, ty: ResolvedType, name: str) -> ResolvedType | None:
        if ty.kind == "std":
            return ty.args[0] if ty.args else None
        if ty.kind == "ext":
            return EXT
        traits = [trait for trait in ty.args if trait is not None and trait.kind == "adt"] if ty.kind == "param" else []
        if ty.kind == "adt":
            member = self.of_impl(ty, name, "type")
            if member is not None:
                return self.lower(member.decl.types[0], member.context)
            traits = [ty] if ty.decl is not None and ty.decl.kind == "trait" else []
        for trait in traits:
            member = self.of_trait(trait, name, ty, "type")
            if member is not None:
                return self.lower(member.decl.types[0], member.context)
        return None


def type_from_traits(name: str, traits: Iterable[ResolvedType]) -> ResolvedType:
    """Return a type known only by its traits; a closure or an iterator is known by its result."""
    known_traits = tuple(traits)
    for ty in known_traits:
        if ty.kind == "fn" or (ty.kind == "std" and ty.name in {"Iter", "Into"}):
            return ty
    if len(known_traits) == 1 and known_traits[0].kind in {"param", "tuple"}:
        return known_traits[0]
    return ResolvedType("param", name, tuple(ty for ty in known_traits if ty.kind == "adt"))


def _bound(
    header: Declaration, ty: ResolvedType, env: Mapping[str, ResolvedType | None]
) -> Mapping[str, ResolvedType | None]:
    """Bind the type parameters of an implementation to those of a concrete type."""
    if not ty.args or not header.generics:
        return env
    parts = [part for part in header.types[0].parts if part.kind != "tbind"]
    fixed = {
        part.name: given
        for part, given in zip(parts, ty.args, strict=False)
        if part.kind == "tpath" and given is not None and part.name in env
    }
    return {**env, **fixed} if fixed else env
