"""The fixtures that the tests and fixtures of a file request, and its autouse fixtures."""

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from treering.code.languages.python.body import FixtureRequests, Trait
from treering.code.languages.python.string_literals import string_content
from treering.code.languages.python.syntax_walk import DefinitionSyntax, ParsedFile
from treering.code.languages.syntax_nodes import first_of, text_of

_FILLED = frozenset({"fixture", "filled"})
_SEVERAL = frozenset({"list", "tuple"})


def requests_of(found: ParsedFile) -> FixtureRequests:
    by_class: dict[str, list[str]] = {}
    of, autouse = [], []
    for defined in found.defined:
        marked = _marked(defined)
        outer = by_class.get(defined.outer.qualname, [])
        if defined.is_class:
            by_class[defined.qualname] = [*outer, *marked]
            continue
        fixture = bool(defined.traits & Trait.FIXTURE)
        if fixture and _is_autouse(defined):
            autouse.append(defined.qualname)
        if fixture or defined.qualname.rpartition(".")[2].startswith("test"):
            names = dict.fromkeys([*_parameters(defined), *marked, *(() if fixture else outer)])
            if names:
                of.append((defined.qualname, tuple(names)))
    marks = [binding.node for binding in found.module.names.get("pytestmark", ()) if binding.node is not None]
    file_wide = dict.fromkeys(name for call in _calls(marks) for name in _strings(call, "usefixtures"))
    return FixtureRequests(tuple(of), tuple(file_wide), tuple(autouse))


def _parameters(defined: DefinitionSyntax) -> list[str]:
    """Return the parameters that fixtures fill; those with a default or in `parametrize` are filled otherwise."""
    given = {
        name.strip()
        for call in _decorating(defined)
        for names in _strings(call, "parametrize")
        for name in names.split(",")
    }
    return [
        name
        for name, bindings in defined.inner.names.items()
        if bindings[0].role in _FILLED and bindings[0].node is None and name not in given
    ]


def _marked(defined: DefinitionSyntax) -> list[str]:
    return [name for call in _decorating(defined) for name in _strings(call, "usefixtures")]


def _decorating(defined: DefinitionSyntax) -> Iterator[Node]:
    return _calls([inside for decorator in defined.decorators if (inside := first_of(decorator)) is not None])


def _calls(nodes: Iterable[Node]) -> Iterator[Node]:
    for node in nodes:
        if node.type in _SEVERAL:
            yield from (item for item in node.named_children if item.type == "call")
        elif node.type == "call":
            yield node


def _strings(call: Node, name: str) -> list[str]:
    """Return the strings passed to a mark of this name; for `parametrize`, those of its first argument."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None or text_of(call.child_by_field_name("function")).rpartition(".")[2] != name:
        return []
    given = arguments.named_children
    if name == "parametrize":
        given = given[:1]
        given = given[0].named_children if given and given[0].type in _SEVERAL else given
    return [text for one in given if (text := string_content(one))]


def _is_autouse(defined: DefinitionSyntax) -> bool:
    for call in _decorating(defined):
        arguments = call.child_by_field_name("arguments")
        for argument in arguments.named_children if arguments is not None else ():
            if argument.type == "keyword_argument" and text_of(argument.child_by_field_name("name")) == "autouse":
                return text_of(argument.child_by_field_name("value")) == "True"
    return False
