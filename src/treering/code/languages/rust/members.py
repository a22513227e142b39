"""Fields, methods and associated functions of a type: its own, those of its traits, and those of its `Deref` target."""

from treering.code.languages.rust.items import BLANKET
from treering.code.languages.rust.modules import RustModule
from treering.code.languages.rust.resolved_types import ResolvedType, RustMember, TypeContext, same_type
from treering.code.languages.rust.standard_library import element
from treering.code.languages.rust.type_lowering import TypeLowering

_SEEN_AS = {"String": ("String", "str"), "PathBuf": ("PathBuf", "Path"), "OsString": ("OsString", "OsStr")}
_MAX_DEREFS = 4
_DEREF = frozenset({"Deref"})
_FUTURES = frozenset({"Future", "IntoFuture"})
_ITERATORS = frozenset({"Iterator"})
_LOOPS = frozenset({"Iterator", "IntoIterator"})


class RustMembers:
    def __init__(self, types: TypeLowering) -> None:
        self._types = types
        self._methods: dict[tuple[ResolvedType, str], RustMember | None] = {}

    def method(self, ty: ResolvedType, name: str) -> RustMember | None:
        """Return the function that `value.name()` or `Type::name()` refers to, if it is in the project."""
        key = (ty, name)
        if key not in self._methods:
            self._methods[key] = self._method(ty, name, _MAX_DEREFS)
        return self._methods[key]

    def _method(self, ty: ResolvedType, name: str, derefs: int) -> RustMember | None:
        if ty.kind == "param":
            return self._of_bounds(ty, name) or self._blanket(ty, name)
        if ty.kind == "adt":
            found = self._of_declared(ty, name)
            if found is not None:
                return found
            target = self.target(ty) if derefs else None
            found = self._method(target, name, derefs - 1) if target is not None and target != ty else None
            return found or self._blanket(ty, name)
        if ty.kind in {"std", "ext"} and ty.name:
            for seen_as in _SEEN_AS.get(ty.name, (ty.name,)):
                found = self._types.of_impl(ResolvedType(ty.kind, seen_as, ty.args), name, "fn")
                if found is not None:
                    return found
        return self._blanket(ty, name)

    def _of_declared(self, ty: ResolvedType, name: str) -> RustMember | None:
        if ty.decl is not None and ty.decl.kind == "trait":
            return self._types.of_trait(ty, name, ty, "fn") or self._types.of_impl(ty, name, "fn")
        found = self._types.of_impl(ty, name, "fn")
        if found is not None:
            return found
        for trait in self._types.traits_of(ty):
            found = self._types.of_trait(trait, name, ty, "fn")
            if found is not None:
                return found
        return None

    def _of_bounds(self, ty: ResolvedType, name: str) -> RustMember | None:
        for trait in ty.args:
            if trait is not None and trait.kind == "adt":
                found = self._types.of_trait(trait, name, ty, "fn") or self._types.of_impl(trait, name, "fn")
                if found is not None:
                    return found
        return None

    def _blanket(self, ty: ResolvedType, name: str) -> RustMember | None:
        """Return a method from a blanket implementation, `impl<T: Trait> More for T`."""
        for path, decl in self._types.lookup_members(BLANKET, name):
            visible = self._types.names.sees(path)
            if visible and decl.header is not None and decl.kind == "fn" and len(decl.header.types) > 1:
                inside = self._types.context(path, decl.header)
                if self._fits(ty, inside.self_type):
                    return RustMember(path, decl, TypeContext(inside.module, inside.env, ty))
        return None

    def _fits(self, ty: ResolvedType, required: ResolvedType | None) -> bool:
        """Whether a type has the traits that a blanket implementation requires."""
        if required is None or required.kind == "std":
            return required is not None and required.name == ty.name
        wanted = [trait for trait in required.args if trait is not None]
        if not wanted:
            return True
        if ty.kind == "param":
            had = [trait for trait in ty.args if trait is not None]
        else:
            had = list(self._types.traits_of(ty)) if ty.kind == "adt" else []
        return all(any(same_type(trait, want) for trait in had) for want in wanted)

    def target(self, ty: ResolvedType) -> ResolvedType | None:
        """Return the target of the type's own `Deref`."""
        return self._associated_type(ty, "Target", _DEREF)

    def awaited(self, ty: ResolvedType | None) -> ResolvedType | None:
        """Return the output of awaiting a value: by its own `Future`, else the result of an `async` function."""
        if ty is None or ty.kind != "adt":
            return ty
        return self._associated_type(ty, "Output", _FUTURES) or ty

    def _associated_type(self, ty: ResolvedType, name: str, traits: frozenset[str]) -> ResolvedType | None:
        member = self._types.of_impl(ty, name, "type", traits)
        return self._types.lower(member.decl.types[0], member.context) if member is not None else None

    def field(self, ty: ResolvedType | None, name: str) -> ResolvedType | None:
        for _ in range(_MAX_DEREFS):
            if ty is None or ty.kind == "ext":
                return ty
            if ty.kind == "tuple":
                return ty.args[int(name)] if name.isdigit() and int(name) < len(ty.args) else None
            if ty.kind != "adt" or ty.decl is None:
                return None
            node = next((field for field in ty.decl.types if field.name == name), None)
            if node is not None and node.kind == "fielddecl":
                return self.inside(ty, name)
            ty = self.target(ty)
        return None

    def inside(self, ty: ResolvedType, name: str, variant: str = "") -> ResolvedType | None:
        """Return the type of a field, in the struct or enum variant that has it."""
        if ty.decl is None:
            return None
        fields = ty.decl.types
        if variant:
            fields = next((node.parts for node in fields if node.name == variant), ())
        node = next((field for field in fields if field.name == name), None)
        if node is None:
            return None
        module = RustModule(ty.path, ty.decl.scope)
        env = self._types.environment(ty.decl, ty.args, module) if ty.decl.generics else {}
        return self._types.lower(node.parts[0], TypeContext(module, env, ty))

    def element(self, ty: ResolvedType | None) -> ResolvedType | None:
        """Return the element type of a loop over a value."""
        if ty is None or ty.kind != "adt":
            return element(ty)
        item = self._associated_type(ty, "Item", _LOOPS)
        if item is not None:
            return item
        target = self.target(ty)
        if target is not None and target.kind != "adt":
            return element(target)
        made = self._types.of_impl(ty, "iter", "fn")
        return self.element(self._types.lower(made.decl.types[0], made.context)) if made is not None else None

    def as_standard(self, ty: ResolvedType) -> ResolvedType:
        """Return the standard family whose methods a type of the project has: an iterator, or its `Deref` target."""
        if ty.kind != "adt":
            return ty
        target = self.target(ty)
        if target is not None:
            return target
        if self._types.of_impl(ty, "Item", "type", _ITERATORS) is None:
            return ty
        return ResolvedType("std", "Iter", (self._associated_type(ty, "Item", _ITERATORS),))
