"""Texts of stored chunks. The text is not stored: files are split again, and changed chunks are left out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from treering.code.chunks.chunk import CodeChunk
from treering.code.chunks.split import chunks_of
from treering.code.encoding import unpack_definitions
from treering.code.files.secrets import redact_secrets
from treering.code.files.source_file import chunk_limits, source_of, text_of
from treering.code.language_choice import language_of
from treering.code.limits import CHUNK_LIMITS
from treering.core.errors import MissingDependency

if TYPE_CHECKING:
    from treering.core.settings import CodeSettings
    from treering.ports.code import CodeIndex


def chunks_in(root: Path, paths: Collection[str], index: CodeIndex, settings: CodeSettings) -> Mapping[str, CodeChunk]:
    """The chunks of files as they are on disk now, by digest; files that cannot be read are left out."""
    found = dict[str, CodeChunk]()
    for file in index.contents(sorted(set(paths))):
        language = language_of(file.path)
        text = None if language is None else _text(root, file.path, language, settings.largest_file)
        if language is not None and text is not None:
            limits = chunk_limits(language, CHUNK_LIMITS)
            cut = chunks_of(file.path, text, unpack_definitions(file.definitions), limits)
            found |= {chunk.digest: chunk for chunk in cut}
    return found


def _text(root: Path, path: str, language: str, largest: int) -> str | None:
    """A file's text without secrets, as it was indexed; None if it cannot be read."""
    source = source_of(root, path, largest)
    if source is None:
        return None
    try:
        return text_of(redact_secrets(path, language, source))
    except MissingDependency:
        return None
