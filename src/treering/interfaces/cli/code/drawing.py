"""The module map as a picture: SVG, or a page that needs nothing else."""

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from treering.core.errors import InvalidInput
from treering.interfaces.cli.code.layout import Box, Drawn, laid_out

if TYPE_CHECKING:
    from treering.index.graph import ModuleEdge, ModuleMap

_NAME = 24
_STYLE = """
.map { font: 13px system-ui, sans-serif; background: #fff }
.box rect { fill: #eef4ff; stroke: #4a6fa5; stroke-width: 1.2 }
.box text { fill: #1c2733 }
.box .small { font-size: 11px; fill: #52606d }
.tie { fill: none; stroke: #8fa3b8; stroke-opacity: .55 }
.map.chosen .box, .map.chosen .tie { opacity: .12 }
.map.chosen .lit { opacity: 1 }
.map.chosen .tie.lit { stroke: #c2410c; stroke-opacity: .9 }
@media (prefers-color-scheme: dark) {
  .map { background: #14181d }
  .box rect { fill: #1f2a38; stroke: #7fa3d6 }
  .box text { fill: #e6edf3 }
  .box .small { fill: #9fb0c0 }
  .tie { stroke: #6b7f93 }
}
"""
_PAGE_STYLE = """
body { margin: 2rem; font: 15px/1.5 system-ui, sans-serif; color: #1c2733; background: #fff }
svg { max-width: 100%; height: auto }
table { border-collapse: collapse; margin-top: 2rem }
td, th { text-align: left; padding: .25rem 1rem .25rem 0; vertical-align: top }
tr { border-bottom: 1px solid #d5dde5 }
small { color: #52606d }
@media (prefers-color-scheme: dark) {
  body { color: #e6edf3; background: #14181d }
  tr { border-color: #2d3742 }
  small { color: #9fb0c0 }
}
"""
_SCRIPT = """
const map = document.querySelector(".map");
for (const box of map.querySelectorAll(".box")) {
  box.addEventListener("mouseenter", () => {
    map.classList.add("chosen");
    box.classList.add("lit");
    for (const tie of map.querySelectorAll(".tie")) {
      const ends = [tie.dataset.from, tie.dataset.to];
      if (!ends.includes(box.dataset.name)) continue;
      tie.classList.add("lit");
      for (const other of map.querySelectorAll(".box"))
        if (ends.includes(other.dataset.name)) other.classList.add("lit");
    }
  });
  box.addEventListener("mouseleave", () => {
    map.classList.remove("chosen");
    for (const lit of map.querySelectorAll(".lit")) lit.classList.remove("lit");
  });
}
"""


def svg_of(found: "ModuleMap", title: str) -> str:
    """A picture that stands by itself."""
    drawn = laid_out(found)
    most = max((edge.weight for edge in drawn.edges), default=1.0)
    lines = [
        f'<svg class="map" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {drawn.width:.0f} {drawn.height:.0f}" '
        f'width="{drawn.width:.0f}" height="{drawn.height:.0f}" role="img">',
        f"<title>{escape(title)}: modules and what they use</title>",
        f"<style>{_STYLE}</style>",
        '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="5" markerHeight="5" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#8fa3b8"/></marker></defs>',
        *(_tie(edge, drawn, most) for edge in reversed(drawn.edges)),
        *(line for box in drawn.boxes for line in _box(box)),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def html_of(found: "ModuleMap", title: str) -> str:
    """The picture with a list of the modules; hovering shows what a module is tied to."""
    files = sum(module.size for module in found.modules)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
            f"<title>{escape(title)}</title><style>{_PAGE_STYLE}</style></head><body>",
            f"<h1>{escape(title)}</h1>",
            f"<p>{len(found.modules):,} modules, {files:,} files. What uses others stands above what it uses.",
            f"{_told(found)}</p>",
            svg_of(found, title),
            "<table><tr><th>module</th><th>files</th><th>central files</th><th>uses</th></tr>",
            *_table(found),
            f"</table><script>{_SCRIPT}</script></body></html>",
            "",
        ]
    )


def write_picture(path: Path, drawn: str) -> None:
    try:
        path.write_text(drawn, encoding="utf-8")
    except OSError as exc:
        raise InvalidInput(f"{path} cannot be written ({exc.strerror}); name a file in a folder that can") from exc


def _told(found: "ModuleMap") -> str:
    left_out = laid_out(found).left_out
    small = f" The {left_out:,} smallest modules are only in the list." if left_out else ""
    return small + ("" if found.standing.whole else " The index is not complete: something may be missing.")


def _table(found: "ModuleMap") -> Iterator[str]:
    used: dict[str, list[str]] = {}
    for edge in found.edges:
        used.setdefault(edge.origin, []).append(edge.target)
    for module in found.modules:
        central = "<br>".join(f"<small>{escape(each.path)}</small>" for each in module.central)
        uses = escape(", ".join(used.get(module.name, ())))
        yield (
            f"<tr><td>{escape(module.name)}</td><td>{module.size:,}</td><td>{central}</td>"
            f"<td><small>{uses}</small></td></tr>"
        )


def _box(box: Box) -> Iterator[str]:
    module, middle = box.module, box.x + box.width / 2
    name = module.name if len(module.name) <= _NAME else f"…{module.name[1 - _NAME :]}"
    central = module.central[0].path.rpartition("/")[2] if module.central else ""
    told = f"{module.size:,} files" if module.size != 1 else "1 file"
    yield f'<g class="box" data-name="{escape(module.name)}"><title>{escape(module.name)}: {escape(told)}</title>'
    yield f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{box.width:.0f}" height="{box.height:.0f}" rx="7"/>'
    yield f'<text x="{middle:.0f}" y="{box.y + 24:.0f}" text-anchor="middle">{escape(name)}</text>'
    below = escape(f"{told} · {central}" if central else told)
    yield f'<text class="small" x="{middle:.0f}" y="{box.y + 43:.0f}" text-anchor="middle">{below}</text></g>'


def _tie(edge: "ModuleEdge", drawn: Drawn, most: float) -> str:
    """A curve from the foot of who uses to the head of what is used, or back up at the side."""
    origin, target = drawn.by_name[edge.origin], drawn.by_name[edge.target]
    down = target.y > origin.y
    start_y = origin.y + (origin.height if down else 0)
    end_y = target.y + (0 if down else target.height)
    start_x, end_x = origin.x + origin.width / 2, target.x + target.width / 2
    bend = 40 if down else -40
    thick = 1 + 3 * (edge.weight / most) ** 0.5
    ends = f'data-from="{escape(edge.origin)}" data-to="{escape(edge.target)}"'
    return (
        f'<path class="tie" {ends} marker-end="url(#end)" stroke-width="{thick:.1f}" d="M{start_x:.0f},{start_y:.0f} '
        f'C{start_x:.0f},{start_y + bend:.0f} {end_x:.0f},{end_y - bend:.0f} {end_x:.0f},{end_y:.0f}"/>'
    )
