"""Calls of functions and methods: their targets, results, and the parameter types of closures."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from treering.code.facts import CallFlow, SymbolLookup
from treering.code.languages.edges import EVIDENT, SURE
from treering.code.languages.rust.body import Declaration, RustNode
from treering.code.languages.rust.findings import Findings
from treering.code.languages.rust.members import RustMembers
from treering.code.languages.rust.modules import RustModule
from treering.code.languages.rust.names import MACROS
from treering.code.languages.rust.path_meanings import PathMeanings
from treering.code.languages.rust.patterns import Locals
from treering.code.languages.rust.resolved_types import EXT, ResolvedType, RustMember, TypeContext, same_type
from treering.code.languages.rust.standard_library import (
    CHANNELS,
    CONSTRUCTORS,
    PRELUDE_FUNCTIONS,
    RETURN_ARGUMENT,
    SAME_AS,
    TRANSPARENT,
    WRAP_ARGUMENT,
    has_rule,
    instantiate,
    macro_result,
    rule_of,
)
from treering.code.languages.rust.type_lowering import TypeLowering
from treering.core.graph import EdgeKind

_ARGUMENTS, _RESULT = int(CallFlow.ARGUMENTS), int(CallFlow.RESULT)
_NEW_COMMAND = "Command::new"
_ERR = frozenset({"Err", "Result::Err"})
_FILLING = frozenset({"push", "push_back", "push_front", "insert", "send", "entry", "extend_one"})
_FAILING = frozenset({"map_err", "ok_or", "ok_or_else"})
"""Methods whose first argument is an error, or a function that returns one."""
_LISTS = frozenset({"vec", "smallvec", "array"})


class CallInference(ABC):
    """The part of type inference that resolves calls; subclasses infer the types of other expressions."""

    def __init__(self, types: TypeLowering, members: RustMembers, findings: Findings, lookup: SymbolLookup) -> None:
        self._types = types
        self._members = members
        self._findings = findings
        self._lookup = lookup
        self._values = PathMeanings(types, members, findings)
        self._context = TypeContext(RustModule(""), {})
        self._locals = Locals()
        self._unused: RustNode | None = None
        self._in_macro = False
        self._results: dict[tuple[str, Declaration, ResolvedType | None], ResolvedType | None] = {}

    @abstractmethod
    def type_of(self, node: RustNode) -> ResolvedType | None: ...

    @abstractmethod
    def closure(self, node: RustNode, given: ResolvedType | None) -> ResolvedType: ...

    def _arguments(
        self, parts: tuple[RustNode, ...], given: Callable[[int], ResolvedType | None] | None = None
    ) -> list[ResolvedType | None]:
        """Return the types of arguments; closures last, when the types they are called with are known."""
        if not parts:
            return []
        types: list[ResolvedType | None] = [None] * len(parts)
        for place, part in enumerate(parts):
            if part.kind not in {"closure", "turbofish"}:
                types[place] = self.type_of(part)
        for place, part in enumerate(parts):
            if part.kind == "closure":
                types[place] = self.closure(part, given(place) if given is not None else None)
        return types

    def _flow(self, node: RustNode, arguments: tuple[RustNode, ...]) -> int:
        given = bool(arguments) and (len(arguments) > 1 or arguments[0].kind != "turbofish")
        return (_ARGUMENTS if given else 0) | (0 if node is self._unused else _RESULT)

    def call(self, node: RustNode) -> ResolvedType | None:
        callee, arguments = node.parts[0], node.parts[1:]
        flow = self._flow(node, arguments)
        if callee.kind not in {"path", "qual"} or self._locals.knows(callee.name):
            ty = self.type_of(callee)
            self._arguments(arguments)
            return _result(ty)
        if callee.name.endswith(_NEW_COMMAND) and arguments and arguments[0].kind != "lit":
            self.run(RustNode("program", "", (), node.line))
        meaning = self._values.meaning(callee, self._context)
        if meaning is None or meaning.member is None:
            types = self._arguments(arguments)
            if callee.name in _ERR and types:
                self._raise(arguments[0], types[0])
            if meaning is not None and meaning.ty is not None and meaning.ty.kind == "adt":
                return meaning.ty
            if callee.name.rpartition("::")[2] in CHANNELS and arguments and arguments[-1].kind == "turbofish":
                end = ResolvedType(
                    "std", "Vec", tuple(self._types.lower(part, self._context) for part in arguments[-1].parts)
                )
                return ResolvedType("tuple", "", (end, end))
            given = self._standard_call(callee.name, meaning.ty if meaning is not None else None, types)
            if meaning is None and given is None and self._is_reportable(callee):
                self._findings.add_unresolved(callee.name, node.line)
            return given
        member = self._chosen(meaning.member, arguments)
        self._findings.call(member.path, member.decl, SURE, node.line, flow)
        if member.decl.kind != "fn":
            self._arguments(arguments)
            return meaning.ty
        return self._applied(member, arguments, 1 if member.decl.flag == "self" else 0)

    def _raise(self, node: RustNode, ty: ResolvedType | None) -> None:
        """Record an error of the project that is made here; one in a variable was made or caught elsewhere."""
        if ty is None or ty.kind != "adt" or ty.decl is None or ty.decl.kind == "trait":
            return
        if node.kind != "path" or not self._locals.knows(node.name):
            self._findings.refer(ty.path, ty.decl, EdgeKind.RAISES)

    def _fail(self, node: RustNode, types: Sequence[ResolvedType | None]) -> None:
        """Record the error that a method is given for its result."""
        if node.name in _FAILING and types and len(node.parts) > 1:
            given = types[0]
            self._raise(node.parts[1], _result(given) if given is not None and given.kind == "fn" else given)

    def run(self, node: RustNode) -> None:
        """Record a binary of the package that is run by its name, or by a path that is not known."""
        for root in self._types.names.programs(node.name):
            self._findings.run(root, node.line)

    def _chosen(self, member: RustMember, arguments: tuple[RustNode, ...]) -> RustMember:
        """Of the implementations of a generic trait, return the one for the type of the first argument."""
        every = self._types.overloads(member)
        given = self.type_of(arguments[0]) if len(every) > 2 and arguments else None
        if given is None:
            return member
        fitting = (one for one in every if len(one.decl.types) > 1)
        return next(
            (one for one in fitting if same_type(self._types.lower(one.decl.types[1], one.context), given)), member
        )

    def _is_reportable(self, callee: RustNode) -> bool:
        """Constructors and the prelude are known, and an expression in a macro's arguments may not be a call."""
        return callee.name[:1].islower() and callee.name not in PRELUDE_FUNCTIONS and not self._in_macro

    def default(self, ty: ResolvedType, line: int) -> None:
        """`Default::default()` in place of a known type is that type's implementation."""
        member = self._members.method(ty, "default")
        if member is not None:
            self._findings.call(member.path, member.decl, EVIDENT, line, _RESULT)

    def _standard_call(
        self, path: str, base: ResolvedType | None, types: list[ResolvedType | None]
    ) -> ResolvedType | None:
        """Return the result of a standard library function that wraps or returns its argument."""
        before, _, name = path.rpartition("::")
        owner = before.rpartition("::")[2]
        first = types[0] if types else None
        if name in CONSTRUCTORS and owner in {"", "Option", "Result", "Poll"}:
            family, place = CONSTRUCTORS[name]
            return ResolvedType("std", family, (None,) * place + (first,))
        if owner in TRANSPARENT or (name in RETURN_ARGUMENT and owner and owner[0].islower()):
            return first
        if base is not None and base.kind == "std" and name in WRAP_ARGUMENT:
            return ResolvedType("std", base.name, (first,)) if SAME_AS.get(owner) in {"Mutex", "Cell"} else base
        if base is not None and first is not None and has_rule(base, name):
            rule = rule_of(base, name)
            return instantiate(rule.result, first, None, None) if rule is not None else None
        return EXT if base is not None and base.kind == "ext" else None

    def _applied(self, member: RustMember, arguments: tuple[RustNode, ...], shift: int) -> ResolvedType | None:
        """Return the result of a function for these arguments; its closures get the types it passes to them."""
        decl, context = member.decl, member.context
        if not decl.generics and not context.env and not any(part.kind == "closure" for part in arguments):
            self._arguments(arguments)
            return self._given(member)
        env = self._types.parameters(decl.generics, context) if decl.generics else dict(context.env)
        inside = TypeContext(context.module, env, context.self_type)
        parameters = decl.types[1:]

        def given(place: int) -> ResolvedType | None:
            place -= shift
            return self._types.lower(parameters[place], inside) if 0 <= place < len(parameters) else None

        types = self._arguments(arguments, given)
        if decl.generics or (decl.header is not None and decl.header.generics):
            for parameter, ty in zip(parameters, types[shift:], strict=False):
                if ty is not None:
                    _bind_parameters(parameter, ty, env)
            self._turbofish(arguments, member, env)
        return self._types.lower(decl.types[0], inside)

    def _given(self, member: RustMember) -> ResolvedType | None:
        """Return the result of a function without type parameters."""
        key = (member.path, member.decl, member.context.self_type)
        if key not in self._results:
            self._results[key] = self._types.lower(member.decl.types[0], member.context)
        return self._results[key]

    def _turbofish(
        self, arguments: tuple[RustNode, ...], member: RustMember, env: dict[str, ResolvedType | None]
    ) -> None:
        if arguments and arguments[-1].kind == "turbofish":
            names = [node.name for node in member.decl.generics if node.kind == "tparam"]
            for name, written in zip(names, arguments[-1].parts, strict=False):
                env[name] = self._types.lower(written, self._context) or env[name]

    def method(self, node: RustNode) -> ResolvedType | None:
        receiver, arguments = node.parts[0], node.parts[1:]
        flow = self._flow(node, arguments)
        ty = self.type_of(receiver)
        if ty is None:
            self._fail(node, self._arguments(arguments))
            if self._lookup("rs.method", node.name):
                self._findings.add_unresolved(f"{_written(receiver)}.{node.name}", node.line)
            return None
        member = None if has_rule(ty, node.name) else self._members.method(ty, node.name)
        if member is None:
            return self._standard_method(node, ty)
        self._findings.call(member.path, member.decl, EVIDENT, node.line, flow)
        return self._applied(member, arguments, 0)

    def _standard_method(self, node: RustNode, ty: ResolvedType) -> ResolvedType | None:
        receiver, arguments = node.parts[0], node.parts[1:]
        seen = self._members.as_standard(ty)
        rule = rule_of(seen, node.name)
        if rule is None:
            types = self._arguments(arguments)
            self._fail(node, types)
            self._refine_container(receiver, seen, node.name, types)
            return EXT if ty.kind in {"ext", "std", "tuple"} else None
        plain = [self.type_of(part) for part in arguments if part.kind not in {"closure", "turbofish"}]
        first = plain[0] if plain else None
        self._refine_container(receiver, seen, node.name, plain)
        called_with = ResolvedType("fn", "", (None, *(instantiate(one, seen, None, first) for one in rule.given)))
        closures = [self.closure(part, called_with) for part in arguments if part.kind == "closure"]
        self._fail(node, closures or plain)
        function = next((ty for ty in (*closures, *plain) if ty is not None and ty.kind == "fn"), None)
        if node.name == "collect" and arguments and arguments[-1].parts:
            held = seen.args[0] if seen.args else None
            return with_elements(self._types.lower(arguments[-1].parts[0], self._context), held)
        return instantiate(rule.result, seen, _result(function), first)

    def _refine_container(
        self, receiver: RustNode, ty: ResolvedType, method: str, types: list[ResolvedType | None]
    ) -> None:
        """Infer the element type of an empty container from the first value added."""
        if receiver.kind == "path" and ty.kind == "std" and method in _FILLING and not any(ty.args) and any(types):
            self._locals.refine(receiver.name, ResolvedType("std", ty.name, tuple(types)))

    def macro(self, node: RustNode) -> ResolvedType | None:
        name = node.name
        names, module = self._types.names, self._context.module
        found = names.resolve(module, tuple(name.split("::")), MACROS) if "::" in name else names.macro(module, name)
        if found is not None and found.decl is not None:
            self._findings.call(found.path, found.decl, SURE, node.line, self._flow(node, node.parts))
        before, self._in_macro = self._in_macro, True
        self._locals.enter()
        types = [self.type_of(part) for part in node.parts]
        self._locals.leave()
        self._in_macro = before
        if found is not None and found.decl is not None:
            return None
        if name in _LISTS and not types:
            return ResolvedType("std", "Vec", (None,))
        return macro_result(name.rpartition("::")[2], types[0] if types else None)


def _result(ty: ResolvedType | None) -> ResolvedType | None:
    return ty.args[0] if ty is not None and ty.kind == "fn" and ty.args else None


def _bind_parameters(written: RustNode, ty: ResolvedType, env: dict[str, ResolvedType | None]) -> None:
    """Bind a type parameter to the type at its position in an argument."""
    if written.kind != "tpath":
        return
    if written.name in env:
        env[written.name] = ty if ty.kind != "ext" or env[written.name] is None else env[written.name]
        return
    for part, inside in zip(written.parts, ty.args, strict=False):
        if inside is not None:
            _bind_parameters(part, inside, env)


def with_elements(ty: ResolvedType | None, held: ResolvedType | None) -> ResolvedType | None:
    """Return a container written `Vec<_>` with this element type."""
    if ty is None or ty.kind != "std" or not ty.args or ty.args[0] is not None:
        if ty is not None and ty.kind == "std" and ty.name in {"Result", "Option"} and held is not None and held.args:
            return replace(ty, args=(with_elements(ty.args[0], held.args[0]), *ty.args[1:]))
        return ty
    if ty.name == "HashMap" and held is not None and held.kind == "tuple":
        return replace(ty, args=held.args)
    return replace(ty, args=(held, *ty.args[1:]))


def _written(node: RustNode) -> str:
    """Return an expression as written, shortened to its names."""
    names: list[str] = []
    while node.kind in {"method", "field", "call", "try", "await", "index"} and node.parts:
        if node.name:
            names.append(f"{node.name}()" if node.kind == "method" else node.name)
        node = node.parts[0]
    names.append(node.name or "_")
    return ".".join(reversed(names))
