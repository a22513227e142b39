"""Curves between modules."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from treering.code.graph.module_map import ModuleEdge
from treering.code.map_drawing.layout import Area

Ends = tuple[float, float]
"""X coordinates where a line leaves its origin and reaches its target."""
_SHARE = 0.64
"""Fraction of a side that the ends of lines are distributed over."""
_APART = 34.0
_TIP = 0.62


def leads_up(origin: Area, target: Area) -> bool:
    return target.y + target.height < origin.y


def ends_of(edges: Sequence[ModuleEdge], areas: Mapping[str, Area]) -> list[tuple[ModuleEdge, Ends]]:
    """Each edge with its ends, distributed along the sides of the areas in the order of where they lead."""
    sides: defaultdict[tuple[str, str], list[tuple[float, int, int]]] = defaultdict(list)
    for place, edge in enumerate(edges):
        origin, target = areas[edge.origin], areas[edge.target]
        down = origin.y + origin.height < target.y
        up = leads_up(origin, target)
        sides[edge.origin, "below" if down else "above"].append((target.middle, place, 0))
        sides[edge.target, "below" if up else "above"].append((origin.middle, place, 1))
    found: dict[tuple[int, int], float] = {}
    for (name, _), meeting in sides.items():
        area = areas[name]
        step = min(_APART, area.width * _SHARE / max(1, len(meeting) - 1))
        first = area.middle - step * (len(meeting) - 1) / 2
        for at, (_, place, end) in enumerate(sorted(meeting)):
            found[place, end] = first + step * at
    return [(edge, (found[place, 0], found[place, 1])) for place, edge in enumerate(edges)]


def curve(origin: Area, target: Area, ends: Ends | None, thick: float) -> tuple[str, str]:
    """Path of the line between the facing sides of two areas, and path of its arrow head."""
    reach = 5.0 + thick
    start_x, end_x = ends or (origin.middle, target.middle)
    if origin.y + origin.height < target.y:
        start_y, end_y, way = origin.y + origin.height, target.y, 1
    elif leads_up(origin, target):
        start_y, end_y, way = origin.y, target.y + target.height, -1
    else:
        return _over(origin.y, start_x, target.y, end_x, reach)
    stop = end_y - way * reach
    bend = max(28.0, abs(stop - start_y) * 0.45) * way
    path = f"M{start_x:.1f} {start_y:.1f}C{start_x:.1f} {start_y + bend:.1f} {end_x:.1f} {stop - bend:.1f} "
    return f"{path}{end_x:.1f} {stop:.1f}", _tip(end_x, stop, end_y, reach)


def _over(start_y: float, start_x: float, end_y: float, end_x: float, reach: float) -> tuple[str, str]:
    """A line within a row, above the areas between."""
    stop = end_y - reach
    top = min(start_y, stop) - 26 - abs(end_x - start_x) * 0.03
    path = f"M{start_x:.1f} {start_y:.1f}C{start_x:.1f} {top:.1f} {end_x:.1f} {top:.1f} {end_x:.1f} {stop:.1f}"
    return path, _tip(end_x, stop, end_y, reach)


def _tip(x: float, stop: float, end: float, reach: float) -> str:
    half = reach * _TIP
    return f"M{x - half:.1f} {stop:.1f}L{x + half:.1f} {stop:.1f}L{x:.1f} {end:.1f}Z"
