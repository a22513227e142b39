"""Where each module stands: who uses others above, what others build on below, neighbours near each other."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from treering.code.graph.module_map import Module, ModuleEdge, ModuleMap
from treering.code.map_drawing.text import in_lines, width

MOST_CARDS = 24
"""More cannot be taken in at once: the largest are cards, all others stand below with their names."""
_MOST_TIES, _MOST_BACK = 30, 6
"""What is drawn of the ties between cards before somebody points at one, and of those that lead upwards; more would
hide the modules."""
_PAGE = 1400.0
_GAP, _ROW_GAP, _MARGIN, _TOP = 30.0, 78.0, 36.0, 136.0
_LEAST_WIDTH, _MOST_WIDTH = 186.0, 320.0
NAME_SIZE, FILE_SIZE, CHIP_SIZE, INSET = 15.0, 12.5, 12.5, 14.0
NAME_LINE, FILE_LINE = 20.0, 19.0
_BELOW_NAME = 46.0
_CHIP_HEIGHT, _CHIP_GAP, _MOST_CHIP = 27.0, 8.0, 420.0
_CHIPS_BELOW = 62.0
_LEAST_FILES, _MOST_FILES = 2, 5
_SWEEPS = 8


@dataclass(frozen=True, slots=True)
class Area:
    """A module's place: a card with its most central files, or a chip with its name."""

    module: Module
    x: float
    y: float
    width: float
    height: float
    name: tuple[str, ...]
    """In lines that fit."""
    files: int = 0
    """How many of its central files are named."""
    is_card: bool = True

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class Layout:
    cards: tuple[Area, ...]
    chips: tuple[Area, ...]
    edges: tuple[ModuleEdge, ...]
    """The ties that are drawn."""
    quiet: tuple[ModuleEdge, ...]
    """All others: they are only to be seen when somebody points at one end."""
    width: float
    height: float
    chips_from: float
    """Where the part with the chips begins."""


@dataclass(frozen=True, slots=True)
class _Size:
    width: float
    height: float
    files: int
    name: tuple[str, ...]


def laid_out(found: ModuleMap) -> Layout:
    large = found.modules[:MOST_CARDS]
    names = {module.name for module in large}
    between = [edge for edge in found.edges if edge.origin in names and edge.target in names]
    largest = max((module.size for module in large), default=1)
    sizes = {module.name: _size(module, largest) for module in large}
    order = _users_first([module.name for module in large], between)
    rows = _nearer(_rows(order, sizes), between)
    cards = _placed(rows, {module.name: module for module in large}, sizes)
    below = max((card.y + card.height for card in cards), default=_TOP)
    chips = _chips(found.modules[MOST_CARDS:], below + _CHIPS_BELOW)
    drawn = _telling(between, order)
    end = max((chip.y + chip.height for chip in chips), default=below)
    shown = {(edge.origin, edge.target) for edge in drawn}
    return Layout(
        tuple(cards),
        tuple(chips),
        tuple(drawn),
        tuple(edge for edge in found.edges if (edge.origin, edge.target) not in shown),
        _PAGE,
        end + _MARGIN,
        below + _CHIPS_BELOW,
    )


def _size(module: Module, largest: int) -> _Size:
    """Width, height, and how many files are named: the area grows with the number of files."""
    share = (module.size / largest) ** 0.5
    files = min(len(module.central), round(_LEAST_FILES + share * (_MOST_FILES - _LEAST_FILES)))
    wide = _LEAST_WIDTH + share * (_MOST_WIDTH - _LEAST_WIDTH)
    name = tuple(in_lines(module.name, NAME_SIZE * 1.1, wide - 2 * INSET, most=3))
    return _Size(wide, len(name) * NAME_LINE + _BELOW_NAME + FILE_LINE * files, files, name)


def _users_first(names: Sequence[str], edges: Sequence[ModuleEdge]) -> list[str]:
    """An order in which as little weight as can easily be had leads upwards (Eades, Lin and Smyth)."""
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
    """As many to a row as fit, and about as many in each."""
    room = _PAGE - 2 * _MARGIN
    whole = sum(sizes[name].width + _GAP for name in order)
    number = max(1.0, -(-whole // room), min(3.0, round(len(order) ** 0.5)))
    rows: list[list[str]] = [[]]
    used = 0.0
    for name in order:
        wide = sizes[name].width + _GAP
        if rows[-1] and (used + wide > room + _GAP or used + wide / 2 > whole / number):
            rows.append([])
            used = 0.0
        rows[-1].append(name)
        used += wide
    return rows


def _nearer(rows: list[list[str]], edges: Sequence[ModuleEdge]) -> list[list[str]]:
    """Each row in the order of where its neighbours stand, so that fewer edges cross."""
    ties: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    for edge in edges:
        ties[edge.origin].append((edge.target, edge.weight))
        ties[edge.target].append((edge.origin, edge.weight))
    for _ in range(_SWEEPS):
        at = {name: (place + 0.5) / len(row) for row in rows for place, name in enumerate(row)}
        for row in rows:
            wanted = {name: (_centre(ties[name], at, set(row)), name) for name in row}
            row.sort(key=wanted.__getitem__)
            at.update({name: (place + 0.5) / len(row) for place, name in enumerate(row)})
    return rows


def _centre(ties: Sequence[tuple[str, float]], at: Mapping[str, float], row: set[str]) -> float:
    """The middle of a module's neighbours in other rows, by the weight of the ties; without any, the page's."""
    outside = [(at[name], weight) for name, weight in ties if name not in row]
    total = sum(weight for _, weight in outside)
    return sum(place * weight for place, weight in outside) / total if total else 0.5


def _placed(rows: Sequence[Sequence[str]], modules: Mapping[str, Module], sizes: Mapping[str, _Size]) -> list[Area]:
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


def _chips(modules: Iterable[Module], y: float) -> list[Area]:
    """The smaller modules one after the other, in lines."""
    chips, x = [], _MARGIN
    for module in modules:
        count = width(f"  {module.size:,}", CHIP_SIZE)
        (name,) = in_lines(module.name, CHIP_SIZE, _MOST_CHIP - 2 * INSET - count, most=1)
        wide = width(name, CHIP_SIZE) + count + 2 * INSET
        if x + wide > _PAGE - _MARGIN:
            x, y = _MARGIN, y + _CHIP_HEIGHT + _CHIP_GAP
        chips.append(Area(module, x, y, wide, _CHIP_HEIGHT, (name,), is_card=False))
        x += wide + _CHIP_GAP
    return chips


def _telling(edges: Sequence[ModuleEdge], order: Sequence[str]) -> list[ModuleEdge]:
    """Of the ties, the strongest first, those that no way over stronger ones tells already."""
    at = {name: place for place, name in enumerate(order)}
    below: defaultdict[str, set[str]] = defaultdict(set)
    down, back = [], []
    for edge in edges:
        if at[edge.origin] > at[edge.target]:
            back.append(edge)
        elif not _leads(below, edge.origin, edge.target):
            below[edge.origin].add(edge.target)
            down.append(edge)
    return [*down[:_MOST_TIES], *back[:_MOST_BACK]]


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
