"""The module map as one HTML page: the drawing, a search field, and a table of all modules."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files

from treering.code.graph.module_map import CodeModule, ModuleMap
from treering.code.map_drawing.svg import element
from treering.code.map_drawing.text import safe

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_HEAD = (
    "<th>module</th><th class='number'>files</th><th class='number'>centrality</th><th>most central</th><th>uses</th>"
)
_USED = 8
"""Maximum number of used modules in a row; pointing at the module shows all."""


def page(found: ModuleMap, title: str = "Module map") -> str:
    """A complete HTML document that needs no network access, which its content security policy also forbids."""
    return "\n".join(_lines(found, title)) + "\n"


def _lines(found: ModuleMap, title: str) -> Iterator[str]:
    here = files("treering.code.map_drawing")
    style, script = (here.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{safe(title)}: modules</title><style>{style}</style></head><body>"
    yield '<input type="search" placeholder="find a module or a file" aria-label="find a module or a file">'
    yield f'<div class="frame">{element(found, title, pointed_at=True)}</div>'
    yield f"<table><thead><tr>{_HEAD}</tr></thead><tbody>"
    used = defaultdict[str, list[str]](list)
    for edge in found.edges:
        used[edge.origin].append(edge.target)
    for module in found.modules:
        yield from _row(module, used)
    yield f"</tbody></table><aside hidden></aside><script>{script}</script></body></html>"


def _row(module: CodeModule, used: Mapping[str, Sequence[str]]) -> Iterator[str]:
    uses = used.get(module.name, ())
    more = f' <span class="soft">and {len(uses) - _USED:,} more</span>' if len(uses) > _USED else ""
    central = "<br>".join(f"<code>{safe(file.path)}</code>" for file in module.central)
    every = "<br>".join(f"<code>{safe(path)}</code>" for path in module.files)
    yield (
        f'<tr data-module="{safe(module.name)}"><td>{safe(module.name)}'
        f"<details><summary>all files</summary>{every}</details></td>"
        f'<td class="number">{module.size:,}</td><td class="number">{module.centrality:.1%}</td>'
        f"<td>{central}</td><td>{safe(', '.join(uses[:_USED]))}{more}</td></tr>"
    )
