"""Patterns as YAML or JSON for people to read, edit and review, and back.

Fields with default values are omitted. YAML is read as version 1.2: only `true` and `false` are booleans; dates,
`12:30` and `010` are strings. Only plain values are built from a file, and aliases are rejected, since a few lines of
them could expand to more than fits in memory.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from treering.core.errors import InvalidInput
from treering.core.patterns import Pattern
from treering.core.values import NESTING, Value, thaw

try:
    from yaml import CSafeDumper as _SafeDumper
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # without libyaml, ten times slower
    from yaml import SafeDumper as _SafeDumper  # type: ignore[assignment]
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

FORMAT = 1
_HEADER = "treering_patterns"
# The nesting of a pattern around its conditions and metadata, each level a mapping in a list.
_MAX_DEPTH = 3 * NESTING
_MAX_ERRORS = 3
_TAG = "tag:yaml.org,2002:"
_SCALARS: tuple[tuple[str, str, str], ...] = (
    ("bool", r"^(?:true|false)$", "tf"),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
    ("float", r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
    ("null", r"^(?:null|~|)$", "n~"),
)


class _PatternLoader(_SafeLoader):
    yaml_implicit_resolvers: Any = {}  # noqa: RUF012  # PyYAML expects a class attribute


class _PatternDumper(_SafeDumper):
    yaml_implicit_resolvers: Any = {}  # noqa: RUF012  # PyYAML expects a class attribute

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text_node(dumper: _PatternDumper, text: str) -> yaml.ScalarNode:
    """Several lines as a literal block, unless that would lose whitespace."""
    lines = text.split("\n")
    is_block = len(lines) > 1 and all(line.isprintable() and line == line.strip() for line in lines) and lines[0]
    return dumper.represent_scalar(_TAG + "str", text, style="|" if is_block else None)


for _kind in (_PatternLoader, _PatternDumper):
    for _name, _shape, _first in _SCALARS:
        # An empty scalar is null, too, and has no first character.
        _kind.add_implicit_resolver(_TAG + _name, re.compile(_shape), [*_first, *([""] if _name == "null" else [])])
_PatternDumper.add_representer(str, _text_node)


def to_yaml(patterns: Iterable[Pattern]) -> str:
    """The patterns as YAML; `read` returns equal ones."""
    return str(yaml.dump(_document(patterns), Dumper=_PatternDumper, sort_keys=False, allow_unicode=True, width=100))


def to_json(patterns: Iterable[Pattern]) -> str:
    """The patterns as indented JSON; `read` returns equal ones."""
    return json.dumps(_document(patterns), ensure_ascii=False, indent=2) + "\n"


def read(text: str, *, now: datetime | None = None) -> tuple[Pattern, ...]:
    """The patterns in a YAML or JSON text; raises `InvalidInput` with the line and field of an error.

    If `now` is given, it is the default for the times of creation and change. Evidence and status are read as written;
    the caller decides whether to trust them.
    """
    content = _json_content(text) if text.lstrip().startswith("{") else _yaml_content(text)
    fields = _checked_items(content)
    patterns = tuple(_pattern(each, index, now, text) for index, each in enumerate(fields))
    first: dict[str, int] = {}
    for index, pattern in enumerate(patterns):
        if first.setdefault(pattern.id, index) != index:
            raise InvalidInput(
                f"{_location(text, ('patterns', index, 'id'))}: {pattern.id!r} is also the id of pattern "
                f"{first[pattern.id]}; give each pattern its own id"
            )
    return patterns


def _document(patterns: Iterable[Pattern]) -> dict[str, Any]:
    return {_HEADER: FORMAT, "patterns": [_plain(each) for each in patterns]}


def _plain(value: Any) -> Any:
    """JSON values without defaults; `form` always stays, since it names the type of a part."""
    if isinstance(value, Value):
        return {name: _plain(getattr(value, name)) for name in type(value).model_fields if _is_written(value, name)}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    return value.isoformat() if isinstance(value, datetime) else thaw(value)


def _is_written(value: Value, name: str) -> bool:
    field = type(value).model_fields[name]
    if name == "form" or field.is_required():
        return True
    return bool(getattr(value, name) != field.get_default(call_default_factory=True))


def _json_content(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_reject_constant)
    except json.JSONDecodeError as exc:
        raise InvalidInput(f"line {exc.lineno}: not JSON ({exc.msg}); correct it there") from exc
    except (ValueError, RecursionError) as exc:
        raise InvalidInput(f"not JSON that can be read: {exc}") from exc


def _without_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} occurs twice in one object")
    return mapping


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON; use a finite number")


def _yaml_content(text: str) -> Any:
    try:
        _check_shape(text)
        loader = _PatternLoader(text)
        try:
            node = loader.get_single_node()
            _check_repeats(node)
            return loader.construct_document(node) if node is not None else None
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as exc:
        line = f"line {exc.problem_mark.line + 1}: " if exc.problem_mark else ""
        raise InvalidInput(f"{line}not YAML that can be read ({exc.problem}); correct it there") from exc
    except (yaml.YAMLError, ValueError, RecursionError) as exc:
        raise InvalidInput(f"not YAML that can be read: {exc}") from exc


def _yaml_error(problem: str, mark: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


def _check_shape(text: str) -> None:
    """Reject aliases and too deep nesting before anything is built."""
    depth = 0
    for event in yaml.parse(text, Loader=_PatternLoader):
        if isinstance(event, yaml.AliasEvent):
            raise _yaml_error(f"*{event.anchor} is an alias, which is not allowed", event.start_mark)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise _yaml_error(f"nested deeper than {_MAX_DEPTH} levels", event.start_mark)


def _check_repeats(node: yaml.Node | None) -> None:
    if isinstance(node, yaml.MappingNode):
        seen = set[str]()
        for key, part in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise _yaml_error(f"{key.value!r} occurs twice", key.start_mark)
            seen.add(str(key.value))
            _check_repeats(part)
    elif isinstance(node, yaml.SequenceNode):
        for part in node.value:
            _check_repeats(part)


def _checked_items(content: Any) -> list[Any]:
    version = content.get(_HEADER) if isinstance(content, Mapping) else None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise InvalidInput(f"not a file of patterns; it must begin with `{_HEADER}: {FORMAT}`")
    if version > FORMAT:
        raise InvalidInput(f"the file has format {version}, this Treering reads up to {FORMAT}; upgrade Treering")
    if unknown := sorted(str(name) for name in content.keys() - {_HEADER, "patterns"}):
        raise InvalidInput(
            f"unknown keys in a file of patterns: {', '.join(unknown)}; put the patterns under `patterns`"
        )
    patterns = content.get("patterns")
    if not isinstance(patterns, list):
        raise InvalidInput("`patterns` is not a list of patterns; begin each with a dash")
    return patterns


def _pattern(fields: Any, index: int, now: datetime | None, text: str) -> Pattern:
    if now is not None and isinstance(fields, dict):
        fields = {"created_at": now, "updated_at": now} | fields
    try:
        return Pattern.model_validate(fields)
    except ValidationError as exc:
        errors = [_explain(error, index, text) for error in exc.errors()[:_MAX_ERRORS]]
        more = f" (and {exc.error_count() - _MAX_ERRORS} more)" if exc.error_count() > _MAX_ERRORS else ""
        raise InvalidInput(f"{'; '.join(errors)}{more}") from exc


def _explain(error: ErrorDetails, index: int, text: str) -> str:
    return f"{_location(text, ('patterns', index, *error['loc']))}: {error['msg']}"


def _location(text: str, path: Sequence[str | int]) -> str:
    """The field with its line. JSON is parsed as YAML, too; path segments that only pydantic knows are skipped."""
    try:
        node = yaml.compose(text, Loader=_PatternLoader)
    except yaml.YAMLError:
        return ".".join(map(str, path))
    line = 1
    for step in path:
        parts = _parts(node)
        if step in parts:
            line, node = parts[step]
    return f"line {line}, {'.'.join(map(str, path))}"


def _parts(node: Any) -> Mapping[str | int, tuple[int, Any]]:
    if isinstance(node, yaml.MappingNode):
        return {str(key.value): (key.start_mark.line + 1, part) for key, part in node.value}
    if isinstance(node, yaml.SequenceNode):
        return {index: (part.start_mark.line + 1, part) for index, part in enumerate(node.value)}
    return {}
