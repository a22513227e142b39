"""Conversion of expressions to nodes: calls, bindings and types."""

from collections.abc import Callable

from tree_sitter import Node, Parser

from treering.code.languages.line_index import LineIndex
from treering.code.languages.rust.body import HOLE, RustNode
from treering.code.languages.rust.syntax_conversion import (
    MAX_DEPTH,
    path_text,
    pattern_node,
    qualified,
    type_node,
    type_nodes,
)
from treering.code.languages.syntax_nodes import first_of, text_of

NestedItem = Callable[[Node, int], None]
"""Receives an item nested among the statements of a function, and its depth."""

STRING = RustNode("lit", "str")
VALUE = RustNode("lit")
NOTHING = RustNode("other")

_ITEMS = frozenset(
    {
        "function_item",
        "struct_item",
        "enum_item",
        "union_item",
        "trait_item",
        "impl_item",
        "use_declaration",
        "mod_item",
        "const_item",
        "static_item",
        "type_item",
        "macro_definition",
        "extern_crate_declaration",
    }
)
_LITERALS = {
    "string_literal": STRING,
    "raw_string_literal": STRING,
    "integer_literal": VALUE,
    "float_literal": VALUE,
    "char_literal": VALUE,
    "boolean_literal": VALUE,
    "continue_expression": NOTHING,
}
_SAME_AS_INSIDE = frozenset({"reference_expression", "parenthesized_expression", "else_clause"})
_BLOCKS = frozenset({"block", "unsafe_block", "async_block", "const_block", "gen_block", "try_block"})
_PATHS = frozenset({"identifier", "self", "scoped_identifier", "crate", "super", "metavariable"})
_LISTS = {
    "tuple_expression": "tuple",
    "unit_expression": "tuple",
    "array_expression": "array",
    "index_expression": "index",
    "range_expression": "range",
    "try_expression": "try",
    "await_expression": "await",
    "return_expression": "return",
    "break_expression": "return",
    "yield_expression": "return",
    "let_chain": "chain",
    "loop_expression": "loop",
}
_FIELDS = {
    "binary_expression": ("left", "right"),
    "assignment_expression": ("left", "right"),
    "compound_assignment_expr": ("left", "right"),
    "if_expression": ("condition", "consequence", "alternative"),
    "while_expression": ("condition", "body"),
}
_FIELD_KINDS = {
    "binary_expression": "binary",
    "assignment_expression": "assign",
    "compound_assignment_expr": "binary",
    "if_expression": "if",
    "while_expression": "while",
}
_IGNORED_NODES = frozenset(
    {"line_comment", "block_comment", "label", "attribute_item", "inner_attribute_item", "empty_statement"}
)
_QUOTING = frozenset({"quote", "quote_spanned", "parse_quote", "parse_quote_spanned", "stringify"})
"""Macros whose arguments are code for another place."""

_PROGRAM_VARIABLE = b'"CARGO_BIN_EXE_'
"""Cargo sets such a variable for each binary of a package whose integration tests it builds."""
_PROGRAM_FINDERS = frozenset({"cargo_bin", "cargo_bin_cmd", "cargo_bin_str"})
"""Functions and macros of test libraries that find a binary of the package by its name."""
_BRACKETS = {b"[": (b"[", b"]"), b"{": (b"{", b"}")}


class RustExpressions:
    """Converts expressions; nested items go to `nested`, and macro arguments are parsed again as expressions."""

    def __init__(self, parser: Parser, nested: NestedItem, lines: LineIndex) -> None:
        self._parser = parser
        self._nested = nested
        self._lines = lines
        self._readers: dict[str, Callable[[Node, int], RustNode]] = {
            "call_expression": self._call,
            "field_expression": self._field,
            "generic_function": self._generic,
            "unary_expression": self._unary,
            "type_cast_expression": self._cast,
            "struct_expression": self._struct,
            "closure_expression": self._closure,
            "let_condition": self._let_condition,
            "match_expression": self._match,
            "for_expression": self._for,
            "macro_invocation": self._macro,
            "let_declaration": self._let,
            "expression_statement": self._statement,
            **dict.fromkeys(_BLOCKS, self._block),
            **dict.fromkeys(_PATHS, self._path),
            **dict.fromkeys(_SAME_AS_INSIDE, self._inside),
            **dict.fromkeys(_LISTS, self._list),
            **dict.fromkeys(_FIELDS, self._by_fields),
            **dict.fromkeys(_ITEMS, self._item),
        }

    def read(self, tree: Node | None, depth: int) -> RustNode:
        if tree is None:
            return HOLE
        kind = tree.type
        literal = _LITERALS.get(kind)
        if literal is not None:
            is_program = literal is STRING and (tree.text or b"").startswith(_PROGRAM_VARIABLE)
            return self._program(tree) if is_program else literal
        if depth > MAX_DEPTH:
            return NOTHING
        reader = self._readers.get(kind)
        return reader(tree, depth) if reader is not None else self._other(tree, depth)

    def line_of(self, tree: Node) -> int:
        """Return the line in the file, also for nodes parsed from a macro's arguments."""
        return self._lines.of(tree.start_byte)

    def last_line_of(self, tree: Node) -> int:
        return self._lines.of(tree.end_byte)

    def _program(self, tree: Node) -> RustNode:
        """A string with the name of a binary of the package, or of the variable that holds its path."""
        return RustNode("program", text_of(tree)[1:-1].removeprefix("CARGO_BIN_EXE_"), (), self.line_of(tree))

    def _arguments(self, trees: list[Node], called: str, depth: int) -> tuple[RustNode, ...]:
        if called in _PROGRAM_FINDERS and len(trees) == 1 and trees[0].type == "string_literal":
            return (self._program(trees[0]),)
        return self._all(trees, depth)

    def _all(self, trees: list[Node], depth: int) -> tuple[RustNode, ...]:
        read = self.read
        return tuple([read(tree, depth) for tree in trees if tree.type not in _IGNORED_NODES])

    def _other(self, tree: Node, depth: int) -> RustNode:
        parts = self._all(tree.named_children, depth + 1) if tree.named_child_count else ()
        return RustNode("other", "", parts) if parts else NOTHING

    def _item(self, tree: Node, depth: int) -> RustNode:
        self._nested(tree, depth)
        return NOTHING

    def _path(self, tree: Node, depth: int) -> RustNode:
        kind = tree.type
        if kind == "identifier":
            return RustNode("path", text_of(tree))
        if kind == "scoped_identifier":
            before = tree.child_by_field_name("path")
            if before is not None and before.type == "bracketed_type":
                return RustNode("qual", path_text(tree.child_by_field_name("name")), (qualified(before),))
            if before is not None and before.type == "generic_type":
                return RustNode("path", path_text(tree), (type_node(before, depth),))
        return RustNode("path", path_text(tree))

    def _generic(self, tree: Node, depth: int) -> RustNode:
        return self.read(tree.child_by_field_name("function"), depth + 1)

    def _inside(self, tree: Node, depth: int) -> RustNode:
        inner = tree.child_by_field_name("value")
        if inner is None:
            inner = next((child for child in tree.named_children if child.type not in _IGNORED_NODES), None)
        return self.read(inner, depth + 1) if inner is not None else NOTHING

    def _unary(self, tree: Node, depth: int) -> RustNode:
        inner = self._inside(tree, depth + 1)
        return inner if tree.child_count and tree.children[0].type == "*" else RustNode("unary", "", (inner,))

    def _list(self, tree: Node, depth: int) -> RustNode:
        """Convert the parts in order; equal elements of an array are merged, because tables are long."""
        parts = self._all(tree.named_children, depth + 1)
        kind = _LISTS[tree.type]
        return RustNode(kind, "", tuple(dict.fromkeys(parts)) if kind == "array" else parts)

    def _by_fields(self, tree: Node, depth: int) -> RustNode:
        operator = tree.child_by_field_name("operator")
        parts = [tree.child_by_field_name(field) for field in _FIELDS[tree.type]]
        read = tuple([self.read(part, depth + 1) for part in parts if part is not None])
        return RustNode(_FIELD_KINDS[tree.type], text_of(operator), read, self.line_of(tree))

    def _call(self, tree: Node, depth: int) -> RustNode:
        function = tree.child_by_field_name("function")
        arguments = tree.child_by_field_name("arguments")
        called = text_of(function).rpartition(":")[2]
        given = self._arguments(arguments.named_children, called, depth + 1) if arguments is not None else ()
        turbofish: tuple[RustNode, ...] = ()
        if function is not None and function.type == "generic_function":
            types = type_nodes(function.child_by_field_name("type_arguments"), depth)
            turbofish = (RustNode("turbofish", "", types),)
            function = function.child_by_field_name("function")
        if function is not None and function.type == "field_expression":
            name = function.child_by_field_name("field")
            if name is not None and name.type == "field_identifier":
                receiver = self.read(function.child_by_field_name("value"), depth + 1)
                return RustNode("method", text_of(name), (receiver, *given, *turbofish), self.line_of(name))
        return RustNode("call", "", (self.read(function, depth + 1), *given, *turbofish), self.line_of(tree))

    def _field(self, tree: Node, depth: int) -> RustNode:
        name = tree.child_by_field_name("field")
        return RustNode("field", text_of(name), (self.read(tree.child_by_field_name("value"), depth + 1),))

    def _cast(self, tree: Node, depth: int) -> RustNode:
        value = self.read(tree.child_by_field_name("value"), depth + 1)
        return RustNode("cast", "", (value, type_node(tree.child_by_field_name("type"), depth)))

    def _struct(self, tree: Node, depth: int) -> RustNode:
        body = tree.child_by_field_name("body")
        values: list[RustNode] = []
        for field in body.named_children if body is not None else ():
            value = field.child_by_field_name("value")
            if value is not None:
                values.append(self.read(value, depth + 1))
            elif field.type in {"shorthand_field_initializer", "base_field_initializer"}:
                values.extend(self._all(field.named_children, depth + 1))
        return RustNode("struct", path_text(tree.child_by_field_name("name")), tuple(values))

    def _closure(self, tree: Node, depth: int) -> RustNode:
        parameters = tree.child_by_field_name("parameters")
        read = tuple(
            parameter_node(child)
            for child in (parameters.named_children if parameters is not None else ())
            if child.type not in _IGNORED_NODES
        )
        result = type_node(tree.child_by_field_name("return_type"), depth)
        body = self.read(tree.child_by_field_name("body"), depth + 1)
        return RustNode("closure", "", (body, result, *read))

    def _let_condition(self, tree: Node, depth: int) -> RustNode:
        pattern = pattern_node(tree.child_by_field_name("pattern"))
        return RustNode("iflet", "", (pattern, self.read(tree.child_by_field_name("value"), depth + 1)))

    def _match(self, tree: Node, depth: int) -> RustNode:
        body = tree.child_by_field_name("body")
        arms = [
            self._arm(arm, depth + 1)
            for arm in (body.named_children if body is not None else ())
            if arm.type == "match_arm"
        ]
        return RustNode("match", "", (self.read(tree.child_by_field_name("value"), depth + 1), *arms))

    def _arm(self, tree: Node, depth: int) -> RustNode:
        outer = tree.child_by_field_name("pattern")
        condition = outer.child_by_field_name("condition") if outer is not None else None
        inner = (
            next((child for child in outer.named_children if child.type not in _IGNORED_NODES), None) if outer else None
        )
        guard = self.read(condition, depth + 1)
        return RustNode(
            "arm", "", (pattern_node(inner), guard, self.read(tree.child_by_field_name("value"), depth + 1))
        )

    def _for(self, tree: Node, depth: int) -> RustNode:
        pattern = pattern_node(tree.child_by_field_name("pattern"))
        value = self.read(tree.child_by_field_name("value"), depth + 1)
        return RustNode("for", "", (pattern, value, self.read(tree.child_by_field_name("body"), depth + 1)))

    def _let(self, tree: Node, depth: int) -> RustNode:
        annotated = tree.child_by_field_name("type")
        parts = (
            pattern_node(tree.child_by_field_name("pattern")),
            type_node(annotated, depth),
            self.read(tree.child_by_field_name("value"), depth + 1),
            self.read(tree.child_by_field_name("alternative"), depth + 1),
        )
        return RustNode("let", "", parts)

    def _statement(self, tree: Node, depth: int) -> RustNode:
        inner = next((child for child in tree.named_children if child.type not in _IGNORED_NODES), None)
        read = self.read(inner, depth + 1) if inner is not None else NOTHING
        return RustNode("semi", "", (read,)) if tree.children[-1].type == ";" else read

    def _block(self, tree: Node, depth: int) -> RustNode:
        if tree.type != "block":
            inner = next((child for child in tree.named_children if child.type == "block"), None)
            return self.read(inner, depth + 1) if inner is not None else NOTHING
        return RustNode("block", "", self._all(tree.named_children, depth + 1))

    def _macro(self, tree: Node, depth: int) -> RustNode:
        name = path_text(tree.child_by_field_name("macro"))
        tokens = next((child for child in tree.named_children if child.type == "token_tree"), None)
        if tokens is None or not tokens.named_child_count or name.rpartition("::")[2] in _QUOTING:
            return RustNode("macro", name, (), self.line_of(tree))
        if name.rpartition("::")[2] in _PROGRAM_FINDERS:
            return RustNode(
                "macro", name, self._arguments(tokens.named_children, "cargo_bin", depth), self.line_of(tree)
            )
        return RustNode("macro", name, self._tokens(tokens, depth + 1), self.line_of(tree))

    def _tokens(self, tokens: Node, depth: int) -> tuple[RustNode, ...]:
        """Parse a macro's arguments as those of a call, a list or a block, depending on its brackets."""
        raw = tokens.text or b""
        opening, closing = _BRACKETS.get(raw[:1], (b"m(", b")"))
        source = b"fn f(){" + opening + raw[1:-1] + closing + b"}"
        root = self._parser.parse(source).root_node
        before, self._lines = self._lines, LineIndex(source, self.line_of(tokens))
        try:
            function = first_of(root) or root
            read = self.read(function.child_by_field_name("body") or root, depth)
        finally:
            self._lines = before
        inside = read.parts[0] if read.kind == "block" and len(read.parts) == 1 else read
        return inside.parts[1:] if inside.kind == "call" else (inside,)


def parameter_node(tree: Node) -> RustNode:
    """Convert a parameter of a function or closure: its pattern and its type."""
    if tree.type != "parameter":
        return RustNode("param", "", (pattern_node(tree), HOLE))
    return RustNode(
        "param", "", (pattern_node(tree.child_by_field_name("pattern")), type_node(tree.child_by_field_name("type")))
    )
