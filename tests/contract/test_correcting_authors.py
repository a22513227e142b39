"""Who corrects a record decides how it is trusted: a person's word is sure, an agent's is not, a taint stays."""

from typing import Any

import pytest

from treering.core.confidence import TAUGHT_CONFIDENCE
from treering.core.errors import InvalidInput
from treering.core.payloads import Decision, Fact
from treering.core.records import Knowledge, Source
from treering.knowledge.authors import Author
from treering.memory import Memory

AGENT = Author(Source.AGENT_EXPLICIT, session="s2")
PAGE = Author(Source.AGENT_EXPLICIT, session="s2", tainted=True)


def test_without_an_author_a_person_says_so(memory: Memory) -> None:
    old = memory.remember("tea at four", tainted=True, session="s1")
    for by in (None, Author()):
        old = memory.correct(old.id, "outdated", text="tea at five" if by is None else "tea at six", by=by)
        assert (old.source, old.user_verified, old.tainted) == (Source.USER_TAUGHT, True, False)
        assert old.confidence == TAUGHT_CONFIDENCE
        assert old.session == "s1"


def test_an_agents_correction_is_an_agents_word(memory: Memory) -> None:
    old = memory.confirm(memory.remember("tea at four", session="s1").id)
    new = memory.correct(old.id, "outdated", text="tea at five", by=AGENT)
    assert (new.source, new.session) == (Source.AGENT_EXPLICIT, "s2")
    assert (new.user_verified, new.tainted, new.needs_review) == (False, False, False)
    assert new.confidence < old.confidence
    assert memory.get(old.id).deprecated_at is not None


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
            with pytest.raises(InvalidInput, match="stated by a person"):
                memory.correct(record.id, reason, **options)
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


def test_an_agent_confirms_what_nobody_doubts_and_the_log_says_so(memory: Memory) -> None:
    confirmed = memory.confirm(memory.remember("tea at four", needs_review=True).id, by=AGENT)
    assert (confirmed.user_verified, confirmed.needs_review) == (True, False)
    assert dict(memory.history(confirmed.id)[0].detail) == {"by": "agent_explicit", "session": "s2"}


@pytest.mark.parametrize("by", [AGENT, PAGE])
def test_only_a_person_confirms_what_is_doubted_or_came_from_outside(memory: Memory, by: Author) -> None:
    outside = memory.remember("from a page", tainted=True)
    doubted = memory.flag(memory.remember("doubted").id)
    for record in (outside, doubted):
        with pytest.raises(InvalidInput, match=f"treering confirm {record.id}"):
            memory.confirm(record.id, by=by)
        assert memory.get(record.id) == record
        assert memory.confirm(record.id).user_verified
        assert memory.history(record.id)[0].detail == {}


def test_what_a_person_calls_a_duplicate_is_evidence_whoever_said_it(memory: Memory) -> None:
    known, again = memory.remember("tea at four", confidence=0.3), memory.remember("at four: tea", confidence=0.9)
    assert memory.correct(again.id, "duplicate", duplicate_of=known.id).confidence == 0.9


@pytest.mark.parametrize(
    ("known", "said"),
    [({}, {"tainted": True}), ({"source": Source.USER_TAUGHT}, {}), ({"user_verified": True}, {"tainted": True})],
)
def test_of_an_agent_no_duplicate_testifies_for_what_is_trusted_more(
    memory: Memory, known: dict[str, Any], said: dict[str, Any]
) -> None:
    trusted = memory.remember("tea at four", confidence=0.3, **known)
    weaker = memory.remember("at four: tea", confidence=0.9, tags=["x"], files=["evil.py"], session="s", **said)
    assert memory.correct(weaker.id, "duplicate", duplicate_of=trusted.id, by=AGENT) == trusted
    assert memory.get(trusted.id) == trusted
    assert memory.get(weaker.id).deprecated_at is not None
    memory.undo(weaker.id)
    assert memory.get(weaker.id).deprecated_at is None


def test_one_undo_takes_an_agents_correction_back(memory: Memory) -> None:
    old = memory.remember("tea at four")
    new = memory.correct(old.id, "outdated", text="tea at five", by=AGENT)
    memory.undo(old.id)
    standing = {hit.id for hit in memory.search("tea", turns=None)}
    assert standing == {old.id}
    assert new.id not in standing


@pytest.mark.parametrize("by", [None, AGENT], ids=["a person", "an agent"])
def test_a_correction_is_about_the_same_and_says_nothing_that_was_not_said(memory: Memory, by: Author | None) -> None:
    old = memory.remember(
        "Redis listens on 5433",
        payload={"subject": "Redis", "attribute": "port", "value": "5433", "negated": True, "speaker": "Ada"},
    )
    new = memory.correct(old.id, "inaccurate", text="Port 5434.", by=by)
    assert new.payload == Fact(subject="Redis", attribute="port")
    assert [fact.id for fact in memory.entities.about("Redis").facts] == [new.id]


def test_of_a_decision_only_the_subject_outlives_a_correction(memory: Memory) -> None:
    told = {"subject": "orders", "attribute": "uses", "value": "MySQL", "rationale": "we know it"}
    old = memory.remember("Orders use MySQL", type="decision", payload=told)
    new = memory.correct(old.id, "outdated", text="Orders use PostgreSQL")
    assert new.payload == Decision(subject="orders", attribute="uses")


@pytest.mark.parametrize(("type", "payload"), [("gotcha", {"trigger": "tea"}), ("fact", {"value": "5433"})])
def test_what_names_no_subject_keeps_nothing_of_what_was_wrong(
    memory: Memory, type: str, payload: dict[str, str]
) -> None:
    old = memory.remember("tea at four", type=type, payload=payload)
    assert memory.correct(old.id, "inaccurate", text="tea at five").payload is None
