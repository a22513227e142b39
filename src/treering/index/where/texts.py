"""The text of stored chunks. It is not stored: the files are cut again, and what is no longer as it was is left out."""

from collections.abc import Collection, Mapping
from pathlib import Path

from treering.core.settings import IndexSettings
from treering.index.chunks.chunk import Chunk
from treering.index.chunks.cutting import chunks_of
from treering.index.files.reading import source_of, text_of
from treering.index.packing import unpack_definitions
from treering.ports.code import CodeIndex


def chunks_in(root: Path, paths: Collection[str], index: CodeIndex, settings: IndexSettings) -> Mapping[str, Chunk]:
    """The chunks of files as they are on disk now, by digest; a file that cannot be read has none."""
    found = dict[str, Chunk]()
    for file in index.contents(sorted(set(paths))):
        source = source_of(root, file.path, settings.largest_file)
        if source is not None:
            cut = chunks_of(file.path, text_of(source), unpack_definitions(file.definitions), settings.chunks)
            found |= {chunk.digest: chunk for chunk in cut}
    return found
