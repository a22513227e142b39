"""The module map to look at: a drawing and a page, each in one file that needs nothing else."""

from treering.index.picture.page import page
from treering.index.picture.svg import drawing

__all__ = ["drawing", "page"]
