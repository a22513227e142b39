"""What is remembered of the files that we wrote to, so that they can be given back as they were."""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from treering.interfaces.clients.edits import Edit
from treering.interfaces.clients.files import replace_file, told_about


@dataclass(frozen=True, slots=True)
class Written:
    """A state in which we left a file, and what leads back from it. Never a copy of the file: it may hold secrets."""

    digest: str
    edit: Edit
    was_there: bool
    folders: tuple[str, ...]
    """Those that were made for the file, the innermost first."""


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class Ledger:
    """One small file for each that we wrote to, readable by its owner only."""

    folder: Path

    def of(self, file: Path) -> tuple[Written, ...]:
        """The states that we left a file in, or were about to; none where the note itself is damaged."""
        try:
            with told_about(self.folder, "read"):
                note = self._note(file).read_bytes() if self._note(file).exists() else b"{}"
            noted: list[dict[str, Any]] = json.loads(note)["written"]
            return tuple(
                Written(each["digest"], Edit(**each["edit"]), each["was_there"], tuple(each["folders"]))
                for each in noted
            )
        except (ValueError, KeyError, TypeError):
            return ()

    def keep(self, file: Path, states: Iterable[Written]) -> None:
        """Note them before the file is written, so that even a crash leaves a way back."""
        document = {"path": os.fspath(file), "written": [asdict(state) for state in states]}
        with told_about(self.folder, "written"):
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace_file(self._note(file), json.dumps(document, indent=2).encode(), mode=0o600)

    def drop(self, file: Path) -> None:
        with told_about(self.folder, "written"):
            self._note(file).unlink(missing_ok=True)

    def _note(self, file: Path) -> Path:
        return self.folder / f"{sha256(os.fsencode(file)).hexdigest()[:24]}.json"
