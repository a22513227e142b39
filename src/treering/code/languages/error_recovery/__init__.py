"""Parsing of files with syntax errors: broken parts are removed or closed, which keeps the definitions around them."""

from treering.code.languages.error_recovery.recovery import Mended, parsed
from treering.code.languages.error_recovery.shapes import broken_bytes

__all__ = ["Mended", "broken_bytes", "parsed"]
