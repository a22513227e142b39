"""Patterns as text that people read, edit and review: YAML or JSON, and back.

What stands at its default is left out. YAML is read as YAML 1.2 has it: only `true` and `false` are truth values, a
date or `12:30` is text, and `010` too. Nothing but plain values is ever built from a file, and a file that refers to
its own parts is refused, for a few lines of it could unfold to more than memory holds.
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
# A pattern's own nesting around that of its conditions and metadata, each level a mapping in a list.
_DEEPEST = 3 * NESTING
_MOST_ERRORS = 3
_TAG = "tag:yaml.org,2002:"
_SCALARS: tuple[tuple[str, str, str], ...] = (
    ("bool", r"^(?:true|false)$", "tf"),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$", "-+0123456789"),
    ("float", r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$", "-+.0123456789"),
    ("null", r"^(?:null|~|)$", "n~"),
)


class _Loader(_SafeLoader):
    yaml_implicit_resolvers: Any = {}  # noqa: RUF012  # the library reads it as the class's own


class _Dumper(_SafeDumper):
    yaml_implicit_resolvers: Any = {}  # noqa: RUF012  # the library reads it as the class's own

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text_node(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """Several lines stand as they are, where that loses nothing."""
    lines = text.split("\n")
    is_block = len(lines) > 1 and all(line.isprintable() and line == line.strip() for line in lines) and lines[0]
    return dumper.represent_scalar(_TAG + "str", text, style="|" if is_block else None)


for _kind in (_Loader, _Dumper):
    for _name, _shape, _first in _SCALARS:
        # The empty text stands for null as well, and begins with nothing.
        _kind.add_implicit_resolver(_TAG + _name, re.compile(_shape), [*_first, *([""] if _name == "null" else [])])
_Dumper.add_representer(str, _text_node)


def to_yaml(patterns: Iterable[Pattern]) -> str:
    """The patterns as YAML; `read` gives back equal ones."""
    return str(yaml.dump(_document(patterns), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100))


def to_json(patterns: Iterable[Pattern]) -> str:
    """The patterns as indented JSON; `read` gives back equal ones."""
    return json.dumps(_document(patterns), ensure_ascii=False, indent=2) + "\n"


def read(text: str, *, now: datetime | None = None) -> tuple[Pattern, ...]:
    """The patterns of a YAML or JSON text. What is wrong is said with its line and field.

    Who writes by hand may leave out when a pattern was created and changed: that is `now`, where it is given. What the
    file says of evidence and status is taken from it; whether to believe that is for the caller to decide.
    """
    content = _json_content(text) if text.lstrip().startswith("{") else _yaml_content(text)
    fields = _checked(content)
    patterns = tuple(_pattern(each, place, now, text) for place, each in enumerate(fields))
    first: dict[str, int] = {}
    for place, pattern in enumerate(patterns):
        if first.setdefault(pattern.id, place) != place:
            raise InvalidInput(
                f"{_place(text, ('patterns', place, 'id'))}: {pattern.id!r} is also the id of pattern "
                f"{first[pattern.id]}; give each its own"
            )
    return patterns


def _document(patterns: Iterable[Pattern]) -> dict[str, Any]:
    return {_HEADER: FORMAT, "patterns": [_plain(each) for each in patterns]}


def _plain(value: Any) -> Any:
    """As JSON has it, without what stands at its default; the form of a part stays, for it tells what the part is."""
    if isinstance(value, Value):
        return {name: _plain(getattr(value, name)) for name in type(value).model_fields if _is_told(value, name)}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    return value.isoformat() if isinstance(value, datetime) else thaw(value)


def _is_told(value: Value, name: str) -> bool:
    field = type(value).model_fields[name]
    if name == "form" or field.is_required():
        return True
    return bool(getattr(value, name) != field.get_default(call_default_factory=True))


def _json_content(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refused_constant)
    except json.JSONDecodeError as exc:
        raise InvalidInput(f"line {exc.lineno}: not JSON ({exc.msg}); correct it there") from exc
    except (ValueError, RecursionError) as exc:
        raise InvalidInput(f"not JSON that can be read: {exc}") from exc


def _without_repeats(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} stands twice in one object")
    return made


def _refused_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON; use a finite number")


def _yaml_content(text: str) -> Any:
    try:
        _check_shape(text)
        loader = _Loader(text)
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


def _refused(problem: str, mark: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=mark)


def _check_shape(text: str) -> None:
    """Before anything is built: no part stands for another, and none lies deeper than patterns go."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            raise _refused(f"*{event.anchor} refers to another part", event.start_mark)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise _refused(f"nested deeper than {_DEEPEST} levels", event.start_mark)


def _check_repeats(node: yaml.Node | None) -> None:
    if isinstance(node, yaml.MappingNode):
        seen = set[str]()
        for key, part in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise _refused(f"{key.value!r} stands here twice", key.start_mark)
            seen.add(str(key.value))
            _check_repeats(part)
    elif isinstance(node, yaml.SequenceNode):
        for part in node.value:
            _check_repeats(part)


def _checked(content: Any) -> list[Any]:
    told = content.get(_HEADER) if isinstance(content, Mapping) else None
    if not isinstance(told, int) or isinstance(told, bool) or told < 1:
        raise InvalidInput(f"no file of patterns: it begins with `{_HEADER}: {FORMAT}`")
    if told > FORMAT:
        raise InvalidInput(f"the file has format {told}, this Treering knows {FORMAT}; upgrade Treering")
    if unknown := sorted(str(name) for name in content.keys() - {_HEADER, "patterns"}):
        raise InvalidInput(f"a file of patterns has no {', '.join(unknown)}; patterns stand under `patterns`")
    patterns = content.get("patterns")
    if not isinstance(patterns, list):
        raise InvalidInput("`patterns` is not a list of patterns; begin each with a dash")
    return patterns


def _pattern(fields: Any, place: int, now: datetime | None, text: str) -> Pattern:
    if now is not None and isinstance(fields, dict):
        fields = {"created_at": now, "updated_at": now} | fields
    try:
        return Pattern.model_validate(fields)
    except ValidationError as exc:
        said = [_explained(error, place, text) for error in exc.errors()[:_MOST_ERRORS]]
        more = f" (and {exc.error_count() - _MOST_ERRORS} more)" if exc.error_count() > _MOST_ERRORS else ""
        raise InvalidInput(f"{'; '.join(said)}{more}") from exc


def _explained(error: ErrorDetails, place: int, text: str) -> str:
    return f"{_place(text, ('patterns', place, *error['loc']))}: {error['msg']}"


def _place(text: str, path: Sequence[str | int]) -> str:
    """A field and its line. JSON is YAML here, too; parts of a path that only the checker knows lead nowhere."""
    try:
        node = yaml.compose(text, Loader=_Loader)
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
        return {place: (part.start_mark.line + 1, part) for place, part in enumerate(node.value)}
    return {}
