"""The picture of the modules: whole documents that hold names as text, whatever the names are."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from treering.core.graph import EdgeKind
from treering.index.facts import Edge
from treering.index.graph import CodeGraph, ModuleMap
from treering.index.picture import drawing, page
from treering.index.picture.layout import MOST_MODULES, laid_out

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


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def test_every_module_and_edge_that_is_drawn_is_in_the_drawing() -> None:
    found = mapped(tuple(f"part{place % 4}/file{place}.py" for place in range(40)))
    tree = ElementTree.fromstring(drawing(found, "Mine"))
    texts = {text for each in tree.iter() if (text := each.text)}
    assert "Mine" in texts
    assert {module.name for module in found.modules} <= texts
    ties = [each for each in tree.iter() if each.get("data-from")]
    assert {(each.get("data-from"), each.get("data-to")) for each in ties} == {
        (edge.origin, edge.target) for edge in laid_out(found).edges
    }


def test_areas_do_not_overlap_and_stay_on_the_page() -> None:
    found = mapped(tuple(f"part{place % 30}/file{place}.py" for place in range(200)))
    layout = laid_out(found)
    assert len(layout.cards) == min(MOST_MODULES, len(found.modules))
    for card in layout.cards:
        assert card.x >= 0
        assert card.y >= 0
        assert card.x + card.width <= layout.width
        assert card.y + card.height <= layout.height
    for place, one in enumerate(layout.cards):
        for other in layout.cards[place + 1 :]:
            apart = one.x + one.width <= other.x or other.x + other.width <= one.x
            assert apart or one.y + one.height <= other.y or other.y + other.height <= one.y


@pytest.mark.parametrize("title", ["Map", "<script>alert(1)</script>", "\x00"])
def test_hostile_names_stay_text(title: str) -> None:
    found = mapped(HOSTILE)
    ElementTree.fromstring(drawing(found, title))
    html = page(found, title)
    html.encode()
    tags = Tags()
    tags.feed(html)
    assert {tag for tag, _ in tags.seen} <= {
        *("html", "head", "meta", "title", "style", "body", "svg", "rect", "text", "g", "path", "script"),
        *("table", "thead", "tbody", "tr", "th", "td", "details", "summary", "code", "br"),
    }
    assert not any(name.startswith("on") for _, attributes in tags.seen for name in attributes)
    assert [tag for tag, _ in tags.seen].count("script") == 1


def test_nothing_is_fetched_from_anywhere() -> None:
    html = page(mapped(("a/b.py", "c/d.py")))
    assert not re.search(r"\b(src|href)\s*=|@import|url\(", html)
    assert "http" not in html.replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


def test_the_same_map_gives_the_same_picture() -> None:
    paths = tuple(f"part{place % 5}/file{place}.py" for place in range(60))
    assert page(mapped(paths)) == page(mapped(paths))


def test_an_empty_project_has_a_picture() -> None:
    ElementTree.fromstring(drawing(mapped(())))
    assert "0 files in 0 modules" in page(mapped(()))
