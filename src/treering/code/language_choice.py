"""Choose the language of a file by its name; grammars are loaded only when a file has to be parsed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from treering.code.language_table import (
    DEFINITION_LANGUAGES,
    LANGUAGES,
    PROJECT_FILES,
    TEXT_FORMATS,
    UNREAD_LANGUAGES,
    ContentKind,
    DefinitionLanguage,
)
from treering.core.errors import MissingDependency

if TYPE_CHECKING:
    from treering.code.facts import LanguageSupport
    from treering.ports.code import ListedFile

_DEFINITIONS = {each.name: each for each in DEFINITION_LANGUAGES}
_TEXTS = {each.name: each for each in TEXT_FORMATS}
_BY_SUFFIX = {
    suffix: each.name for each in (*TEXT_FORMATS, *DEFINITION_LANGUAGES, *LANGUAGES) for suffix in each.suffixes
}
MANIFESTS = frozenset(manifest for language in LANGUAGES for manifest in language.manifests)
PROJECT_MARKS = MANIFESTS.union(PROJECT_FILES)
"""Names of files that mark the root of a project."""
_BY_NAME = {name: each.name for each in (*TEXT_FORMATS, *DEFINITION_LANGUAGES) for name in each.names} | {
    manifest: language.name for language in LANGUAGES for manifest in language.manifests
}
NO_GRAMMAR = "its grammar is not installed"
"""Why a file was not read."""
_UNREAD = {suffix: name for name, suffixes in UNREAD_LANGUAGES.items() for suffix in suffixes}


def language_named(name: str) -> str | None:
    """Return the language or text format for a file of this name, or None if it is not read."""
    found = _BY_NAME.get(name)
    if found is not None:
        return found
    dot = name.rfind(".")
    return _BY_SUFFIX.get(name[dot:]) if dot > 0 else None


def unread_language_named(name: str) -> str | None:
    """Return the language for a file of this name if it is known but not read."""
    dot = name.rfind(".")
    return _UNREAD.get(name[dot:]) if dot > 0 else None


def language_of(path: str) -> str | None:
    """Return the language or text format of the file at a path, or None if it is not read."""
    return language_named(path[path.rfind("/") + 1 :])


def content_kind(path: str) -> ContentKind:
    """Return what a file holds, by its name: code, unless it has a text format or is a manifest."""
    if path[path.rfind("/") + 1 :] in MANIFESTS:
        return ContentKind.CONFIGURATION
    text = _TEXTS.get(language_of(path) or "")
    return ContentKind.CODE if text is None else text.kind


def is_text_format(language: str) -> bool:
    """Whether this is a format without definitions, whose files are searched but are not part of the graph."""
    return language in _TEXTS


def is_in_graph(path: str) -> bool:
    """Whether the file at a path is a node of the graph once it is read."""
    return language_of(path) not in _TEXTS


def has_definitions_only(language: str) -> bool:
    """Whether only definitions and imports are read in this language, and no calls."""
    return language in _DEFINITIONS


def name_group(language: str) -> str:
    """Return the name that stands for all languages whose files use each other's definitions by name."""
    declared = _DEFINITIONS.get(language)
    return language if declared is None else declared.name_group


def partly_read(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the languages of these files in which only definitions and imports are read, sorted."""
    return tuple(sorted(_DEFINITIONS.keys() & {language_of(path) for path in paths}))


def by_level(languages: Mapping[str, int]) -> Mapping[str, Mapping[str, int]]:
    """Group numbers of files by how their language is read: in full, definitions only, text."""
    levels: dict[str, dict[str, int]] = {"in full": {}, "definitions only": {}, "text": {}}
    for name, count in languages.items():
        level = "definitions only" if name in _DEFINITIONS else "text" if name in _TEXTS else "in full"
        levels[level][name] = count
    return levels


def load_language(name: str) -> LanguageSupport:
    """Load a language; raise `MissingDependency` if its grammar is not installed."""
    loaded = _load_or_error(name)
    if isinstance(loaded, MissingDependency):
        raise loaded
    return loaded


def without_grammar(files: Iterable[ListedFile]) -> Counter[str]:
    """Number of files whose grammar was not installed when they were read, by language."""
    return Counter(file.language for file in files if file.skipped == NO_GRAMMAR)


def missing_grammar(name: str) -> str | None:
    """Return why files of a language cannot be parsed and how to fix it, or None if they can."""
    loaded = _load_or_error(name)
    return str(loaded) if isinstance(loaded, MissingDependency) else None


def missing_grammars(files: Mapping[str, int]) -> Iterator[str]:
    """Say which files are not read and what to install: one message for all languages that the same command adds."""
    extra = {language: count for language, count in sorted(files.items()) if has_definitions_only(language)}
    if any(missing_grammar(language) is not None for language in extra):
        listed = ", ".join(f"{count:,} {language}" for language, count in extra.items())
        count = sum(extra.values())
        unread = "1 file is not read, because its grammar is"
        if count > 1:
            unread = f"{count:,} files are not read, because their grammars are"
        yield f"{unread} not installed ({listed}); run `pip install 'treering[languages]'`, then `treering index`"
    for language in sorted(files.keys() - extra.keys()):
        why = missing_grammar(language)
        if why is not None:
            yield f"{language} files are skipped: {why}, then run `treering index`"


@cache
def _load_or_error(name: str) -> LanguageSupport | MissingDependency:
    """Cache failures for the life of the process: thousands of files would retry the import."""
    declared = _DEFINITIONS.get(name)
    try:
        return _load(name, declared)
    except ImportError as exc:
        wheel = (exc.name or f"tree_sitter_{name}").partition(".")[0].replace("_", "-")
        command = f"-U {wheel}" if declared is None else "'treering[languages]'"
        missing = MissingDependency(f"the grammar of {name} cannot be loaded ({exc}); run `pip install {command}`")
        missing.__cause__ = exc
        return missing


def _load(name: str, declared: DefinitionLanguage | None) -> LanguageSupport:
    """Raise `ImportError` if a grammar is not installed."""
    language: LanguageSupport
    if declared is not None:
        language = import_module("treering.code.languages.definitions_only").DefinitionsOnly(declared)
    elif name in _TEXTS:
        language = import_module("treering.code.languages.plain_text").PlainText(name)
    else:
        language = import_module(f"treering.code.languages.{name}").LANGUAGE
    return language
