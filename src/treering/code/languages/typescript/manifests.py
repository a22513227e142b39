"""tsconfig.json, jsconfig.json and package.json: the parts that affect import resolution."""

import json
import re
from collections.abc import Iterator
from typing import Any

from treering.code.facts import Facts, SyntaxProblem
from treering.code.languages.typescript.terms import Config, Package, TsBody
from treering.code.tsconfig_names import TSCONFIG_NAMES

MANIFESTS = (*TSCONFIG_NAMES, "package.json")

STRING_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
STRING_OR_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])')
ENTRY_FIELDS = ("source", "types", "typings", "module", "main", "browser")
MAX_DEPTH = 12


def read_manifest(path: str, source: bytes) -> Facts:
    """Return a manifest's facts; invalid JSON yields only a problem."""
    text = source.decode("utf-8-sig", "replace")
    try:
        value = _storable(json.loads(_plain_json(text)))
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        return Facts(path, (), TsBody(), (SyntaxProblem(line, f"not readable as JSON: {type(error).__name__}"),))
    if not isinstance(value, dict):
        return Facts(path, (), TsBody(), (SyntaxProblem(1, "not a JSON object"),))
    if path.rpartition("/")[2] == "package.json":
        return Facts(path, (), TsBody(package=_package(value)))
    return Facts(path, (), TsBody(config=_config(value)))


def _plain_json(text: str) -> str:
    """Remove the comments and trailing commas that these files may contain."""
    uncommented = STRING_OR_COMMENT.sub(lambda found: found.group() if found.group()[0] == '"' else " ", text)
    return STRING_OR_COMMA.sub(lambda found: found.group() if found.group()[0] == '"' else "", uncommented)


def _storable(value: Any) -> Any:
    """Replace lone surrogates, which cannot be encoded: an escape in JSON may be half a character."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_storable(key): _storable(item) for key, item in value.items()}
    return [_storable(item) for item in value] if isinstance(value, list) else value


def _strings(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _table(value: Any) -> dict[str, Any]:
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}


def _config(value: dict[str, Any]) -> Config:
    options = _table(value.get("compilerOptions"))
    base = options.get("baseUrl")
    paths = tuple((pattern, _strings(targets)) for pattern, targets in _table(options.get("paths")).items())
    listed = value.get("references")
    references = tuple(
        item["path"]
        for item in (listed if isinstance(listed, list) else ())
        if isinstance(item, dict) and isinstance(item.get("path"), str)
    )
    return Config(_strings(value.get("extends")), base if isinstance(base, str) else None, paths, references)


def _package(value: dict[str, Any]) -> Package:
    name = value.get("name")
    entries = tuple(value[field] for field in ENTRY_FIELDS if isinstance(value.get(field), str))
    exports = value.get("exports")
    if not isinstance(exports, dict) or not any(key.startswith(".") for key in exports):
        exports = {".": exports} if exports is not None else {}
    return Package(
        name if isinstance(name, str) else "",
        entries,
        tuple((pattern, tuple(_targets(target))) for pattern, target in exports.items()),
        tuple((pattern, tuple(_targets(target))) for pattern, target in _table(value.get("imports")).items()),
    )


def _targets(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield every file that a condition may select, in order of appearance."""
    if isinstance(value, str):
        yield value
    elif depth < MAX_DEPTH:
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from _targets(item, depth + 1)
