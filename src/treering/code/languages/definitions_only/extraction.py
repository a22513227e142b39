"""Definitions, imports and used names of a file, found by the query of its language and the leaves of its tree."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
from tree_sitter import Language, Node, Parser, QueryCursor

from treering.code.facts import Definition, DefinitionKind, Facts, SyntaxProblem
from treering.code.language_table import DefinitionLanguage
from treering.code.languages.definitions_only.used_names import UsedNames, names_query, used_names
from treering.code.languages.line_index import LineIndex
from treering.code.languages.queries import query_of
from treering.code.languages.syntax_nodes import problems_of, text_of

_MAX_OPEN_MATCHES = 1_024
"""Matches that the query of one file may have begun and not ended: a bound of its time on deeply nested files."""
_READ_BYTES = 4_096
_MAX_READS = 50_000
"""One or two seconds of processor time; the most irregular of 1,373 real files took 3,163."""
_MAX_NAME = 200
_NAME, _IMPORT = "name", "import"
_KINDS = {kind.value: kind for kind in DefinitionKind}
_HOLDERS = frozenset(
    (DefinitionKind.CLASS, DefinitionKind.INTERFACE, DefinitionKind.TRAIT, DefinitionKind.ENUM, DefinitionKind.TYPE)
)
"""Kinds whose functions are methods."""
_UNNAMEABLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_TYPE_ARGUMENTS = re.compile(r"<[^<>]*>")
_NAME_QUOTES = "\"'`"
_QUOTES = "\"'`<>"
_TEST = re.compile(
    r"(?:^|/)(?:tests?|specs?|__tests__)/|(?:^|/)test_[^/]*$|(?:_test|_spec|\.test|\.spec|Tests?|Spec)\.\w+$"
)


class FileNames(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The names that a file uses, with their lines."""

    imports: tuple[tuple[str, int], ...] = ()
    """As written."""
    used: UsedNames = ()


class _FoundDefinition(NamedTuple):
    """A definition before it is nested, with its place in bytes."""

    start: int
    end: int
    named_at: int
    """Where its name is: attributes and result types come before, and `line` is that of the name."""
    kind: DefinitionKind
    name: str


class _BoundedText:
    """The text of a file for a parser, which ends early if the parser reads it again and again.

    Parsers take quadratic time to recover from some errors. The number of reads is a limit that does not depend on the
    speed of the machine, so that a file has the same definitions whenever it is read.
    """

    def __init__(self, source: bytes) -> None:
        self._source, self._reads = source, 0
        self.parsed = False

    def __call__(self, start: int, _point: object) -> bytes:
        if not self.parsed:
            self._reads += 1
            if self.is_exhausted:
                return b""
        return self._source[start : start + _READ_BYTES]

    @property
    def is_exhausted(self) -> bool:
        return self._reads > _MAX_READS


class DefinitionReader:
    """Reads files of one language. Raises `ImportError` if its grammar is not installed."""

    def __init__(self, declared: DefinitionLanguage) -> None:
        self._grammar = _grammar(declared.grammar)
        self._query = query_of(self._grammar, declared.name)
        self._names_query = names_query(self._grammar)

    def read(self, path: str, source: bytes) -> Facts:
        """Return the definitions, imports and used names; a syntax error loses only the broken part."""
        text = _BoundedText(source)
        tree = Parser(self._grammar).parse(text)
        text.parsed = True
        lines, cursor = LineIndex(source), QueryCursor(self._query)
        # Not `progress_callback`, to limit the time: in tree-sitter 0.26.0 it ends the process.
        cursor.match_limit = _MAX_OPEN_MATCHES
        found, imports = set[_FoundDefinition](), dict[tuple[str, int], None]()
        for _, captures in cursor.matches(tree.root_node):
            found.update(_definitions(captures))
            for node in captures.get(_IMPORT, ()):
                if written := _one_line(text_of(node)).strip(_QUOTES):
                    imports[written, lines.of(node.start_byte)] = None
        problems = problems_of(tree.root_node, lines)
        if text.is_exhausted or cursor.did_exceed_match_limit:
            problems = (
                SyntaxProblem(1, "too irregular to be parsed in full; some definitions are left out"),
                *problems,
            )
        nested = tuple(_nested(sorted(found, key=_outer_first), lines, is_test=_TEST.search(path) is not None))
        defined_at = {each.named_at for each in found}
        import_lines = {line for _, line in imports}
        used = used_names(self._names_query, tree.root_node, lines, defined_at, import_lines)
        return Facts(path, nested, FileNames(tuple(imports), used), problems)


def _grammar(name: str) -> Language:
    from tree_sitter_language_pack import get_language

    try:
        return get_language(name)  # type: ignore[arg-type]  # a name from our table
    except LookupError as exc:
        raise ImportError(str(exc), name="tree_sitter_language_pack") from exc


def _definitions(captures: dict[str, list[Node]]) -> Iterator[_FoundDefinition]:
    """Yield the definitions of one match: a node captured as a kind, and its name."""
    names = captures.get(_NAME, [])
    name = _name_of(names)
    for label, nodes in captures.items():
        kind = _KINDS.get(label)
        if kind is not None and name:
            at = names[0].start_byte
            yield from (_FoundDefinition(node.start_byte, node.end_byte, at, kind, name) for node in nodes)


def _name_of(nodes: Sequence[Node]) -> str:
    """Return a name that can be part of an id: one line, without the separator of ids."""
    written = ".".join(
        part for node in nodes if (part := _without_arguments(_one_line(text_of(node))).strip(_NAME_QUOTES))
    )
    return written.replace("::", ".").strip(".:")[:_MAX_NAME]


def _without_arguments(name: str) -> str:
    """Return the name of a specialized template: `formatter<bool, Char>` is a `formatter`."""
    shorter = "" if name.startswith("operator") else _TYPE_ARGUMENTS.sub("", name)
    while shorter and shorter != name:
        name, shorter = shorter, _TYPE_ARGUMENTS.sub("", shorter)
    return name


def _one_line(text: str) -> str:
    return _UNNAMEABLE.sub(" ", text).strip()


def _outer_first(found: _FoundDefinition) -> tuple[int, int, str, str]:
    return found.start, -found.end, found.name, found.kind


def _nested(found: Sequence[_FoundDefinition], lines: LineIndex, *, is_test: bool) -> Iterator[Definition]:
    """Yield definitions with qualified names: those of the definitions around them come first."""
    around: list[tuple[int, str, DefinitionKind]] = []
    for each in found:
        while around and around[-1][0] <= each.start:
            around.pop()
        _, outer, holder = around[-1] if around else (0, "", DefinitionKind.MODULE)
        qualname = f"{outer}.{each.name}" if outer else each.name
        is_member = each.kind is DefinitionKind.FUNCTION and holder in _HOLDERS
        kind = DefinitionKind.METHOD if is_member else each.kind
        line, last = lines.of(each.named_at), lines.of(max(each.named_at, each.end - 1))
        yield Definition(qualname[-_MAX_NAME:], kind, line, last, test=is_test and kind in _RUNNABLE)
        around.append((each.end, qualname, kind))


_RUNNABLE = frozenset((DefinitionKind.FUNCTION, DefinitionKind.METHOD))
