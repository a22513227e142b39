"""Where each module stands: who uses others above, what others build on below, neighbours near each other."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from treering.index.graph.module_map import Module, ModuleEdge, ModuleMap

MOST_MODULES = 24
"""More cannot be read on one page; the largest are drawn."""
_MOST_TIES = 36
"""Ties are drawn by strength, so many in all and at least one from each module; more would hide the modules."""
_PAGE = 1240.0
_GAP, _ROW_GAP, _MARGIN, _TOP = 34.0, 84.0, 36.0, 112.0
_LEAST_WIDTH, _MOST_WIDTH = 178.0, 330.0
_HEAD, _LINE = 62.0, 19.0
_LEAST_FILES, _MOST_FILES = 2, 5
_SWEEPS = 8


@dataclass(frozen=True, slots=True)
class Card:
    """A module's area."""

    module: Module
    x: float
    y: float
    width: float
    height: float
    files: int
    """How many of its central files are named."""

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


@dataclass(frozen=True, slots=True)
class Layout:
    cards: tuple[Card, ...]
    edges: tuple[ModuleEdge, ...]
    width: float
    height: float
    modules_left_out: int
    edges_left_out: int


def laid_out(found: ModuleMap) -> Layout:
    modules = found.modules[:MOST_MODULES]
    names = {module.name for module in modules}
    between = [edge for edge in found.edges if edge.origin in names and edge.target in names]
    largest = max((module.size for module in modules), default=1)
    sizes = {module.name: _size(module, largest) for module in modules}
    order = _users_first([module.name for module in modules], between)
    rows = _nearer(_rows(order, sizes), between)
    cards = _placed(rows, {module.name: module for module in modules}, sizes)
    drawn = _strongest(between, len(modules))
    return Layout(
        tuple(cards),
        tuple(drawn),
        _PAGE,
        max((card.y + card.height for card in cards), default=_TOP) + _MARGIN,
        len(found.modules) - len(modules),
        len(found.edges) - len(drawn),
    )


def _size(module: Module, largest: int) -> tuple[float, float, int]:
    """Width, height, and how many files are named: the area grows with the number of files."""
    share = (module.size / largest) ** 0.5
    files = min(len(module.central), round(_LEAST_FILES + share * (_MOST_FILES - _LEAST_FILES)))
    wide = _LEAST_WIDTH + share * (_MOST_WIDTH - _LEAST_WIDTH)
    return wide, _HEAD + _LINE * files + 12.0, files


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


def _rows(order: Sequence[str], sizes: Mapping[str, tuple[float, float, int]]) -> list[list[str]]:
    """As many to a row as fit, and about as many in each."""
    room = _PAGE - 2 * _MARGIN
    whole = sum(sizes[name][0] + _GAP for name in order)
    rows: list[list[str]] = [[]]
    target = min(room, max(whole / max(1.0, round(len(order) ** 0.5)), room * 0.6))
    used = 0.0
    for name in order:
        wide = sizes[name][0] + _GAP
        if rows[-1] and used + wide > target + _GAP:
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


def _placed(
    rows: Sequence[Sequence[str]], modules: Mapping[str, Module], sizes: Mapping[str, tuple[float, float, int]]
) -> list[Card]:
    cards, y = [], _TOP
    for row in rows:
        wide = sum(sizes[name][0] for name in row)
        gap = min(3 * _GAP, (_PAGE - 2 * _MARGIN - wide) / max(1, len(row)))
        tallest = max((sizes[name][1] for name in row), default=0.0)
        x = (_PAGE - wide - gap * (len(row) - 1)) / 2
        for name in row:
            width, height, files = sizes[name]
            cards.append(Card(modules[name], x, y + (tallest - height) / 2, width, height, files))
            x += width + gap
        y += tallest + _ROW_GAP
    return cards


def _strongest(edges: Sequence[ModuleEdge], modules: int) -> list[ModuleEdge]:
    """Edges come the strongest first: a module's first few are kept, and the first that leads to it."""
    most = max(1, _MOST_TIES // max(1, modules))
    seen: defaultdict[tuple[str, str], int] = defaultdict(int)
    kept = []
    for edge in edges:
        leaving, coming = ("from", edge.origin), ("to", edge.target)
        if seen[leaving] < most or not seen[coming]:
            kept.append(edge)
        seen[leaving] += 1
        seen[coming] += 1
    return kept
