"""Splits files into chunks that a model can read and a search can return, at functions and classes."""

from treering.code.chunks.chunk import CodeChunk
from treering.code.chunks.split import chunks_of

__all__ = ["CodeChunk", "chunks_of"]
