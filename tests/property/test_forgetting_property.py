"""Forgetting and propagation, whatever the records: once is enough, undo is identity, nothing leaves its bounds."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import OpenMemory
from tests.contract.test_forgetting import Counted, run_of
from tests.examples import examples
from tests.property.strategies import values
from tests.samples import NOW, knowledge
from treering.core.confidence import effective_confidence, half_life_days, propagated_changes
from treering.core.propagation import Propagation
from treering.core.quotations import without_quotation
from treering.core.records import Knowledge, Relation, RelationKind
from treering.core.settings import Settings, TrustSettings
from treering.knowledge.expiry import expiry_reason
from treering.knowledge.removal.stage import forget_expired

DAY = timedelta(days=1)
SETTINGS = Settings()
IDS = ("a", "b", "c", "d", "e")
moments = st.floats(-4_000, 4_000).map(lambda days: NOW + timedelta(days=days))
links = st.builds(
    Relation,
    kind=st.sampled_from(RelationKind),
    record=st.sampled_from((*IDS, "nobody")),
    confidence=st.floats(0, 1),
)
webs = st.fixed_dictionaries(
    {
        id: st.builds(
            lambda confidence, relations, verified, id=id: knowledge(
                id, confidence=confidence, relations=relations, user_verified=verified
            ),
            st.floats(0, 1),
            st.lists(links, max_size=4).map(tuple),
            st.booleans(),
        )
        for id in IDS
    }
)
relations = st.builds(Propagation, depth=st.integers(0, 6), least=st.floats(0.01, 0.2))


@given(record=values(Knowledge), first=moments, second=moments)
def test_what_has_faded_stays_faded(record: Knowledge, first: datetime, second: datetime) -> None:
    earlier, later = sorted((first, second))
    if expiry_reason(record, earlier, SETTINGS) is not None:
        assert expiry_reason(record, later, SETTINGS) is not None


@given(record=values(Knowledge), now=moments)
def test_what_a_person_protects_never_fades(record: Knowledge, now: datetime) -> None:
    assert expiry_reason(record.replace(pinned=True), now, SETTINGS) is None
    assert expiry_reason(record.replace(user_verified=True), now, SETTINGS) is None


@given(record=values(Knowledge), few=st.integers(0, 2**40), more=st.integers(0, 2**40), now=moments)
def test_more_use_never_makes_it_fade_sooner(record: Knowledge, few: int, more: int, now: datetime) -> None:
    few, more = sorted((few, more))
    seldom, often = (record.replace(access_count=count) for count in (few, more))
    assert (half_life_days(seldom) or 0) <= (half_life_days(often) or 0)
    trust = TrustSettings()
    assert effective_confidence(seldom, now, trust) <= effective_confidence(often, now, trust)


@given(web=webs, change=st.floats(-1, 1), chosen=relations)
def test_propagation_stays_within_its_bounds(web: dict[str, Knowledge], change: float, chosen: Propagation) -> None:
    changed = propagated_changes("a", change, web, chosen)
    assert "a" not in changed
    for id, (after, origin) in changed.items():
        before = web[id].confidence
        assert 0.0 <= after <= max(before, chosen.ceiling) <= 1.0
        assert chosen.least < abs(after - before) <= abs(change) + 1e-9
        assert not web[id].user_verified
        assert origin in web


@given(web=webs, change=st.floats(-1, 1), chosen=relations, order=st.permutations(IDS))
def test_propagation_does_not_depend_on_the_order_of_records(
    web: dict[str, Knowledge], change: float, chosen: Propagation, order: list[str]
) -> None:
    assert propagated_changes("a", change, {id: web[id] for id in order}, chosen) == propagated_changes(
        "a", change, web, chosen
    )


@given(web=webs, change=st.floats(0.06, 1))
def test_a_deeper_look_changes_nothing_that_is_nearer(web: dict[str, Knowledge], change: float) -> None:
    near, far = (propagated_changes("a", change, web, Propagation(depth=depth)) for depth in (1, 4))
    assert {id: far[id] for id in near} == near


def in_a_circle(ids: tuple[str, ...]) -> dict[str, Knowledge]:
    ahead = zip(ids, (*ids[1:], ids[0]), strict=True)
    return {id: knowledge(id, confidence=0.5, relations=({"kind": "validates", "record": to},)) for id, to in ahead}


@given(size=st.integers(1, 60), depth=st.integers(0, 100))
def test_a_circle_of_any_size_ends(size: int, depth: int) -> None:
    web = in_a_circle(tuple(f"r{number}" for number in range(size)))
    assert len(propagated_changes("r0", 0.45, web, Propagation(depth=depth))) <= min(depth, size - 1)


ages = st.lists(st.tuples(st.sampled_from(("fact", "gotcha", "decision", "work_state")), st.floats(0, 300)), max_size=6)


@examples(15)
@given(ages=ages)
def test_forgetting_twice_is_forgetting_once_and_undo_is_identity(
    open_memory: OpenMemory, ages: list[tuple[str, float]]
) -> None:
    memory = open_memory(clock=lambda: NOW, background=False, project=uuid4().hex)
    made = {}
    for number, (type, days) in enumerate(ages):
        then = NOW - timedelta(days=days)
        moment: dict[str, Any] = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), then)
        record = memory.remember(f"{type} {number} {len(ages)}", type=type, **moment)
        made[record.id] = record
    first, second = Counted(), Counted()
    forget_expired(run_of(memory, NOW, first))
    gone = [id for id, record in made.items() if expiry_reason(record, NOW, memory.settings) is not None]
    assert first.counts["unused"] + first.counts["doubted"] == len(gone)
    forget_expired(run_of(memory, NOW, second))
    assert not any(second.counts.values())
    for id in gone:
        assert memory.undo(id).replace(version=1, updated_at=NOW) == made[id].replace(version=1, updated_at=NOW)
    memory.close()


words = st.lists(st.sampled_from(("tea", "at", "four", "o'clock", "in", "the", "hall", "“Hall”,")), max_size=12)


@given(note=words, text=words)
def test_a_note_keeps_no_run_of_the_text_it_speaks_of(note: list[str], text: list[str]) -> None:
    kept = without_quotation(" ".join(note), " ".join(text)).split()
    for place in range(len(kept) - 3):
        run = kept[place : place + 4]
        assert "…" in run or " ".join(run) not in " ".join(text)
