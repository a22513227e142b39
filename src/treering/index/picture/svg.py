"""The module map as one SVG file, readable in light and dark, with more on hover."""

import math
from collections.abc import Iterator, Mapping

from treering.index.graph.module_map import ModuleEdge, ModuleMap
from treering.index.picture.layout import Card, Layout, laid_out
from treering.index.picture.text import safe, shortened

_HUES = (212, 28, 152, 268, 340, 48, 186, 300, 96, 4)
_INSET = 14.0
_THINNEST, _THICKEST = 1.2, 9.0

STYLE = """
.map{--paper:#fbfbfa;--ink:#1d2126;--soft:#5d6670;--edge:#8a94a0;--back:#c2543c;--fill:96%;--line:58%;--tint:45%}
@media (prefers-color-scheme:dark){.map{--paper:#15181c;--ink:#e9ecef;--soft:#a3adb8;--edge:#75808c;--back:#e08a70;
--fill:17%;--line:50%;--tint:30%}}
.map text{font-family:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
fill:var(--ink)}
.map .paper{fill:var(--paper)}
.map .area rect{fill:hsl(var(--hue) var(--tint) var(--fill));stroke:hsl(var(--hue) 45% var(--line));stroke-width:1.6}
.map .title{font-size:22px;font-weight:650}
.map .name{font-size:15px;font-weight:650}
.map .soft{font-size:12px;fill:var(--soft)}
.map .file{font-size:12.5px}
.map .edge{fill:none;stroke:var(--edge);stroke-opacity:.5;stroke-linecap:butt}
.map .back{stroke:var(--back);stroke-dasharray:7 5}
.map .tip{fill:var(--edge)}.map .tip.up{fill:var(--back)}
.map .edge:hover{stroke-opacity:1}
.map .area:hover rect{stroke-width:3}
.map.one .area:not(.on),.map.one .tie:not(.on){opacity:.16}
.map.one .tie.on .edge{stroke-opacity:.95}
"""


def drawing(found: ModuleMap, title: str = "Module map") -> str:
    """A whole SVG document."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{element(found, title)}\n'


def element(found: ModuleMap, title: str) -> str:
    """The `svg` element alone, for a page."""
    layout = laid_out(found)
    return "\n".join(_lines(found, layout, title))


def _lines(found: ModuleMap, layout: Layout, title: str) -> Iterator[str]:
    width, height = layout.width, layout.height
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="map" role="img" aria-label="{safe(title)}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}">'
    )
    yield f"<style>{STYLE}</style>"
    yield f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>'
    yield f'<text class="title" x="36" y="42">{safe(shortened(title, 22, width - 72))}</text>'
    yield f'<text class="soft" x="36" y="64">{safe(_summary(found, layout))}</text>'
    cards = {card.module.name: card for card in layout.cards}
    heaviest = max((edge.weight for edge in layout.edges), default=1.0)
    for edge in reversed(layout.edges):
        yield _edge(edge, cards, heaviest)
    hues = _hues(layout)
    for card in layout.cards:
        yield from _area(card, hues[card.module.name], found.beginning)
    yield "</svg>"


def _summary(found: ModuleMap, layout: Layout) -> str:
    files = sum(module.size for module in found.modules)
    parts = [
        f"{files:,} files in {len(found.modules)} modules",
        "users above, foundations below; thickness: how much is used; dashed: against the order",
    ]
    if layout.modules_left_out:
        parts.append(f"{layout.modules_left_out} smaller modules not drawn")
    if layout.edges_left_out:
        parts.append(f"{layout.edges_left_out} weaker ties not drawn")
    if not found.standing.whole:
        parts.append("the index is not complete: some edges are missing")
    return " · ".join(parts)


def _hues(layout: Layout) -> Mapping[str, int]:
    """One hue for each top folder, so that what belongs together looks so."""
    tops: dict[str, int] = {}
    for card in sorted(layout.cards, key=lambda card: (-card.module.size, card.module.name)):
        tops.setdefault(_top(card), _HUES[len(tops) % len(_HUES)])
    return {card.module.name: tops[_top(card)] for card in layout.cards}


def _top(card: Card) -> str:
    return card.module.name.partition(" ")[0].partition("/")[0]


def _area(card: Card, hue: int, beginning: str) -> Iterator[str]:
    module = card.module
    hover = [module.name, f"{module.size} files in {module.directory or 'the root folder'}", *module.files[:25]]
    if module.size > 25:
        hover.append(f"… and {module.size - 25} more")
    left, room = card.x + _INSET, card.width - 2 * _INSET
    share = f"{module.size:,} {'file' if module.size == 1 else 'files'} · {module.centrality:.0%} of centrality"
    yield f'<g class="area" data-module="{safe(module.name)}" style="--hue:{hue}">'
    yield f"<title>{safe(chr(10).join(hover))}</title>"
    yield (f'<rect x="{card.x:.1f}" y="{card.y:.1f}" width="{card.width:.1f}" height="{card.height:.1f}" rx="12"/>')
    yield f'<text class="name" x="{left:.1f}" y="{card.y + 25:.1f}">{safe(shortened(module.name, 16.5, room))}</text>'
    yield f'<text class="soft" x="{left:.1f}" y="{card.y + 44:.1f}">{safe(shortened(share, 12, room))}</text>'
    for place, file in enumerate(module.central[: card.files]):
        inside = file.path.removeprefix(f"{module.directory}/").removeprefix(beginning)
        y = card.y + 68 + 19 * place
        yield f'<text class="file" x="{left:.1f}" y="{y:.1f}">{safe(shortened(inside, 12.5, room))}</text>'
    yield "</g>"


def _edge(edge: ModuleEdge, cards: Mapping[str, Card], heaviest: float) -> str:
    origin, target = cards[edge.origin], cards[edge.target]
    thick = _THINNEST + (_THICKEST - _THINNEST) * math.sqrt(edge.weight / heaviest)
    back = target.y + target.height < origin.y
    path, tip = _curve(origin, target, thick)
    pairs = f"{edge.files} {'use' if edge.files == 1 else 'uses'} between files, weight {edge.weight:,.1f}"
    hover = safe(f"{edge.origin} → {edge.target}: {pairs}")
    return (
        f'<g class="tie" data-from="{safe(edge.origin)}" data-to="{safe(edge.target)}"><title>{hover}</title>'
        f'<path class="edge{" back" if back else ""}" stroke-width="{thick:.1f}" d="{path}"/>'
        f'<path class="tip{" up" if back else ""}" d="{tip}"/></g>'
    )


def _curve(origin: Card, target: Card, thick: float) -> tuple[str, str]:
    """A line from the nearer side of one area to that of the other, and the tip of its arrow."""
    reach = 5.0 + thick
    lean = max(-0.3, min(0.3, (target.middle - origin.middle) / 1200))
    start_x, end_x = origin.middle + lean * origin.width, target.middle - lean * target.width
    if origin.y + origin.height < target.y:
        start_y, end_y, way = origin.y + origin.height, target.y, 1
    elif target.y + target.height < origin.y:
        start_y, end_y, way = origin.y, target.y + target.height, -1
    else:
        return _sideways(origin, target, reach)
    stop = end_y - way * reach
    bend = max(28.0, abs(stop - start_y) * 0.45) * way
    path = f"M{start_x:.1f} {start_y:.1f}C{start_x:.1f} {start_y + bend:.1f} {end_x:.1f} {stop - bend:.1f} "
    path += f"{end_x:.1f} {stop:.1f}"
    half = reach * 0.62
    return path, f"M{end_x - half:.1f} {stop:.1f}L{end_x + half:.1f} {stop:.1f}L{end_x:.1f} {end_y:.1f}Z"


def _sideways(origin: Card, target: Card, reach: float) -> tuple[str, str]:
    """Within a row: over the tops of what stands between."""
    to_right = target.middle > origin.middle
    start_x = origin.middle + origin.width * (0.3 if to_right else -0.3)
    end_x = target.middle - target.width * (0.3 if to_right else -0.3)
    stop = target.y - reach
    top = min(origin.y, stop) - 26 - abs(end_x - start_x) * 0.03
    path = f"M{start_x:.1f} {origin.y:.1f}C{start_x:.1f} {top:.1f} {end_x:.1f} {top:.1f} {end_x:.1f} {stop:.1f}"
    half = reach * 0.62
    return path, f"M{end_x - half:.1f} {stop:.1f}L{end_x + half:.1f} {stop:.1f}L{end_x:.1f} {target.y:.1f}Z"
