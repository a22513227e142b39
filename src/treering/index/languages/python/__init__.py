"""Python: read with tree-sitter, resolved by the language's rules and by types that are evident."""

from collections.abc import Mapping
from typing import Any

from treering.index.facts import Ask, Facts, Key, Resolved
from treering.index.languages.python.extract import extract_source
from treering.index.languages.python.manifest import extract_manifest, is_manifest, resolve_manifest
from treering.index.languages.python.model import Body
from treering.index.languages.python.resolve import resolve_source
from treering.index.languages.python.surface import surface_of


class Python:
    name = "python"
    suffixes = (".py", ".pyi")
    manifests = ("pyproject.toml",)
    body = Body

    def extract(self, path: str, source: bytes) -> Facts:
        return extract_manifest(path, source) if is_manifest(path) else extract_source(path, source)

    def surface(self, facts: Facts) -> Mapping[Key, Any]:
        return surface_of(facts)

    def resolve(self, facts: Facts, ask: Ask) -> Resolved:
        return resolve_manifest(facts, ask) if is_manifest(facts.path) else resolve_source(facts, ask)


LANGUAGE = Python()
