"""Declarations: definitions, package-level names, and bindings inside functions."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from tree_sitter import Node

from treering.code.facts import Definition, DefinitionKind
from treering.code.languages.go.body import UNKNOWN, GoDeclaration, GoExpression, WrittenType
from treering.code.languages.go.names import GoNames
from treering.code.languages.go.syntax_conversion import SyntaxConverter, fields, items
from treering.code.languages.go.test_functions import is_test
from treering.code.languages.line_index import LineIndex
from treering.code.languages.syntax_nodes import text_of

_SHAPES = {"struct": DefinitionKind.CLASS, "interface": DefinitionKind.INTERFACE}


class DeclarationCollector:
    """Collects the declarations of one file in order; `names` tracks whether they are inside a function."""

    def __init__(self, path: str, tags: str, names: GoNames, converter: SyntaxConverter, lines: LineIndex) -> None:
        self.definitions: list[Definition] = []
        self.declared: list[GoDeclaration] = []
        self._numbers: dict[str, int] = {}
        self._in_tests = path.endswith("_test.go")
        self._tags = tags
        self._names = names
        self._converter = converter
        self._line_of = lines.of
        self._around = ""
        self._last_constant: tuple[Node | None, list[Node]] = (None, [])
        self._enumerated: set[str] = set()
        self._bindings: dict[str, Callable[[Node], None]] = {
            "short_var_declaration": self._short,
            "range_clause": self._range,
            "receive_statement": self._received,
            "var_spec": self._variable,
            "const_spec": self._constant,
            "type_spec": self._type,
            "type_alias": self._type,
        }

    def binding(self, node: Node) -> None:
        self._bindings[node.type](node)

    def number_of(self, qualname: str) -> int:
        """Return the index of the definition, or -1."""
        return self._numbers.get(qualname, -1)

    def define(self, qualname: str, kind: DefinitionKind, node: Node, test: bool = False) -> int:
        """Of several `init` functions only the first is kept: they share one id."""
        if qualname not in self._numbers:
            self._numbers[qualname] = len(self.definitions)
            exported = qualname.rpartition(".")[2][:1].isupper()
            lines = (self._line_of(node.start_byte), self._line_of(node.end_byte))
            self.definitions.append(Definition(qualname, kind, *lines, exported, test))
        return self._numbers[qualname]

    def finished(self) -> list[Definition]:
        """Return the definitions; a type with constants in the file becomes an enumeration."""
        return [
            msgspec.structs.replace(each, kind=DefinitionKind.ENUM)
            if each.kind is DefinitionKind.TYPE and each.qualname in self._enumerated
            else each
            for each in self.definitions
        ]

    def declared_with(self, kept: Mapping[str, Iterable[str]]) -> tuple[GoDeclaration, ...]:
        """Return the declarations, functions with the variables in which they keep values."""
        return tuple(
            msgspec.structs.replace(each, keeps=tuple(kept[each.name]))
            if each.kind == "func" and each.name in kept
            else each
            for each in self.declared
        )

    def function(self, node: Node) -> int:
        """Declare a function or method, bind its parameters, and return the index of its definition."""
        name = text_of(node.child_by_field_name("name"))
        receiver = items(node.child_by_field_name("receiver"))
        owner, params = self._receiver(receiver[0]) if receiver else ("", self._type_parameters(node))
        signature = self._converter.signature(node)
        if receiver:
            self._bind_parameters(receiver)
        self.parameters(node)
        qualname = f"{owner}.{name}" if owner else name
        self._around = qualname
        if not name or name == "_":
            return -1
        self.declared.append(
            GoDeclaration("method" if owner else "func", name, owner, params, signature, None, self._tags)
        )
        kind = DefinitionKind.METHOD if owner else DefinitionKind.FUNCTION
        return self.define(qualname, kind, node, self._in_tests and is_test(name, owner, signature))

    def parameters(self, node: Node) -> None:
        self._bind_parameters(items(node.child_by_field_name("parameters")))
        results = node.child_by_field_name("result")
        if results is not None and results.type == "parameter_list":
            self._bind_parameters(items(results))

    def _bind_parameters(self, parameters: Sequence[Node]) -> None:
        for each in parameters:
            declared_names = [text_of(name) for name in fields(each, "name")]
            if declared_names:
                self.typed(
                    declared_names, each.child_by_field_name("type"), each.type == "variadic_parameter_declaration"
                )

    def _receiver(self, node: Node) -> tuple[str, tuple[WrittenType, ...]]:
        base = node.child_by_field_name("type")
        while base is not None and base.type in ("pointer_type", "parenthesized_type"):
            base = base.named_child(0)
        if base is None or base.type != "generic_type":
            return text_of(base), ()
        arguments = [text_of(each) for each in items(base.child_by_field_name("type_arguments"))]
        owner = text_of(base.child_by_field_name("type"))
        params = tuple(
            WrittenType("param", name, (WrittenType("bound", f"{place} {owner}"),))
            for place, name in enumerate(arguments)
        )
        for each in params:
            self._names.bind(each.name, GoExpression("param", type=each))
        return owner, params

    def _type_parameters(self, node: Node) -> tuple[WrittenType, ...]:
        """Bind type parameters before reading their constraints, which may refer to each other."""
        bound: list[tuple[int, str, Node | None]] = []
        for each in items(node.child_by_field_name("type_parameters")):
            for name in map(text_of, fields(each, "name")):
                number = self._names.bind(name, GoExpression("param", type=WrittenType("param", name)))
                bound.append((number, name, each.child_by_field_name("type")))
        params = tuple(WrittenType("param", name, (self._converter.type(constraint),)) for _, name, constraint in bound)
        for (number, _, _), param in zip(bound, params, strict=True):
            self._names.bindings[number] = GoExpression("param", type=param)
        return params

    def typed(self, declared_names: Sequence[str], node: Node | None, many: bool = False) -> None:
        written = self._converter.type(node)
        value = GoExpression("typed", type=WrittenType("seq", "", (written,)) if many else written)
        uses = self._names.take_uses()
        for name in declared_names:
            self._names.bind(name, value, uses)

    def values(self, declared_names: Sequence[str], given: Sequence[Node]) -> None:
        spread = self._spread(len(declared_names), given, inline=False)
        uses = self._names.take_uses()
        for name, value in zip(declared_names, spread, strict=True):
            self._names.bind(name, value, uses)

    def _spread(self, wanted: int, given: Sequence[Node], inline: bool) -> list[GoExpression]:
        """Return one value each, or the results of a single call."""
        if len(given) == wanted:
            return [self._converter.value(each, 0, inline) for each in given]
        whole = self._converter.value(given[0], 0, inline) if len(given) == 1 else UNKNOWN
        return [GoExpression("pick", "", place, (whole,)) for place in range(wanted)]

    def _short(self, node: Node) -> None:
        self.values(_names_in(node), items(node.child_by_field_name("right")))

    def _range(self, node: Node) -> None:
        if not _declares(node):
            return
        over = self._converter.value(node.child_by_field_name("right"))
        uses = self._names.take_uses()
        for name, op in zip(_names_in(node), ("key", "elem"), strict=False):
            self._names.bind(name, GoExpression(op, "", -1, (over,)), uses)

    def _received(self, node: Node) -> None:
        right = node.child_by_field_name("right")
        if right is not None and _declares(node):
            self.values(_names_in(node), [right])

    def _variable(self, node: Node) -> None:
        declared_names = [text_of(name) for name in fields(node, "name")]
        type_node = node.child_by_field_name("type")
        given = items(node.child_by_field_name("value"))
        if self._names.depth == 0:
            self._declare("var", declared_names, type_node, given)
            for name in fields(node, "name"):
                if text_of(name) != "_":
                    self.define(text_of(name), DefinitionKind.CONSTANT, node)
        elif type_node is not None:
            self.typed(declared_names, type_node)
        else:
            self.values(declared_names, given)

    def _constant(self, node: Node) -> None:
        """In a group, a name without a value repeats the previous one."""
        declared_names = [text_of(name) for name in fields(node, "name")]
        type_node, given = node.child_by_field_name("type"), items(node.child_by_field_name("value"))
        if type_node is None and not given:
            type_node, given = self._last_constant
        self._last_constant = (type_node, given)
        if self._names.depth == 0:
            self._enumerated.add(text_of(type_node))
            self._declare("const", declared_names, type_node, given)
            for name in declared_names:
                if name[:1].isupper():
                    self.define(name, DefinitionKind.CONSTANT, node)
        elif type_node is not None:
            self.typed(declared_names, type_node)
        else:
            self.values(declared_names, given)

    def _declare(self, kind: str, declared_names: Sequence[str], type_node: Node | None, given: Sequence[Node]) -> None:
        if type_node is not None:
            known = self._converter.type(type_node)
            self.declared += [
                GoDeclaration(kind, name, type=known, tags=self._tags) for name in declared_names if name != "_"
            ]
            return
        for name, value in zip(declared_names, self._spread(len(declared_names), given, inline=True), strict=True):
            if name != "_":
                self.declared.append(GoDeclaration(kind, name, value=value, tags=self._tags))

    def leave(self) -> None:
        """End the current function."""
        self._around = ""

    def _type(self, node: Node) -> None:
        name = text_of(node.child_by_field_name("name"))
        local = self._names.depth > 0
        number = self._names.bind(name) if local else -1
        self._names.open()
        params = self._type_parameters(node)
        written = self._converter.type(node.child_by_field_name("type"))
        self._names.close()
        if local:
            qualname = f"{self._around}.{name}" if self._around else ""
            self._names.bindings[number] = GoExpression("type", qualname, type=written)
            self._names.mark_needed()
        else:
            qualname = name
            kind = "alias" if node.type == "type_alias" else "type"
            self.declared.append(GoDeclaration(kind, name, "", params, written, None, self._tags))
        if qualname:
            self.define(qualname, _SHAPES.get(written.op, DefinitionKind.TYPE), node)
            if written.op == "interface":
                self._interface_methods(qualname, node)

    def _interface_methods(self, qualname: str, node: Node) -> None:
        for each in items(node.child_by_field_name("type")):
            if each.type == "method_elem":
                name = text_of(each.child_by_field_name("name"))
                self.define(f"{qualname}.{name}", DefinitionKind.METHOD, each)


def _names_in(node: Node) -> list[str]:
    """Return the names on the left side; a target that is not a plain name keeps its position."""
    return [text_of(each) if each.type == "identifier" else "_" for each in items(node.child_by_field_name("left"))]


def _declares(node: Node) -> bool:
    return any(each.type == ":=" for each in node.children)
