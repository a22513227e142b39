"""Extraction of a Go file: definitions, package-level names, and calls with their names bound."""

from itertools import islice
from operator import itemgetter

import tree_sitter_go
from tree_sitter import Language, Node, Parser, QueryCursor

from treering.code.facts import CallFlow, Facts
from treering.code.languages.error_recovery import parse_with_recovery
from treering.code.languages.go.body import GoBody, GoCall, GoHandover, GoImport, GoMemberUse
from treering.code.languages.go.constraints import unmet_constraint
from treering.code.languages.go.declarations import DeclarationCollector
from treering.code.languages.go.entry_points import VERBS, EntryPoints
from treering.code.languages.go.names import GoNames, Qualifiers
from treering.code.languages.go.syntax_conversion import SyntaxConverter, fields, identifiers, items
from treering.code.languages.go.uses import UseCollector, read_names
from treering.code.languages.line_index import LineIndex
from treering.code.languages.queries import query_of
from treering.code.languages.syntax_nodes import is_written, problems_of, text_of

GRAMMAR = Language(tree_sitter_go.language())
QUERY = query_of(GRAMMAR, "go")

_ENDS, _OPENS = range(2)
"""At one offset, ends come before starts, and inner ends before outer ones."""

_CAPTURES = (
    *("call", "command", "binding", "switched", "named", "qualified", "typed", "outside_type", "selected", "kept"),
    "scope",
)

_ARGUMENTS, _RESULT = CallFlow.ARGUMENTS.value, CallFlow.RESULT.value

_MAX_GIVEN = 30
"""Names of an assigned value that are looked at; only a value that holds whole functions has more."""
_FUNCTIONS = frozenset(("function_declaration", "method_declaration"))


def read_source(path: str, source: bytes) -> Facts:
    tree, source, repaired_lines = parse_with_recovery(Parser(GRAMMAR), source, "go")
    root = tree.root_node
    clause = next((each for each in root.named_children if each.type == "package_clause"), None)
    header = source[: clause.start_byte if clause is not None else 0].decode("utf-8", "replace")
    tags = unmet_constraint(path, header)
    lines = LineIndex(source)
    imports = _imports(root, lines)
    names = GoNames()
    qualifiers = Qualifiers(imports)
    converter = SyntaxConverter(names, qualifiers)
    declarations = DeclarationCollector(path, tags, names, converter, lines)
    entries = EntryPoints(converter, declarations, path.endswith("_test.go"))
    reading = _GoWalk(names, converter, declarations, entries, UseCollector(names, qualifiers, lines))
    captures = QueryCursor(QUERY).captures(root)
    for kind, nodes in read_names(source, root, qualifiers).items():
        captures.setdefault(kind, []).extend(nodes)
    reading.walk(captures)
    body = GoBody(
        package=text_of(items(clause)[0]) if items(clause) else "",
        tags=tags,
        imports=imports,
        declared=declarations.declared_with(reading.kept),
        bindings=names.needed_bindings(),
        calls=tuple(reading.calls),
        routes=tuple(reading.entries.routes),
        uses=reading.uses.all(declarations.definitions),
        members=tuple(reading.members),
        handed=tuple(reading.handed),
    )
    return Facts(path, reading.entries.marked_definitions(body.package), body, problems_of(root, lines, repaired_lines))


def _imports(root: Node, lines: LineIndex) -> tuple[GoImport, ...]:
    specs: list[Node] = []
    for declaration in root.named_children:
        if declaration.type == "import_declaration":
            for each in items(declaration):
                specs += items(each) if each.type == "import_spec_list" else [each]
    return tuple(
        GoImport(text_of(spec.child_by_field_name("name")), text_of(path)[1:-1], lines.of(spec.start_byte))
        for spec in specs
        if (path := spec.child_by_field_name("path")) is not None
    )


class _GoWalk:
    """A walk through the captures of one file, in the order in which names are declared and used."""

    def __init__(
        self,
        names: GoNames,
        converter: SyntaxConverter,
        declarations: DeclarationCollector,
        entries: EntryPoints,
        uses: UseCollector,
    ) -> None:
        self.names = names
        self.converter = converter
        self.declarations = declarations
        self.entries = entries
        self.calls: list[GoCall] = []
        self.members: list[GoMemberUse] = []
        self.handed: list[GoHandover] = []
        self.kept: dict[str, dict[str, None]] = {}
        """By function: the variables of the package in which it keeps values of its own."""
        self.uses = uses
        self._lines = uses.lines
        self._caller = -1
        self._switches: list[str] = []
        self._unused: set[int] = set()

    def walk(self, captures: dict[str, list[Node]]) -> None:
        events: list[tuple[int, int, int, int, Node]] = []
        for kind, name in enumerate(_CAPTURES):
            events += [(each.end_byte, _ENDS, -each.start_byte, kind, each) for each in captures.get(name, ())]
        opening = len(_CAPTURES)
        events += [(each.start_byte, _OPENS, -each.end_byte, opening, each) for each in captures.get("scope", ())]
        events.sort(key=itemgetter(0, 1, 2, 3))
        self._unused = {each.id for each in captures.get("unused", ())}
        happen = (
            self._call,
            self._command,
            self.declarations.binding,
            self._switched,
            self._named,
            self._qualified,
            self._typed,
            self._outside_type,
            self._selected,
            self._kept,
            self._close,
            self._open,
        )
        for *_, kind, node in events:
            happen[kind](node)

    def _open(self, node: Node) -> None:
        kind = node.type
        self.names.open()
        if kind == "block":
            return
        if kind in _FUNCTIONS:
            number = self.declarations.function(node)
            if self.names.depth == 1:
                self._caller = number
        elif kind == "func_literal":
            self.declarations.parameters(node)
        elif kind == "type_switch_statement":
            alias = items(node.child_by_field_name("alias"))
            self._switches.append(text_of(alias[0]) if alias else "_")
        elif kind == "type_case" and self._switches:
            types = fields(node, "type")
            if len(types) == 1:
                self.declarations.typed([self._switches[-1]], types[0])

    def _close(self, node: Node) -> None:
        self.names.close()
        if node.type == "type_switch_statement":
            self._switches.pop()
        elif self.names.depth == 0:
            self._caller = -1
            self.declarations.leave()

    def _switched(self, node: Node) -> None:
        """In a case with several types, and in the default case, the name keeps the type of the operand."""
        self.declarations.values([self._switches[-1]], [node])

    def _named(self, node: Node) -> None:
        self.uses.named(node, self._caller)

    def _qualified(self, node: Node) -> None:
        self.uses.qualified(node, self._caller)

    def _typed(self, node: Node) -> None:
        self.uses.typed(node, self._caller)

    def _outside_type(self, node: Node) -> None:
        self.uses.outside_type(node, self._caller)

    def _selected(self, node: Node) -> None:
        operand = node.child_by_field_name("operand")
        if (
            operand is not None
            and operand.type == "identifier"
            and self.converter.operand(text_of(operand)).op == "import"
        ):
            return
        member = self.converter.value(node)
        self.names.mark_needed()
        line = self._lines.of(node.start_byte)
        self.members.append(GoMemberUse(self._caller, member, line, len(self.names.bindings)))

    def _kept(self, node: Node) -> None:
        function = self.declarations.definitions[self._caller].qualname if self._caller >= 0 else ""
        right = node.child_by_field_name("right")
        if not function or right is None:
            return
        given = islice(identifiers(right), _MAX_GIVEN)
        if not any(self.names.is_bound(text_of(each)) for each in given):
            return
        for target in items(node.child_by_field_name("left")):
            variable = next(identifiers(target), None)
            if variable is not None and not self.names.is_bound(text_of(variable)):
                self.kept.setdefault(function, {})[text_of(variable)] = None

    def _call(self, node: Node) -> None:
        named = node.child_by_field_name("function")
        function = self.converter.function_of_call(node, named)
        self.names.mark_needed()
        self.converter.call_numbers[node.id] = len(self.calls)
        flow = 0 if node.id in self._unused else _RESULT
        given = node.child_by_field_name("arguments")
        if given is None or given.named_child_count:
            flow |= _ARGUMENTS
        line = self._lines.of((node if named is None else named).end_byte)
        if self._caller < 0 or self.declarations.definitions[self._caller].qualname == "init":
            values = [each for each in items(given) if each.type in ("identifier", "selector_expression")]
            self.handed += [GoHandover(len(self.calls), self.converter.value(each)) for each in values]
            self.names.mark_needed()
        self.calls.append(GoCall(self._caller, function, line, flow, len(self.names.bindings)))
        if is_written(named, "errors.As") and len(items(given)) > 1:
            target = self.converter.value(items(given)[1])
            self.names.mark_needed()
            self.members.append(GoMemberUse(self._caller, target, line, len(self.names.bindings), caught=True))
        if function.op == "sel" and function.name in VERBS:
            self.entries.route(function.name, items(given), self._caller, line)

    def _command(self, node: Node) -> None:
        self.entries.command(node, self._caller, self._lines.of(node.start_byte))
