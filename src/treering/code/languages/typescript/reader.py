"""State of the conversion of a file: scopes, the enclosing definition, and the terms so far."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tree_sitter import Node

from treering.code.facts import CallFlow, Definition, DefinitionKind, EntryPoint
from treering.code.languages.line_index import LineIndex
from treering.code.languages.typescript.query_parts import PartQuery
from treering.code.languages.typescript.terms import NONE, TYPE, VALUE, Cell, Heritage, TsBody, TsCall, TsScope
from treering.code.languages.typescript.uses import UseKey, settled_uses

MAX_DEPTH = 170
"""Maximum nesting of expressions, below the limit of Python's stack; handwritten code is never that deep."""

ARGUMENTS, RESULT = int(CallFlow.ARGUMENTS), int(CallFlow.RESULT)

Handler = Callable[["TermReader", Node, int], int]


class Tables(NamedTuple):
    """The handlers by node type."""

    leaves: Mapping[str, Handler]
    """Nodes without children to convert."""
    inner: Mapping[str, Handler]
    types: Mapping[str, Handler]


class ReaderPosition(NamedTuple):
    """The part of the reader's state that is restored at the end of a function, class or block."""

    scope: int
    function_scope: int
    block: bool
    """The block has no scope yet: its first declaration creates one."""
    prefix: str
    """Prefix of the qualified name of definitions here: the enclosing definitions."""
    origin: int
    this: int
    owner: int
    """The number of the class whose member is being read; 0 outside classes."""
    returns: list[int] | None
    expected_result: int
    """The expected return type of the function, if known."""


class TermReader:
    """Builds a file's body. The handlers in the tables convert nodes; this class holds their shared state."""

    def __init__(self, path: str, source: bytes, tables: Tables) -> None:
        self.path = path
        self.source = source
        self.text = _texts(source)
        self.lines = LineIndex(source)
        self.line = self.lines.of
        self._leaves, self._handlers, self._types = tables
        self.query = PartQuery(path)
        self.cells: dict[Cell, int] = {("none", "", 0, ()): NONE}
        self.parents: list[int] = [0]
        self.names: list[dict[str, int]] = [{}]
        self.calls: list[TsCall] = []
        self.uses: dict[UseKey, int] = {}
        """Uses other than calls, with the offset of the first."""
        self.tables: dict[str, tuple[UseKey, ...]] = {}
        """By name of a variable that holds an object or a list: the uses in it."""
        self.caught: list[str] = []
        """Names of the errors in the enclosing `catch` clauses."""
        self.imports: dict[str, int] = {}
        self.from_packages: set[str] = set()  # names whose import is not relative
        self.exports: dict[str, int] = {}
        self.stars: list[str] = []
        self.heritage: list[Heritage] = []
        self.classes: list[int] = [NONE]
        self.ambient: dict[str, int] = {}
        self.definitions: list[Definition] = []
        self.known: dict[str, int] = {}
        self.assigned: list[tuple[int, str, int]] = []
        self.properties: list[dict[str, int]] = [{}]
        """By class number: members assigned by `this.name = …`."""
        self.attached: dict[tuple[int, str], list[int]] = {}
        """By scope and name of a function or variable: members added later, `f.prototype.m = …`."""
        self.loaded: set[int] = set()
        self.parts: dict[int, int] = {}
        """Members of imported modules, each with its owner."""
        self.instances: dict[int, tuple[int, str]] = {}
        self.variable_lines: dict[str, tuple[int, int]] = {}
        self.field_names: dict[int, str] = {}
        self.variables: list[dict[str, int]] = []
        self.entries: dict[str, tuple[EntryPoint, str]] = {}
        self.problems: dict[int, str] = {}
        self.module = self.runs_tests = False
        self.discarded = False
        """The value of the next expression is unused."""
        self.subject = NONE
        """The name of the next object literal: the `this` of its methods."""
        self.exporting = -1
        self.sink = self.exports
        """Declarations in the scope `exporting` are exports and are recorded here."""
        self.depth = 0
        self.position = ReaderPosition(0, 0, False, "", -1, NONE, 0, None, NONE)

    def read(self, node: Node, expected: int = NONE) -> int:
        """Convert an expression with everything in it (NONE for a statement); `expected` is its type, if known."""
        kind = node.type
        leaf = self._leaves.get(kind)
        if leaf is not None:
            return leaf(self, node, expected)
        depth = self.depth
        if depth > MAX_DEPTH:
            self.problems.setdefault(self.line(node.start_byte), "nested too deeply: the inner part is left out")
            return NONE
        self.depth = depth + 1
        handler = self._handlers.get(kind)
        if handler is not None:
            term = handler(self, node, expected)
        else:
            term = NONE
            for child in node.named_children:
                self.read(child)
        self.depth = depth
        return term

    def type(self, node: Node | None) -> int:
        """Convert a type annotation; NONE if it is absent or unsupported."""
        depth = self.depth
        if node is None or depth > MAX_DEPTH:
            return NONE
        handler = self._types.get(node.type)
        if handler is None:
            return NONE
        self.depth = depth + 1
        term = handler(self, node, NONE)
        self.depth = depth
        return term

    def string(self, node: Node) -> str | None:
        """Return the value of a string literal, or None for any other node."""
        return self.text(node)[1:-1] if node.type == "string" else None

    def key(self, node: Node | None) -> str | None:
        """Return the name of a property that is written as a name or a literal."""
        if node is None:
            return None
        if node.type == "computed_property_name":
            inner = node.named_children
            return self.string(inner[0]) if inner else None
        return self.string(node) if node.type == "string" else self.text(node)

    def cell(self, op: str, text: str = "", n: int = 0, kids: tuple[int, ...] = ()) -> int:
        cells = self.cells
        return cells.setdefault((op, text, n, kids), len(cells))

    def name(self, text: str) -> int:
        cells = self.cells
        return cells.setdefault(("name", text, self.position.scope, ()), len(cells))

    def instance(self, text: str) -> int:
        """Return the instance that `new` creates from a function of this name: its `this`."""
        term = self.cell("instance_of", kids=(self.name(text),))
        self.instances[term] = (self.position.scope, text)
        return term

    def is_module_part(self, term: int) -> bool:
        """Whether a term is a module or a part of one, so that a variable holding it is an alias."""
        while term in self.parts:
            term = self.parts[term]
        return term in self.loaded

    def enter_scope(self) -> int:
        """Create a scope inside the current one; the caller sets it in a new position."""
        self.parents.append(self.position.scope)
        self.names.append({})
        return len(self.parents) - 1

    def declare(self, name: str, term: int, *, hoisted: bool = False) -> None:
        """Bind a name here; `hoisted` binds it in the whole function."""
        position = self.position
        if hoisted:
            scope = position.function_scope
        else:
            if position.block:
                self.position = position = position._replace(scope=self.enter_scope(), block=False)
            scope = position.scope
        if scope == self.exporting:
            op = "declared" if name.startswith(TYPE) else "name"
            self.sink[name] = self.cell(op, name.removeprefix(TYPE), scope)
        names = self.names[scope]
        before = names.get(name)
        names[name] = term if before is None or before == term else self.cell("merge", kids=(before, term))

    def define(self, name: str, kind: DefinitionKind, node: Node) -> tuple[str, int]:
        """Add a definition inside the current one, once per name; return its qualified name and number."""
        qualname = self.position.prefix + name
        known = self.known.get(qualname)
        if known is not None:
            return qualname, known
        self.known[qualname] = len(self.definitions)
        first, last = self.line(node.start_byte), self.line(node.end_byte)
        self.definitions.append(Definition(qualname, kind, first, last, exported=False))
        return qualname, len(self.definitions) - 1

    def inside(self, qualname: str, origin: int) -> None:
        self.position = self.position._replace(prefix=qualname + ".", origin=origin)

    def called(self, term: int, node: Node, *, passes: bool, used: bool) -> None:
        """Record a call, whether it has arguments, and whether its result is used."""
        flow = passes * ARGUMENTS | used * RESULT
        self.calls.append(TsCall(term, self.position.origin, self.line(node.start_byte), flow))

    def used(self, term: int, node: Node, how: int = VALUE) -> None:
        """Record a use that is not a call."""
        self.uses.setdefault((term, self.position.origin, how), node.start_byte)

    def not_used(self, term: int) -> None:
        """Remove the last use of a term: it is called or exported."""
        self.uses.pop((term, self.position.origin, VALUE), None)

    def imported(self, specifier: str, node: Node) -> None:
        self.imports.setdefault(specifier, self.line(node.start_byte))

    def body(self) -> TsBody:
        self._settle_assignments()
        self._settle_attached()
        self._settle_targets()
        cells = tuple(self.cells)
        module = self.module or bool(self.exports) or bool(self.stars)
        ambient = self.ambient if module else {**self.names[0], **self.ambient}
        return TsBody(
            cells=cells,
            scopes=tuple(TsScope(parent, names) for parent, names in zip(self.parents, self.names, strict=True)),
            calls=tuple(self.calls),
            uses=settled_uses(self, cells),
            imports=tuple(self.imports.items()),
            exports=self.exports,
            stars=tuple(dict.fromkeys(self.stars)),
            heritage=tuple(self.heritage),
            owners=tuple(definition.qualname for definition in self.definitions),
            classes=tuple(self.classes),
            ambient=ambient,
        )

    def binding(self, scope: int, name: str) -> tuple[int, int] | None:
        """Return the scope that binds a name visible from another scope, and its term."""
        found = self._bound(scope, name)
        return None if found is None else (found, self.names[found][name])

    def _bound(self, scope: int, name: str) -> int | None:
        """Return the scope that binds a name visible from another scope."""
        while name not in self.names[scope]:
            if scope == 0:
                return None
            scope = self.parents[scope]
        return scope

    def _settle_assignments(self) -> None:
        """The type of a variable declared without a type comes from the values assigned to it."""
        assigned: dict[tuple[int, str], list[int]] = {}
        for seen_from, name, term in self.assigned:
            scope = self._bound(seen_from, name)
            if scope is not None:
                assigned.setdefault((scope, name), []).append(term)
        cells = list(self.cells)
        for (scope, name), terms in assigned.items():
            op, text, n, kids = cells[self.names[scope][name]]
            if op == "var" and kids[0] == NONE:
                more = tuple(dict.fromkeys(term for term in terms if term not in kids))
                self.names[scope][name] = self.cell(op, text, n, kids + more[:4])

    def _settle_attached(self) -> None:
        attached: dict[tuple[int, str], list[int]] = {}
        for (seen_from, name), members in self.attached.items():
            scope = self._bound(seen_from, name)
            if scope is not None:
                attached.setdefault((scope, name), []).extend(members)
        for (scope, name), members in attached.items():
            space = self.cell("space", kids=tuple(dict.fromkeys(members)))
            self.names[scope][name] = self.cell("merge", kids=(self.names[scope][name], space))

    def _settle_targets(self) -> None:
        """A variable without a definition cannot be a target."""
        unnamed = self.variable_lines.keys() - self.known.keys()
        cells = list(self.cells) if unnamed else []
        for names in self.names if unnamed else ():
            for name in [name for name in names if name in unnamed]:
                names[name] = self._without_target(cells, names[name])

    def _without_target(self, cells: list[Cell], number: int) -> int:
        op, text, n, kids = cells[number]
        if op == "merge":
            return self.cell(op, text, n, (self._without_target(cells, kids[0]), *kids[1:]))
        return self.cell(op, "", n, kids) if op == "var" else number

    def bind_type(self, name: str, term: int) -> None:
        self.declare(TYPE + name, term)


def _texts(source: bytes) -> Callable[[Node], str]:
    """Return a function that reads a node's text; decoding one character per byte keeps offsets equal."""
    characters = source.decode("latin-1")

    def plain(node: Node) -> str:
        return characters[node.start_byte : node.end_byte]

    def mixed(node: Node) -> str:
        raw = characters[node.start_byte : node.end_byte]
        return raw if raw.isascii() else raw.encode("latin-1").decode("utf-8", "replace")

    return plain if source.isascii() else mixed
