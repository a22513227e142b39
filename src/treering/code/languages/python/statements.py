"""A single walk over the query matches of a file: definitions, scopes, bindings, branches, imports and calls."""

import tree_sitter_python
from tree_sitter import Language, Node, QueryCursor

from treering.code.facts import CallFlow
from treering.code.languages.error_recovery import RecoveredTree
from treering.code.languages.line_index import LineIndex
from treering.code.languages.python.body import PythonImport
from treering.code.languages.python.branches import Branches
from treering.code.languages.python.parameters import bind_parameters, is_test_file, traits_of
from treering.code.languages.python.scopes import PythonScope, ScopeKind
from treering.code.languages.python.string_literals import string_content
from treering.code.languages.python.syntax_walk import CallSyntax, DefinitionSyntax, ParsedFile
from treering.code.languages.queries import query_of
from treering.code.languages.syntax_nodes import first_of, in_order, problems_of, text_of

GRAMMAR = Language(tree_sitter_python.language())
_QUERY = query_of(GRAMMAR, "python")
_NO_TYPE_ANNOTATIONS = frozenset({"TypeAlias", "Final", "ClassVar"})
_ADD_EXPORTS = frozenset({"__all__.extend", "__all__.append"})
_ARGUMENTS, _RESULT = int(CallFlow.ARGUMENTS), int(CallFlow.RESULT)
_EXPORT_METHOD_LENGTH = len("__all__.extend")


def read(path: str, text: RecoveredTree) -> ParsedFile:
    root, lines = text.tree.root_node, LineIndex(text.text)
    captured = QueryCursor(_QUERY).captures(root)
    discarded = {node.id for node in captured.get("discarded", ())}
    reading = _StatementWalk(is_test_file(path), discarded, lines)
    events = [
        (node.start_byte, -node.end_byte, order, number, node)
        for order, what in enumerate(_EVENTS)
        for number, node in enumerate(captured.get(what, ()))
    ]
    events.sort()
    handlers = [getattr(reading, "_" + what) for what in _EVENTS]
    for start, end, order, _, node in events:
        reading.enter(start)
        handlers[order](node, start, -end)
    reading.found.problems = problems_of(root, lines, text.lines)
    reading.found.root = root
    reading.found.attributes = captured.get("attribute", [])
    reading.found.contexts = in_order(captured.get("context", ()))
    reading.found.raised = in_order(captured.get("raise", ()))
    reading.found.caught = in_order(captured.get("except", ()))
    return reading.found


_EVENTS = (
    *("decorated", "function", "class", "lambda", "if", "elif", "else", "while", "for", "try", "case", "except"),
    *(
        "assignment",
        "augmented",
        "walrus",
        "alias",
        "comprehension",
        "comprehended",
        "guard",
        "with",
        "import",
        "from",
        "global",
        "nonlocal",
    ),
    *("assert", "choice", "both", "return", "yield", "call"),
)


class _StatementWalk(Branches):
    """The complete walk: control flow, definitions, bindings and calls."""

    def __init__(self, test_file: bool, discarded: set[int], lines: LineIndex) -> None:
        super().__init__(test_file, discarded, lines)
        self._known: set[int] = set()
        self._exports_computed = False

    # definitions

    def _decorated(self, node: Node, start: int, end: int) -> None:
        definition = node.child_by_field_name("definition")
        if definition is not None and definition.type in ("function_definition", "class_definition"):
            decorators = [child for child in node.named_children if child.type == "decorator"]
            self._define(definition, decorators, start)

    def _function(self, node: Node, start: int, end: int) -> None:
        if node.id not in self._known:
            self._define(node, [], start)

    _class = _function

    def _define(self, node: Node, decorators: list[Node], start: int) -> None:
        name, body = text_of(node.child_by_field_name("name")), node.child_by_field_name("body")
        if not name or body is None:
            return
        self._known.add(node.id)
        outer = self._scope
        qualname = f"{outer.qualname}.{name}" if outer.qualname else name
        kind = ScopeKind.CLASS if node.type == "class_definition" else ScopeKind.FUNCTION
        inner = PythonScope(kind, qualname, outer)
        method = kind is ScopeKind.FUNCTION and outer.kind is ScopeKind.CLASS
        if method:
            inner.owner = outer
        elif kind is ScopeKind.FUNCTION:
            inner.owner = outer.owner
            inner.receiver = outer.receiver
        self.bind(name, node.start_byte, node, "definition", detail=qualname)
        begin, end = body.start_byte, node.end_byte
        defined = DefinitionSyntax(
            node, qualname, outer, inner, decorators, start, begin, end, self._definition, method
        )
        if kind is ScopeKind.FUNCTION:
            inner.returns = node.child_by_field_name("return_type")
            defined.traits = traits_of(node, decorators)
            traits, tests = defined.traits, self._test_file
            bind_parameters(node, inner, outer, body=begin, traits=traits, method=method, tests=tests)
        self.found.defined.append(defined)
        self._definition = defined
        self._outer_blocks.append(self._block)
        self._block = None

    def _lambda(self, node: Node, start: int, end: int) -> None:
        parameters = node.child_by_field_name("parameters")
        for parameter in parameters.named_children if parameters is not None else ():
            named = parameter.child_by_field_name("name") or parameter
            if named.type == "identifier":
                self.bind(text_of(named), start, None, "value", until=end)

    # bindings

    def _assignment(self, node: Node, start: int, end: int) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        annotation = node.child_by_field_name("type")
        if left is None:
            return
        value = right
        while value is not None and value.type == "assignment":
            value = value.child_by_field_name("right")
        role = "declared" if value is None else "value"
        annotation_name = text_of(annotation).rpartition(".")[2]
        if value is not None and (
            annotation_name == "TypeAlias" or (value.type == "subscript" and self._definition is None)
        ):
            role = "alias"
        if annotation_name in _NO_TYPE_ANNOTATIONS:
            annotation = None
        self.bind_target(left, end, value, role, annotation=annotation)
        if self._definition is None and text_of(left) == "__all__" and value is not None:
            self._export(value)

    def _export(self, value: Node | None) -> None:
        """Add a literal to `__all__`; a computed value makes it unknown."""
        if value is None or value.type not in ("list", "tuple"):
            self._exports_computed = True
        else:
            names = [string_content(item) for item in value.named_children if item.type == "string"]
            self.found.exports = (*(self.found.exports or ()), *(name for name in names if name))
        if self._exports_computed:
            self.found.exports = None

    def _augmented(self, node: Node, start: int, end: int) -> None:
        if self._definition is None and text_of(node.child_by_field_name("left")) == "__all__":
            self._export(node.child_by_field_name("right"))

    def _walrus(self, node: Node, start: int, end: int) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None:
            self.bind(text_of(name), end, value, "value")

    def _alias(self, node: Node, start: int, end: int) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None:
            self.bind(text_of(left), end, right, "alias")

    def _comprehension(self, node: Node, start: int, end: int) -> None:
        self._comprehensions.append((start, end))

    def _comprehended(self, node: Node, start: int, end: int) -> None:
        while self._comprehensions and self._comprehensions[-1][1] <= start:
            self._comprehensions.pop()
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None and self._comprehensions:
            begin, until = self._comprehensions[-1]
            self.bind_target(left, begin, right, "element", until=until)

    def _with(self, node: Node, start: int, end: int) -> None:
        value = node.child_by_field_name("value")
        if value is None or value.named_child_count < 2:
            return
        context, target = value.named_children[:2]
        statement = node.parent.parent if node.parent is not None else None
        waits = statement is not None and statement.child_count > 0 and statement.children[0].type == "async"
        self.bind_target(target, end, context, "entered_async" if waits else "entered")

    def _global(self, node: Node, start: int, end: int) -> None:
        for name in node.named_children:
            if self._scope is not self.found.module:
                self._scope.declared_scopes[text_of(name)] = self.found.module

    def _nonlocal(self, node: Node, start: int, end: int) -> None:
        for name in node.named_children:
            outer = self._scope.outer
            while outer is not None and (outer.kind is ScopeKind.CLASS or text_of(name) not in outer.names):
                outer = outer.outer
            if outer is not None and outer is not self._scope:
                self._scope.declared_scopes[text_of(name)] = outer

    def _import(self, node: Node, start: int, end: int) -> None:
        line = self._line(start)
        for name in node.named_children:
            if name.type == "aliased_import":
                module = text_of(name.child_by_field_name("name"))
                self.bind(text_of(name.child_by_field_name("alias")), end, None, "module", detail=module)
            elif name.type == "dotted_name":
                module = text_of(name)
                self.bind(module.partition(".")[0], end, None, "top", detail=module)
            else:
                continue
            self.found.imports.append(PythonImport(module, (), line))

    def _from(self, node: Node, start: int, end: int) -> None:
        module = text_of(node.child_by_field_name("module_name")).replace(" ", "")
        imported = []
        for name in node.children_by_field_name("name"):
            aliased = name.type == "aliased_import"
            original = text_of(name.child_by_field_name("name") if aliased else name)
            bound = text_of(name.child_by_field_name("alias")) if aliased else original
            self.bind(bound, end, None, "from", detail=f"{module} {original}")
            imported.append(original)
            self.found.from_imports[bound] = module
        if not imported and any(child.type == "wildcard_import" for child in node.named_children):
            imported.append("*")
        self.found.imports.append(PythonImport(module, tuple(imported), self._line(start)))

    # results, calls

    def _return(self, node: Node, start: int, end: int) -> None:
        value = first_of(node)
        definition = self._definition
        if value is not None and definition is not None and not definition.is_class and not definition.generator:
            definition.results.append(value)

    def _yield(self, node: Node, start: int, end: int) -> None:
        definition = self._definition
        if definition is None or definition.is_class:
            return
        if not definition.generator:
            definition.results.clear()
            definition.generator = True
        value = first_of(node)
        if value is not None and node.child_count == 2:
            definition.results.append(value)

    def _call(self, node: Node, start: int, end: int) -> None:
        arguments = node.child_by_field_name("arguments")
        flow = 0 if node.id in self._discarded else _RESULT
        if arguments is not None and arguments.named_child_count:
            flow |= _ARGUMENTS
            adding = self._definition is None and arguments.start_byte - start == _EXPORT_METHOD_LENGTH
            if adding and text_of(node.child_by_field_name("function")) in _ADD_EXPORTS:
                self._export(first_of(arguments))
        if node.parent is not None and node.parent.type == "decorator":
            flow = 0  # The call belongs to the decorated function, whose data it does not get.
        main = bool(self._mains) and self._mains[-1][0] <= start < self._mains[-1][1]
        self.found.called.append(CallSyntax(node, self._definition, self._scope, flow, main))
