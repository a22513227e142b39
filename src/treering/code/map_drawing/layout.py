"""Layout of the modules: users above, what they use below, connected ones close to each other."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from treering.code.graph.module_map import CodeModule, ModuleEdge, ModuleMap
from treering.code.map_drawing.text import in_lines, width

MAX_CARDS = 24
"""Number of largest modules drawn as cards; the others are listed by name below."""
_MAX_EDGES, _MAX_UPWARD_EDGES = 30, 6
"""Edges between cards drawn before the user points at one, and upward edges among them; more would hide the modules."""
_PAGE = 1400.0
_GAP, _ROW_GAP, _MARGIN, _TOP = 30.0, 78.0, 36.0, 136.0
_MIN_WIDTH, _MAX_WIDTH = 186.0, 320.0
NAME_SIZE, FILE_SIZE, CHIP_SIZE, INSET = 15.0, 12.5, 12.5, 14.0
NAME_LINE, FILE_LINE = 20.0, 19.0
_BELOW_NAME = 46.0
_CHIP_HEIGHT, _CHIP_GAP, _MAX_CHIP_WIDTH = 27.0, 8.0, 420.0
_CHIPS_BELOW = 62.0
_MIN_FILES, _MAX_FILES = 2, 5
_SWEEPS = 8


@dataclass(frozen=True, slots=True)
class Area:
    """Position of a module: a card with its most central files, or a chip with its name."""

    module: CodeModule
    x: float
    y: float
    width: float
    height: float
    name: tuple[str, ...]
    """The name in lines that fit."""
    files: int = 0
    """Number of central files to list."""
    is_card: bool = True

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class MapLayout:
    cards: tuple[Area, ...]
    chips: tuple[Area, ...]
    edges: tuple[ModuleEdge, ...]
    """Edges that are drawn."""
    quiet: tuple[ModuleEdge, ...]
    """All other edges, shown only when the user points at one of their ends."""
    width: float
    height: float
    chips_from: float
    """Y coordinate where the chips begin."""


@dataclass(frozen=True, slots=True)
class _Size:
    width: float
    height: float
    files: int
    name: tuple[str, ...]


def laid_out(found: ModuleMap) -> MapLayout:
    large = found.modules[:MAX_CARDS]
    names = {module.name for module in large}
    between = [edge for edge in found.edges if edge.origin in names and edge.target in names]
    largest = max((module.size for module in large), default=1)
    sizes = {module.name: _size(module, largest) for module in large}
    order = _users_first([module.name for module in large], between)
    rows = _nearer(_rows(order, sizes), between)
    cards = _placed(rows, {module.name: module for module in large}, sizes)
    below = max((card.y + card.height for card in cards), default=_TOP)
    chips = _chips(found.modules[MAX_CARDS:], below + _CHIPS_BELOW)
    drawn = _essential(between, order)
    end = max((chip.y + chip.height for chip in chips), default=below)
    shown = {(edge.origin, edge.target) for edge in drawn}
    return MapLayout(
        tuple(cards),
        tuple(chips),
        tuple(drawn),
        tuple(edge for edge in found.edges if (edge.origin, edge.target) not in shown),
        _PAGE,
        end + _MARGIN,
        below + _CHIPS_BELOW,
    )


def _size(module: CodeModule, largest: int) -> _Size:
    """Size of a card, whose area grows with the number of files."""
    share = (module.size / largest) ** 0.5
    files = min(len(module.central), round(_MIN_FILES + share * (_MAX_FILES - _MIN_FILES)))
    wide = _MIN_WIDTH + share * (_MAX_WIDTH - _MIN_WIDTH)
    name = tuple(in_lines(module.name, NAME_SIZE * 1.1, wide - 2 * INSET, max_lines=3))
    return _Size(wide, len(name) * NAME_LINE + _BELOW_NAME + FILE_LINE * files, files, name)


def _users_first(names: Sequence[str], edges: Sequence[ModuleEdge]) -> list[str]:
    """An order with little weight on upward edges (Eades, Lin and Smyth)."""
    out: defaultdict[str, float] = defaultdict(float)
    into: defaultdict[str, float] = defaultdict(float)
    touching: defaultdict[str, list[ModuleEdge]] = defaultdict(list)
    for edge in edges:
        out[edge.origin] += edge.weight
        into[edge.target] += edge.weight
        touching[edge.origin].append(edge)
        touching[edge.target].append(edge)
    left = list(names)
    top: list[str] = []
    bottom: list[str] = []
    while left:
        sinks = [name for name in left if out[name] < 1e-9 and into[name] >= 1e-9]
        sources = [name for name in left if into[name] < 1e-9 and out[name] >= 1e-9]
        chosen = sinks[-1] if sinks else max(sources or left, key=lambda name: out[name] - into[name])
        (bottom if sinks else top).append(chosen)
        left.remove(chosen)
        for edge in touching[chosen]:
            out[edge.origin] -= edge.weight
            into[edge.target] -= edge.weight
    return [*top, *reversed(bottom)]


def _rows(order: Sequence[str], sizes: Mapping[str, _Size]) -> list[list[str]]:
    """Rows of as many cards as fit, filled evenly."""
    room = _PAGE - 2 * _MARGIN
    total = sum(sizes[name].width + _GAP for name in order)
    number = max(1.0, -(-total // room), min(3.0, round(len(order) ** 0.5)))
    rows: list[list[str]] = [[]]
    used = 0.0
    for name in order:
        wide = sizes[name].width + _GAP
        if rows[-1] and (used + wide > room + _GAP or used + wide / 2 > total / number):
            rows.append([])
            used = 0.0
        rows[-1].append(name)
        used += wide
    return rows


def _nearer(rows: list[list[str]], edges: Sequence[ModuleEdge]) -> list[list[str]]:
    """Reorder each row by the positions of its neighbours, so that fewer edges cross."""
    links: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    for edge in edges:
        links[edge.origin].append((edge.target, edge.weight))
        links[edge.target].append((edge.origin, edge.weight))
    for _ in range(_SWEEPS):
        at = {name: (place + 0.5) / len(row) for row in rows for place, name in enumerate(row)}
        for row in rows:
            wanted = {name: (_centre(links[name], at, set(row)), name) for name in row}
            row.sort(key=wanted.__getitem__)
            at.update({name: (place + 0.5) / len(row) for place, name in enumerate(row)})
    return rows


def _centre(links: Sequence[tuple[str, float]], at: Mapping[str, float], row: set[str]) -> float:
    """Weighted mean position of a module's neighbours in other rows; the centre of the page if there are none."""
    outside = [(at[name], weight) for name, weight in links if name not in row]
    total = sum(weight for _, weight in outside)
    return sum(place * weight for place, weight in outside) / total if total else 0.5


def _placed(rows: Sequence[Sequence[str]], modules: Mapping[str, CodeModule], sizes: Mapping[str, _Size]) -> list[Area]:
    cards, y = [], _TOP
    for row in rows:
        wide = sum(sizes[name].width for name in row)
        gap = min(3 * _GAP, (_PAGE - 2 * _MARGIN - wide) / max(1, len(row)))
        tallest = max((sizes[name].height for name in row), default=0.0)
        x = (_PAGE - wide - gap * (len(row) - 1)) / 2
        for name in row:
            size = sizes[name]
            middle = y + (tallest - size.height) / 2
            cards.append(Area(modules[name], x, middle, size.width, size.height, size.name, size.files))
            x += size.width + gap
        y += tallest + _ROW_GAP
    return cards


def _chips(modules: Iterable[CodeModule], y: float) -> list[Area]:
    """The smaller modules in lines."""
    chips, x = [], _MARGIN
    for module in modules:
        count = width(f"  {module.size:,}", CHIP_SIZE)
        (name,) = in_lines(module.name, CHIP_SIZE, _MAX_CHIP_WIDTH - 2 * INSET - count, max_lines=1)
        wide = width(name, CHIP_SIZE) + count + 2 * INSET
        if x + wide > _PAGE - _MARGIN:
            x, y = _MARGIN, y + _CHIP_HEIGHT + _CHIP_GAP
        chips.append(Area(module, x, y, wide, _CHIP_HEIGHT, (name,), is_card=False))
        x += wide + _CHIP_GAP
    return chips


def _essential(edges: Sequence[ModuleEdge], order: Sequence[str]) -> list[ModuleEdge]:
    """The strongest edges, without those implied by a path of stronger ones."""
    at = {name: place for place, name in enumerate(order)}
    below: defaultdict[str, set[str]] = defaultdict(set)
    down, back = [], []
    for edge in edges:
        if at[edge.origin] > at[edge.target]:
            back.append(edge)
        elif not _leads(below, edge.origin, edge.target):
            below[edge.origin].add(edge.target)
            down.append(edge)
    return [*down[:_MAX_EDGES], *back[:_MAX_UPWARD_EDGES]]


def _leads(below: Mapping[str, set[str]], origin: str, target: str) -> bool:
    waiting, seen = [origin], set[str]()
    while waiting:
        name = waiting.pop()
        if name == target:
            return True
        if name not in seen:
            seen.add(name)
            waiting += below.get(name, ())
    return False
