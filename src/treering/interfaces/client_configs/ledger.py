"""Notes about the files that we wrote to, from which they can be restored."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from treering.interfaces.client_configs.edits import Edit
from treering.interfaces.client_configs.files import replace_file, translated_errors
from treering.location.private_files import create_private


@dataclass(frozen=True, slots=True)
class WrittenState:
    """A state in which we left a file, and how to revert it. Never a copy of the file, which may hold secrets."""

    digest: str
    edits: tuple[Edit, ...]
    """In the order in which they were made: those that prepare an empty file, then one for each part."""
    was_there: bool
    folders: int
    """Number of folders that were created for the file."""
    parts: Mapping[str, Any]
    """What we wrote, by the name of the part, in the order of the edits."""
    theirs: Mapping[str, str]
    """The text of what had the place of a part of ours before we wrote any, by the name of the part."""

    def undone(self, text: str) -> str:
        """The text before our edits, from exactly the text that they produced."""
        for edit in reversed(self.edits):
            text = edit.undone(text)
        return text

    def edit_of(self, part: str) -> Edit | None:
        """The edit that wrote a part."""
        names = list(self.parts)
        return self.edits[names.index(part) - len(names)] if part in names else None


def digest(text: str | None) -> str | None:
    """A hash of the text; None if there is no file."""
    return None if text is None else sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Ledger:
    """One small note per file that we wrote to, readable only by its owner."""

    folder: Path

    def of(self, file: Path, text: str | None) -> tuple[WrittenState, ...]:
        """The states that we left the file in, or were about to; none if the note is damaged.

        A moved file, with its repository for instance, is recognised by its text.
        """
        with translated_errors(self.folder, "read"):
            return _noted(self._note(file, text))[1]

    def follow(self, file: Path, text: str | None) -> None:
        """Rename the note of a moved file to its new path."""
        with translated_errors(self.folder, "written"):
            if (found := self._note(file, text)).exists():
                found.rename(self._named(file))

    def keep(self, file: Path, states: Iterable[WrittenState]) -> None:
        """Store the states; called before the file is written, so that it can be restored even after a crash."""
        document = {"path": os.fspath(file), "written": [asdict(state) for state in states]}
        with translated_errors(self.folder, "written"):
            create_private(self.folder)
            replace_file(self._named(file), json.dumps(document, indent=2).encode(), mode=0o600)

    def drop(self, file: Path) -> None:
        with translated_errors(self.folder, "written"):
            self._named(file).unlink(missing_ok=True)

    def _named(self, file: Path) -> Path:
        return self.folder / f"{sha256(os.fsencode(file)).hexdigest()[:24]}.json"

    def _note(self, file: Path, text: str | None) -> Path:
        own = self._named(file)
        if own.exists() or text is None or not self.folder.is_dir():
            return own
        now = digest(text)
        for other in self.folder.iterdir():
            path, states = _noted(other)
            if any(state.digest == now for state in states) and not os.path.lexists(path):
                return other
        return own


def _noted(note: Path) -> tuple[str, tuple[WrittenState, ...]]:
    """The path that a note is about, and the states."""
    try:
        document: dict[str, Any] = json.loads(note.read_bytes())
        return str(document["path"]), tuple(map(_written, document["written"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return "", ()


def _written(fields: dict[str, Any]) -> WrittenState:
    return WrittenState(**fields | {"edits": tuple(Edit(**edit) for edit in fields["edits"])})
