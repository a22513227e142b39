"""What git is told to ignore, folder by folder. What holds in the root from outside of it: `ignoring_around`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILE = ".gitignore"
_LARGEST = 1_000_000
_LONGEST = 4_096
_NAMED_GROUP = re.compile(r"\(\?P<\w+>")
_NEVER = r"(?!)"
_REMEMBERED = 256
"""Files of rules that are not parsed again while nothing in them changes: every look at a project needs all of them."""


@dataclass(frozen=True, slots=True)
class RuleFile:
    """The rules of one file."""

    spec: GitIgnoreSpec
    mentioned: re.Pattern[str]
    """What any rule is about, in one expression: most paths are not, and rules are slow to ask one by one."""

    def decide(self, path: str) -> bool | None:
        """Whether to ignore it; None where no rule is about it."""
        return self.spec.check_file(path).include if self.mentioned.search(path) else None


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that hold in one folder: its own, and behind them those of the folders above."""

    folder: str
    """With a slash at its end; empty for the root."""
    file: RuleFile
    above: Rules | None = None
    before: str = ""
    """How the root is called, with a slash at its end, from the folder above it that these rules stand in."""

    def ignore(self, path: str) -> bool:
        """Whether a file, or a folder with a slash at its end, is ignored: the nearest rule about it decides."""
        rules: Rules | None = self
        while rules is not None:
            told = rules.file.decide(rules.before + path[len(rules.folder) :])
            if told is not None:
                return told
            rules = rules.above
        return False


def rules_in(root: Path, folder: str, above: Rules | None) -> Rules | None:
    """Those of a folder that has a `.gitignore`, else those above."""
    file = rules_of(root / folder / IGNORE_FILE)
    return above if file is None else Rules(folder, file, above)


def rules_of(path: Path, *, linked: bool = False) -> RuleFile | None:
    """The rules in a file; None where there are none. Only where git does so, what it is `linked` to is read."""
    text = text_of(path, linked=linked)
    return _parsed(text) if text else None


def text_of(path: Path, *, linked: bool = False) -> str:
    """What stands in a small file of git's, empty where it cannot be read."""
    try:
        if (path.is_symlink() and not linked) or not path.is_file() or path.stat().st_size > _LARGEST:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


@lru_cache(maxsize=_REMEMBERED)
def _parsed(text: str) -> RuleFile:
    from pathspec import GitIgnoreSpec

    from treering.code.files.ignore_rule import rule

    spec = GitIgnoreSpec.from_lines((line for line in text.splitlines() if _is_rule(line)), rule)
    expressions = (_NAMED_GROUP.sub("(?:", each.regex.pattern) for each in spec.patterns if each.regex is not None)
    return RuleFile(spec, re.compile("|".join(f"(?:{each})" for each in expressions) or _NEVER))


def _is_rule(line: str) -> bool:
    """Git passes over what it does not understand, and no path is as long as the longest of these."""
    from treering.code.files.ignore_rule import rule

    if len(line) > _LONGEST:
        return False
    try:
        rule(line)
    except (ValueError, re.error):
        return False
    return True
