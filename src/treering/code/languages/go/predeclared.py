"""Names that Go declares in every file."""

from typing import Final

_BASIC = """
    bool string int int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr byte rune float32 float64
    complex64 complex128 any comparable
"""
_BUILTINS = "append cap clear close complex copy delete imag len make max min new panic print println real recover"
BASIC: Final = frozenset(_BASIC.split())
BUILTINS: Final = frozenset(_BUILTINS.split())
