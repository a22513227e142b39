"""Export of a project in its portable form, from one consistent snapshot, in constant memory."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from treering.archive.file_lines import is_export
from treering.archive.files import checked_target, unfinished_folder
from treering.archive.portable import PARTS, blob_line, footer, header, record_line
from treering.core.episodes import Artifact, Episode
from treering.core.errors import BlobMissing

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.core.values import Record
    from treering.ports.blobs import Blobs
    from treering.ports.store import Store, Transaction


def export_lines(scope: Scope, store: Store, blobs: Blobs, now: datetime, *, history: bool) -> Iterator[str]:
    """All lines of an export. `history` adds deleted records, earlier states and the audit log."""
    counts: dict[str, int] = {}
    yield header(scope.project, now.isoformat())
    with store.reading(scope, now) as tx:
        for part in PARTS:
            if part.is_history and not history:
                continue
            for value in part.of(tx).stream(part.everything if history else None):
                counts[part.name] = counts.get(part.name, 0) + 1
                yield record_line(part, _complete(tx, value))
                for artifact in value.outcome.artifacts if isinstance(value, Episode) else ():
                    counts["blob"] = counts.get("blob", 0) + 1
                    yield blob_line(_artifact(scope, blobs, value, artifact))
    yield footer(counts)


def _complete(tx: Transaction, value: Record) -> Record:
    """Include an episode's content from the blob store, which the importing machine does not have."""
    if not isinstance(value, Episode) or value.cold is None:
        return value
    found = tx.episodes.get_complete(value.id)
    return value if found is None else found.replace(cold=None)


def _artifact(scope: Scope, blobs: Blobs, episode: Episode, artifact: Artifact) -> bytes:
    try:
        return blobs.get(scope, artifact.digest)
    except BlobMissing as exc:
        raise BlobMissing(f"episode {episode.id!r}, artifact {artifact.name!r}: {exc}") from exc


def export_to(path: Path, lines: Iterator[str], *, force: bool = False, database: Path | None = None) -> int:
    """Write `lines` to a file (compressed if its name ends in .gz) that appears only once it is complete.

    An earlier export is replaced, any other file only with `force`; see `checked_target`. Returns the number of lines.
    """
    target = checked_target(path, force=force, database=database, is_ours=is_export)
    written = 0
    with unfinished_folder(target) as folder:
        with _text_file(folder / target.name) as file:
            for line in lines:
                file.write(line + "\n")
                written += 1
        os.replace(folder / target.name, target)
    return written


@contextmanager
def _text_file(path: Path) -> Iterator[TextIO]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as raw:
        with gzip.GzipFile(fileobj=raw, mode="wb") if path.suffix == ".gz" else nullcontext(raw) as packed:
            file = TextIOWrapper(packed, encoding="utf-8", newline="\n")
            try:
                yield file
            finally:
                file.detach()
        raw.flush()
        os.fsync(raw.fileno())
