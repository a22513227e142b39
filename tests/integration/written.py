"""What must be true of a database that crews have written groups to, whatever happened to them."""

from collections import defaultdict
from collections.abc import Iterable

from tests.integration.crew import Crew
from tests.integration.crew_members import RECORDS, TURNS, text_of
from treering.compose import now
from treering.core.queries import KnowledgeFilter, TurnFilter
from treering.memory import Memory


def assert_whole(memory: Memory, crew: Crew) -> int:
    """Every acknowledged write is there, every group is there wholly or not at all; how many records were seen."""
    with memory.store.reading(memory.scope, now()) as tx:
        texts = {record.id: record.content for record in tx.knowledge.stream()}
        tagged = {record.id: record.tags for record in tx.knowledge.stream()}
        turns = list(tx.turns.stream())
        texts |= {turn.id: turn.text for turn in turns}
        audited = sorted(entry.subject for entry in tx.audit.stream())
        groups = _groups(set(texts))
        for group, parts in groups.items():
            kept = {record.id for record in tx.knowledge.stream(KnowledgeFilter(tags=(group,)))}
            assert kept == {id for id in parts if tagged.get(id) == (group,)}
        filters = {"knowledge": KnowledgeFilter(), "turn": TurnFilter()}
        indexed = tx.index.matching_ids(filters, tx.index.matching_numbers(filters))
    for id in sorted(texts)[:: len(texts) // 40 + 1]:
        assert memory.search(id.replace("-", ""), limit=1)[0].id == id
    assert sorted(id for _, id in indexed.values()) == sorted(texts)
    assert {id: text_of(id) for id in texts} == texts
    assert audited == sorted(texts)
    assert {id for group in crew.told("stored") for id in _members(group)} <= set(texts)
    assert {*crew.told("remembered"), *crew.told("said")} <= set(texts)
    assert all(parts == _members(group) for group, parts in groups.items() if "g" in group)
    assert_without_gaps((turn.session, turn.seq) for turn in turns)
    return len(texts)


def assert_healthy(memory: Memory) -> None:
    report = memory.doctor()
    assert report.healthy, [check for check in report.checks if not check.fine]


def _members(group: str) -> set[str]:
    return {f"{group}-{part}" for part in (*RECORDS, *TURNS)}


def _groups(ids: set[str]) -> dict[str, set[str]]:
    groups: dict[str, set[str]] = defaultdict(set)
    for id in ids:
        groups[id.split("-")[0]].add(id)
    return groups


def assert_without_gaps(places: Iterable[tuple[str, int]]) -> None:
    sessions: dict[str, list[int]] = defaultdict(list)
    for session, seq in places:
        sessions[session].append(seq)
    for session, taken in sessions.items():
        assert sorted(taken) == list(range(len(taken))), session
