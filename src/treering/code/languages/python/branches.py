"""Branches and loops: what they bind, which statements may not run, and `isinstance` narrowing."""

import sys
from collections.abc import Iterator

from tree_sitter import Node

from treering.code.languages.line_index import LineIndex
from treering.code.languages.python.syntax_walk import LEAVING, SyntaxWalk
from treering.code.languages.syntax_nodes import first_of, text_of

_SKIPPING = LEAVING | {"continue_statement", "break_statement"}


def _calls_joined_by(word: str, condition: Node) -> Iterator[Node]:
    """Yield the calls that a condition joins by `word`, or its only call."""
    waiting = [condition]
    while waiting:
        at = waiting.pop()
        if at.type == "parenthesized_expression":
            waiting += at.named_children
        elif at.type == "boolean_operator":
            operator = at.child_by_field_name("operator")
            if operator is not None and operator.type == word:
                waiting += at.named_children
        elif at.type == "call":
            yield at


def _instance_test(call: Node) -> tuple[Node, Node] | None:
    """Return the (dotted) name and the classes of an `isinstance(name, classes)`."""
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if arguments is None or arguments.named_child_count != 2 or text_of(function) != "isinstance":
        return None
    name, classes = arguments.named_children
    return (name, classes) if name.type in ("identifier", "attribute") else None


class Branches(SyntaxWalk):
    """The part of the walk that handles control flow."""

    def __init__(self, test_file: bool, discarded: set[int], lines: LineIndex) -> None:
        super().__init__(test_file, discarded, lines)
        self._ifs: list[tuple[int, int]] = []
        self._mains: list[tuple[int, int]] = []
        self._comprehensions: list[tuple[int, int]] = []

    def _if(self, node: Node, start: int, end: int) -> None:
        condition, consequence = node.child_by_field_name("condition"), node.child_by_field_name("consequence")
        if condition is None or consequence is None:
            return
        if node.type == "if_statement":
            if self._definition is None and "__name__" in text_of(condition):
                self._mains.append((start, end))
            self._ifs.append((start, end))
        while self._ifs and self._ifs[-1][1] <= start:
            self._ifs.pop()
        whole = self._ifs[-1][1] if self._ifs else end
        self.expect(consequence, branches_end=whole)
        self._narrow(condition, consequence.start_byte, consequence.end_byte)
        self._exclude(condition, consequence.end_byte, until=whole)
        last = consequence.named_children[-1:]
        if node.type == "if_statement" and last and last[0].type in _SKIPPING:
            if condition.type == "not_operator":
                self._narrow_after(condition.child_by_field_name("argument"), end)
            else:
                self._exclude(condition, end, until=self._statements_end())

    _elif = _if

    def _exclude(self, condition: Node, start: int, until: int) -> None:
        """After a false `isinstance`, a name is not an instance of those classes."""
        for call in _calls_joined_by("or", condition):
            found = _instance_test(call)
            if found is not None:
                name, classes = found
                self.bind(text_of(name), start, name, "excluded", classes=classes, until=until)

    def _else(self, node: Node, start: int, end: int) -> None:
        self.expect(node.child_by_field_name("body"))

    def _while(self, node: Node, start: int, end: int) -> None:
        body, condition = node.child_by_field_name("body"), node.child_by_field_name("condition")
        self.expect(body, loop=True)
        if body is not None and condition is not None:
            self._narrow(condition, body.start_byte, body.end_byte)

    def _for(self, node: Node, start: int, end: int) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        self.expect(node.child_by_field_name("body"), loop=True)
        if left is not None and right is not None:
            self.bind_target(left, right.end_byte, right, "element")

    def _try(self, node: Node, start: int, end: int) -> None:
        self.expect(node.child_by_field_name("body"))

    def _except(self, node: Node, start: int, end: int) -> None:
        children = node.named_children
        self.expect(children[-1] if children else None, branches_end=0)
        value = node.child_by_field_name("value")
        if value is not None and value.type == "as_pattern" and value.named_child_count > 1:
            self.bind_target(value.named_children[1], value.end_byte, value.named_children[0], "instance", until=end)

    def _case(self, node: Node, start: int, end: int) -> None:
        self.expect(node.child_by_field_name("consequence"), branches_end=0)
        for pattern in node.named_children:
            inside = first_of(pattern) if pattern.type == "case_pattern" else None
            if inside is not None and inside.type == "as_pattern" and inside.named_child_count > 1:
                of, name = inside.named_children[:2]
                made = first_of(of)
                if made is not None and made.type == "class_pattern" and name.type == "identifier":
                    self.bind(text_of(name), name.end_byte, first_of(made), "instance", until=end)

    def _narrow(self, condition: Node, start: int, end: int) -> None:
        """Narrow a name in the statements that an `isinstance` condition guards."""
        for call in _calls_joined_by("and", condition):
            self._narrow_by(call, start, until=end)

    def _narrow_by(self, call: Node, start: int, until: int) -> None:
        found = _instance_test(call)
        if found is not None:
            self.bind(text_of(found[0]), start, found[1], "instance", until=until)

    def _narrow_after(self, condition: Node | None, start: int) -> None:
        if condition is not None and condition.type == "call":
            self._narrow_by(condition, start, until=self._statements_end())

    def _statements_end(self) -> int:
        """Return the end of the enclosing statements."""
        if self._block is not None:
            return self._block.end
        return sys.maxsize if self._definition is None else self._definition.end

    def _assert(self, node: Node, start: int, end: int) -> None:
        self._narrow_after(first_of(node), end)

    def _choice(self, node: Node, start: int, end: int) -> None:
        parts = node.named_children
        if len(parts) == 3:
            self._narrow(parts[1], parts[0].start_byte, parts[0].end_byte)

    def _guard(self, node: Node, start: int, end: int) -> None:
        """The condition of a comprehension applies to all of it."""
        condition = first_of(node)
        while self._comprehensions and self._comprehensions[-1][1] <= start:
            self._comprehensions.pop()
        if condition is not None and self._comprehensions:
            begin, until = self._comprehensions[-1]
            self._narrow(condition, begin, until)

    def _both(self, node: Node, start: int, end: int) -> None:
        left = node.child_by_field_name("left")
        operator = node.child_by_field_name("operator")
        if left is not None and operator is not None and operator.type == "and":
            self._narrow(left, left.end_byte, end)
