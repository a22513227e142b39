"""What is remembered of the files that we wrote to, so that they can be given back as they were."""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from treering.interfaces.client_configs.edits import Edit
from treering.interfaces.client_configs.files import replace_file, told_about
from treering.interfaces.client_configs.formats import Entry
from treering.location.private_files import create_private


@dataclass(frozen=True, slots=True)
class Written:
    """A state in which we left a file, and what leads back from it. Never a copy of the file: it may hold secrets."""

    digest: str
    edit: Edit
    was_there: bool
    folders: int
    """How many were made around the file."""
    entry: Entry
    theirs: str | None
    """The entry of our name that was there before any of ours, as its owner had written it."""


def digest(text: str | None) -> str | None:
    """What tells one state of a file from another; None where there is no file."""
    return None if text is None else sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Ledger:
    """One small file for each that we wrote to, readable by its owner only."""

    folder: Path

    def of(self, file: Path, text: str | None) -> tuple[Written, ...]:
        """The states that we left a file in, or were about to; none where the note itself is damaged.

        A file that was moved, with its repository perhaps, is known again by its text.
        """
        with told_about(self.folder, "read"):
            return _noted(self._note(file, text))[1]

    def follow(self, file: Path, text: str | None) -> None:
        """Have the note of a file that was moved stand under its new path."""
        with told_about(self.folder, "written"):
            if (found := self._note(file, text)).exists():
                found.rename(self._named(file))

    def keep(self, file: Path, states: Iterable[Written]) -> None:
        """Note them before the file is written, so that even a crash leaves a way back."""
        document = {"path": os.fspath(file), "written": [asdict(state) for state in states]}
        with told_about(self.folder, "written"):
            create_private(self.folder)
            replace_file(self._named(file), json.dumps(document, indent=2).encode(), mode=0o600)

    def drop(self, file: Path) -> None:
        with told_about(self.folder, "written"):
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


def _noted(note: Path) -> tuple[str, tuple[Written, ...]]:
    """The path that a note is about, and the states."""
    try:
        said: dict[str, Any] = json.loads(note.read_bytes())
        return str(said["path"]), tuple(map(_written, said["written"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return "", ()


def _written(said: dict[str, Any]) -> Written:
    return Written(**said | {"edit": Edit(**said["edit"])})
