"""Finding transcripts in files and folders."""

import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from treering.observe.readers import gemini_cli
from treering.observe.readers.lines import head_of
from treering.observe.readers.table import READERS, TranscriptReader
from treering.observe.readers.transcripts import AgentTranscript, Head, ReadReport

_LAST = datetime.max.replace(tzinfo=UTC)


def find_transcripts(paths: Iterable[Path], report: ReadReport | None = None) -> tuple[AgentTranscript, ...]:
    """The sessions in these files and folders, oldest first. Files are recognised by their content.

    Folders are searched recursively, each once, however many links lead to it. `report` counts files that are not
    transcripts and files that cannot be read.
    """
    report = ReadReport() if report is None else report
    found = [each for path in _files(paths, report) for each in _transcripts(path, report)]
    chats = {each.session for each in found if each.format == gemini_cli.NAME}
    kept = [each for each in found if each.format != gemini_cli.LOGS or each.session not in chats]
    return tuple(sorted(kept, key=lambda each: (each.started_at or _LAST, str(each.path), each.session)))


def _transcripts(path: Path, report: ReadReport) -> tuple[AgentTranscript, ...]:
    try:
        head = head_of(path)
        if head is not None:
            for reader in _candidates(head):
                if found := reader.transcripts(head):
                    return found
    except (OSError, EOFError, zlib.error):
        report.unreadable += 1
        return ()
    report.ignored += 1
    return ()


def _candidates(head: Head) -> Iterator[TranscriptReader]:
    """The readers of a file, the one that owns its first known line before all others."""
    for line in head.records:
        if first := next((reader for reader in READERS.values() if reader.owns(line)), None):
            yield first
            break
    yield from READERS.values()


def _files(paths: Iterable[Path], report: ReadReport) -> Iterator[Path]:
    """Regular files below the paths, each once."""
    seen: set[tuple[int, int]] = set()
    pending = [Path(path) for path in reversed(list(paths))]
    while pending:
        path = pending.pop()
        try:
            status = path.stat()
            identity = (status.st_dev, status.st_ino)
            if identity in seen:
                continue
            seen.add(identity)
            if stat.S_ISDIR(status.st_mode):
                pending.extend(path / name for name in sorted(os.listdir(path), reverse=True))
            elif stat.S_ISREG(status.st_mode):
                yield path
            else:
                report.ignored += 1
        except (OSError, ValueError):
            report.unreadable += 1
