"""Half-written files: what is broken is taken out or closed, so that the definitions around it are still read."""

from treering.code.languages.error_recovery.recovery import Mended, parsed
from treering.code.languages.error_recovery.shapes import broken_bytes

__all__ = ["Mended", "broken_bytes", "parsed"]
