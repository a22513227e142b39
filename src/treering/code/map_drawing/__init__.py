"""The module map to look at: a drawing and a page, each in one file that needs nothing else."""

from treering.code.map_drawing.page import page
from treering.code.map_drawing.svg import drawing

__all__ = ["drawing", "page"]
