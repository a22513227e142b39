"""The gitignore rules of each folder. `outer_ignore_rules` has those that apply from outside the root."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILE = ".gitignore"
_MAX_BYTES = 1_000_000
_MAX_RULE_LENGTH = 4_096
_NAMED_GROUP = re.compile(r"\(\?P<\w+>")
_NEVER = r"(?!)"
_CACHE_SIZE = 256
"""Parsed rule files in the cache: every scan of a project needs all of them."""


@dataclass(frozen=True, slots=True)
class RuleFile:
    """The rules of one file."""

    spec: GitIgnoreSpec
    mentioned: re.Pattern[str]
    """All rules in one expression: it rejects most paths faster than trying the rules one by one."""

    def decide(self, path: str) -> bool | None:
        """Return whether to ignore the path, or None if no rule matches it."""
        return self.spec.check_file(path).include if self.mentioned.search(path) else None


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that apply in one folder: its own, then those of the folders above."""

    folder: str
    """With a trailing slash; empty for the root."""
    file: RuleFile
    above: IgnoreRules | None = None
    before: str = ""
    """Path of the root, with a trailing slash, relative to the folder above it that contains these rules."""

    def ignores(self, path: str) -> bool:
        """Whether a file, or a folder with a trailing slash, is ignored: the nearest matching rule decides."""
        rules: IgnoreRules | None = self
        while rules is not None:
            told = rules.file.decide(rules.before + path[len(rules.folder) :])
            if told is not None:
                return told
            rules = rules.above
        return False


def load_folder_rules(root: Path, folder: str, above: IgnoreRules | None) -> IgnoreRules | None:
    """Return the rules of a folder that has a `.gitignore`, else those above."""
    file = load_rule_file(root / folder / IGNORE_FILE)
    return above if file is None else IgnoreRules(folder, file, above)


def load_rule_file(path: Path, *, linked: bool = False) -> RuleFile | None:
    """Return the rules of a file, or None if it has none. A symbolic link is followed only if `linked`, as git does."""
    text = text_of(path, linked=linked)
    return _parsed(text) if text else None


def text_of(path: Path, *, linked: bool = False) -> str:
    """Return the content of a small git file; empty if it cannot be read."""
    try:
        if (path.is_symlink() and not linked) or not path.is_file() or path.stat().st_size > _MAX_BYTES:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


@lru_cache(maxsize=_CACHE_SIZE)
def _parsed(text: str) -> RuleFile:
    from pathspec import GitIgnoreSpec

    from treering.code.files.ignore_rule import compile_rule

    spec = GitIgnoreSpec.from_lines((line for line in text.splitlines() if _is_rule(line)), compile_rule)
    expressions = (_NAMED_GROUP.sub("(?:", each.regex.pattern) for each in spec.patterns if each.regex is not None)
    return RuleFile(spec, re.compile("|".join(f"(?:{each})" for each in expressions) or _NEVER))


def _is_rule(line: str) -> bool:
    """Git skips rules that it does not understand; paths are shorter than the length limit."""
    from treering.code.files.ignore_rule import compile_rule

    if len(line) > _MAX_RULE_LENGTH:
        return False
    try:
        compile_rule(line)
    except (ValueError, re.error):
        return False
    return True
