"""Files that define a name, spelled exactly as in a question."""

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from treering.code.chunks.split import SEPARATOR
from treering.code.locations.postings import postings_of
from treering.code.locations.question import CodeQuestion
from treering.core.language.terms import code_of
from treering.ports.code_chunks import StoredChunk


class DefinedNames:
    """The names of all definitions of a project, upper and lower case apart, by file."""

    def __init__(self, chunks: Sequence[StoredChunk], file_of: NDArray[np.int32], count: int) -> None:
        """`file_of` is the number of each chunk's file, below `count`."""
        names: list[set[str]] = [set() for _ in range(count)]
        for chunk, file in zip(chunks, file_of.tolist(), strict=True):
            if chunk.symbol:
                names[file].update(chunk.symbol.replace(SEPARATOR, ".").split("."))
        self._count = count
        self._files = postings_of([[code_of(name) for name in sorted(each)] for each in names])

    def in_prose(self, question: CodeQuestion) -> NDArray[np.float64]:
        """The sum over the names in the question's prose: 1 for a name in one file only, less for those in several."""
        scores = np.zeros(self._count)
        for name in question.names:
            files = self._files.find([code_of(name)]).rows
            if len(files):
                scores[files] += 1 - log(len(files)) / log(self._count + 1)
        return scores
