"""Parts of injection: deadlines, learned rates, and what counts as use."""

from datetime import UTC, datetime
from threading import Event
from typing import Any
from unittest.mock import Mock

import pytest

from tests.session_events import Session
from treering.context.injection.contradictions import contradicted_by
from treering.context.injection.deadline import MAX_THREADS, BackgroundThreads, Pending
from treering.core.injection_rates import InjectionRates, ignored_in_a_row
from treering.core.injection_rules import AFTER_COMPACTION
from treering.core.injections import (
    InjectedItem,
    InjectionPoint,
    ItemKind,
    ItemOutcome,
    items_in_context,
)
from treering.core.records import Knowledge
from treering.knowledge.facts import wordings
from treering.observe.injection_outcomes import SessionTrace, outcome_of

NOW = datetime(2026, 11, 18, tzinfo=UTC)
LATER = datetime(2026, 11, 19, tzinfo=UTC)
USED, IGNORED, CONTRADICTED = ItemOutcome.USED, ItemOutcome.IGNORED, ItemOutcome.CONTRADICTED


def item(point: InjectionPoint = InjectionPoint.START, **fields: Any) -> InjectedItem:
    known: dict[str, Any] = {"id": "i", "session": "s", "point": point, "kind": ItemKind.KNOWLEDGE, "item": "r"}
    return InjectedItem.make(**{**known, "injection": "i", "injected_at": NOW, "type": "error_pattern", **fields})


def record(**fields: Any) -> Knowledge:
    times = dict.fromkeys(("created_at", "updated_at", "last_accessed_at"), NOW)
    return Knowledge.make(**{"id": "r", "type": "error_pattern", "content": "it fails", **times, **fields})


def trace(events: Session, *cited: str) -> SessionTrace:
    return SessionTrace.of({"pads": {"": {"activity": events.pad().activity.state()}}, "cited": cited})


@pytest.mark.parametrize("allowed", [True, False])
def test_a_result_in_time_is_taken_if_what_precedes_it_allows_that(allowed: bool) -> None:
    pending, asked = Pending[str](), Mock(return_value=allowed)
    assert pending.deliver("now", before=asked) is allowed
    assert pending.wait(0.0) == ("now" if allowed else None)
    asked.assert_called_once_with()


def test_a_result_after_the_deadline_is_not_taken() -> None:
    pending, asked = Pending[str](), Mock(return_value=True)
    assert pending.wait(0.0) is None
    assert not pending.deliver("late", before=asked)
    asked.assert_not_called()


def test_threads_that_hang_do_not_stop_the_caller() -> None:
    threads, released, done = BackgroundThreads("test"), Event(), Event()
    for _ in range(MAX_THREADS + 2):
        threads.run(lambda: released.wait(30))
    threads.run(done.set)
    threads.wait(0.0)
    assert not done.is_set()
    released.set()
    threads.end()
    threads.wait(30)
    assert done.is_set()


def test_items_before_a_compaction_are_not_in_the_context() -> None:
    before, after = item(id="a"), item(id="b", injected_at=LATER, reason=f"{AFTER_COMPACTION}: a rule")
    assert items_in_context([before, after]) == (after,)
    assert items_in_context([before]) == (before,)


@pytest.mark.parametrize(
    ("outcomes", "count"),
    [([], 0), ([IGNORED, IGNORED, USED, IGNORED], 2), ([CONTRADICTED, None, IGNORED], 2), ([USED, IGNORED], 0)],
)
def test_items_ignored_in_a_row(outcomes: list[ItemOutcome | None], count: int) -> None:
    assert ignored_in_a_row(outcomes) == count


def test_chances_follow_outcomes() -> None:
    asked = (0.5, InjectionPoint.START, "error_pattern")
    known = InjectionRates({})
    assert known.chance(*asked) == pytest.approx(0.5)
    ignored = known.after([(item(score=0.5), IGNORED)] * 10)
    used = known.after([(item(score=0.5), USED)] * 10)
    assert ignored.chance(*asked) < 0.45
    assert used.chance(*asked) > 0.55
    assert ignored.chance(0.5, InjectionPoint.PROMPT, "error_pattern") == pytest.approx(0.5)
    assert InjectionRates.from_values({"start x": "broken", "y": [1]}).rates == {}


def test_a_recommended_command_that_ran_later_is_a_use() -> None:
    known = record(payload={"resolution": "`make migrate`"})
    events = Session().run("go test ./...").run("make migrate")
    assert outcome_of(item(step=1), known, trace(events)) is USED
    assert outcome_of(item(step=2), known, trace(events)) is IGNORED


def test_a_recipe_is_used_if_a_command_of_it_ran() -> None:
    known = record(type="workflow_recipe", payload={"steps": [{"description": "make lint"}]})
    assert outcome_of(item(), known, trace(Session().run("make lint"))) is USED
    assert outcome_of(item(), known, trace(Session().run("ls"))) is IGNORED


def test_a_cited_pattern_and_a_touched_file_are_used() -> None:
    pattern, file = item(kind=ItemKind.PATTERN, item="pattern-1"), item(kind=ItemKind.FILE, item="tides/tide.go")
    seen = trace(Session().read("tides/tide.go"), "pattern-1")
    assert [outcome_of(each, None, seen) for each in (pattern, file)] == [USED, USED]
    assert outcome_of(item(kind=ItemKind.FILE, item="b.go"), None, seen) is IGNORED


def test_a_record_that_was_taken_back_since_is_contradicted() -> None:
    nothing = trace(Session())
    assert outcome_of(item(), None, nothing) is CONTRADICTED
    assert outcome_of(item(), record(deprecated_at=LATER), nothing) is CONTRADICTED
    assert outcome_of(item(), record(flagged=True, updated_at=LATER), nothing) is CONTRADICTED
    assert outcome_of(item(injected_at=LATER), record(flagged=True), nothing) is IGNORED


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("The harbour uses port 9090.", "The harbour uses port 8080."),
        ("Wir verwenden jetzt pnpm statt npm.", "Wir verwenden npm."),
    ],
)
def test_a_prompt_is_compared_in_its_own_language(said: str, known: str) -> None:
    assert contradicted_by(said, [record(type="fact", content=known)], NOW, ("en", "de")) == {"r"}


def test_a_prompt_of_unknown_language_is_read_in_that_of_the_memory_only() -> None:
    """Loading the rules of a language takes longer than an agent waits."""
    wordings.language.cache_clear()
    assert contradicted_by("dict keys sorted", [record(type="fact", content="dict keys")], NOW, ("en",)) == frozenset()
    assert wordings.language.cache_info().currsize == 1
