"""Parameters of a function as bindings of its body, and the effects of decorators."""

from collections.abc import Callable
from typing import NamedTuple

from tree_sitter import Node

from treering.code.languages.python.body import ParameterNames, Trait
from treering.code.languages.python.scopes import Binding, PythonScope
from treering.code.languages.syntax_nodes import first_of, text_of

_TRAITS = {
    "property": Trait.PROPERTY,
    "cached_property": Trait.PROPERTY,
    "abstractproperty": Trait.PROPERTY,
    "staticmethod": Trait.STATIC,
    "classmethod": Trait.CLASS_METHOD,
    "contextmanager": Trait.CONTEXT_MANAGER,
    "asynccontextmanager": Trait.CONTEXT_MANAGER,
    "fixture": Trait.FIXTURE,
    "overload": Trait.OVERLOAD,
}
_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})


def decorator_names(decorators: list[Node]) -> list[str]:
    """Return each decorator as written, without call arguments."""
    names = []
    for decorator in decorators:
        expression = first_of(decorator)
        if expression is not None and expression.type == "call":
            expression = expression.child_by_field_name("function")
        names.append(text_of(expression))
    return names


def traits_of(node: Node, decorators: list[Node]) -> int:
    traits = 0
    for name in decorator_names(decorators):
        traits |= _TRAITS.get(name.rpartition(".")[2], 0)
    first = node.child(0)
    if first is not None and first.type == "async":
        traits |= Trait.ASYNC
    return traits


def is_test_file(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"


class _ParameterSyntax(NamedTuple):
    name: str
    annotation: Node | None = None
    default: Node | None = None
    splat: str = ""


def _plain(node: Node) -> _ParameterSyntax:
    return _ParameterSyntax(text_of(node))


def _with_default(node: Node) -> _ParameterSyntax:
    annotation, default = node.child_by_field_name("type"), node.child_by_field_name("value")
    return _ParameterSyntax(text_of(node.child_by_field_name("name")), annotation, default)


def _typed(node: Node) -> _ParameterSyntax:
    inside = (
        _READ[named.type](named)
        if (named := first_of(node)) is not None and named.type in _READ
        else _ParameterSyntax("")
    )
    return inside._replace(annotation=node.child_by_field_name("type"))


def _splat(role: str) -> Callable[[Node], _ParameterSyntax]:
    return lambda node: _ParameterSyntax(text_of(first_of(node)), splat=role)


_READ: dict[str, Callable[[Node], _ParameterSyntax]] = {
    "identifier": _plain,
    "default_parameter": _with_default,
    "typed_default_parameter": _with_default,
    "typed_parameter": _typed,
    "list_splat_pattern": _splat("many"),
    "dictionary_splat_pattern": _splat("keywords"),
}


def parameter_names(node: Node, *, method: bool, traits: int) -> ParameterNames:
    """Return the names of the parameters of a function, as its callers see them."""
    parameters = node.child_by_field_name("parameters")
    named: tuple[list[str], list[str]] = [], []
    required: list[str] = []
    many = keywords = keyword_only = False
    for parameter in parameters.named_children if parameters is not None else ():
        read = _READ.get(parameter.type)
        if read is None:
            keyword_only |= parameter.type == "keyword_separator"
            continue
        name, _, default, splat = read(parameter)
        if splat:
            many, keywords, keyword_only = many or splat == "many", keywords or splat == "keywords", True
            continue
        named[keyword_only].append(name)
        required += [] if default is not None else [name]
    positional = tuple(named[0][1:] if method and not traits & Trait.STATIC else named[0])
    accepted = {*positional, *named[1]}
    return ParameterNames(positional, tuple(named[1]), tuple(n for n in required if n in accepted), many, keywords)


def bind_parameters(
    node: Node, inner: PythonScope, outer: PythonScope, *, body: int, traits: int, method: bool, tests: bool
) -> None:
    """Bind the parameters of `node` at the start of its body; in a test file, pytest may fill them."""
    parameters = node.child_by_field_name("parameters")
    if parameters is None:
        return
    name = inner.qualname.rpartition(".")[2]
    filled = tests and (name.startswith("test") or bool(traits & Trait.FIXTURE))
    first = method and not traits & Trait.STATIC
    for parameter in parameters.named_children:
        read = _READ.get(parameter.type)
        if read is None:
            continue
        bound, annotation, default, splat = read(parameter)
        if first:
            first = False
            inner.receiver = bound
            of_class = traits & Trait.CLASS_METHOD or name in _CLASS_METHODS
            binding = Binding(body, None, None, "cls" if of_class else "self", inner, outer.qualname)
        elif splat:
            binding = Binding(body, None, annotation, splat, outer)
        elif annotation is not None:
            role = "filled" if filled else "declared"
            binding = Binding(body, None, None, role, outer, f"{inner.qualname} {bound}", annotation)
        else:
            role = "fixture" if filled else "parameter"
            binding = Binding(body, None, default, role, outer, f"{inner.qualname} {bound}")
        inner.bind(bound, binding)
