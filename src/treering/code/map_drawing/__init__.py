"""Drawings of the module map: an SVG file and an HTML page, both self-contained."""

from treering.code.map_drawing.page import page
from treering.code.map_drawing.svg import drawing

__all__ = ["drawing", "page"]
