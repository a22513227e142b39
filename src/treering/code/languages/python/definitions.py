"""The definitions of a file for the graph: kind, export, test and entry point."""

from tree_sitter import Node

from treering.code.facts import Definition, DefinitionKind, EntryPoint
from treering.code.languages.python.parameters import decorator_names, is_test_file
from treering.code.languages.python.scopes import Binding
from treering.code.languages.python.string_literals import string_content
from treering.code.languages.python.syntax_walk import DefinitionSyntax, ParsedFile
from treering.code.languages.syntax_nodes import first_of, text_of

_ROUTES = frozenset({"route", "get", "post", "put", "delete", "patch", "head", "options", "websocket", "api_route"})
_ENTRIES = {
    **dict.fromkeys(("command", "group"), EntryPoint.COMMAND),
    **dict.fromkeys(("task", "shared_task", "periodic_task", "actor"), EntryPoint.TASK),
}
_KINDS_BY_BASE = {
    **dict.fromkeys(("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"), DefinitionKind.ENUM),
    "Protocol": DefinitionKind.INTERFACE,
}
_TYPE_VARIABLES = frozenset({"TypeVar", "TypeVarTuple", "ParamSpec"})


def definitions_of(path: str, found: ParsedFile) -> tuple[Definition, ...]:
    mains = {_called_name(called.node) for called in found.called if called.in_main and called.origin is None}
    made: dict[str, Definition] = {}
    test_file = is_test_file(path)
    tests: set[str] = set()
    for defined in found.defined:
        outer = made.get(defined.outer.qualname)
        exported = _exported(defined, outer, found.exports)
        test = _is_test(defined, test_file, tests)
        if test:
            tests.add(defined.qualname)
        entry, name = _entry(defined)
        if entry is None and defined.qualname in mains:
            entry = EntryPoint.MAIN
        made.setdefault(
            defined.qualname,
            Definition(
                defined.qualname,
                _kind(defined),
                found.lines.of(defined.node.start_byte),
                found.lines.of(defined.node.end_byte),
                exported,
                test and not defined.is_class,
                entry,
                name,
            ),
        )
    for name, bindings in found.module.names.items():
        constant = _constant(name, bindings, found)
        if constant is not None:
            made.setdefault(name, constant)
    return tuple(made.values())


def _called_name(call: Node) -> str:
    """Return the name of a called function, `f` or `C.f`; empty for other callees."""
    function = call.child_by_field_name("function")
    receiver = function.child_by_field_name("object") if function is not None else None
    return text_of(function) if receiver is None or receiver.type == "identifier" else ""


def _exported(defined: DefinitionSyntax, outer: Definition | None, exports: tuple[str, ...] | None) -> bool:
    name = defined.qualname.rpartition(".")[2]
    if defined.outer.outer is None:
        return name in exports if exports is not None else not name.startswith("_")
    inside_class = outer is not None and outer.kind not in (DefinitionKind.FUNCTION, DefinitionKind.METHOD)
    dunder = name.startswith("__") and name.endswith("__")
    return inside_class and outer is not None and outer.exported and (dunder or not name.startswith("_"))


def _kind(defined: DefinitionSyntax) -> DefinitionKind:
    if not defined.is_class:
        return DefinitionKind.METHOD if defined.method else DefinitionKind.FUNCTION
    for base in _base_names(defined):
        if base in _KINDS_BY_BASE:
            return _KINDS_BY_BASE[base]
    return DefinitionKind.CLASS


def _base_names(defined: DefinitionSyntax) -> list[str]:
    given = defined.node.child_by_field_name("superclasses")
    bases = given.named_children if given is not None else []
    return [text_of(base).partition("[")[0].rpartition(".")[2] for base in bases]


def _is_test(defined: DefinitionSyntax, test_file: bool, tests: set[str]) -> bool:
    """Tests as pytest and unittest collect them: `test…` functions, methods of `Test…` and `TestCase` classes."""
    name = defined.qualname.rpartition(".")[2]
    if defined.is_class:
        cases = any(base.endswith("TestCase") for base in _base_names(defined))
        return cases or (test_file and name.startswith("Test"))
    if not name.startswith("test"):
        return False
    if defined.method:
        return defined.outer.qualname in tests
    return test_file and defined.outer.outer is None


def _entry(defined: DefinitionSyntax) -> tuple[EntryPoint | None, str | None]:
    for decorator, written in zip(defined.decorators, decorator_names(defined.decorators), strict=True):
        receiver, _, name = written.rpartition(".")
        text = _first_text(first_of(decorator))
        if name in _ROUTES and receiver and text is not None and (text.startswith("/") or not text):
            return EntryPoint.ROUTE, text
        if name in _ENTRIES:
            own = defined.qualname.rpartition(".")[2]
            return _ENTRIES[name], text or own.replace("_", "-")
    return None, None


def _first_text(call: Node | None) -> str | None:
    arguments = call.child_by_field_name("arguments") if call is not None and call.type == "call" else None
    return string_content(first_of(arguments)) if arguments is not None else None


def _constant(name: str, bindings: list[Binding], found: ParsedFile) -> Definition | None:
    """Return a definition for a name that is upper-case, annotated, in `__all__`, a type alias or an object; else None.

    An object is made by a class: `app = Flask(__name__)`.
    """
    written = next((one for one in bindings if one.role in ("value", "alias") and not one.until and not one.path), None)
    if written is None or written.node is None:
        return None
    alias = written.role == "alias" and name[:1].isupper()
    if _is_type_variable(written.node) or not (
        name.isupper()
        or alias
        or written.annotation is not None
        or name in (found.exports or ())
        or _is_object(written.node)
    ):
        return None
    kind = DefinitionKind.TYPE if alias and not name.isupper() else DefinitionKind.CONSTANT
    line, end_line = found.lines.of(written.node.start_byte), found.lines.of(written.node.end_byte)
    return Definition(name, kind, line, end_line, exported=not name.startswith("_"))


def _is_object(value: Node) -> bool:
    """Whether the value is a call of what is spelled like a class."""
    function = value.child_by_field_name("function") if value.type == "call" else None
    name = text_of(function).rpartition(".")[2] if function is not None else ""
    return name[:1].isupper() and not name.isupper()


def _is_type_variable(value: Node) -> bool:
    function = value.child_by_field_name("function") if value.type == "call" else None
    return text_of(function).rpartition(".")[2] in _TYPE_VARIABLES
