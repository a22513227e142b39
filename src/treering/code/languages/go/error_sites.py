"""Where a name occurs in the syntax: in an error that a function returns, or in a test for an error."""

from tree_sitter import Node

from treering.code.languages.syntax_nodes import text_of

RAISED, CAUGHT = "raised", "caught"

_MAX_LEVELS = 12
_THROUGH = frozenset(
    {
        *("parenthesized_expression", "unary_expression", "expression_list", "pointer_type", "qualified_type"),
        *("selector_expression", "call_expression", "generic_type"),
    }
)
"""What is around the same error."""
_DECIDED = {"return_statement": RAISED, "expression_case": CAUGHT, "type_case": CAUGHT}
_TYPED = frozenset({"composite_literal", "type_assertion_expression"})
_CALLED = {
    **dict.fromkeys(("errors.Is", "errors.As", "errors.AsType"), CAUGHT),
    "panic": RAISED,
    **dict.fromkeys(("fmt.Errorf", "errors.Join", "errors.Wrap", "errors.Wrapf", "errors.WithStack", "new"), None),
}
"""What a call does with an error that it is given; None if its result is the error."""
_MAX_CALLED = max(map(len, _CALLED))
_COMPARED = frozenset({"==", "!="})


def error_site(node: Node) -> str:
    """Return RAISED or CAUGHT if the name is used so should it name an error; else an empty text."""
    inner, around = node, node.parent
    for _ in range(_MAX_LEVELS):
        decided = _use(inner, around) if around is not None else ""
        if decided is not None or around is None:
            return decided or ""
        inner, around = around, around.parent
    return ""


def _use(inner: Node, around: Node) -> str | None:
    """How the node around an error uses it; None if it is the same error, empty for any other use."""
    kind = around.type
    if kind == "binary_expression":
        return CAUGHT if text_of(around.child_by_field_name("operator")) in _COMPARED else ""
    if kind == "argument_list":
        function = around.parent.child_by_field_name("function") if around.parent else None
        is_short = function is not None and function.end_byte - function.start_byte <= _MAX_CALLED
        return _CALLED.get(text_of(function), "") if is_short else ""
    if kind in _TYPED:
        named = around.child_by_field_name("type") == inner
        return (CAUGHT if kind == "type_assertion_expression" else None) if named else ""
    return _DECIDED.get(kind, None if kind in _THROUGH else "")
