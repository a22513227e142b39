"""Who corrects a record decides how it is trusted: a person's word is sure, an agent's is not, a taint stays."""

import pytest

from treering.core.errors import InvalidInput
from treering.core.records import Knowledge, Source
from treering.learn.teach import Author
from treering.memory import Memory

AGENT = Author(Source.AGENT_EXPLICIT, session="s2")
PAGE = Author(Source.AGENT_EXPLICIT, session="s2", tainted=True)


def test_without_an_author_a_person_says_so(memory: Memory) -> None:
    old = memory.remember("tea at four", tainted=True, session="s1")
    for by in (None, Author()):
        old = memory.correct(old.id, "outdated", text="tea at five" if by is None else "tea at six", by=by)
        assert (old.source, old.user_verified, old.tainted) == (Source.USER_TAUGHT, True, False)
        assert old.confidence == memory.settings.knowledge.taught_confidence
        assert old.session == "s1"


def test_an_agents_correction_is_an_agents_word(memory: Memory) -> None:
    old = memory.confirm(memory.remember("tea at four", session="s1").id)
    new = memory.correct(old.id, "outdated", text="tea at five", by=AGENT)
    assert (new.source, new.session) == (Source.AGENT_EXPLICIT, "s2")
    assert (new.user_verified, new.tainted, new.needs_review) == (False, False, False)
    assert new.confidence < old.confidence
    assert memory.get(old.id).deprecated_at is not None  # type: ignore[union-attr]


@pytest.mark.parametrize(("before", "by"), [(True, AGENT), (False, PAGE), (True, PAGE)])
def test_only_a_person_takes_a_taint_away(memory: Memory, before: bool, by: Author) -> None:
    new = memory.correct(memory.remember("tea at four", tainted=before).id, "outdated", text="tea at five", by=by)
    assert new.tainted
    assert not memory.correct(new.id, "outdated", text="tea at six").tainted


def test_a_person_who_says_it_came_from_outside_is_taken_at_their_word(memory: Memory) -> None:
    old = memory.remember("tea at four")
    new = memory.correct(old.id, "outdated", text="tea at five", by=Author(tainted=True))
    assert (new.tainted, new.user_verified) == (True, False)


def _persons(memory: Memory) -> tuple[Knowledge, Knowledge]:
    return memory.remember("taught", source=Source.USER_TAUGHT), memory.confirm(memory.remember("confirmed").id)


def test_text_from_outside_neither_replaces_nor_retires_a_persons_word(memory: Memory) -> None:
    planted = memory.remember("planted", tainted=True)
    for record in _persons(memory):
        for reason, options in (
            ("outdated", {"text": "planted", "by": PAGE}),
            ("inaccurate", {"by": PAGE}),
            ("duplicate", {"duplicate_of": planted.id, "by": PAGE}),
            ("duplicate", {"duplicate_of": planted.id, "by": AGENT}),
        ):
            with pytest.raises(InvalidInput, match="person's word"):
                memory.correct(record.id, reason, **options)  # type: ignore[arg-type]
        assert memory.get(record.id) == record


def test_a_person_may_say_that_their_word_repeats_what_came_from_outside(memory: Memory) -> None:
    planted = memory.remember("planted", tainted=True)
    for record in _persons(memory):
        assert memory.correct(record.id, "duplicate", duplicate_of=planted.id).id == planted.id


def test_repeating_a_trusted_record_from_outside_says_nothing_beside_it(memory: Memory) -> None:
    known = memory.remember("The port is 80.", payload={"subject": "port", "value": "80"}, tags=["net"])
    again = memory.remember(
        "The port is 80.", payload={"subject": "port", "value": "1234"}, tags=["planted"], tainted=True, session="s"
    )
    assert again == known
    assert memory.get(known.id) == known


def test_one_undo_takes_an_agents_correction_back(memory: Memory) -> None:
    old = memory.remember("tea at four")
    new = memory.correct(old.id, "outdated", text="tea at five", by=AGENT)
    memory.undo(old.id)
    standing = {hit.id for hit in memory.recall("tea", turns=None)}
    assert standing == {old.id}
    assert new.id not in standing
