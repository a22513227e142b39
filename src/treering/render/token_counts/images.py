"""What a picture costs: each provider cuts it into squares after making it smaller."""

import math
from base64 import b64decode
from binascii import Error
from dataclasses import dataclass
from io import BytesIO

from treering.core.messages import ImagePart

Size = tuple[int, int]

# Letters of base64 to look at, one after the other: most formats say their size in the first bytes, some JPEGs late.
_LOOKS = (1_024, 65_536, 1_048_576)


@dataclass(frozen=True)
class Tiles:
    """A price for the picture and one for each tile of 512 pixels, after it fits 2048 × 2048 and its short side 768."""

    base: int
    tile: int

    @property
    def most(self) -> int:
        """2048 × 768 pixels are eight tiles."""
        return self.base + 8 * self.tile

    def cost(self, size: Size, detail: str | None = None) -> int:
        if detail == "low":
            return self.base
        width, height = _scaled(size, min(1.0, 2_048 / max(size)))
        width, height = _scaled((width, height), min(1.0, 768 / min(width, height)))
        return self.base + self.tile * math.ceil(width / 512) * math.ceil(height / 512)


@dataclass(frozen=True)
class Patches:
    """A price for each square of `side` pixels, of which there are at most `limit` after the long side fits `edge`."""

    side: int
    limit: int
    factor: float = 1.0
    edge: int | None = None
    area: int | None = None
    """Where the provider also publishes pixels for each token, the larger of both is taken."""
    least: int = 0

    @property
    def most(self) -> int:
        return math.ceil(max(self.limit * self.factor, self.least))

    def cost(self, size: Size, detail: str | None = None) -> int:
        width, height = _scaled(size, min(1.0, self.edge / max(size))) if self.edge else size
        squares = math.ceil(width / self.side) * math.ceil(height / self.side)
        by_area = math.ceil(width * height / self.area) if self.area else 0
        return math.ceil(max(min(max(squares, by_area), self.limit) * self.factor, self.least))


ImageRule = Tiles | Patches


def image_tokens(part: ImagePart, rule: ImageRule) -> int:
    """What `part` costs; the most that any picture can cost where its size cannot be known."""
    if isinstance(rule, Tiles) and part.detail == "low":
        return rule.base
    size = size_of(part)
    return rule.most if size is None else rule.cost(size, part.detail)


def size_of(part: ImagePart) -> Size | None:
    """Width and height in pixels: as the part says, else as the head of its bytes says, else None."""
    if part.width and part.height:
        return part.width, part.height
    data = part.data or (part.url or "").partition(";base64,")[2]
    return _size_in(data) if data else None


def _size_in(data: str) -> Size | None:
    import imagesize  # type: ignore[import-untyped]

    for letters in _LOOKS:
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
