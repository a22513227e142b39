"""Extraction of a Python file: its definitions, and the body for resolution."""

import msgspec
from tree_sitter import Parser

from treering.code.facts import Facts
from treering.code.languages.error_recovery import parse_with_recovery
from treering.code.languages.python.body import (
    UNKNOWN,
    Expression,
    ExpressionKind,
    FixtureRequests,
    NameTable,
    PythonBody,
    PythonCall,
    PythonClass,
    PythonFunction,
    PythonImport,
    PythonOverload,
    Trait,
)
from treering.code.languages.python.conversions import ExpressionSite
from treering.code.languages.python.definitions import definitions_of
from treering.code.languages.python.expressions import PythonExpressions
from treering.code.languages.python.fixture_requests import requests_of
from treering.code.languages.python.parameters import is_test_file, parameter_names
from treering.code.languages.python.scopes import Binding, PythonScope
from treering.code.languages.python.statements import GRAMMAR, read
from treering.code.languages.python.string_literals import string_content
from treering.code.languages.python.syntax_walk import CallSyntax, DefinitionSyntax, ParsedFile
from treering.code.languages.python.uses import uses_of
from treering.code.languages.syntax_nodes import first_of, text_of

MAX_TEXT = 80
"""Maximum length of an unresolved call's text."""
MAX_ALTERNATIVES = 6
"""A name bound to more different values than this has no evident type."""
MAX_CLOSED_NODES = 80
"""Maximum size, in nodes, of an expression exposed to other files."""

_ANNOTATED = frozenset({"declared", "filled"})
_DYNAMIC_IMPORTS = frozenset({"importlib.import_module", "import_module", "__import__"})


def extract_source(path: str, source: bytes) -> Facts:
    parser = Parser(GRAMMAR)
    recovered = parse_with_recovery(parser, source, "python")
    source = recovered.text
    found = read(path, recovered)
    expressions = PythonExpressions(parser)
    calls, imports = _calls(source, found, expressions)
    functions = [_function(defined, expressions) for defined in found.defined if not defined.is_class]
    classes = _classes(found, expressions)
    definitions = definitions_of(path, found)
    uses = uses_of(source, found, expressions, definitions)
    tables = [_table(found.module, expressions)]
    tables += [_table(defined.inner, expressions) for defined in found.defined if defined.is_class]
    bindings = expressions.bindings()
    body = PythonBody(
        functions=tuple(_merged([_closed_function(function, bindings) for function in functions])),
        classes=tuple(_closed_class(made, bindings) for made in classes),
        tables=tuple(_closed_table(table, bindings) for table in tables),
        bindings=bindings,
        imports=(*found.imports, *imports),
        calls=calls,
        exports=found.exports,
        uses=uses,
        requests=requests_of(found) if is_test_file(path) else FixtureRequests(),
    )
    return Facts(path, definitions, body, found.problems)


def _calls(
    source: bytes, found: ParsedFile, expressions: PythonExpressions
) -> tuple[tuple[PythonCall, ...], list[PythonImport]]:
    calls, imports = [], []
    for called in found.called:
        function = called.node.child_by_field_name("function")
        if function is None:
            continue
        start = function.start_byte
        text = source[start : min(function.end_byte, start + MAX_TEXT)].decode(errors="replace")
        origin = "" if called.origin is None else called.origin.qualname
        callee = expressions.of(function, ExpressionSite(called.scope))
        line = found.lines.of(start)
        calls.append(PythonCall(origin, callee, text, line, called.flow))
        if text in _DYNAMIC_IMPORTS:
            arguments = called.node.child_by_field_name("arguments")
            module = string_content(first_of(arguments)) if arguments is not None else None
            if module and not module.startswith("."):
                imports.append(PythonImport(module, (), line, dynamic=True))
    for defined in found.defined:
        for decorator in defined.decorators:
            expression = first_of(decorator)
            if expression is not None and expression.type in ("identifier", "attribute"):
                callee = expressions.of(expression, ExpressionSite(defined.outer))
                line = found.lines.of(decorator.start_byte)
                calls.append(PythonCall(defined.qualname, callee, text_of(expression)[:MAX_TEXT], line, 0))
    return tuple(calls), imports


def _function(defined: DefinitionSyntax, expressions: PythonExpressions) -> PythonFunction:
    traits = defined.traits
    if defined.generator:
        traits |= Trait.GENERATOR
    annotation = defined.inner.returns
    returns: tuple[Expression, ...] = ()
    results: tuple[Expression, ...] = ()
    if annotation is not None:
        returns = (expressions.annotation(annotation, defined.outer),)
    else:
        results = _distinct([expressions.of(value, ExpressionSite(defined.inner)) for value in defined.results])
    parameters = tuple(
        (name, expressions.annotation(binding.annotation, defined.outer))
        for name, bindings in defined.inner.names.items()
        for binding in bindings[:1]
        if binding.role in _ANNOTATED and binding.position == defined.body and binding.annotation is not None
    )
    owner = defined.outer.qualname if defined.method else ""
    fixture = _fixture_name(defined) if traits & Trait.FIXTURE else ""
    overloads: tuple[PythonOverload, ...] = ()
    if traits & Trait.OVERLOAD:
        names = parameter_names(defined.node, method=defined.method, traits=traits)
        overloads = (PythonOverload(parameters, returns, names),)
    return PythonFunction(defined.qualname, owner, traits, returns, results, parameters, fixture, overloads)


def _fixture_name(defined: DefinitionSyntax) -> str:
    for decorator in defined.decorators:
        call = first_of(decorator)
        arguments = call.child_by_field_name("arguments") if call is not None and call.type == "call" else None
        for argument in arguments.named_children if arguments is not None else ():
            if argument.type == "keyword_argument" and text_of(argument.child_by_field_name("name")) == "name":
                return string_content(argument.child_by_field_name("value")) or ""
    return defined.qualname.rpartition(".")[2]


def _merged(functions: list[PythonFunction]) -> list[PythonFunction]:
    """Merge functions of one name: overloads contribute results, the setter of a property contributes nothing."""
    by_name: dict[str, list[PythonFunction]] = {}
    for function in functions:
        by_name.setdefault(function.qualname, []).append(function)
    merged = []
    for same in by_name.values():
        overloads = [function for function in same if function.traits & Trait.OVERLOAD]
        written = [function for function in same if not function.traits & Trait.OVERLOAD] or same
        chosen = written[0]
        if overloads:
            returns = _distinct([returned for function in overloads for returned in function.returns])
            signatures = tuple([signature for function in overloads for signature in function.overloads])
            chosen = msgspec.structs.replace(chosen, returns=returns, results=(), overloads=signatures)
        merged.append(chosen)
    return merged


def _classes(found: ParsedFile, expressions: PythonExpressions) -> tuple[PythonClass, ...]:
    classes: dict[str, PythonClass] = {}
    dynamic = {called.scope.owner.qualname for called in found.called if called.scope.owner and _is_dynamic(called)}
    for defined in found.defined:
        if not defined.is_class:
            continue
        given = defined.node.child_by_field_name("superclasses")
        bases = [base for base in given.named_children if base.type in _BASES] if given is not None else []
        written = tuple([expressions.of(base, ExpressionSite(defined.outer)) for base in bases])
        methods = tuple(
            name
            for name, bindings in defined.inner.names.items()
            if any(
                binding.role == "definition" and binding.node is not None and binding.node.type == "function_definition"
                for binding in bindings
            )
        )
        fields = tuple(
            name for name, bound in defined.inner.names.items() if any(one.annotation is not None for one in bound)
        )
        made = PythonClass(defined.qualname, written, methods, fields, defined.qualname in dynamic)
        classes.setdefault(defined.qualname, made)
    return tuple(classes.values())


def _is_dynamic(called: CallSyntax) -> bool:
    """Whether it is `getattr` of the receiver with a computed name."""
    function, arguments = (called.node.child_by_field_name(name) for name in ("function", "arguments"))
    if function is None or arguments is None or function.end_byte - function.start_byte != len("getattr"):
        return False
    given = arguments.named_children
    return (
        len(given) > 1
        and text_of(function) == "getattr"
        and text_of(given[0]) == called.scope.receiver
        and given[1].type != "string"
    )


_BASES = frozenset({"identifier", "attribute", "subscript", "call"})


def _table(scope: PythonScope, expressions: PythonExpressions) -> NameTable:
    names: dict[str, list[Binding]] = {}
    for table in (scope.names, scope.attributes):
        for name, bindings in table.items():
            lasting = [binding for binding in bindings if not binding.until and "." not in name]
            if lasting:
                names.setdefault(name, []).extend(lasting)
    rows = []
    for name, bindings in names.items():
        declared = [binding for binding in bindings if binding.annotation is not None]
        values = _distinct([expressions.value(binding, declared=True) for binding in declared or bindings])
        rows.append((name, values if len(values) <= MAX_ALTERNATIVES else (UNKNOWN,)))
    return NameTable(scope.qualname, tuple(rows))


def _distinct(values: list[Expression]) -> tuple[Expression, ...]:
    return tuple(dict.fromkeys(values))


def _closed_function(function: PythonFunction, bindings: tuple[Expression, ...]) -> PythonFunction:
    results = _distinct([_closed(value, bindings) for value in function.results])
    returns = _closed_types(function.returns, bindings)
    parameters = function.parameters
    if any(_is_open(annotation) for _, annotation in parameters):
        parameters = tuple([(name, _closed(annotation, bindings)) for name, annotation in parameters])
    return msgspec.structs.replace(function, returns=returns, results=results, parameters=parameters)


def _closed_class(made: PythonClass, bindings: tuple[Expression, ...]) -> PythonClass:
    return msgspec.structs.replace(made, bases=_closed_types(made.bases, bindings))


def _closed_types(types: tuple[Expression, ...], bindings: tuple[Expression, ...]) -> tuple[Expression, ...]:
    if not any(_is_open(one) for one in types):
        return types
    return tuple([_closed(one, bindings) for one in types])


def _is_open(expression: Expression) -> bool:
    """Whether it contains a name of a scope inside the file."""
    return expression.kind is ExpressionKind.LOCAL or any(_is_open(part) for part in expression.parts)


def _closed_table(table: NameTable, bindings: tuple[Expression, ...]) -> NameTable:
    rows = [(name, tuple([_closed(value, bindings) for value in values])) for name, values in table.names]
    return NameTable(table.scope, tuple(rows))


def _closed(expression: Expression, bindings: tuple[Expression, ...]) -> Expression:
    """Replace local names by what they are bound to, so that the expression is valid outside its scope."""
    if not expression.parts and not expression.refs:
        return expression
    room = [MAX_CLOSED_NODES]

    def close(part: Expression, inside: frozenset[int]) -> Expression:
        room[0] -= 1
        if room[0] < 0:
            return UNKNOWN
        if part.kind is ExpressionKind.LOCAL:
            known = [ref for ref in part.refs if ref not in inside]
            values = tuple([close(bindings[ref], inside | {ref}) for ref in known])
            return values[0] if len(values) == 1 else Expression(ExpressionKind.EITHER, "", values)
        if not part.parts:
            return part
        return Expression(part.kind, part.name, tuple([close(inner, inside) for inner in part.parts]))

    return close(expression, frozenset())
