"""Writes a project in its portable form, from one consistent snapshot, in constant memory."""

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import datetime
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from treering.archive.portable import PARTS, blob_line, footer, header, record_line
from treering.core.episodes import Episode
from treering.core.errors import StoreFull, StoreReadOnly
from treering.core.scope import Scope
from treering.ports.blobs import Blobs
from treering.ports.store import Store


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
                yield record_line(part, value)
                for artifact in value.outcome.artifacts if isinstance(value, Episode) else ():
                    counts["blob"] = counts.get("blob", 0) + 1
                    yield blob_line(blobs.get(scope, artifact.digest))
    yield footer(counts)


def export_to(path: Path, lines: Iterator[str]) -> int:
    """Write `lines` to a file (compressed where its name ends in .gz) that appears only when it is whole."""
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
    except PermissionError as exc:
        raise StoreReadOnly(f"{path} cannot be written; choose another place") from exc
    except FileNotFoundError as exc:
        raise StoreReadOnly(f"there is no folder {path.parent}; create it first") from exc
    except OSError as exc:
        raise StoreFull(f"{path} could not be written whole ({exc}); free some room and try again") from exc
    finally:
        unfinished.unlink(missing_ok=True)
