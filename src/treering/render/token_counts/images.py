"""Token counts of images: each provider scales an image down and divides it into squares."""

import math
from base64 import b64decode
from binascii import Error
from dataclasses import dataclass
from io import BytesIO

from treering.core.messages import ImagePart

Size = tuple[int, int]

# Base64 characters to read, in turn: most formats have their size in the first bytes, some JPEGs later.
_HEAD_LENGTHS = (1_024, 65_536, 1_048_576)


@dataclass(frozen=True)
class Tiles:
    """Tokens per image and per tile of 512 pixels, after scaling to 2048 × 2048 and a short side of 768."""

    base: int
    tile: int

    @property
    def max_tokens(self) -> int:
        """The maximum for any image: 2048 × 768 pixels are eight tiles."""
        return self.base + 8 * self.tile

    def cost(self, size: Size, detail: str | None = None) -> int:
        if detail == "low":
            return self.base
        width, height = _scaled(size, min(1.0, 2_048 / max(size)))
        width, height = _scaled((width, height), min(1.0, 768 / min(width, height)))
        return self.base + self.tile * math.ceil(width / 512) * math.ceil(height / 512)


@dataclass(frozen=True)
class Patches:
    """Tokens per square of `side` pixels, at most `limit` squares, after scaling the long side to `edge`."""

    side: int
    limit: int
    factor: float = 1.0
    edge: int | None = None
    area: int | None = None
    """Pixels per token, if the provider publishes that too; the larger result counts."""
    min_tokens: int = 0

    @property
    def max_tokens(self) -> int:
        return math.ceil(max(self.limit * self.factor, self.min_tokens))

    def cost(self, size: Size, detail: str | None = None) -> int:
        width, height = _scaled(size, min(1.0, self.edge / max(size))) if self.edge else size
        squares = math.ceil(width / self.side) * math.ceil(height / self.side)
        by_area = math.ceil(width * height / self.area) if self.area else 0
        return math.ceil(max(min(max(squares, by_area), self.limit) * self.factor, self.min_tokens))


ImageRule = Tiles | Patches


def image_tokens(part: ImagePart, rule: ImageRule) -> int:
    """Tokens of an image; the maximum for any image if its size is unknown."""
    if isinstance(rule, Tiles) and part.detail == "low":
        return rule.base
    size = size_of(part)
    return rule.max_tokens if size is None else rule.cost(size, part.detail)


def size_of(part: ImagePart) -> Size | None:
    """Width and height in pixels from the part's fields, else from its bytes, else None."""
    if part.width and part.height:
        return part.width, part.height
    data = part.data or (part.url or "").partition(";base64,")[2]
    return _size_in(data) if data else None


def _size_in(data: str) -> Size | None:
    import imagesize  # type: ignore[import-untyped]

    for letters in _HEAD_LENGTHS:
        try:
            head = b64decode(data[:letters])
        except (Error, ValueError):
            return None
        width, height = imagesize.get(BytesIO(head))
        if width > 0 and height > 0:
            return width, height
        if letters >= len(data):
            return None
    return None


def _scaled(size: Size, factor: float) -> Size:
    return (size[0], size[1]) if factor == 1.0 else (max(1, round(size[0] * factor)), max(1, round(size[1] * factor)))
