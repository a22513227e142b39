"""The module map as one HTML page: the drawing, and every module in a table."""

from collections.abc import Iterator

from treering.index.graph.module_map import Module, ModuleMap
from treering.index.picture.svg import element
from treering.index.picture.text import safe

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
_STYLE = """
:root{color-scheme:light dark;--paper:#fbfbfa;--ink:#1d2126;--soft:#5d6670;--rule:#dfe2e5}
@media (prefers-color-scheme:dark){:root{--paper:#15181c;--ink:#e9ecef;--soft:#a3adb8;--rule:#333a41}}
body{margin:0 auto;max-width:1240px;padding:12px;background:var(--paper);color:var(--ink);
font:15px/1.5 ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
svg.map{width:100%;height:auto}
table{border-collapse:collapse;width:100%;margin:12px 0 40px}
th,td{text-align:left;vertical-align:top;padding:7px 12px;border-bottom:1px solid var(--rule)}
th{color:var(--soft);font-weight:500}
td.number{text-align:right;font-variant-numeric:tabular-nums}
details summary{cursor:pointer}
code{font-size:13px;overflow-wrap:anywhere}
"""
# What a module is tied to stands out while the pointer is on it.
_SCRIPT = """
const map=document.querySelector("svg.map"),areas=[...map.querySelectorAll(".area")],
ties=[...map.querySelectorAll(".tie")];
for(const area of areas){const name=area.dataset.module;
area.addEventListener("mouseenter",()=>{const near=new Set([name]);
for(const tie of ties){const on=tie.dataset.from===name||tie.dataset.to===name;tie.classList.toggle("on",on);
if(on){near.add(tie.dataset.from);near.add(tie.dataset.to)}}
for(const other of areas)other.classList.toggle("on",near.has(other.dataset.module));map.classList.add("one")});
area.addEventListener("mouseleave",()=>map.classList.remove("one"))}
"""


def page(found: ModuleMap, title: str = "Module map") -> str:
    """A whole HTML document; it asks nothing of the network, and its policy forbids it to."""
    return "\n".join(_lines(found, title)) + "\n"


def _lines(found: ModuleMap, title: str) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{safe(title)}</title><style>{_STYLE}</style></head><body>"
    yield element(found, title)
    yield "<table><thead><tr><th>module</th><th>files</th><th>centrality</th><th>most central</th><th>uses</th></tr>"
    yield "</thead><tbody>"
    for module in found.modules:
        yield from _row(module, found)
    yield f"</tbody></table><script>{_SCRIPT}</script></body></html>"


def _row(module: Module, found: ModuleMap) -> Iterator[str]:
    uses = ", ".join(edge.target for edge in found.edges if edge.origin == module.name)
    central = "<br>".join(f"<code>{safe(file.path)}</code>" for file in module.central)
    files = "<br>".join(f"<code>{safe(path)}</code>" for path in module.files)
    yield (
        f"<tr><td>{safe(module.name)}<details><summary>all files</summary>{files}</details></td>"
        f'<td class="number">{module.size:,}</td><td class="number">{module.centrality:.1%}</td>'
        f"<td>{central}</td><td>{safe(uses)}</td></tr>"
    )
