"""Type inference for function bodies, as far as types are evident from the code."""

from collections.abc import Callable, Sequence

from treering.code.facts import SymbolLookup
from treering.code.languages.edges import EVIDENT
from treering.code.languages.rust.body import RustNode
from treering.code.languages.rust.calls import CallInference, with_elements
from treering.code.languages.rust.findings import Findings
from treering.code.languages.rust.members import RustMembers
from treering.code.languages.rust.patterns import Locals, PatternBinder
from treering.code.languages.rust.resolved_types import EXT, ResolvedType, TypeContext, same_type
from treering.code.languages.rust.type_lowering import TypeLowering

_OPERATORS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "%": "rem",
    "|": "bitor",
    "&": "bitand",
    "+=": "add_assign",
    "-=": "sub_assign",
    "*=": "mul_assign",
    "|=": "bitor_assign",
    "&=": "bitand_assign",
}


class BodyInference(CallInference):
    """Walks the function bodies of one file in order."""

    def __init__(self, types: TypeLowering, members: RustMembers, findings: Findings, lookup: SymbolLookup) -> None:
        super().__init__(types, members, findings, lookup)
        self._returned_error: ResolvedType | None = None
        self._patterns = PatternBinder(types, members, findings)
        self._readers: dict[str, Callable[[RustNode], ResolvedType | None]] = {
            "path": self._path,
            "qual": self._path,
            "call": self.call,
            "method": self.method,
            "field": self._field,
            "macro": self.macro,
            "block": self._block,
            "let": self._let,
            "semi": self._semi,
            "if": self._if,
            "iflet": self._if_let,
            "match": self._match,
            "for": self._for,
            "while": self._while,
            "closure": lambda node: self.closure(node, None),
            "struct": self._struct,
            "try": self._try,
            "await": lambda node: self._members.awaited(self.type_of(node.parts[0])) if node.parts else None,
            "index": self._index,
            "cast": self._cast,
            "tuple": lambda node: ResolvedType("tuple", "", tuple(self.type_of(part) for part in node.parts)),
            "array": self._array,
            "range": self._range,
            "binary": self._binary,
            "program": self.run,
            "lit": lambda node: ResolvedType("ext", node.name),
        }

    def function(
        self,
        body: RustNode,
        params: Sequence[RustNode],
        context: TypeContext,
        *,
        takes_self: bool,
        result: ResolvedType | None = None,
    ) -> None:
        """Record every call in a function's body."""
        self._context = context
        self._returned_error = _error_of(result)
        self._locals = Locals()
        if takes_self:
            self._locals.bind("self", context.self_type)
        for param in params:
            self._bind(param.parts[0], self._types.lower(param.parts[1], context))
        self.type_of(body)

    def type_of(self, node: RustNode) -> ResolvedType | None:
        reader = self._readers.get(node.kind)
        if reader is not None:
            return reader(node)
        for part in node.parts:
            self.type_of(part)
        return None

    def _bind(self, pattern: RustNode, ty: ResolvedType | None) -> None:
        self._patterns.bind(pattern, ty, self._context, self._locals)

    def _path(self, node: RustNode) -> ResolvedType | None:
        if self._locals.knows(node.name):
            return self._locals.type_of(node.name)
        meaning = self._values.meaning(node, self._context)
        if meaning is None:
            return None
        if meaning.member is not None and meaning.member.decl.kind == "fn":
            self._findings.refer_to_function(meaning.member.path, meaning.member.decl)
        return meaning.ty

    def _field(self, node: RustNode) -> ResolvedType | None:
        return self._members.field(self.type_of(node.parts[0]), node.name)

    def _block(self, node: RustNode) -> ResolvedType | None:
        self._locals.enter()
        ty: ResolvedType | None = None
        for part in node.parts:
            ty = self.type_of(part)
        self._locals.leave()
        return ty

    def _semi(self, node: RustNode) -> ResolvedType | None:
        inner = node.parts[0]
        self._unused = inner
        self.type_of(inner)
        return ResolvedType("tuple")

    def _let(self, node: RustNode) -> ResolvedType | None:
        pattern, written, value, otherwise = node.parts
        ty = self.type_of(value)
        if written.kind != "hole":
            annotated = self._types.lower(written, self._context)
            if annotated is not None and _is_default(value):
                self.default(annotated, value.line)
            ty = with_elements(annotated, ty.args[0] if ty is not None and ty.args else None) if annotated else ty
        self.type_of(otherwise)
        self._bind(pattern, ty)
        return None

    def _if(self, node: RustNode) -> ResolvedType | None:
        self._locals.enter()
        self.type_of(node.parts[0])
        given = [self.type_of(part) for part in node.parts[1:2]]
        self._locals.leave()
        given += [self.type_of(part) for part in node.parts[2:]]
        return _first_known(given)

    def _if_let(self, node: RustNode) -> ResolvedType | None:
        pattern, value = node.parts
        self._bind(pattern, self.type_of(value))
        return EXT

    def _while(self, node: RustNode) -> ResolvedType | None:
        self._locals.enter()
        for part in node.parts:
            self.type_of(part)
        self._locals.leave()
        return ResolvedType("tuple")

    def _match(self, node: RustNode) -> ResolvedType | None:
        matched = self.type_of(node.parts[0])
        given: list[ResolvedType | None] = []
        for arm in node.parts[1:]:
            pattern, guard, value = arm.parts
            self._locals.enter()
            self._bind(pattern, matched)
            self.type_of(guard)
            given.append(self.type_of(value))
            self._locals.leave()
        return _first_known(given)

    def _for(self, node: RustNode) -> ResolvedType | None:
        pattern, value, body = node.parts
        met = self._members.element(self.type_of(value))
        self._locals.enter()
        self._bind(pattern, met)
        self.type_of(body)
        self._locals.leave()
        return ResolvedType("tuple")

    def closure(self, node: RustNode, given: ResolvedType | None) -> ResolvedType:
        """Infer a closure's type; its parameters are as written, else as passed by the function that receives it."""
        body, result, *params = node.parts
        called_with = given.args[1:] if given is not None and given.kind == "fn" else ()
        self._locals.enter()
        for place, param in enumerate(params):
            ty = self._types.lower(param.parts[1], self._context)
            self._bind(param.parts[0], ty or (called_with[place] if place < len(called_with) else None))
        written = self._types.lower(result, self._context)
        before, self._returned_error = self._returned_error, _error_of(written)
        found = self.type_of(body)
        self._returned_error = before
        self._locals.leave()
        return ResolvedType("fn", "", (written or found,))

    def _struct(self, node: RustNode) -> ResolvedType | None:
        for part in node.parts:
            self.type_of(part)
        ty = self._types.lower(RustNode("tpath", node.name), self._context)
        if ty is None and "::" in node.name:
            return self._types.lower(RustNode("tpath", node.name.rpartition("::")[0]), self._context)
        return ty

    def _try(self, node: RustNode) -> ResolvedType | None:
        if self._unused is node and node.parts:
            self._unused = node.parts[0]
        ty = self.type_of(node.parts[0]) if node.parts else None
        self._convert(_error_of(ty), node.parts)
        if ty is None or ty.kind != "std" or ty.name not in {"Option", "Result"}:
            return EXT if ty is not None and ty.kind == "ext" else None
        return ty.args[0] if ty.args else None

    def _convert(self, error: ResolvedType | None, parts: tuple[RustNode, ...]) -> None:
        """`?` converts an error by the `From` of the error that the function returns."""
        returned = self._returned_error
        if error is None or returned is None or same_type(error, returned):
            return
        member = self._members.method(returned, "from")
        for one in self._types.overloads(member) if member is not None else ():
            if len(one.decl.types) > 1 and same_type(self._types.lower(one.decl.types[1], one.context), error):
                self._findings.depend(one.path, one.decl, EVIDENT, parts[0].line or self._findings.line)

    def _index(self, node: RustNode) -> ResolvedType | None:
        types = [self.type_of(part) for part in node.parts]
        container = types[0] if types else None
        if container is None or len(node.parts) < 2:
            return None
        if node.parts[1].kind == "range":
            return container
        if container.kind == "adt":
            member = self._members.method(container, "index")
            if member is not None:
                self._findings.reach_file(member.path)
                return self._types.lower(member.decl.types[0], member.context)
            container = self._members.as_standard(container)
        if container.kind == "std" and container.name == "HashMap":
            return container.args[1] if len(container.args) > 1 else None
        return self._members.element(container)

    def _cast(self, node: RustNode) -> ResolvedType | None:
        self.type_of(node.parts[0])
        return self._types.lower(node.parts[1], self._context)

    def _array(self, node: RustNode) -> ResolvedType | None:
        return ResolvedType("std", "Vec", (_first_known([self.type_of(part) for part in node.parts]),))

    def _range(self, node: RustNode) -> ResolvedType | None:
        return ResolvedType("std", "Iter", (_first_known([self.type_of(part) for part in node.parts]),))

    def _binary(self, node: RustNode) -> ResolvedType | None:
        """An operator depends on the function that implements it for a type of the project."""
        left, *_ = [self.type_of(part) for part in node.parts] or [None]
        name = _OPERATORS.get(node.name)
        if name is None:
            return ResolvedType("ext", "bool")
        if left is None or left.kind == "ext":
            return left
        member = self._members.method(left, name) if left.kind == "adt" else None
        if member is None:
            return None
        self._findings.reach_file(member.path)
        self._findings.depend(member.path, member.decl, EVIDENT, node.line)
        return self._types.lower(member.decl.types[0], member.context)


def _error_of(ty: ResolvedType | None) -> ResolvedType | None:
    """The error of a `Result`, if it is a type of the project."""
    held = ty.args[1] if ty is not None and ty.kind == "std" and ty.name == "Result" and len(ty.args) > 1 else None
    return held if held is not None and held.kind == "adt" else None


def _is_default(node: RustNode) -> bool:
    return node.kind == "call" and node.parts[0].name.endswith("Default::default")


def _first_known(types: Sequence[ResolvedType | None]) -> ResolvedType | None:
    """Return the common type of branches: the first type of the project, else the first known."""
    known = [ty for ty in types if ty is not None]
    telling = (ty for ty in known if ty.kind not in {"ext", "tuple"} and (ty.kind != "std" or any(ty.args)))
    return next(telling, known[0] if known else None)
