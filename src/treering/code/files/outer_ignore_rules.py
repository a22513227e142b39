"""The gitignore rules that apply to a project from outside its root.

They come from the enclosing repository (`.gitignore` above the root, `info/exclude`, also of a worktree) and from the
user's git configuration (`core.excludesFile`). These files, and the configuration that names the last one, are the only
files read outside the root.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from treering.code.files.ignore_rules import IGNORE_FILE, IgnoreRules, load_rule_file, text_of

_SECTION = re.compile(r"^\s*\[\s*(?P<name>[^\]\s\"]+)\s*(?P<part>\"[^\"]*\")?\s*\]\s*")
_EXCLUDES = re.compile(r"^\s*excludesfile\s*=\s*\"?(?P<path>[^\"#;]*?)\"?\s*(?:[#;].*)?$", re.I)


@dataclass(frozen=True, slots=True)
class GitHome:
    """Locations of the user's git configuration."""

    home: Path
    configured: tuple[Path, ...]
    """Configuration files; a later one takes precedence."""
    ignores: Path
    """The user's ignore file, unless the configuration names another one."""


def git_home(environ: Mapping[str, str]) -> GitHome | None:
    """Return None if the environment has no home directory."""
    named = environ.get("HOME") or environ.get("USERPROFILE")
    if not named:
        return None
    home = Path(named)
    own = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    only = environ.get("GIT_CONFIG_GLOBAL")
    return GitHome(home, (Path(only),) if only else (own / "config", home / ".gitconfig"), own / "ignore")


def load_outer_rules(root: Path, home: GitHome | None) -> IgnoreRules | None:
    """Return the outer rules for the whole root; two results are equal if no rule changed.

    If the rules ignore the root itself, they do not apply: the user named the root explicitly.
    """
    top = repository_around(root)
    if top is None:
        return None
    inside = "" if top == root else f"{root.relative_to(top).as_posix()}/"
    rules: IgnoreRules | None = None
    for before, path, linked in _files(top, inside, home):
        file = load_rule_file(path, linked=linked)
        if file is not None:
            rules = IgnoreRules("", file, rules, before)
    return None if inside and rules is not None and rules.ignores("") else rules


def repository_around(root: Path) -> Path | None:
    """Return the folder of the repository that contains the root; None if there is none."""
    return next((folder for folder in (root, *root.parents) if os.path.lexists(folder / ".git")), None)


def _files(top: Path, inside: str, home: GitHome | None) -> Iterator[tuple[str, Path, bool]]:
    """Yield rule files with the path from their folder to the root; a later one takes precedence."""
    shared = common_git_folder(top / ".git")
    if home is not None:
        yield inside, _users_file(top, shared, home), True
    if shared is not None:
        yield inside, shared / "info" / "exclude", False
    parts = inside.split("/")[:-1]
    for depth in range(len(parts)):
        above = top.joinpath(*parts[:depth])
        yield "".join(f"{part}/" for part in parts[depth:]), above / IGNORE_FILE, False


def common_git_folder(git: Path) -> Path | None:
    """Return the folder that a repository's worktrees share."""
    own = own_git_folder(git)
    return None if own is None else own / (text_of(own / "commondir").strip() or ".")


def own_git_folder(git: Path) -> Path | None:
    """Return the folder of a repository or worktree; `.git` of a worktree or submodule only points to it."""
    if git.is_dir():
        return git
    named = text_of(git).partition("gitdir:")[2].strip()
    return git.parent / named if named else None


def _users_file(top: Path, shared: Path | None, home: GitHome) -> Path:
    of_repository = () if shared is None else (shared / "config",)
    for configured in (*of_repository, *reversed(home.configured)):
        named = _excludes_file(text_of(configured, linked=True))
        if named:
            return home.home / named[2:] if named.startswith("~/") else top / named
    return home.ignores


def _excludes_file(configuration: str) -> str:
    """Return the last value of `core.excludesFile`."""
    named, in_core = "", False
    for line in configuration.splitlines():
        section = _SECTION.match(line)
        if section:
            in_core = section["name"].lower() == "core" and section["part"] is None
        told = _EXCLUDES.match(line[section.end() :] if section else line) if in_core else None
        if told:
            named = told["path"].strip()
    return named
