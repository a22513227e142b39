"""A hard forget leaves no copy of the words in the tables of the observer, and the rejection is remembered."""

import json
from datetime import timedelta

import pytest

from tests.conftest import OpenMemory
from tests.observed import DEAD_END, RULE, evidence, failing, observe, records, stored_text, turns
from tests.session_events import GO_FAILURE, ROOT, START, Session
from treering.compose import now
from treering.core.injections import InjectedItem
from treering.core.jobs import JobState
from treering.core.language.terms import code_of
from treering.core.observations import Gate, GateDecision
from treering.core.past_sessions import SessionWords
from treering.core.prompt_words import session_words
from treering.core.queries import JobFilter
from treering.core.records import Knowledge
from treering.memory import Memory

OTHER = "Never push to the main branch without a review."


def assert_no_trace(memory: Memory, *words: str) -> None:
    held = stored_text(memory).casefold()
    assert not [each for each in words if each.casefold() in held]


def test_a_purged_error_leaves_no_copy(memory: Memory) -> None:
    observe(memory, "s1", failing())
    observe(memory, "s2", failing().prompt(OTHER))
    (record,) = records(memory, "error_pattern")
    memory.settle()
    purged = memory.forget(record.id, hard=True)
    assert purged is not None
    proof = purged.prove()
    assert proof.clean, str(proof)
    assert_no_trace(memory, "TestTide", "got 3, want 7", "resolved by", "editing `tides")
    (remaining,) = (each for each in evidence(memory).values() if each.record == record.id)
    assert (remaining.purged, remaining.text, remaining.files, dict(remaining.detail)) == (True, "", (), {})
    report = memory.sessions.get("s2")
    assert [each.content for each in report.promoted] == [OTHER]
    assert report.session.prompts == (OTHER,)


def test_a_purged_rule_leaves_no_copy_and_is_not_promoted_again(open_memory: OpenMemory) -> None:
    memory = open_memory()
    observe(memory, "s1", Session().prompt(f"Hello. {RULE}").prompt(OTHER))
    (rule,) = (each for each in records(memory) if each.content == RULE)
    purged = memory.forget(rule.id, hard=True)
    assert purged is not None
    assert purged.prove().clean
    assert_no_trace(memory, "pnpm")
    report = observe(memory, "s2", Session().prompt(RULE))
    assert report.promoted == ()
    assert [(each.decision, each.gate, each.text, each.subject) for each in report.candidates] == [
        (GateDecision.REJECTED, Gate.NOVELTY, "", "")
    ]
    # Nor does a replay of the first session bring it back.
    observe(open_memory(), "s1", Session().prompt(f"Hello. {RULE}").prompt(OTHER))
    assert [each.content for each in records(memory)] == [OTHER]


def test_a_purged_dead_end_leaves_no_copy(memory: Memory) -> None:
    observe(memory, "s1", Session().read("tides/tide.go").think(DEAD_END), outcome="failure")
    (record,) = records(memory, "dead_end")
    memory.forget(record.id, hard=True)
    assert_no_trace(memory, "timer is global", "mock the clock", "inject a clock")


def test_a_purged_turn_leaves_no_copy(memory: Memory) -> None:
    secret = "The harbour master Odalys Brandt lives in Quayside Row."
    observe(memory, "s1", Session().prompt(secret).think("I see.").prompt("Go on with the tides."))
    memory.settle()
    turn = next(each for each in turns(memory) if each.text == secret)
    purged = memory.forget(turn.id, hard=True)
    assert purged is not None
    proof = purged.prove()
    assert proof.clean, str(proof)
    assert_no_trace(memory, "Odalys", "Quayside")
    assert memory.sessions.get("s1").session.prompts == ("Go on with the tides.",)
    more = Session().prompt(secret).think("I see.").prompt("Go on with the tides.").prompt("Thank you.")
    observe(memory, "s1", more)
    memory.settle()
    assert sorted(each.text for each in turns(memory)) == ["Go on with the tides.", "I see.", "Thank you."]


def test_a_purged_turn_leaves_no_codes_of_its_words(memory: Memory) -> None:
    secret, other = "The harbour master Odalys Brandt lives in Quayside Row.", "Go on with the tides."
    observe(memory, "s1", Session().edit("tides/tide.go").prompt(secret).prompt(other))
    memory.settle()
    before = SessionWords.unpacked(memory.sessions.get("s1").session.words)
    assert before is not None
    codes = {code_of(word) for word in ("odali", "brandt", "quaysid")}
    assert codes & set(before.numbers())
    memory.forget(next(each for each in turns(memory) if each.text == secret).id, hard=True)
    after = memory.sessions.get("s1").session.words
    assert after == session_words((other,)).packed()


def test_a_purged_turn_takes_along_what_was_noted_of_it_and_not_promoted(memory: Memory) -> None:
    observe(memory, "s1", Session().prompt(RULE), type="terminal")
    memory.settle()
    assert [each.text for each in memory.sessions.why("s1")] == [RULE]
    memory.forget(turns(memory)[0].id, hard=True)
    assert_no_trace(memory, "pnpm")


def test_events_are_not_counted_again_after_a_purge(open_memory: OpenMemory) -> None:
    memory = open_memory()
    observe(memory, "s1", failing())
    (record,) = observe(memory, "s2", failing()).promoted
    memory.forget(record.id, hard=True)
    watch = open_memory().observe("s2", root=ROOT)
    assert watch.events == len(failing().events)
    for event in failing().events:
        watch.event(event)
    assert watch.new_events == len(failing().events)
    watch.event({"kind": "prompt", "text": OTHER, "id": "more", "at": START})
    report = watch.finish()
    assert [each.content for each in report.promoted] == [OTHER]
    assert [each.path for each in report.session.files] == ["tides/tide.go"]
    assert memory.settle().dead == 0
    assert memory.doctor().dead_jobs == ()


def test_a_purge_before_the_work_after_a_session(memory: Memory) -> None:
    (record,) = observe(memory, "s1", failing().prompt(RULE).prompt("Go on with the tides.")).promoted
    memory.forget(record.id, hard=True)
    memory.settle()
    assert memory.doctor().dead_jobs == ()
    with memory.store.reading(memory.scope, now()) as tx:
        assert tx.jobs.count(JobFilter(states=(JobState.QUEUED, JobState.DEAD))) == 0
    assert [each.text for each in turns(memory)] == ["Go on with the tides."]


def test_a_forgotten_session_leaves_no_words(memory: Memory) -> None:
    observe(memory, "s1", Session().prompt("No, that is wrong: the tide tables are in metres."), type="terminal")
    observe(memory, "s2", failing())
    memory.sessions.forget("s1")
    assert_no_trace(memory, "tide tables", "metres", '"s1"')
    memory.sessions.forget("s2")
    assert evidence(memory) == {}
    assert stored_text(memory) == ""
    assert observe(memory, "s3", failing()).promoted == ()


def test_an_unreadable_scratchpad_is_emptied(memory: Memory) -> None:
    (record,) = observe(memory, "s1", Session().prompt(RULE)).promoted
    with memory.store.transaction(memory.scope, START) as tx:
        saved = tx.scratchpads.get("s1")
        assert saved is not None
        tx.scratchpads.put_many([saved.replace(state=json.dumps({"kept": RULE}))])
    memory.forget(record.id, hard=True)
    assert_no_trace(memory, "pnpm")


def _resumed(session: Session) -> Session:
    """The session as an agent copies it when it is resumed: with the id of its first call."""
    call = {"tool": "Read", "call_id": "toolu_0123456789abcdefgh", "arguments": {"file_path": f"{ROOT}/tides/tide.go"}}
    return session.event("tool_call", **call)


def test_a_purged_record_leaves_no_copy_in_a_session_that_repeats_its_events(memory: Memory) -> None:
    def failing_twice() -> Session:
        return failing(after=failing(after=_resumed(Session())))

    (record,) = observe(memory, "s1", failing_twice()).promoted
    observe(memory, "s2", failing_twice(), outcome="abandoned")
    memory.forget(record.id, hard=True)
    assert_no_trace(memory, "got 3, want 7")


def test_a_purged_error_leaves_no_copy_in_other_candidates_and_their_evidence(memory: Memory) -> None:
    report = observe(memory, "s1", failing(after=failing()))
    (record,) = report.promoted
    assert [each for each in report.rejected if "got 3, want 7" in each.text]
    memory.forget(record.id, hard=True)
    assert_no_trace(memory, "got 3, want 7")


def test_a_purged_turn_leaves_no_copy_in_evidence_without_a_text(memory: Memory) -> None:
    text = "Never push to the branch of Odalys Brandt without these checks:"
    observe(memory, "s1", Session().prompt(text).prompt("Go on with the tides."))
    memory.settle()
    assert [each.text for each in memory.sessions.get("s1").candidates] == [""]
    turn = next(each for each in turns(memory) if each.text == text)
    memory.forget(turn.id, hard=True)
    assert_no_trace(memory, "Odalys")


def test_a_forgotten_session_leaves_no_details_in_shared_evidence(memory: Memory) -> None:
    def failing_for(user: int) -> Session:
        failure = GO_FAILURE.replace("got 3, want 7", f"user {user} is missing")
        return Session().run("go test ./tides", failure, fails=True).edit("tides/tide.go").run("go test ./tides")

    observe(memory, "s1", failing_for(1111), outcome="failure")
    observe(memory, "s2", failing_for(4711), outcome="failure")
    memory.settle()
    memory.sessions.forget("s2")
    assert_no_trace(memory, "4711")
    observe(memory, "s3", failing_for(1111))
    (record,) = observe(memory, "s4", failing_for(2222)).promoted
    assert (record.provenance_sessions, "user 2222" in record.content) == (("s1", "s3", "s4"), True)


def test_a_running_watch_does_not_bring_back_what_was_purged(memory: Memory) -> None:
    watch = memory.observe("s1", root=ROOT)
    for event in Session().prompt(RULE).prompt(OTHER).events:
        watch.event(event)
    rule = next(each for each in watch.finish().promoted if each.content == RULE)
    memory.forget(rule.id, hard=True)
    watch.event({"kind": "prompt", "text": "Lost with the notes.", "id": "late1"})
    watch.checkpoint()
    watch.event({"kind": "prompt", "text": "Go on with the tides.", "id": "late2"})
    watch.finish()
    assert_no_trace(memory, "pnpm")
    assert memory.sessions.get("s1").session.prompts == (OTHER, "Go on with the tides.")


def test_a_running_watch_does_not_bring_back_a_forgotten_session(memory: Memory) -> None:
    watch = memory.observe("s1", root=ROOT)
    watch.event({"kind": "prompt", "text": RULE})
    watch.finish()
    memory.sessions.forget("s1")
    watch.event({"kind": "prompt", "text": RULE})
    watch.checkpoint()
    watch.event({"kind": "prompt", "text": "Go on with the tides."})
    assert watch.finish().session.prompts == ("Go on with the tides.",)


def test_a_checkpoint_that_was_not_stored_loses_no_notes(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = memory.observe("s1", root=ROOT)
    with monkeypatch.context() as patched:
        patched.setattr(type(memory.store), "write_if_free", lambda *_args, **_options: False)
        for number in range(3):
            watch.event({"kind": "prompt", "text": RULE, "at": START + timedelta(minutes=number)})
            watch.event({"kind": "subtask", "text": "Tides", "at": START + timedelta(minutes=number)})
    assert [each.content for each in watch.finish().promoted] == [RULE]


# What sessions were given


def given_by_hook(memory: Memory, record: Knowledge) -> InjectedItem:
    """An item as a hook process reports it: without the visibility of its record."""
    item = InjectedItem.make(
        id="given-0",
        session="s1",
        point="start",
        kind="knowledge",
        item=record.id,
        injection="given",
        injected_at=now(),
        text=record.content,
        owner=memory.scope.principal,
    )
    memory.injections.note([item])
    return item


def test_a_purged_record_leaves_no_copy_in_what_sessions_were_given(memory: Memory) -> None:
    record = memory.remember(RULE, type="preference")
    given_by_hook(memory, record)
    purged = memory.forget(record.id, hard=True)
    assert purged is not None
    assert purged.prove().clean
    assert memory.injections.given("s1") == ()


def test_what_was_given_is_stored_without_its_text_after_the_purge(memory: Memory) -> None:
    record = memory.remember(RULE, type="preference")
    memory.forget(record.id, hard=True)
    given_by_hook(memory, record)
    (given,) = memory.injections.given("s1")
    assert (given.item, given.text) == (record.id, "")


def test_a_forgotten_session_leaves_nothing_that_it_was_given(memory: Memory) -> None:
    observe(memory, "s1", Session().prompt(OTHER))
    given_by_hook(memory, memory.remember(RULE, type="preference"))
    memory.sessions.forget("s1")
    assert memory.injections.given("s1") == ()


def test_what_a_hook_gave_is_as_visible_as_its_record(open_memory: OpenMemory) -> None:
    owner, other = open_memory(principal="anna"), open_memory(principal="ben")
    item = given_by_hook(owner, owner.remember(RULE, type="preference", visibility="personal"))
    assert [each.id for each in owner.injections.given("s1")] == [item.id]
    assert other.injections.given("s1") == ()
