"""The module map as one SVG file for light and dark backgrounds, with details on hover."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from treering.code.graph.module_map import CodeModule, ModuleEdge, ModuleMap
from treering.code.map_drawing.curves import Ends, curve, ends_of, leads_up
from treering.code.map_drawing.layout import (
    CHIP_SIZE,
    FILE_LINE,
    FILE_SIZE,
    INSET,
    NAME_LINE,
    Area,
    MapLayout,
    laid_out,
)
from treering.code.map_drawing.text import safe, shortened, width

_HUES = (212, 28, 152, 268, 340, 48, 186, 300, 96, 4)
_THINNEST, _THICKEST = 1.2, 8.0
_LISTED_FILES = 25
_ROOT = "(root)"
_LEFT = 36.0
_STROKES = (
    ("edge", 1.5, "a little"),
    ("edge", 6.0, "or much used by modules above"),
    ("edge back", 2.5, "used by modules below"),
)
"""Legend of the lines."""

STYLE = """
.map{--paper:#fbfbfa;--ink:#1d2126;--soft:#5d6670;--edge:#7d8894;--back:#c2543c;--fill:96%;--line:58%;--tint:45%}
@media (prefers-color-scheme:dark){.map{--paper:#15181c;--ink:#e9ecef;--soft:#a3adb8;--edge:#8894a1;--back:#e08a70;
--fill:17%;--line:50%;--tint:30%}}
.map text{font-family:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
fill:var(--ink)}
.map .paper{fill:var(--paper)}
.map .area rect,.map .swatch{fill:hsl(var(--hue) var(--tint) var(--fill));
stroke:hsl(var(--hue) 45% var(--line));stroke-width:1.5}
.map .area{cursor:pointer;outline:none}
.map .title{font-size:24px;font-weight:650}
.map .name{font-size:15px;font-weight:650}
.map .soft{font-size:12.5px;fill:var(--soft)}
.map .file{font-size:12.5px}
.map .chip text{font-size:12.5px}
.map .edge{fill:none;stroke:var(--edge);stroke-opacity:.42;stroke-linecap:butt}
.map .back{stroke:var(--back);stroke-dasharray:7 5;stroke-opacity:.7}
.map .tip{fill:var(--edge)}.map .tip.up{fill:var(--back)}
.map .quiet{display:none}
.map .edge:hover{stroke-opacity:1}
.map .area:hover rect,.map .area:focus rect{stroke-width:3}
.map.one .area:not(.on),.map.one .tie:not(.on){opacity:.13}
.map.one .tie.on .edge{stroke-opacity:.95}
.map.one .quiet.on{display:inline}
.map .area.missed{opacity:.13}
"""


def drawing(found: ModuleMap, title: str = "Module map") -> str:
    """A complete SVG document."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{element(found, title, pointed_at=False)}\n'


def element(found: ModuleMap, title: str, *, pointed_at: bool) -> str:
    """The `svg` element alone; with `pointed_at`, including the edges that the page shows on hover."""
    return "\n".join(_lines(found, laid_out(found), title, pointed_at))


def _lines(found: ModuleMap, layout: MapLayout, title: str, pointed_at: bool) -> Iterator[str]:
    wide, high = layout.width, layout.height
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="map" role="img" aria-label="{safe(title)}" '
        f'viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}" height="{high:.0f}">'
    )
    yield f"<style>{STYLE}</style>"
    yield f'<rect class="paper" width="{wide:.0f}" height="{high:.0f}"/>'
    yield f'<text class="title" x="{_LEFT}" y="44">{safe(shortened(title, 25, wide - 2 * _LEFT))}</text>'
    yield f'<text class="soft" x="{_LEFT}" y="68">{safe(_summary(found, layout, pointed_at))}</text>'
    hues = _hues(found.modules)
    yield from _legend(hues, layout)
    areas = {area.module.name: area for area in (*layout.cards, *layout.chips)}
    heaviest = max((edge.weight for edge in found.edges), default=1.0)
    for edge, ends in reversed(ends_of(layout.edges, areas)):
        yield _edge(edge, ends, areas, heaviest, "tie")
    if pointed_at:
        yield from (_edge(edge, None, areas, heaviest, "tie quiet") for edge in layout.quiet)
    for card in layout.cards:
        yield from _card(card, _hue(card.module, hues), found.beginning)
    if layout.chips:
        yield f'<text class="soft" x="{_LEFT}" y="{layout.chips_from - 16:.1f}">smaller modules</text>'
    for chip in layout.chips:
        yield from _chip(chip, _hue(chip.module, hues))
    yield "</svg>"


def _summary(found: ModuleMap, layout: MapLayout, pointed_at: bool) -> str:
    files = sum(module.size for module in found.modules)
    parts = [f"{_counted(files, 'file')} in {_counted(len(found.modules), 'module')}"]
    if layout.quiet:
        hint = "point at a module to see all of its own" if pointed_at else "the others are implied, or weaker"
        parts.append(f"{len(layout.edges):,} of {len(found.edges):,} dependencies are drawn: {hint}")
    if not found.status.up_to_date:
        parts.append("the index is not complete: modules or files may be missing")
    return " · ".join(parts)


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _legend(hues: Mapping[str, int], layout: MapLayout) -> Iterator[str]:
    """Legend for thickness, dashes and colours."""
    x, y = _LEFT, 94.0
    for style, thick, label in _STROKES:
        yield f'<path class="{style}" stroke-width="{thick}" d="M{x:.1f} {y - 4:.1f}h28"/>'
        yield f'<text class="soft" x="{x + 36:.1f}" y="{y:.1f}">{label}</text>'
        x += 36 + width(label, 12.5) + 10
    x += 16
    for top, hue in hues.items():
        name = shortened(top, 12.5, 200.0)
        wide = width(name, 12.5) + 38
        if x + wide > layout.width - _LEFT:
            break
        yield f'<rect class="swatch" style="--hue:{hue}" x="{x:.1f}" y="{y - 11:.1f}" width="14" height="14" rx="4"/>'
        yield f'<text class="soft" x="{x + 20:.1f}" y="{y:.1f}">{safe(name)}</text>'
        x += wide


def _hues(modules: Sequence[CodeModule]) -> Mapping[str, int]:
    """One hue per top folder, largest folder first."""
    sizes = Counter[str]()
    for module in modules:
        sizes[_top(module)] += module.size
    tops = sorted(sizes, key=lambda top: (-sizes[top], top))
    return {top: _HUES[place % len(_HUES)] for place, top in enumerate(tops)}


def _hue(module: CodeModule, hues: Mapping[str, int]) -> int:
    return hues[_top(module)]


def _top(module: CodeModule) -> str:
    """The top folder that contains most of its files."""
    tops = Counter(path.partition("/")[0] if "/" in path else _ROOT for path in module.files)
    return min(tops, key=lambda top: (-tops[top], top))


def _opening(area: Area, hue: int) -> Iterator[str]:
    module = area.module
    details = [module.name, f"{_counted(module.size, 'file')} in {module.directory or 'the root folder'}"]
    details += module.files[:_LISTED_FILES]
    if module.size > _LISTED_FILES:
        details.append(f"… and {module.size - _LISTED_FILES:,} more")
    kind = "area" if area.is_card else "area chip"
    yield f'<g class="{kind}" data-module="{safe(module.name)}" style="--hue:{hue}">'
    yield f"<title>{safe(chr(10).join(details))}</title>"
    corner = 12 if area.is_card else area.height / 2
    box = f'x="{area.x:.1f}" y="{area.y:.1f}" width="{area.width:.1f}" height="{area.height:.1f}"'
    yield f'<rect {box} rx="{corner:.1f}"/>'


def _card(card: Area, hue: int, beginning: str) -> Iterator[str]:
    module = card.module
    left, room, y = card.x + INSET, card.width - 2 * INSET, card.y + 25
    yield from _opening(card, hue)
    for place, line in enumerate(card.name):
        yield f'<text class="name" x="{left:.1f}" y="{y + NAME_LINE * place:.1f}">{safe(line)}</text>'
    y += NAME_LINE * (len(card.name) - 1) + 19
    share = f"{_counted(module.size, 'file')} · {module.centrality:.0%} central"
    yield f'<text class="soft" x="{left:.1f}" y="{y:.1f}">{safe(shortened(share, 12.5, room))}</text>'
    for place, file in enumerate(module.central[: card.files]):
        inside = file.path.removeprefix(f"{module.directory}/").removeprefix(beginning)
        below = y + 24 + FILE_LINE * place
        yield f'<text class="file" x="{left:.1f}" y="{below:.1f}">{safe(shortened(inside, FILE_SIZE, room))}</text>'
    yield "</g>"


def _chip(chip: Area, hue: int) -> Iterator[str]:
    yield from _opening(chip, hue)
    y = chip.y + chip.height / 2 + 4.4
    yield f'<text x="{chip.x + INSET:.1f}" y="{y:.1f}">{safe(chip.name[0])}</text>'
    after = chip.x + INSET + width(f"{chip.name[0]}  ", CHIP_SIZE)
    yield f'<text class="soft" x="{after:.1f}" y="{y:.1f}">{chip.module.size:,}</text></g>'


def _edge(edge: ModuleEdge, ends: Ends | None, areas: Mapping[str, Area], heaviest: float, kind: str) -> str:
    origin, target = areas[edge.origin], areas[edge.target]
    thick = _THINNEST + (_THICKEST - _THINNEST) * math.sqrt(edge.weight / heaviest)
    back = leads_up(origin, target)
    path, tip = curve(origin, target, ends, thick)
    pairs = f"{_counted(edge.files, 'use')} between files, weight {edge.weight:,.1f}"
    hover = safe(f"{edge.origin} → {edge.target}: {pairs}")
    return (
        f'<g class="{kind}" data-from="{safe(edge.origin)}" data-to="{safe(edge.target)}"><title>{hover}</title>'
        f'<path class="edge{" back" if back else ""}" stroke-width="{thick:.1f}" d="{path}"/>'
        f'<path class="tip{" up" if back else ""}" d="{tip}"/></g>'
    )
