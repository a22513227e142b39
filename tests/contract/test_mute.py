"""A muted record is never given unasked, and searches still find it."""

from tests.injection_occasions import names, offer, taught
from treering.memory import Memory

TEXT = "Always run the harbour linter before you commit."


def test_a_muted_record_is_not_given_and_still_found(memory: Memory) -> None:
    rule = taught(memory, TEXT, type="preference")
    assert rule.id in names(offer(memory, "start", begin="startup"))
    assert memory.knowledge.mute(rule.id).muted
    assert rule.id not in names(offer(memory, "start", "another session", begin="startup"))
    assert [hit.id for hit in memory.search("harbour linter")] == [rule.id]


def test_muting_can_be_ended_and_undone(memory: Memory) -> None:
    rule = taught(memory, TEXT, type="preference")
    memory.knowledge.mute(rule.id)
    memory.undo(rule.id)
    assert not memory.get(rule.id).muted
    memory.knowledge.mute(rule.id)
    assert not memory.knowledge.mute(rule.id, muted=False).muted
    assert [entry.action.value for entry in memory.history(rule.id)][:2] == ["unmute", "mute"]
