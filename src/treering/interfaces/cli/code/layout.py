"""Where the modules of a map stand in a picture: who uses others above, what all are built on below."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.index.graph import Module, ModuleEdge, ModuleMap

MOST = 40
"""Modules that are drawn; smaller ones are counted below the picture."""
_PER_ROW = 6
_WIDTH, _HEIGHT = 190, 58
_BETWEEN, _BELOW = 26, 74
_MARGIN = 24
_SWEEPS = 4


@dataclass(frozen=True, slots=True)
class Box:
    module: "Module"
    x: float
    y: float
    width: float = _WIDTH
    height: float = _HEIGHT


@dataclass(frozen=True, slots=True)
class Drawn:
    """A map with a place for everything."""

    boxes: tuple[Box, ...]
    edges: "tuple[ModuleEdge, ...]"
    left_out: int
    width: float
    height: float

    @property
    def by_name(self) -> Mapping[str, Box]:
        return {box.module.name: box for box in self.boxes}


def laid_out(found: "ModuleMap") -> Drawn:
    shown = found.modules[:MOST]
    names = {module.name for module in shown}
    edges = tuple(edge for edge in found.edges if edge.origin in names and edge.target in names)
    rows = list(_rows(_ordered(_levels([module.name for module in shown], edges), edges)))
    widest = max(map(len, rows), default=1)
    width = widest * (_WIDTH + _BETWEEN) - _BETWEEN + 2 * _MARGIN
    by_name = {module.name: module for module in shown}
    boxes = tuple(
        Box(by_name[name], _MARGIN + _shift(len(row), widest) + place * (_WIDTH + _BETWEEN), _top(number))
        for number, row in enumerate(rows)
        for place, name in enumerate(row)
    )
    height = _top(len(rows)) - _BELOW + _MARGIN if rows else 2 * _MARGIN
    return Drawn(boxes, edges, len(found.modules) - len(shown), width, height)


def _top(row: int) -> float:
    return _MARGIN + row * (_HEIGHT + _BELOW)


def _shift(boxes: int, widest: int) -> float:
    """What centres a row."""
    return (widest - boxes) * (_WIDTH + _BETWEEN) / 2


def _levels(names: Sequence[str], edges: "Sequence[ModuleEdge]") -> list[list[str]]:
    """One below all that use it; where modules use each other, the firmer use decides."""
    firm = {(edge.origin, edge.target): edge.weight for edge in edges}
    above: dict[str, set[str]] = {name: set() for name in names}
    for (origin, target), weight in sorted(firm.items(), key=lambda each: (-each[1], each[0])):
        if firm.get((target, origin), 0.0) < weight and not _leads(above, target, origin):
            above[target].add(origin)
    depth: dict[str, int] = {}
    for name in names:
        _deepen(name, above, depth)
    levels: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in names:
        levels[depth[name]].append(name)
    return levels


def _leads(above: Mapping[str, set[str]], target: str, origin: str) -> bool:
    """Whether `target` already stands above `origin`."""
    waiting, seen = [origin], set[str]()
    while waiting:
        name = waiting.pop()
        if name == target:
            return True
        if name not in seen:
            seen.add(name)
            waiting += above[name]
    return False


def _deepen(name: str, above: Mapping[str, set[str]], depth: dict[str, int]) -> int:
    if name not in depth:
        depth[name] = 1 + max((_deepen(each, above, depth) for each in sorted(above[name])), default=-1)
    return depth[name]


def _ordered(levels: list[list[str]], edges: "Sequence[ModuleEdge]") -> list[list[str]]:
    """Each level in the order of what its modules are tied to, so that lines cross seldom."""
    tied: dict[str, list[str]] = {}
    for edge in edges:
        tied.setdefault(edge.origin, []).append(edge.target)
        tied.setdefault(edge.target, []).append(edge.origin)
    for _ in range(_SWEEPS):
        place = {name: number / max(1, len(level)) for level in levels for number, name in enumerate(level)}
        levels = [sorted(level, key=lambda name: (_middle(name, tied, place), name)) for level in levels]
    return levels


def _middle(name: str, tied: Mapping[str, list[str]], place: Mapping[str, float]) -> float:
    others = tied.get(name, [name])
    return sum(place[other] for other in others) / len(others)


def _rows(levels: list[list[str]]) -> Iterator[list[str]]:
    for level in levels:
        for start in range(0, len(level), _PER_ROW):
            yield level[start : start + _PER_ROW]
