"""Whether a declaration is an error."""

from treering.code.languages.go.body import GoDeclaration
from treering.code.languages.go.expression_types import ExpressionTypes
from treering.code.languages.go.types import Known

_MAKERS = {"New": "errors", "Errorf": "fmt"}
"""Functions whose result is an error, and the last part of the path of their package."""


def is_error(declared: GoDeclaration, package: str, values: ExpressionTypes) -> bool:
    """Whether a type of the package has the method `Error`, or a variable of it holds an error."""
    if declared.kind in ("type", "alias"):
        return _has_message(("named", package, declared.name, ()), values)
    if declared.kind != "var":
        return False
    if declared.type is not None:
        return declared.type.op == "name" and declared.type.name == "error"
    value = declared.value
    if value is None:
        return False
    function = value.parts[0] if value.op == "call" else None
    if function is not None and function.op == "sel" and function.name in _MAKERS:
        home = function.parts[0].type
        return home is not None and any(each.name.endswith(_MAKERS[function.name]) for each in home.parts)
    return _has_message(values.of(value, (package, ())), values)


def _has_message(known: Known, values: ExpressionTypes) -> bool:
    """Whether it has the method `Error() string`; the results of futures are often called `Error() error`."""
    method = values.members.member(known, "Error") if known is not None else None
    if method is None or method[0] != "func" or method[1] is None:
        return False
    _, results = method[1].parts
    return len(results.parts) == 1 and results.parts[0].name == "string"
