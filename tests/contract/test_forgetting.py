"""What faded leaves softly, then for good; what somebody misses comes back; what a person protects stays."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from tests.conftest import OpenMemory
from tests.samples import NOW, sample
from treering.adapters.sql.tables import knowledge
from treering.core.episodes import Episode
from treering.core.errors import Conflict, NotFound
from treering.core.records import Knowledge
from treering.core.runs import Run
from treering.jobs.stage import StageRun
from treering.knowledge.expiry import expiry_reason, was_retired_on_expiry
from treering.knowledge.removal.stage import forget_expired
from treering.memory import Memory

DAY = timedelta(days=1)
WEEK = 6.93
"""A half-life in days, shorter than that of facts: many tests pass several of them."""


def infer(memory: Memory, text: str, *, type: str, **fields: Any) -> Knowledge:
    """Remember what nobody stated."""
    lasting = {"half_life_days": WEEK} if type == "fact" else {}
    return memory.remember(text, type=type, **{"source": "qa_auto", **lasting, **fields})


class Counted:
    """Progress that remembers what it was told, and may break off."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.counts: dict[str, int] = {}
        self.cursors: list[str | None] = []
        self._stop_after = stop_after

    def expect(self, total: int) -> None: ...

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None:
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count
        self.cursors.append(cursor)
        if self._stop_after is not None and len(self.cursors) >= self._stop_after:
            raise Conflict("another worker has taken over")


def run_of(memory: Memory, now: datetime, progress: Counted | None = None, **options: Any) -> StageRun:
    return StageRun(
        scope=memory.scope,
        store=memory.store,
        settings=memory.settings,
        models=memory.models,
        now=now,
        new_id=memory._parts.new_id,
        progress=progress or Counted(),
        **options,
    )


def forgotten(memory: Memory, days: float, **options: Any) -> dict[str, int]:
    """What a run so many days later did with records, without what it did not."""
    progress = Counted()
    forget_expired(run_of(memory, NOW + days * DAY, progress, **options))
    return {name: count for name, count in progress.counts.items() if count and not name.startswith("traces")}


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(clock=lambda: NOW, background=False)


@pytest.mark.parametrize(("days", "gone"), [(20.7, False), (20.9, True)])
def test_a_fact_leaves_three_half_lives_after_its_last_use(memory: Memory, days: float, gone: bool) -> None:
    fact = infer(memory, "water is wet", type="fact", confidence=1.0)
    assert forgotten(memory, days) == ({"unused": 1} if gone else {"stale": 1})
    if gone:
        with pytest.raises(NotFound):
            memory.get(fact.id)
        entry = memory.history(fact.id)[0]
        assert (entry.action.value, entry.detail["reason"]) == ("delete", "unused")


def test_use_makes_a_fact_last_longer(memory: Memory) -> None:
    fact = infer(memory, "water is wet", type="fact", confidence=1.0)
    memory.used(fact.id)
    assert forgotten(memory, 13) == {}
    assert forgotten(memory, 40) == {"stale": 1}
    assert forgotten(memory, 42) == {"unused": 1}


PROTECTIONS: dict[str, Callable[[Memory, str], object]] = {
    "pinned": lambda memory, id: memory.pin(id),
    "confirmed": lambda memory, id: memory.confirm(id),
}


@pytest.mark.parametrize("protection", PROTECTIONS)
def test_what_a_person_protects_never_fades(memory: Memory, protection: str) -> None:
    fact = infer(memory, "water is wet", type="fact", confidence=0.01)
    PROTECTIONS[protection](memory, fact.id)
    assert forgotten(memory, 10_000) == {}
    assert memory.get(fact.id)


def test_a_type_without_a_half_life_fades_by_doubt_alone(memory: Memory) -> None:
    kept = infer(memory, "we deploy on Mondays", type="decision", confidence=0.8)
    doubted = infer(memory, "we deploy on Sundays", type="decision", confidence=0.04)
    assert forgotten(memory, 5_000) == {"doubted": 1}
    assert memory.get(kept.id)
    with pytest.raises(NotFound):
        memory.get(doubted.id)


def test_what_was_believed_before_stays(memory: Memory) -> None:
    old = infer(memory, "the limit is 100", type="fact")
    new = memory.correct(old.id, "outdated", text="the limit is 600")
    assert forgotten(memory, 400) == {}
    memory.forget(new.id)
    assert forgotten(memory, 425) == {}
    assert memory.get(old.id)


def test_what_held_until_something_else_stays_as_long_as_that(memory: Memory) -> None:
    old = infer(memory, "the limit is 100", type="fact", valid_until=NOW + DAY)
    link = {"kind": "supersedes", "record": old.id}
    new = infer(memory, "the limit is 600", type="decision", relations=[link])
    assert forgotten(memory, 400) == {"kept_as_history": 1}
    memory.forget(new.id)
    assert forgotten(memory, 25) == {"unused": 1}


def test_what_was_learned_is_retired_when_it_fades_and_never_removed(memory: Memory) -> None:
    fact = memory.remember("the limit is 100", type="fact", source="consolidation", half_life_days=WEEK)
    assert forgotten(memory, 60) == {"faded": 1}
    faded = memory.get(fact.id)
    assert isinstance(faded, Knowledge)
    assert (faded.deprecated_at, faded.deleted_at) == (NOW + 60 * DAY, None)
    assert was_retired_on_expiry(faded)
    entry = memory.history(fact.id)[0]
    assert (entry.detail["reason"], entry.detail["faded"]) == ("unused", True)
    assert not memory.search("limit")
    assert [hit.id for hit in memory.search("limit", as_of=NOW + 30 * DAY)] == [fact.id]
    for days in (91, 1_000):
        assert forgotten(memory, days) == {}
    assert memory.undo(fact.id).deprecated_at is None


def test_what_was_learned_and_a_person_forgot_is_removed(memory: Memory) -> None:
    fact = memory.remember("the limit is 100", type="fact", source="consolidation", half_life_days=WEEK)
    memory.forget(fact.id)
    assert forgotten(memory, 31) == {"removed": 1}


def test_what_an_earlier_version_took_away_softly_stays_if_it_was_learned(memory: Memory) -> None:
    learned = memory.remember("the limit is 100", type="fact", source="consolidation", half_life_days=WEEK)
    told = infer(memory, "the limit is 600", type="fact")
    with memory.store.transaction(memory.scope, NOW) as tx:
        for record in (learned, told):
            tx.undo_unit().knowledge.delete(record.id, {"reason": "unused", "stage": "forget"})
    assert forgotten(memory, 60) == {"removed": 1}
    assert memory.undo(learned.id).content == "the limit is 100"


def test_a_half_life_without_use_makes_it_stale_until_it_is_used(open_memory: OpenMemory) -> None:
    now = [NOW]
    memory = open_memory(clock=lambda: now[0], background=False)
    fact, other = (infer(memory, text, type="fact") for text in ("water is wet", "fire is hot"))
    assert forgotten(memory, 6) == {}
    assert forgotten(memory, 8) == {"stale": 2}
    assert forgotten(memory, 9) == {}
    assert memory.get(fact.id).stale_at == NOW + 8 * DAY
    now[0] = NOW + 9 * DAY
    memory.used(fact.id)
    assert memory.get(fact.id).stale_at is None
    assert memory.undo(other.id).stale_at is None
    assert forgotten(memory, 10) == {}


def test_what_leaves_together_is_brought_back_one_by_one(memory: Memory) -> None:
    ids = [infer(memory, f"fact {number}", type="fact").id for number in range(3)]
    assert forgotten(memory, 60) == {"unused": 3}
    assert memory.undo(ids[1]).id == ids[1]
    for id in (ids[0], ids[2]):
        with pytest.raises(NotFound):
            memory.get(id)


def test_one_record_that_cannot_be_read_stops_nothing(memory: Memory) -> None:
    ids = [infer(memory, f"fact {number}", type="fact").id for number in range(3)]
    gone, outcome = infer(memory, "gone", type="fact").id, infer(memory, "done", type="work_unit_outcome").id
    memory.forget(gone)
    with memory.store.upkeep(memory.scope, NOW) as context:  # type: ignore[attr-defined]
        lost = knowledge.c.id.in_((ids[1], gone, outcome))
        context.connection.execute(update(knowledge).where(lost).values(level="nowhere"))
    assert forgotten(memory, 60) == {"unused": 2, "unreadable": 3}


def test_history_costs_no_transactions(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        old = infer(memory, f"the limit is {number}", type="fact", valid_until=NOW + DAY)
        infer(memory, f"not {number}", type="decision", relations=[{"kind": "supersedes", "record": old.id}])
    monkeypatch.setattr(memory.store, "transaction", None)
    assert forgotten(memory, 400) == {"kept_as_history": 5}


def test_traces_of_a_run_that_died_are_forgotten_by_the_next(memory: Memory) -> None:
    memory.forget(infer(memory, "water is wet", type="decision").id)
    forget_expired(run_of(memory, NOW + 60 * DAY, first := Counted()))
    assert first.counts["traces_forgotten"] == 1
    # Its end was never stored: no run says that it was done.
    forget_expired(run_of(memory, NOW + 61 * DAY, second := Counted()))
    assert second.counts["traces_forgotten"] == 1
    now = NOW + 61 * DAY
    done = Run(id="run", stage="forget", started_at=now, updated_at=now, counts=second.counts)
    with memory.store.transaction(memory.scope, now) as tx:
        tx.runs.put_many([done])
    forget_expired(run_of(memory, NOW + 62 * DAY, third := Counted()))
    assert "traces_forgotten" not in third.counts


def test_work_state_holds_while_its_unit_is_open(memory: Memory) -> None:
    unit = {"methodology": "native", "hierarchy": ("spec", "one")}
    state = infer(memory, "half way through", type="work_state", work_unit=unit)
    loose = infer(memory, "nobody's work", type="work_state")
    assert forgotten(memory, 300) == {"unused": 1}
    assert memory.get(state.id)
    with pytest.raises(NotFound):
        memory.get(loose.id)

    infer(memory, "another unit is done", type="work_unit_outcome", work_unit={"hierarchy": ("spec", "two")})
    assert forgotten(memory, 301) == {}
    infer(memory, "it is done", type="work_unit_outcome", work_unit=unit)
    assert forgotten(memory, 302) == {"closed": 1, "unused": 1}


def test_undo_brings_it_back_and_it_is_spared_for_another_grace(open_memory: OpenMemory) -> None:
    now = [NOW]
    memory = open_memory(clock=lambda: now[0], background=False)
    fact = infer(memory, "water is wet", type="fact")
    assert forgotten(memory, 60) == {"unused": 1}
    now[0] = NOW + 80 * DAY
    assert memory.undo(fact.id).content == "water is wet"
    assert forgotten(memory, 109.9) == {"spared": 1}
    assert memory.get(fact.id)
    assert forgotten(memory, 110.1) == {"unused": 1}


def test_after_the_grace_it_is_removed_for_good(memory: Memory) -> None:
    fact = infer(memory, "water is wet", type="fact")
    assert forgotten(memory, 60) == {"unused": 1}
    assert forgotten(memory, 89.9) == {}
    assert forgotten(memory, 90.1) == {"removed": 1}
    with pytest.raises(NotFound):
        memory.undo(fact.id)
    assert [entry.action.value for entry in memory.history(fact.id)] == ["purge", "delete", "create"]
    assert memory.history(fact.id)[0].detail["reason"] == "grace passed"


def test_what_a_person_verified_and_forgot_is_never_removed_by_itself(memory: Memory) -> None:
    fact = infer(memory, "water is wet", type="fact")
    memory.confirm(fact.id)
    memory.forget(fact.id)
    assert forgotten(memory, 1_000) == {}
    assert memory.undo(fact.id).content == "water is wet"


def test_turns_and_episodes_leave_only_where_a_person_forgot_them(memory: Memory) -> None:
    kept, gone = (memory.turn(session="s", role="user", text=text) for text in ("kept", "gone"))
    with memory.store.transaction(memory.scope, NOW) as tx:
        for id in ("kept", "gone"):
            tx.episodes.create(sample(Episode, id))
    memory.forget(gone.id)
    memory.forget("gone")
    assert forgotten(memory, 29) == {}
    assert forgotten(memory, 31) == {"turns_removed": 1, "episodes_removed": 1}
    assert memory.get(kept.id)
    assert memory.get("kept")


def test_a_dry_run_counts_and_changes_nothing(memory: Memory) -> None:
    fact = infer(memory, "water is wet", type="fact")
    assert forgotten(memory, 60, dry_run=True) == {"unused": 1}
    assert memory.get(fact.id) == fact
    assert forgotten(memory, 60) == {"unused": 1}
    assert forgotten(memory, 100, dry_run=True) == {"removed": 1}
    assert forgotten(memory, 100) == {"removed": 1}


@pytest.mark.parametrize("stop_after", range(1, 9))
def test_whoever_goes_on_after_a_crash_loses_and_doubles_nothing(
    open_memory: OpenMemory, stop_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.jobs.record_pages.PAGE_RECORDS", 2)
    memory = open_memory(clock=lambda: NOW, background=False)
    for number in range(5):
        infer(memory, f"fact {number}", type="fact")
    for number in range(3):
        memory.forget(infer(memory, f"old {number}", type="decision").id)
    first = Counted(stop_after)
    with pytest.raises(Conflict):
        forget_expired(run_of(memory, NOW + 60 * DAY, first))
    second = Counted()
    forget_expired(run_of(memory, NOW + 60 * DAY, second, cursor=first.cursors[-1]))
    done = {name: first.counts.get(name, 0) + second.counts.get(name, 0) for name in ("unused", "removed")}
    assert done == {"unused": 5, "removed": 3}


def test_is_faded_is_a_pure_question(memory: Memory) -> None:
    fact = infer(memory, "water is wet", type="fact")
    assert expiry_reason(fact, NOW, memory.settings) is None
    assert expiry_reason(fact, NOW + 60 * DAY, memory.settings) is not None
    assert expiry_reason(fact.replace(deleted_at=NOW), NOW + 60 * DAY, memory.settings) is None
