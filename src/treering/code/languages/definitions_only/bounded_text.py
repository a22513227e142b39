"""A text that a parser may read a limited number of times."""

_READ_BYTES = 4_096
_MAX_READS = 50_000
"""One or two seconds of processor time; the most irregular of 1,373 real files took 3,163."""


class BoundedText:
    """The text of a file for a parser, which ends early if the parser reads it again and again.

    Parsers take quadratic time to recover from some errors. The number of reads is a limit that does not depend on the
    speed of the machine, so that a file has the same definitions whenever it is read.
    """

    def __init__(self, source: bytes) -> None:
        self._source, self._reads = source, 0
        self.parsed = False

    def __call__(self, start: int, _point: object) -> bytes:
        if not self.parsed:
            self._reads += 1
            if self.is_exhausted:
                return b""
        return self._source[start : start + _READ_BYTES]

    @property
    def is_exhausted(self) -> bool:
        return self._reads > _MAX_READS
