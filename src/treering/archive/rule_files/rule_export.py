"""Export of rules, decisions, gotchas and recipes as a Markdown block for a rule file."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from treering.archive.files import checked_target, unfinished_folder
from treering.archive.rule_files.marked_block import BEGIN, END, with_block, without_block
from treering.archive.rule_files.statements import statements_of
from treering.core.delimiters import one_line
from treering.core.errors import InvalidInput
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge, Level, text_digest
from treering.core.scope import Visibility
from treering.core.tokens import estimate_tokens
from treering.core.trust import MIN_CONFIDENCE
from treering.core.visible_text import visible
from treering.observe.trust import trust_level

if TYPE_CHECKING:
    from treering.ports.store import Transaction

DEFAULT_BUDGET = 2_000  # tokens: the block is part of every prompt of every session
FORMATS = {"claude-md": "CLAUDE.md", "agents-md": "AGENTS.md", "markdown": ""}
"""Formats of an export, each with the file that it writes unless one is named."""
_TITLE = "## Project memory"
_SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Rules", ("preference", "requirement")),
    ("Decisions", ("decision",)),
    ("Gotchas", ("gotcha", "dead_end")),
    ("Known errors", ("error_pattern",)),
    ("Recipes", ("workflow_recipe",)),
    ("Modules", ("module_insight",)),
    ("Facts", ("fact", "pattern")),
)
_TRUSTED = KnowledgeFilter(
    deprecated=False,
    flagged=False,
    tainted=False,
    stale=False,
    needs_review=False,
    levels=(Level.GLOBAL, Level.MODULE),
    visibility=tuple(each for each in Visibility if each is not Visibility.PERSONAL),
)
_MAX_OF_TYPE = 500


@dataclass(frozen=True, slots=True)
class RuleExport:
    """The written file (None: only the text was made), its block, and how many records it holds and leaves out."""

    path: Path | None
    text: str
    records: int
    left_out: int
    tokens: int
    changed: bool = False


def rule_block(tx: Transaction, budget: int, stated: frozenset[str] = frozenset()) -> RuleExport:
    """The body of the block, at most `budget` tokens; texts with a digest in `stated` are left out as known.

    Holds confirmed records and those above the confidence of the project's trust level, in an order that depends on the
    records alone.
    """
    if budget < 1:
        raise InvalidInput(f"the budget is {budget:,} tokens; pass at least 1")
    lines, spent, shown, left_out = [_TITLE], estimate_tokens(f"{BEGIN}\n{_TITLE}\n{END}"), 0, 0
    for title, types in _SECTIONS:
        head = ["", f"### {title}", ""]
        cost = estimate_tokens("\n".join(head))
        for record in _records(tx, types, stated):
            line = f"- {_written(record.content)}"
            needed = estimate_tokens(f"{line}\n") + cost
            if spent + needed > budget:
                left_out += 1
                continue
            lines += [*head, line]
            spent, head, cost, shown = spent + needed, [], 0, shown + 1
    text = "\n".join(lines) if shown else ""
    return RuleExport(None, text, shown, left_out, estimate_tokens(text) if text else 0)


def file_content(path: Path) -> bytes | None:
    """The bytes of a file; None if it does not exist. Raises `InvalidInput` for folders and text that is not UTF-8."""
    try:
        content = path.read_bytes()
        content.decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as exc:
        raise InvalidInput(f"{path} is not UTF-8 text ({exc.reason} at byte {exc.start}); convert it to UTF-8") from exc
    except OSError as exc:
        raise InvalidInput(f"{path} cannot be read ({exc.strerror}); pass a text file") from exc
    return content


def stated_digests(content: bytes, name: str) -> frozenset[str]:
    """Digests of what a rule file states outside the block."""
    text = without_block(content, name).decode("utf-8-sig")
    return frozenset(_digest(words) for each in statements_of(text) for words in (each.content, each.text))


def write_block(path: Path, made: RuleExport, content: bytes | None, database: Path | None) -> RuleExport:
    """Write the block into the file at `path`, whose content is `content`; nothing if the file would not change."""
    written = with_block(content or b"", made.text, str(path))
    is_changed = written != content and bool(made.records or (content is not None and BEGIN.encode() in content))
    if is_changed:
        target = checked_target(path, force=True, database=database)
        if not target.is_relative_to(path.parent.resolve()):  # a repository of others may contain such links
            raise InvalidInput(f"{path} is a link to {target}, outside of its folder; pass the file itself")
        with unfinished_folder(target) as folder:
            unfinished = folder / target.name
            unfinished.write_bytes(written)
            if target.exists():
                shutil.copymode(target, unfinished)
            os.replace(unfinished, target)
    return RuleExport(path, made.text, made.records, made.left_out, made.tokens, is_changed)


def _records(tx: Transaction, types: Sequence[str], stated: frozenset[str]) -> Iterator[Knowledge]:
    threshold = MIN_CONFIDENCE[trust_level(tx)]
    found = (
        match.value
        for type in types
        for match in tx.knowledge.newest(_TRUSTED.replace(types=(type,)), limit=_MAX_OF_TYPE)
    )
    wanted = [
        each
        for each in found
        if (each.is_from_person or each.confidence > threshold)
        and (each.valid_until is None or each.valid_until > tx.now)
        and _digest(each.content) not in stated
    ]
    yield from sorted(wanted, key=lambda each: (not each.pinned, not each.is_from_person, each.created_at, each.id))


def _written(text: str) -> str:
    """The text on one line that cannot end the block or begin a comment."""
    return visible(one_line(text)).replace("<!--", "&lt;!--").replace("-->", "--&gt;")


def _digest(text: str) -> str:
    return text_digest("rule", text)
