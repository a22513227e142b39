"""What sessions did with the items that they were given, and what is learned from it."""

import pytest

from tests.injection_occasions import LONG, names, offer, session_of, sessions_of, taught
from tests.observed import observe
from tests.session_events import Session
from treering.compose import now
from treering.core.citations import citation
from treering.core.injection_rates import InjectionRates
from treering.core.injections import InjectionPoint, ItemOutcome
from treering.core.project_settings import INJECTION_RATES
from treering.memory import Memory

GOTCHA = "The tide table of tides/tide.go is read once, at start"


def outcomes(memory: Memory, session: str) -> list[ItemOutcome | None]:
    return [each.outcome for each in memory.injections.given(session)]


def rates(memory: Memory) -> InjectionRates:
    with memory.store.reading(memory.scope, now()) as tx:
        setting = tx.project_settings.get(INJECTION_RATES)
    return InjectionRates.from_values({} if setting is None else setting.values)


def ended(memory: Memory, session: str, events: Session) -> None:
    memory.injections.flush(LONG)
    observe(memory, session, events)
    memory.settle()


def test_an_item_is_used_if_it_is_cited(memory: Memory) -> None:
    rule = taught(memory, "Always use pnpm in this repository", type="preference")
    session = session_of(memory)
    offer(memory, "start", session)
    assert outcomes(memory, session) == [None]
    ended(memory, session, Session().prompt("go").think(f"I use pnpm {citation(rule.id, 'rule')}.").run("pnpm i"))
    assert outcomes(memory, session) == [ItemOutcome.USED]
    assert memory.get(rule.id).uses == 1


def test_a_citation_inside_the_injected_block_is_no_use(memory: Memory) -> None:
    taught(memory, "Tides are stored in UTC", type="decision")
    session = session_of(memory)
    text = offer(memory, "start", session).text
    ended(memory, session, Session().prompt("go").think(f"The hook said: {text}").run("ls"))
    assert outcomes(memory, session) == [ItemOutcome.IGNORED]


def test_an_item_is_used_if_its_file_is_touched_later(memory: Memory) -> None:
    taught(memory, "The tides of tides/tide.go are in UTC", type="decision", files=["tides/tide.go"])
    one, other = (session for session, _ in zip(sessions_of(memory), range(2), strict=False))
    offer(memory, "prompt", one, prompt="Which tides of tide.go are in UTC?")
    offer(memory, "prompt", other, prompt="Which tides of tide.go are in UTC?", step=1)
    ended(memory, one, Session().read("tides/tide.go"))
    ended(memory, other, Session().read("tides/tide.go").read("b.go"))
    assert outcomes(memory, one) == [ItemOutcome.USED]
    assert outcomes(memory, other) == [ItemOutcome.IGNORED]


def test_a_warning_about_a_touched_file_is_used_if_the_file_is_edited(memory: Memory) -> None:
    taught(memory, GOTCHA, type="gotcha", files=["tides/tide.go"])
    one, other = (session for session, _ in zip(sessions_of(memory), range(2), strict=False))
    for session in (one, other):
        assert offer(memory, "tool", session, files=("tides/tide.go",), step=1).items
    ended(memory, one, Session().read("tides/tide.go").edit("tides/tide.go"))
    ended(memory, other, Session().read("tides/tide.go").read("tides/tide.go"))
    assert outcomes(memory, one) == [ItemOutcome.USED]
    assert outcomes(memory, other) == [ItemOutcome.IGNORED]


@pytest.mark.parametrize(
    ("resolution", "later", "outcome"),
    [
        ("running it without `rtk`", "bun run test", ItemOutcome.USED),
        ("running it without `rtk`", "bun run lint", ItemOutcome.IGNORED),
        ("running it with `test:all` instead of `test`", "rtk bun run test:all", ItemOutcome.USED),
        ("running it with `test:all` instead of `test`", "rtk bun run test", ItemOutcome.IGNORED),
    ],
)
def test_a_failure_is_used_if_the_command_runs_in_the_other_form(
    memory: Memory, resolution: str, later: str, outcome: ItemOutcome
) -> None:
    payload = {"fingerprint": "f", "message": "unrecognized", "tool": "rtk bun run test", "resolution": resolution}
    record = taught(memory, "`rtk bun run test` fails", type="error_pattern", payload=payload, files=["a.go"])
    session = session_of(memory)
    given = offer(memory, "tool", session, files=("a.go",))
    assert names(given) == [record.id]
    ended(memory, session, Session().run(later))
    assert outcomes(memory, session) == [outcome]


def test_a_flagged_item_is_contradicted(memory: Memory) -> None:
    gotcha = taught(memory, GOTCHA, type="gotcha", files=["tides/tide.go"])
    session = session_of(memory)
    offer(memory, "tool", session, files=("tides/tide.go",), step=1)
    memory.flag(gotcha.id)
    ended(memory, session, Session().read("tides/tide.go").edit("tides/tide.go"))
    assert outcomes(memory, session) == [ItemOutcome.CONTRADICTED]
    assert memory.get(gotcha.id).uses == 0
    assert rates(memory).of(InjectionPoint.TOOL, "gotcha").contradicted == 1


def test_a_second_end_counts_nothing_twice(memory: Memory) -> None:
    gotcha = taught(memory, GOTCHA, type="gotcha", files=["tides/tide.go"])
    session = session_of(memory)
    offer(memory, "tool", session, files=("tides/tide.go",), step=1)
    events = Session().read("tides/tide.go")
    ended(memory, session, events)
    ended(memory, session, events)
    first = rates(memory).of(InjectionPoint.TOOL, "gotcha")
    assert (first.used, first.ignored) == (0, 1)
    ended(memory, session, events.edit("tides/tide.go"))
    ended(memory, session, events)
    again = rates(memory).of(InjectionPoint.TOOL, "gotcha")
    assert (again.used, again.ignored) == (1, 1)
    assert outcomes(memory, session) == [ItemOutcome.USED]
    assert memory.get(gotcha.id).uses == 1


def test_an_item_that_was_ignored_five_times_is_not_given_again(memory: Memory) -> None:
    taught(memory, GOTCHA, type="gotcha", files=["tides/tide.go"])
    for session, _ in zip(sessions_of(memory), range(5), strict=False):
        assert offer(memory, "tool", session, files=("tides/tide.go",), step=1).items
        ended(memory, session, Session().read("tides/tide.go"))
    fresh = [*zip(range(6), sessions_of(memory), strict=False)][-1][1]
    assert offer(memory, "tool", fresh, files=("tides/tide.go",), step=1).silence == "nothing likely enough"


def test_items_that_were_stored_late_are_judged_with_the_next_session(memory: Memory) -> None:
    taught(memory, GOTCHA, type="gotcha", files=["tides/tide.go"])
    late, following = (session for session, _ in zip(sessions_of(memory), range(2), strict=False))
    ended(memory, late, Session().read("tides/tide.go").edit("tides/tide.go"))
    offer(memory, "tool", late, files=("tides/tide.go",), step=1)
    ended(memory, following, Session().read("b.go"))
    assert outcomes(memory, late) == [ItemOutcome.USED]


def test_rules_are_given_however_often_they_are_not_cited(memory: Memory) -> None:
    rule = taught(memory, "Always use pnpm in this repository", type="preference")
    for session, _ in zip(sessions_of(memory), range(7), strict=False):
        assert names(offer(memory, "start", session)) == [rule.id]
        ended(memory, session, Session().run("pnpm i"))
    assert rates(memory).rates == {}


def test_the_review_shows_what_was_used(memory: Memory) -> None:
    taught(memory, GOTCHA, type="gotcha", files=["tides/tide.go"])
    session = session_of(memory)
    offer(memory, "tool", session, files=("tides/tide.go",), step=1)
    ended(memory, session, Session().read("tides/tide.go").edit("tides/tide.go"))
    review = memory.sessions.review(session)
    assert len(review.used) == 1
    assert review.tokens > 0
