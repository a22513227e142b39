"""Choose the language of a file by its name; grammars are loaded only when a file has to be parsed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from treering.code.languages.tsconfig_names import TSCONFIG_NAMES
from treering.core.errors import MissingDependency

if TYPE_CHECKING:
    from treering.code.facts import LanguageSupport


class LanguageInfo(NamedTuple):
    """The declaration of a language, repeated here so that its package need not be imported."""

    name: str
    suffixes: tuple[str, ...]
    manifests: tuple[str, ...]


LANGUAGES = (
    LanguageInfo("go", (".go",), ("go.mod", "go.work")),
    LanguageInfo("python", (".py", ".pyi"), ("pyproject.toml",)),
    LanguageInfo("rust", (".rs",), ("Cargo.toml",)),
    LanguageInfo(
        "typescript",
        (".ts", ".mts", ".cts", ".tsx", ".js", ".jsx", ".mjs", ".cjs"),
        (*TSCONFIG_NAMES, "package.json"),
    ),
)
_BY_SUFFIX = {suffix: language.name for language in LANGUAGES for suffix in language.suffixes}
_BY_NAME = {manifest: language.name for language in LANGUAGES for manifest in language.manifests}
MANIFESTS = frozenset(_BY_NAME)


def language_named(name: str) -> str | None:
    """Return the language for a file of this name, or None if it is not code."""
    found = _BY_NAME.get(name)
    if found is not None:
        return found
    dot = name.rfind(".")
    return _BY_SUFFIX.get(name[dot:]) if dot > 0 else None


def load_language(name: str) -> LanguageSupport:
    """Load a language; raise `MissingDependency` if its grammar is not installed."""
    loaded = _load_or_error(name)
    if isinstance(loaded, MissingDependency):
        raise loaded
    return loaded


def missing_grammar(name: str) -> str | None:
    """Return why files of a language cannot be parsed and how to fix it, or None if they can."""
    loaded = _load_or_error(name)
    return str(loaded) if isinstance(loaded, MissingDependency) else None


@cache
def _load_or_error(name: str) -> LanguageSupport | MissingDependency:
    """Cache failures for the life of the process: thousands of files would retry the import."""
    try:
        language: LanguageSupport = import_module(f"treering.code.languages.{name}").LANGUAGE
    except ImportError as exc:
        wheel = (exc.name or f"tree_sitter_{name}").partition(".")[0].replace("_", "-")
        missing = MissingDependency(f"the grammar of {name} cannot be loaded ({exc}); run `pip install -U {wheel}`")
        missing.__cause__ = exc
        return missing
    return language
