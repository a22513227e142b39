"""Rule files: CLAUDE.md, AGENTS.md, .cursorrules and others."""

from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import ConfigDict, Field

from treering.core.errors import InvalidInput
from treering.interfaces.rest.calls import Route
from treering.interfaces.rest.schemas import Answered, Asked
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory


class RuleFile(Asked):
    """A rule file as it was read by the client."""

    name: str = Field(min_length=1, max_length=200, description="Path, relative to the repository root.")
    text: str
    dry_run: bool = Field(default=True, description="Only report what would change.")
    retire: bool = Field(default=False, description="Retire the records of statements that are gone.")

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"name": "CLAUDE.md", "text": "- Never use print in the library."}]},
    )


class RuleStatement(Answered):
    """A statement of a rule file and its record."""

    file: str
    first_line: int
    last_line: int
    type: str
    text: str
    id: str | None = None
    before: str | None = None


class RuleFileImport(Answered):
    """What an import changed, or would change."""

    files: list[str]
    added: list[RuleStatement]
    corrected: list[RuleStatement]
    missing: list[RuleStatement]
    retired: list[RuleStatement]
    unchanged: int
    dry_run: bool


class RuleExportRequest(Asked):
    budget: int | None = Field(default=None, ge=1, le=1_000_000, description="Maximum length in tokens.")


class RuleFileExport(Answered):
    """Rules, decisions, gotchas and recipes as Markdown."""

    text: str
    records: int
    left_out: int
    tokens: int


def import_rules(memory: Memory, body: RuleFile) -> Any:
    """Import the statements of a rule file as records that the user taught; a second import follows the file."""
    name = PurePosixPath(body.name)
    if name.is_absolute() or ".." in name.parts or "\\" in body.name or "\0" in body.name:
        raise InvalidInput(f"{body.name!r} is outside the project; pass a path relative to the repository root")
    with TemporaryDirectory(prefix="treering-rules-") as folder:
        root = Path(folder).resolve()
        file = root / name
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(body.text, encoding="utf-8", errors="replace")
        except OSError as exc:
            raise InvalidInput(f"{body.name!r} cannot be the name of a file ({exc.strerror}); pass another") from exc
        return memory.import_rules(file, root=root, dry_run=body.dry_run, retire=body.retire)


def export_rules(memory: Memory, body: RuleExportRequest | None = None) -> Any:
    """Confirmed and trusted rules as a text for a rule file. Writes no file."""
    return memory.export_rules(None, budget=None if body is None else body.budget)


ROUTES = (
    Route("POST", "/rules/import-file", import_rules, RuleFileImport, "Import a rule file", CallQueue.WRITE),
    Route("POST", "/rules/export", export_rules, RuleFileExport, "Export rules as Markdown"),
)
