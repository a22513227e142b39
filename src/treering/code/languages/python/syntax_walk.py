"""State of a walk over a file: the current definition, scope and block, and what was found."""

import msgspec
from tree_sitter import Node

from treering.code.facts import SyntaxProblem
from treering.code.languages.line_index import LineIndex
from treering.code.languages.python.body import PythonImport
from treering.code.languages.python.scopes import Binding, ConditionalBlock, PythonScope, ScopeKind
from treering.code.languages.syntax_nodes import text_of

LEAVING = frozenset({"return_statement", "raise_statement"})
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "expression_list"})


class DefinitionSyntax(msgspec.Struct, eq=False):
    """A function or class in the text."""

    node: Node
    qualname: str
    outer: PythonScope
    """The scope in which its header is evaluated."""
    inner: PythonScope
    decorators: list[Node]
    start: int
    body: int
    end: int
    around: "DefinitionSyntax | None"
    method: bool
    results: list[Node] = msgspec.field(default_factory=list)
    generator: bool = False
    traits: int = 0

    @property
    def is_class(self) -> bool:
        return self.inner.kind is ScopeKind.CLASS


class CallSyntax(msgspec.Struct, eq=False):
    node: Node
    origin: DefinitionSyntax | None
    scope: PythonScope
    flow: int
    in_main: bool


class ParsedFile(msgspec.Struct, eq=False):
    """Everything found in one file, not yet converted."""

    module: PythonScope
    lines: LineIndex
    defined: list[DefinitionSyntax] = msgspec.field(default_factory=list)
    called: list[CallSyntax] = msgspec.field(default_factory=list)
    imports: list[PythonImport] = msgspec.field(default_factory=list)
    exports: tuple[str, ...] | None = None
    problems: tuple[SyntaxProblem, ...] = ()
    from_imports: dict[str, str] = msgspec.field(default_factory=dict)
    """Names bound by `from` imports anywhere in the file, each with its module."""
    root: Node | None = None
    attributes: list[Node] = msgspec.field(default_factory=list)
    contexts: list[Node] = msgspec.field(default_factory=list)
    """The context expressions of `with`."""
    raised: list[Node] = msgspec.field(default_factory=list)
    caught: list[Node] = msgspec.field(default_factory=list)
    """The statements `raise` and `except`."""


class SyntaxWalk:
    """The current definition and block of the walk."""

    def __init__(self, test_file: bool, discarded: set[int], lines: LineIndex) -> None:
        self._line = lines.of
        self._discarded = discarded
        self.found = ParsedFile(PythonScope(ScopeKind.MODULE, "", None), lines)
        self._test_file = test_file
        self._definition: DefinitionSyntax | None = None
        self._scope = self.found.module
        self._block: ConditionalBlock | None = None
        self._blocks: list[ConditionalBlock] = []
        self._outer_blocks: list[ConditionalBlock | None] = []

    def enter(self, start: int) -> None:
        """Leave the definitions and blocks that end before the offset, and enter the block that begins there."""
        definition = self._definition
        while definition is not None and start >= definition.end:
            definition = definition.around
            self._block = self._outer_blocks.pop()
        self._definition = definition
        if definition is None:
            self._scope = self.found.module
        else:
            self._scope = definition.inner if start >= definition.body else definition.outer
        while self._block is not None and start >= self._block.end:
            self._block = self._block.outer
        blocks = self._blocks
        while blocks and blocks[-1].start <= start:
            block = blocks.pop()
            if start < block.end:
                block.outer = self._block
                self._block = block

    def expect(self, node: Node | None, branches_end: int = 0, loop: bool = False) -> None:
        """Register the statements of `node` as a block, entered when the walk reaches it."""
        if node is None:
            return
        count = node.named_child_count
        last = node.named_child(count - 1) if count else None
        leaves = last is not None and last.type in LEAVING
        self._blocks.append(ConditionalBlock(node.start_byte, node.end_byte, None, branches_end, leaves, loop))
        self._blocks.sort(key=lambda block: -block.start)

    def bind(
        self,
        name: str,
        position: int,
        node: Node | None,
        role: str,
        *,
        detail: str = "",
        annotation: Node | None = None,
        until: int = 0,
        classes: Node | None = None,
        path: tuple[int, ...] = (),
    ) -> None:
        """Bind a name of the current scope to a value from `position` on."""
        scope = self._scope
        scope.bind(name, Binding(position, self._block, node, role, scope, detail, annotation, until, classes, path))

    def bind_target(
        self,
        target: Node,
        position: int,
        value: Node | None,
        role: str,
        *,
        annotation: Node | None = None,
        until: int = 0,
    ) -> None:
        """Bind a target: a name, an attribute of the receiver, or a pattern of those."""
        waiting: list[tuple[Node, tuple[int, ...]]] = [(target, ())]
        while waiting:
            at, path = waiting.pop()
            if at.type == "identifier":
                self.bind(text_of(at), position, value, role, annotation=annotation, until=until, path=path)
            elif at.type == "attribute":
                binding = Binding(position, self._block, value, role, self._scope, annotation=annotation, path=path)
                self._bind_attribute(at, binding)
            elif at.type in _PATTERNS:
                waiting += [(item, (*path, number)) for number, item in enumerate(at.named_children)]
            elif at.type in ("as_pattern_target", "parenthesized_expression") and at.named_child_count:
                waiting.append((at.named_children[0], path))
            elif at.type == "list_splat_pattern" and at.named_child_count:
                self.bind(text_of(at.named_children[0]), position, None, "value", until=until)

    def _bind_attribute(self, at: Node, binding: Binding) -> None:
        """An attribute that a method assigns to its receiver belongs to the class."""
        owner, receiver = self._scope.owner, at.child_by_field_name("object")
        if owner is None or receiver is None or not self._scope.receiver or text_of(receiver) != self._scope.receiver:
            return
        owner.attributes.setdefault(text_of(at.child_by_field_name("attribute")), []).append(binding)
