"""Parsing of files with syntax errors: broken parts are removed or closed, which keeps the definitions around them."""

from treering.code.languages.error_recovery.recovery import RecoveredTree, parse_with_recovery
from treering.code.languages.error_recovery.rules import broken_bytes

__all__ = ["RecoveredTree", "broken_bytes", "parse_with_recovery"]
