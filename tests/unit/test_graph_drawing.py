"""The picture of the modules: whole documents that hold names as text, whatever the names are."""

import re
from html.parser import HTMLParser
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as some

from treering.code.facts import Edge
from treering.code.graph import CodeGraph, ModuleMap
from treering.code.graph.answers import IndexStatus
from treering.code.graph.module_map import CentralFile, CodeModule, ModuleEdge
from treering.code.map_drawing import drawing, page
from treering.code.map_drawing.layout import MAX_CARDS, Area, laid_out
from treering.code.map_drawing.text import in_lines, shortened, width
from treering.core.graph import EdgeKind

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    '"><script>alert(1)</script>/a.py',
    "</title></style><img src=x onerror=alert(1)>/b.py",
    "]]>&amp;&#x0;/c.py",
    "nul\x00 bell\x07 half\ud800 turn\u202etxt/d.py",
    "名前/とても長いファイル名" * 12 + ".py",
    "'onmouseover='alert(1)/e.py",
)


def mapped(paths: tuple[str, ...]) -> ModuleMap:
    graph = CodeGraph()
    for place, path in enumerate(paths):
        edges = [Edge(path, other, EdgeKind.IMPORTS, 1.0, 1) for other in paths[place + 1 : place + 3]]
        graph.replace_file(path, (), edges)
    return graph.module_map()


def modules(count: int, *, ring: int = 7) -> ModuleMap:
    """So many modules, each of which uses the next and one further on; the last use the first."""
    found = []
    for place in range(count):
        folder = f"{('app', 'libs', 'tools')[place % 3]}/quite_a_long_name_of_a_folder_{place}/inside"
        files = tuple(f"{folder}/file{number}.py" for number in range(count - place))
        found.append(CodeModule(folder, folder, files, tuple(CentralFile(file, 0.1) for file in files[:5]), 1 / count))
    ends = [(place, (place + step) % count) for place in range(count) for step in (1, ring)]
    edges = (ModuleEdge(found[one].name, found[other].name, 100.0 - one / 10, 3) for one, other in ends if one != other)
    return ModuleMap(tuple(found), tuple(edges), "", IndexStatus())


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def tied(text: str) -> set[tuple[str | None, str | None]]:
    tags = Tags()
    tags.feed(text)
    return {(each["data-from"], each["data-to"]) for _, each in tags.seen if "data-from" in each}


def apart(one: Area, other: Area) -> bool:
    beside = one.x + one.width <= other.x or other.x + other.width <= one.x
    return beside or one.y + one.height <= other.y or other.y + other.height <= one.y


@pytest.mark.parametrize("count", [1, 30, 300])
def test_every_module_is_in_the_picture_and_none_covers_another(count: int) -> None:
    found = modules(count)
    layout = laid_out(found)
    areas = (*layout.cards, *layout.chips)
    assert sorted(area.module.name for area in areas) == sorted(module.name for module in found.modules)
    assert len(layout.cards) == min(MAX_CARDS, count)
    for area in areas:
        assert min(area.x, area.y) >= 0
        assert area.x + area.width <= layout.width
        assert area.y + area.height <= layout.height
    assert all(apart(one, other) for one, other in combinations(areas, 2))
    tree = ElementTree.fromstring(drawing(found, "Mine"))
    assert {each.get("data-module") for each in tree.iter() if each.get("data-module")} == {
        module.name for module in found.modules
    }


@pytest.mark.parametrize("count", [30, 300])
def test_names_stay_inside_their_areas(count: int) -> None:
    layout = laid_out(modules(count))
    for area in (*layout.cards, *layout.chips):
        size = 15.0 if area.is_card else 12.5
        assert all(width(line, size) <= area.width - 20 for line in area.name)


def test_a_page_has_every_edge_and_a_drawing_the_essential_ones() -> None:
    found = modules(30)
    layout = laid_out(found)
    every = {(edge.origin, edge.target) for edge in found.edges}
    drawn = {(edge.origin, edge.target) for edge in layout.edges}
    assert tied(drawing(found)) == drawn
    assert drawn < every
    assert tied(page(found)) == every
    assert f"{len(drawn)} of {len(every)} dependencies are drawn" in page(found)


def test_an_edge_implied_by_stronger_ones_is_not_drawn() -> None:
    names = ("a", "b", "c")
    three = tuple(CodeModule(name, name, (f"{name}/x.py",), (), 0.3) for name in names)
    edges = (ModuleEdge("a", "b", 9, 1), ModuleEdge("b", "c", 8, 1), ModuleEdge("a", "c", 1, 1))
    layout = laid_out(ModuleMap(three, edges, "", IndexStatus()))
    assert [(edge.origin, edge.target) for edge in layout.edges] == [("a", "b"), ("b", "c")]
    assert [(edge.origin, edge.target) for edge in layout.quiet] == [("a", "c")]
    assert [card.module.name for card in sorted(layout.cards, key=lambda card: card.y)] == ["a", "b", "c"]


def test_the_legend_names_the_top_folders() -> None:
    texts = [each.text for each in ElementTree.fromstring(drawing(modules(9))).iter(f"{SVG}text")]
    assert {"app", "libs", "tools", "used by modules below"} <= set(texts)


@pytest.mark.parametrize("title", ["Map", "<script>alert(1)</script>", "\x00"])
def test_hostile_names_stay_text(title: str) -> None:
    found = mapped(HOSTILE)
    ElementTree.fromstring(drawing(found, title))
    html = page(found, title)
    html.encode()
    tags = Tags()
    tags.feed(html)
    assert {tag for tag, _ in tags.seen} <= {
        *("html", "head", "meta", "title", "style", "body", "svg", "rect", "text", "g", "path", "script", "input"),
        *("table", "thead", "tbody", "tr", "th", "td", "details", "summary", "code", "br", "span", "aside", "div"),
    }
    assert not any(name.startswith("on") for _, attributes in tags.seen for name in attributes)
    assert [tag for tag, _ in tags.seen].count("script") == 1


def test_nothing_is_fetched_from_anywhere() -> None:
    html = page(mapped(("a/b.py", "c/d.py")))
    assert not re.search(r"\b(src|href)\s*=|@import|url\(|innerHTML|fetch\(", html)
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


def test_the_same_map_gives_the_same_picture() -> None:
    paths = tuple(f"part{place % 5}/file{place}.py" for place in range(60))
    assert page(mapped(paths)) == page(mapped(paths))


def test_an_empty_project_has_a_picture() -> None:
    ElementTree.fromstring(drawing(mapped(())))
    assert "0 files in 0 modules" in page(mapped(()))


@given(some.text(max_size=80), some.floats(60, 400), some.integers(1, 3))
def test_lines_fit_and_hold_the_whole_name_where_they_can(name: str, room: float, most: int) -> None:
    lines = in_lines(name, 15, room, most)
    assert 1 <= len(lines) <= most
    assert all(width(line, 15) <= room or line == "…" for line in lines)
    if width(name, 15) <= room:
        assert list(lines) == [name.strip()]
    assert width(shortened(name, 15, room), 15) <= room or shortened(name, 15, room) == "…"
