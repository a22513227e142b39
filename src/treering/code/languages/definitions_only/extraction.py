"""Definitions, imports and used names of a file, found by the query of its language and the leaves of its tree."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec
from tree_sitter import Language, Node, Parser, QueryCursor

from treering.code.facts import Facts, Span, SyntaxProblem
from treering.code.language_table import DefinitionLanguage
from treering.code.languages.definitions_only.bounded_text import BoundedText
from treering.code.languages.definitions_only.found_definitions import (
    FoundDefinition,
    definitions_in,
    nested,
    one_line,
    outer_first,
)
from treering.code.languages.definitions_only.simplification import variants_of
from treering.code.languages.definitions_only.sql import sql_definitions
from treering.code.languages.definitions_only.used_names import UsedNames, names_query, used_names
from treering.code.languages.line_index import LineIndex
from treering.code.languages.queries import query_of
from treering.code.languages.syntax_nodes import problems_of, text_of

_MAX_OPEN_MATCHES = 1_024
"""Matches that the query of one file may have begun and not ended: a bound of its time on deeply nested files."""
_IMPORT = "import"
_QUOTES = "\"'`<>"
_TEST = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)test_[^/]*$|(?:_test|_spec|\.test|\.spec|Tests?|Spec)\.\w+$"
)
_STATEMENT_READERS: dict[str, Callable[[bytes], Iterable[FoundDefinition]]] = {"sql": sql_definitions}
"""Languages whose definitions are read without their grammar, which still finds the names that a file uses."""
_KEYWORDS = frozenset(
    ("if", "else", "for", "while", "do", "switch", "case", "return", "sizeof", "int", "void", "char", "catch")
)
"""What a grammar takes for the name of a function in a broken text."""
_TOO_IRREGULAR = SyntaxProblem(1, "too irregular to be parsed in full; some definitions are left out")


class FileNames(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The names that a file uses, with their lines."""

    imports: tuple[tuple[str, int], ...] = ()
    """As written."""
    used: UsedNames = ()


class _Reading(NamedTuple):
    """What a query finds in one text."""

    root: Node
    definitions: frozenset[FoundDefinition]
    imports: tuple[tuple[str, int], ...]
    problems: tuple[SyntaxProblem, ...]


class _Group(NamedTuple):
    """Definitions of one text, nested in each other; only those that are named in a kept part count."""

    definitions: frozenset[FoundDefinition]
    kept: Sequence[Span]


class DefinitionReader:
    """Reads files of one language. Raises `ImportError` if its grammar is not installed."""

    def __init__(self, declared: DefinitionLanguage) -> None:
        self._name, self._grammar = declared.name, _grammar(declared.grammar)
        self._query = query_of(self._grammar, declared.name)
        self._names_query = names_query(self._grammar)

    def read(self, path: str, source: bytes) -> Facts:
        """Return the definitions, imports and used names; a syntax error loses only the broken part."""
        lines = LineIndex(source)
        reading = self._reading(source, lines)
        groups, problems = self._groups(source, reading, lines)
        found = sorted((each for group in groups for each in nested(group.definitions, group.kept)), key=outer_first)
        used = used_names(
            self._names_query,
            reading.root,
            lines,
            {each.named_until for each in found},
            {line for _, line in reading.imports},
        )
        is_test = _TEST.search(path) is not None
        return Facts(
            path,
            tuple(each.placed(lines, is_test=is_test) for each in found),
            FileNames(reading.imports, used),
            problems,
        )

    def _groups(
        self, source: bytes, reading: _Reading, lines: LineIndex
    ) -> tuple[Sequence[_Group], tuple[SyntaxProblem, ...]]:
        """Return the definitions of a file, and the problems that may have lost some."""
        everywhere = ((0, len(source)),)
        if read_statements := _STATEMENT_READERS.get(self._name):
            return (_Group(frozenset(read_statements(source)), everywhere),), ()
        variants = tuple(variants_of(self._name, source)) if reading.problems else ()
        if not variants:
            return (_Group(reading.definitions, everywhere),), reading.problems
        macros = frozenset(each for each in reading.definitions if source[each.start : each.start + 1] == b"#")
        groups, problems = [_Group(macros, everywhere)], reading.problems
        for text, kept in variants:
            part = self._reading(text, lines)
            problems = min(problems, part.problems, key=len)
            groups.append(_Group(frozenset(each for each in part.definitions if each.name not in _KEYWORDS), kept))
        return groups, problems

    def _reading(self, source: bytes, lines: LineIndex) -> _Reading:
        text = BoundedText(source)
        root = Parser(self._grammar).parse(text).root_node
        text.parsed = True
        cursor = QueryCursor(self._query)
        # Not `progress_callback`, to limit the time: in tree-sitter 0.26.0 it ends the process.
        cursor.match_limit = _MAX_OPEN_MATCHES
        found, imports = set[FoundDefinition](), dict[tuple[str, int], None]()
        for _, captures in cursor.matches(root):
            found.update(definitions_in(captures))
            for node in captures.get(_IMPORT, ()):
                if written := one_line(text_of(node)).strip(_QUOTES):
                    imports[written, lines.of(node.start_byte)] = None
        problems = problems_of(root, lines)
        if text.is_exhausted or cursor.did_exceed_match_limit:
            problems = (_TOO_IRREGULAR, *problems)
        return _Reading(root, frozenset(found), tuple(imports), problems)


def _grammar(name: str) -> Language:
    from tree_sitter_language_pack import get_language

    try:
        return get_language(name)  # type: ignore[arg-type]  # a name from our table
    except LookupError as exc:
        raise ImportError(str(exc), name="tree_sitter_language_pack") from exc
