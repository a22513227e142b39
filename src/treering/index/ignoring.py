"""What git is told to ignore: `.gitignore` of every folder, and `.git/info/exclude`."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

IGNORE_FILE = ".gitignore"
_LARGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules that hold in one folder: its own, and behind them those of the folders above."""

    folder: str
    """With a slash at its end; empty for the root."""
    spec: GitIgnoreSpec
    above: "Rules | None" = None

    def ignore(self, path: str) -> bool:
        """Whether a file, or a folder with a slash at its end, is ignored: the nearest rule about it decides."""
        rules: Rules | None = self
        while rules is not None:
            told = rules.spec.check_file(path[len(rules.folder) :]).include
            if told is not None:
                return told
            rules = rules.above
        return False


def rules_in(root: Path, folder: str, above: Rules | None) -> Rules | None:
    """Those of a folder that has a `.gitignore`, else those above."""
    lines = _lines(root / folder / IGNORE_FILE)
    return Rules(folder, _spec(lines), above) if lines else above


def excluded_in(root: Path) -> Rules | None:
    """What this clone alone ignores."""
    lines = _lines(root / ".git" / "info" / "exclude")
    return Rules("", _spec(lines)) if lines else None


def _lines(path: Path) -> list[str]:
    """A file of rules that cannot be read rules nothing; a link may lead anywhere and is not followed."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
            return []
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _spec(lines: Iterable[str]) -> GitIgnoreSpec:
    return GitIgnoreSpec.from_lines(line for line in lines if _is_rule(line))


def _is_rule(line: str) -> bool:
    """Git passes over what it does not understand."""
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
