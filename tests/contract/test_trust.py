"""Trust levels of a project: stored, raised by evidence, lowered only by a person."""

from datetime import datetime, timedelta

import pytest

from tests.conftest import OpenMemory
from tests.observed import failing, observe
from treering.compose import now
from treering.context.trust import trust_level
from treering.core.errors import InvalidInput
from treering.core.injections import InjectedItem, InjectionPoint, ItemKind, ItemOutcome
from treering.core.records import Source
from treering.core.trust import TrustEvidence, TrustLevel
from treering.memory import Memory


def level(memory: Memory) -> TrustLevel:
    return memory.trust.level


def offered(memory: Memory) -> TrustLevel | None:
    return memory.trust.offered


def learned(memory: Memory, id: str, session: str = "s1") -> str:
    text = f"The {id} gate opens at high water"
    return memory.remember(text, id=id, source=Source.OBSERVER_INFERRED, session=session, needs_review=True).id


def given(memory: Memory, session: str, item: str, outcome: ItemOutcome | None, at: datetime | None = None) -> None:
    made = InjectedItem.make(
        id=f"{session}-{item}",
        session=session,
        point=InjectionPoint.START,
        kind=ItemKind.KNOWLEDGE,
        item=item,
        injection=f"i-{session}",
        injected_at=at or now(),
        tokens=12,
        text=f"text of {item}",
        outcome=outcome,
    )
    memory.store.write(memory.scope, now(), lambda tx: tx.injected_items.put_many([made]))


def sessions(memory: Memory, count: int, first: int = 1) -> None:
    for number in range(first, first + count):
        watch = memory.observe(f"s{number}")
        watch.event({"kind": "prompt", "text": f"do step {number}", "at": now().isoformat()})
        watch.finish("success")


def test_a_new_project_is_cautious(memory: Memory) -> None:
    assert level(memory) is TrustLevel.CAUTIOUS
    assert memory.trust.since is None
    assert memory.trust.evidence() == TrustEvidence()
    with memory.store.reading(memory.scope, now()) as tx:
        assert trust_level(tx) is TrustLevel.CAUTIOUS


def test_three_sessions_and_half_of_the_reviewed_records_make_it_standard(memory: Memory) -> None:
    for id in ("north", "south"):
        learned(memory, id)
    sessions(memory, 3)
    memory.settle()
    assert level(memory) is TrustLevel.CAUTIOUS  # nothing was reviewed
    memory.flag("south")
    assert memory.trust.advance() is TrustLevel.CAUTIOUS
    memory.confirm("north")
    assert memory.trust.evidence() == TrustEvidence(sessions=3, reviewed=2, confirmed=1)
    sessions(memory, 1, first=4)
    memory.settle()  # the end of a session is enough
    assert level(memory) is TrustLevel.STANDARD
    (entry,) = [each for each in memory.audit(actions=["update"]) if each.kind == "project"]
    assert entry.detail == {"trust": "standard"}


def test_evidence_is_counted_since_the_level_was_set(memory: Memory) -> None:
    learned(memory, "north")
    sessions(memory, 3)
    memory.confirm("north")
    memory.trust.set("cautious")
    assert memory.trust.evidence() == TrustEvidence()
    assert memory.trust.advance() is TrustLevel.CAUTIOUS


def test_ten_sessions_with_few_corrections_make_it_confident_and_nothing_makes_it_autonomous(memory: Memory) -> None:
    memory.trust.set(TrustLevel.STANDARD)
    sessions(memory, 10)
    assert memory.trust.advance() is TrustLevel.STANDARD  # nothing was used
    for number in range(20):
        given(memory, "s1", learned(memory, f"gate{number}"), ItemOutcome.USED)
    memory.flag("gate0")
    assert memory.trust.evidence().corrected == 1
    assert memory.trust.advance() is TrustLevel.STANDARD  # 5 % is too much
    given(memory, "s1", learned(memory, "further"), ItemOutcome.USED)
    assert memory.trust.advance() is TrustLevel.CONFIDENT
    sessions(memory, 12, first=11)
    given(memory, "s20", "further", ItemOutcome.USED)
    memory.settle()
    assert memory.trust.advance() is TrustLevel.CONFIDENT
    assert memory.trust.set("autonomous") is TrustLevel.AUTONOMOUS
    assert level(memory) is TrustLevel.AUTONOMOUS


def test_contradicted_items_are_corrections(memory: Memory) -> None:
    given(memory, "s1", learned(memory, "north"), ItemOutcome.CONTRADICTED)
    given(memory, "s1", learned(memory, "south"), ItemOutcome.IGNORED)
    seen = memory.trust.evidence()
    assert (seen.used, seen.corrected) == (1, 1)


def test_three_wrong_records_in_the_last_session_offer_a_more_careful_level(memory: Memory) -> None:
    memory.trust.set("confident")
    sessions(memory, 2)
    for id in ("north", "south"):
        memory.flag(learned(memory, id, session="s2"))
    given(memory, "s2", learned(memory, "east", session="earlier"), ItemOutcome.IGNORED)
    assert offered(memory) is None
    memory.forget("east")
    assert offered(memory) is TrustLevel.STANDARD
    assert level(memory) is TrustLevel.CONFIDENT  # offered, never forced
    sessions(memory, 1, first=3)
    assert offered(memory) is None


def test_an_unknown_level_is_refused_and_a_stored_one_of_another_release_is_cautious(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="use one of cautious, standard, confident, autonomous"):
        memory.trust.set("blind")
    memory.trust.set("confident")
    with memory.store.reading(memory.scope, now()) as tx:
        setting = tx.project_settings.get("trust")
    assert setting is not None
    unknown = setting.replace(values={"level": "clairvoyant"})
    memory.store.write(memory.scope, now(), lambda tx: tx.project_settings.put_many([unknown]))
    assert level(memory) is TrustLevel.CAUTIOUS


def test_the_level_belongs_to_the_project(open_memory: OpenMemory) -> None:
    with open_memory(project="north") as north, open_memory(project="south") as south:
        north.trust.set("confident")
        assert south.trust.level is TrustLevel.CAUTIOUS


def test_sessions_that_began_before_the_level_was_set_do_not_count(memory: Memory) -> None:
    memory.trust.set("standard")
    observe(memory, "old", failing())  # its events are from the past
    assert memory.trust.evidence().sessions == 0
    given(memory, "old", learned(memory, "north"), ItemOutcome.USED, at=now() - timedelta(days=3))
    assert memory.trust.evidence().used == 0
