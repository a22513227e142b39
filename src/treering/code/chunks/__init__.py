"""Files cut into pieces that a model can read and a search can name: at functions and classes, as a reader would."""

from treering.code.chunks.chunk import Chunk
from treering.code.chunks.split import chunks_of

__all__ = ["Chunk", "chunks_of"]
