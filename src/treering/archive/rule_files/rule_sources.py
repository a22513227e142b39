"""Rule files on disk: which names they have, and the files that they import with `@path`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from treering.archive.rule_files.marked_block import without_block
from treering.archive.rule_files.statements import statements_of
from treering.core.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from treering.archive.rule_files.statements import RuleStatement

RULE_FILES = frozenset(
    {".cursorrules", ".windsurfrules", ".clinerules", "claude.md", "claude.local.md", "agents.md", "gemini.md"}
)
_SUFFIXES = (".md", ".mdc", ".markdown")
_IMPORTED_SUFFIXES = (*_SUFFIXES, ".txt", "")
_PERSONAL = frozenset({"claude.local.md"})
MAX_BYTES = 1 << 20  # of a rule file: agents read them whole, so they are far smaller
MAX_DEPTH = 5  # of imports: as deep as Claude Code follows them
_MAX_NAME = 200  # bytes of a file name in a tag; a longer one is shortened to its digest
_CODE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_IMPORT = re.compile(r"(?:^|(?<=\s))@((?:~|\.{1,2})?/?[\w.-][\w./-]*)", re.MULTILINE)


def is_rule_file(path: Path) -> bool:
    """Whether a file is one of rules, by its name; any other is taken for an export."""
    return path.name.lower() in RULE_FILES or path.suffix.lower() in _SUFFIXES


@dataclass(frozen=True, slots=True)
class RuleSource:
    """One rule file: its name relative to the root, and its statements."""

    path: Path
    name: str
    is_personal: bool
    statements: tuple[RuleStatement, ...]


def rule_sources(path: Path, root: Path) -> Iterator[RuleSource]:
    """The file and those that it imports, each once, named relative to `root`.

    Imports outside the root, or outside the file's own folder if it is not in the root, are left out, as are missing
    ones and other formats. Raises `NotFound` or `InvalidInput` if the file itself cannot be read as text.
    """
    inside = root if path.resolve().is_relative_to(root) else path.resolve().parent
    pending, seen = [(path, 0)], set[Path]()
    while pending:
        file, depth = pending.pop(0)
        try:
            real = file.resolve(strict=True)
            if real in seen:
                continue
            seen.add(real)
            text = _read(file)
        except (OSError, NotFound, InvalidInput) as exc:
            if depth:
                continue
            if isinstance(exc, OSError):
                raise NotFound(f"{path} cannot be read ({exc.strerror}); pass a rule file such as CLAUDE.md") from exc
            raise
        yield RuleSource(real, _name(real, root), _is_personal(file, real, root), _own_statements(text))
        if depth < MAX_DEPTH:
            pending += [(each, depth + 1) for each in _imports(text, real.parent, inside)]


def _read(path: Path) -> str:
    if not path.is_file():
        raise NotFound(f"{path} is not a file; pass a rule file such as CLAUDE.md")
    if path.stat().st_size > MAX_BYTES:
        raise InvalidInput(f"{path} is larger than {MAX_BYTES:,} bytes; rule files are shorter, pass one")
    try:
        return without_block(path.read_bytes(), str(path)).decode("utf-8-sig")
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path} is not UTF-8 text ({exc.reason} at byte {exc.start}); convert it to UTF-8") from exc


def _own_statements(text: str) -> tuple[RuleStatement, ...]:
    return tuple(each for each in statements_of(text) if not _IMPORT.fullmatch(each.text))


def _imports(text: str, folder: Path, root: Path) -> Iterator[Path]:
    for found in _IMPORT.finditer(_CODE.sub("", text)):
        named = Path(found[1].rstrip("."))
        if named.suffix.lower() not in _IMPORTED_SUFFIXES:
            continue
        target = folder / named
        if target.is_file() and target.resolve().is_relative_to(root):
            yield target


def _name(real: Path, root: Path) -> str:
    """The path relative to the root, else to the home folder; a long one as a digest."""
    home = Path.home()
    if real.is_relative_to(root):
        name = real.relative_to(root).as_posix()
    else:
        name = f"~/{real.relative_to(home).as_posix()}" if real.is_relative_to(home) else real.as_posix()
    printable = "".join(char if char.isprintable() else "-" for char in name)
    if len(printable.encode()) <= _MAX_NAME:
        return printable
    return f"{real.name[:40]}-{blake2b(name.encode(errors='surrogateescape'), digest_size=8).hexdigest()}"


def _is_personal(file: Path, real: Path, root: Path) -> bool:
    return file.name.lower() in _PERSONAL or not real.is_relative_to(root)
