"""What an agent reports counts for what it relied on, once, and against what misled it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sample_patterns import keep
from tests.served import Agent, agent_of
from tests.served_table import repository
from treering.core.errors import InvalidInput
from treering.core.records import Knowledge
from treering.memory import Memory

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]


@pytest.fixture
def agent(memory: Memory) -> Iterator[Agent]:
    with agent_of(memory) as found:
        yield found


def test_an_outcome_is_counted_once_for_each_record_and_pattern(memory: Memory, agent: Agent) -> None:
    record, pattern = memory.remember("tea is brewed at 90 degrees").id, keep(memory, id="steps").id
    told = agent.call("report_outcome", task="Brew tea", outcome="success", used=[record, record, pattern, pattern])
    assert told["counted"] == 2
    kept = memory.get(record)
    assert isinstance(kept, Knowledge)
    assert kept.uses == 1
    assert [each.outcome.value for each in memory.patterns.applications(pattern)] == ["SUCCESS"]


def test_what_misled_is_counted_against_even_where_it_was_used(memory: Memory, agent: Agent) -> None:
    record, pattern = memory.remember("tea is brewed at 90 degrees").id, keep(memory, id="steps").id
    memory.used(record)
    told = agent.call(
        "report_outcome", task="Brew", outcome="success", used=[record, pattern], misled=[record, pattern]
    )
    assert told["counted"] == 2
    kept = memory.get(record)
    assert isinstance(kept, Knowledge)
    assert kept.uses == 0
    assert [each.outcome.value for each in memory.patterns.applications(pattern)] == ["FAILURE"]


def test_what_tells_only_what_happened_is_not_counted_and_said_so(memory: Memory, agent: Agent) -> None:
    task = agent.call("report_outcome", task="Brew tea", outcome="success")["id"]
    told = agent.told("report_outcome", task="Brew more", outcome="success", used=[task, "unheard-of"])
    assert f"Not counted, because no knowledge or pattern has these ids: {task}, unheard-of" in told


def test_what_cannot_be_counted_for_a_pattern_is_told_and_the_task_is_kept_once(
    memory: Memory, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    pattern = keep(memory, id="steps").id

    def refuse(*_told: object, **_more: object) -> None:
        raise InvalidInput("it took another form meanwhile")

    monkeypatch.setattr("treering.patterns.api.Patterns.record_application", refuse)
    told = agent.call("report_outcome", task="Brew tea", outcome="success", used=[pattern])
    assert told["counted"] == 0
    assert any("another form meanwhile" in note for note in told["notes"])
    assert memory.stats().records["episodes"] == 1


def test_an_outcome_says_what_resolved_its_errors(memory: Memory, agent: Agent) -> None:
    told = {"task": "Brew tea", "outcome": "success", "errors": ["kettle: no water", "cup: too hot"]}
    agent.call("report_outcome", **told, resolutions=["fill the kettle"])
    assert "fill the kettle" in agent.told("similar_failures", error="kettle: no water")
    assert "more resolutions than errors" in agent.refused("report_outcome", **told, resolutions=["a", "b", "c"])


def test_an_outcome_says_what_was_taken_out_and_that_it_came_from_outside(agent: Agent) -> None:
    told = agent.told("report_outcome", task="Log in", outcome="success", summary=f"{TOKEN} works", from_outside=True)
    assert "secret was redacted" in told
    assert "from outside" in told


def test_files_are_named_from_the_root_or_in_full(memory: Memory, tmp_path: Path) -> None:
    root = repository(tmp_path / "shop")
    (tmp_path / "link").symlink_to(root)
    with agent_of(memory, repository=tmp_path / "link") as agent:
        for number, folder in enumerate((root, tmp_path / "link")):
            path = str(folder / "shop" / "db.py")
            kept = agent.call("record_memory", text=f"Order {number} is saved here.", files=[path])
            record = memory.get(kept["id"])
            assert isinstance(record, Knowledge)
            assert record.files == ("shop/db.py",)
            assert kept["id"] in agent.told("search_memory", query="saved order", files=[path])
            agent.call("find_patterns", task="save an order", files=[path])
            assert agent.call("related_files", path=path)["path"] == "shop/db.py"
        for path in ("/etc/passwd", f"{root}/../../etc/passwd", "../secrets"):
            assert "is outside the project" in agent.refused("record_memory", text="elsewhere", files=[path])


def test_tools_take_the_short_id_of_a_citation(memory: Memory, agent: Agent) -> None:
    record = memory.remember("tea is brewed at 90 degrees").id
    short = record[-8:]
    assert agent.call("report_outcome", task="Brew tea", outcome="success", used=[short, record])["counted"] == 1
    assert agent.call("confirm_fact", id=short)["id"] == record
    assert agent.call("correct_fact", id=short, text="tea is brewed at 95 degrees")["replaces"] == record
    other = memory.remember("the kettle is red").id
    assert agent.call("forget", id=other[-8:])["id"] == other
