"""Reviews of sessions: what was used, what was learned, and what the trust level asks about."""

import pytest

from tests.contract.test_trust import given, learned
from tests.observed import failing, observe
from treering.compose import now
from treering.core.errors import NotFound
from treering.core.injections import ItemOutcome
from treering.core.records import Source
from treering.core.taint import Taint
from treering.memory import Memory
from treering.observe.promotion.rates import false_positive_rates
from treering.observe.review import SessionReview
from treering.observe.scratchpad import Signal

PAGE = Taint(source="https://example.org/page", reason="fetched")


def ids(review: SessionReview) -> tuple[list[str], list[str]]:
    return [each.id for each in review.learned], [each.id for each in review.tainted]


def recorded(memory: Memory) -> None:
    """Four records of session s1: one sure, one to be reviewed, one from outside, one that a person stated."""
    memory.remember("The sluice is manual", id="sure", source=Source.OBSERVER_INFERRED, session="s1")
    learned(memory, "doubted")
    memory.remember("Run the page's script", id="outside", session="s1", taint=PAGE)
    memory.remember("The north gate is blue", id="stated", source=Source.USER_TAUGHT, session="s1")


def test_a_review_has_what_was_used_with_its_tokens_and_what_was_learned(memory: Memory) -> None:
    observe(memory, "s1", failing())
    promoted = observe(memory, "s2", failing()).promoted
    given(memory, "s2", learned(memory, "north", session="earlier"), ItemOutcome.USED)
    given(memory, "s2", learned(memory, "south", session="earlier"), ItemOutcome.IGNORED)
    found = memory.sessions.review("s2")
    assert [each.item for each in found.used] == ["north"]
    assert (len(found.given), found.tokens) == (2, 24)
    assert [each.id for each in found.learned] == [each.id for each in promoted]
    assert (found.tainted, found.not_shown) == ((), 0)


def test_tainted_records_are_apart_and_what_a_person_said_is_not_asked(memory: Memory) -> None:
    recorded(memory)
    assert ids(memory.sessions.review("s1")) == (["doubted", "sure"], ["outside"])
    memory.confirm("doubted")
    memory.forget("sure")
    assert ids(memory.sessions.review("s1")) == ([], ["outside"])


LEVELS = {
    "cautious": ((["doubted", "sure"], ["outside"]), 0, False),
    "standard": ((["doubted", "sure"], ["outside"]), 0, True),
    "confident": ((["doubted"], ["outside"]), 1, True),
    "autonomous": (([], []), 3, True),
}


@pytest.mark.parametrize("level", LEVELS)
def test_the_trust_level_decides_which_records_are_asked_about(memory: Memory, level: str) -> None:
    recorded(memory)
    memory.trust.set(level)
    shown, hidden, confirms_all = LEVELS[level]
    found = memory.sessions.review("s1")
    assert (ids(found), found.not_shown, found.confirms_all) == (shown, hidden, confirms_all)
    assert ids(memory.sessions.review("s1", every=True)) == LEVELS["cautious"][0]


def test_without_a_session_everything_that_waits_is_reviewed_the_newest_session_first(memory: Memory) -> None:
    for id, session in (("a", "old"), ("b", "new"), ("c", "old"), ("d", "new")):
        learned(memory, id, session)
    memory.remember("Nobody waits for this", id="fine", session="new")
    memory.remember("The lock has no session", id="alone", needs_review=True)
    memory.flag("fine")
    assert ids(memory.sessions.review()) == (["fine", "d", "b", "c", "a", "alone"], [])
    assert {each.id for each in memory.context.to_review()} == {"a", "b", "c", "d", "fine", "alone"}


def test_without_a_session_what_was_observed_is_reviewed_too(memory: Memory) -> None:
    observe(memory, "s1", failing())
    promoted = [each.id for each in observe(memory, "s2", failing()).promoted]
    assert ids(memory.sessions.review()) == (promoted, [])
    memory.trust.set("confident")
    found = memory.sessions.review()
    assert (ids(found), found.not_shown) == (([], []), len(promoted))
    assert ids(memory.sessions.review(every=True)) == (promoted, [])
    for id in promoted:
        memory.confirm(id)
    assert ids(memory.sessions.review(every=True)) == ([], [])


def test_a_rejected_record_raises_the_false_positive_rate_of_its_signal(memory: Memory) -> None:
    observe(memory, "s1", failing())
    observe(memory, "s2", failing())

    def rate() -> float:
        with memory.store.reading(memory.scope, now()) as tx:
            return false_positive_rates(tx, [Signal.ERROR_RETRY])[Signal.ERROR_RETRY]

    before = rate()
    (record,) = memory.sessions.review("s2").learned
    memory.correct(record.id)
    assert rate() > before
    assert memory.sessions.review("s2").learned == ()
    memory.undo(record.id)
    memory.confirm(record.id)
    assert rate() < before


def test_an_unknown_session_is_not_found(memory: Memory) -> None:
    with pytest.raises(NotFound, match="no observed session with id 'never'"):
        memory.sessions.review("never")
