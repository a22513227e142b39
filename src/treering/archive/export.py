"""Writes a project in its portable form, from one consistent snapshot, in constant memory."""

from __future__ import annotations

import errno
import gzip
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from treering.archive.portable import PARTS, blob_line, footer, header, record_line
from treering.core.episodes import Artifact, Episode
from treering.core.errors import BlobMissing, InvalidInput, StoreError, StoreFull, StoreReadOnly

if TYPE_CHECKING:
    from treering.core.scope import Scope
    from treering.core.values import Record
    from treering.ports.blobs import Blobs
    from treering.ports.store import Store, Transaction

_FULL = (StoreFull, "free some room and try again")
_ERRORS: Mapping[int | None, tuple[type[StoreError], str]] = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EFBIG: _FULL,
}


def export_lines(scope: Scope, store: Store, blobs: Blobs, now: datetime, *, history: bool) -> Iterator[str]:
    """Every line of an export. `history` adds deleted records, earlier states and the audit log."""
    counts: dict[str, int] = {}
    yield header(scope.project, now.isoformat())
    with store.reading(scope, now) as tx:
        for part in PARTS:
            if part.is_history and not history:
                continue
            for value in part.of(tx).stream(part.everything if history else None):
                counts[part.name] = counts.get(part.name, 0) + 1
                yield record_line(part, _whole(tx, value))
                for artifact in value.outcome.artifacts if isinstance(value, Episode) else ():
                    counts["blob"] = counts.get("blob", 0) + 1
                    yield blob_line(_artifact(scope, blobs, value, artifact))
    yield footer(counts)


def _whole(tx: Transaction, value: Record) -> Record:
    """An episode with what was moved to the blob store: a file is read where that is not."""
    if not isinstance(value, Episode) or value.cold is None:
        return value
    found = tx.episodes.whole(value.id)
    return value if found is None else found.replace(cold=None)


def _artifact(scope: Scope, blobs: Blobs, episode: Episode, artifact: Artifact) -> bytes:
    try:
        return blobs.get(scope, artifact.digest)
    except BlobMissing as exc:
        raise BlobMissing(f"episode {episode.id!r}, artifact {artifact.name!r}: {exc}") from exc


def export_to(path: Path, lines: Iterator[str]) -> int:
    """Write `lines` to a file (compressed where its name ends in .gz) that appears only when it is whole."""
    _refuse_what_is_no_file(path)
    written = 0
    with _appearing(path) as file:
        for line in lines:
            file.write(line + "\n")
            written += 1
    return written


@contextmanager
def _appearing(path: Path) -> Iterator[TextIO]:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as raw:
            with gzip.GzipFile(fileobj=raw, mode="wb") if path.suffix == ".gz" else nullcontext(raw) as packed:
                file = TextIOWrapper(packed, encoding="utf-8", newline="\n")
                try:
                    yield file
                finally:
                    file.detach()
            raw.flush()
            os.fsync(raw.fileno())
        os.replace(unfinished, path)
    except OSError as exc:
        error, advice = _ERRORS.get(exc.errno, (StoreReadOnly, "choose another place"))
        raise error(f"{path} could not be written ({exc.strerror or exc}); {advice}") from exc
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def _refuse_what_is_no_file(path: Path) -> None:
    if not path.name or "\0" in str(path):
        raise InvalidInput(f"{str(path)!r} names no file; give the path of the export to write")
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder; give the path of a file in it")
    if not path.parent.is_dir():
        raise StoreReadOnly(f"there is no folder {path.parent}; create it first")
