"""Uses without a known target are counted in every answer about a definition, and listed on request."""

from pathlib import Path

import pytest

from tests.code_projects import code_of, written
from tests.conftest import OpenMemory
from tests.rest_server import P, rest_client
from tests.served import agent_of
from treering.code.api import Code
from treering.code.graph import NameCount
from treering.memory import Memory

FILES = {
    "shop/query.py": """class Query:
    def filter(self, value): ...

    def only(self): ...


def alone(): ...
""",
    "shop/views.py": """from shop.query import Query


def certain():
    return Query().filter(1)


def unknown(items):
    items.filter(1)
    items.other()
    return items.filter(2).filter(3)
""",
    "shop/__init__.py": "",
    "web.ts": "export function load(items: any) {\n  items.filter(1)\n}\n",
}
USES = ["shop/views.py:9 items.filter", "shop/views.py:11 items.filter(2).filter", "shop/views.py:11 items.filter"]


@pytest.fixture
def code(memory: Memory, tmp_path: Path) -> Code:
    found = code_of(memory)
    found.index(written(tmp_path / "project", FILES), history=False)
    return found


def listed(code: Code, node: str, *, inside: bool = False) -> list[str]:
    return [f"{use.origin.partition('::')[0]}:{use.line} {use.text}" for use in code.unresolved(node, inside=inside)]


def test_uses_of_the_same_name_and_language_are_counted(code: Code) -> None:
    found = code.impact("Query.filter")
    assert found.dependents.ids == ("shop/views.py::certain",)
    assert (found.unresolved, found.unresolved_total) == ((NameCount("filter", 3),), 3)
    assert sorted(listed(code, "Query.filter")) == sorted(USES)


def test_a_class_counts_the_uses_of_its_methods(code: Code) -> None:
    assert code.impact("Query").unresolved == (NameCount("filter", 3),)
    assert code.impact("Query.only").unresolved == ()


def test_dependencies_count_what_the_node_itself_uses(code: Code) -> None:
    assert code.dependencies("unknown").unresolved == (NameCount("filter", 3), NameCount("other", 1))
    assert code.dependencies("certain").unresolved == ()
    assert len(listed(code, "unknown", inside=True)) == len(listed(code, "shop/views.py")) == 4


def test_the_counts_follow_changes_and_removals(code: Code, tmp_path: Path) -> None:
    assert code.impact("Query.filter").unresolved_total == 3
    (tmp_path / "project/shop/views.py").write_text("def user(items):\n    items.filter()\n", "utf-8")
    written(tmp_path / "project", {"more.py": "def user(items):\n    items.filter()\n"})
    code.index(tmp_path / "project", history=False)
    assert code.impact("Query.filter").unresolved_total == 2
    (tmp_path / "project/more.py").unlink()
    code.index(tmp_path / "project", history=False)
    assert code.impact("Query.filter").unresolved_total == 1


def test_without_dependents_the_files_that_import_the_file_remain(code: Code) -> None:
    found = code.impact("alone")
    assert (found.total, found.unresolved, found.importers) == (0, (), ("shop/views.py",))
    assert found.file_level
    assert not code.impact("Query.filter").file_level


def test_an_agent_is_given_the_count_and_the_list(memory: Memory, tmp_path: Path) -> None:
    memory.code.index(written(tmp_path / "project", FILES), history=False)
    with agent_of(memory) as agent:
        found = agent.call("analyze_impact", node="Query.filter")
        assert (found["total"], found["unresolved"], found["uses"]) == (1, 3, [])
        assert not found["file_level"]
        assert agent.call("analyze_impact", node="alone")["file_level"]
        uses = agent.call("analyze_impact", node="Query.filter", unresolved=True)["uses"]
        assert sorted(f"{use['at']} {use['text']}" for use in uses) == sorted(USES)
        assert agent.call("get_dependencies", node="unknown")["unresolved"] == 4
        assert len(agent.call("get_dependencies", node="unknown", unresolved=True)["uses"]) == 4


def test_a_client_of_the_api_is_given_the_count_and_the_list(open_memory: OpenMemory, tmp_path: Path) -> None:
    with open_memory(project="p") as memory:
        memory.code.index(written(tmp_path / "project", FILES), history=False)
    with rest_client(open_memory, tmp_path) as client:
        found = client.get(f"{P}/code/impact", params={"node": "Query.filter"}).json()
        assert (found["unresolved"], found["unresolved_total"]) == ([{"name": "filter", "uses": 3}], 3)
        assert not found["file_level"]
        assert client.get(f"{P}/code/impact", params={"node": "alone"}).json()["file_level"]
        assert client.get(f"{P}/code/dependencies", params={"node": "unknown"}).json()["unresolved_total"] == 4
        uses = client.get(f"{P}/code/unresolved", params={"path": "Query.filter"}).json()["uses"]
        assert {(use["origin"], use["used_name"]) for use in uses} == {("shop/views.py::unknown", "filter")}
        inside = client.get(f"{P}/code/unresolved", params={"path": "unknown", "inside": True}).json()["uses"]
        assert len(inside) == 4
