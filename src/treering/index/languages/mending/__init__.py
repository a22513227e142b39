"""Half-written files: what is broken is taken out or closed, so that the definitions around it are still read."""

from treering.index.languages.mending.mending import Mended, parsed
from treering.index.languages.mending.shapes import broken_bytes

__all__ = ["Mended", "broken_bytes", "parsed"]
