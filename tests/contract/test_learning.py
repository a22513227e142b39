"""What was said becomes what is known: once, with its evidence, in its time, for whoever may see it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import OpenMemory
from tests.samples import turn
from treering.adapters.sql.sessions import SessionRecords
from treering.core.errors import Conflict
from treering.core.history import Action
from treering.core.jobs import LEARN_SESSION
from treering.core.queries import JobFilter, KnowledgeFilter, SessionFilter
from treering.core.records import Knowledge, RelationKind
from treering.core.settings import Settings
from treering.core.statements import Statement
from treering.knowledge.facts.storage import FactStorage, TurnStatement
from treering.knowledge.session_learning import Learner
from treering.memory import Memory

START = datetime(2026, 5, 8, 10, 0, tzinfo=UTC)


class Days:
    """A clock that the test moves on."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, days: float) -> None:
        self.now += timedelta(days=days)


@pytest.fixture
def days() -> Days:
    return Days()


@pytest.fixture
def memory(open_memory: OpenMemory, days: Days) -> Memory:
    return open_memory(clock=days)


def said(memory: Memory, session: str, *texts: str, role: str = "user", **fields: Any) -> None:
    for text in texts:
        memory.turn(session=session, role=role, text=text, **fields)


def known(memory: Memory, **where: object) -> Sequence[Knowledge]:
    with memory.store.reading(memory.scope, START) as tx:
        return tx.knowledge.find(KnowledgeFilter.make(**where), limit=100).items


def standing(memory: Memory) -> set[tuple[str, str, str]]:
    found = [record.payload for record in known(memory, deprecated=False)]
    return {(each.subject, each.attribute, each.value) for each in found}


def test_a_statement_becomes_a_fact_with_its_source(memory: Memory) -> None:
    told = memory.turn(session="s1", role="user", text="We use Postgres 16, so the planner is the new one.")
    memory.settle()
    (fact,) = known(memory)
    assert (fact.payload.subject, fact.payload.attribute, fact.payload.value) == ("Postgres", "version", "16")
    assert fact.source_ids == (told.id,)
    assert fact.session == "s1"
    assert fact.valid_from == told.at


def test_learning_twice_changes_nothing(memory: Memory) -> None:
    said(memory, "s1", "I live in Lyon.", "The API listens on port 8080.")
    memory.settle()
    before = known(memory)
    memory.settle()
    assert known(memory) == before
    assert len(before) == 2


def test_a_new_session_ends_the_one_before_and_queues_its_reading(memory: Memory) -> None:
    said(memory, "s1", "I live in Lyon.")
    said(memory, "s2", "Hello again.")
    with memory.store.reading(memory.scope, START) as tx:
        assert [session.id for session in tx.sessions.find(SessionFilter(ended=True)).items] == ["s1"]
        queued = tx.jobs.find(JobFilter(kinds=(LEARN_SESSION,))).items
        assert [job.payload["session"] for job in queued] == ["s1"]


def test_a_session_that_goes_on_is_open_again_and_read_from_where_it_was(memory: Memory) -> None:
    said(memory, "s1", "I live in Lyon.")
    said(memory, "s2", "Hello again.")
    memory.settle()
    said(memory, "s1", "The API listens on port 8080.")
    with memory.store.reading(memory.scope, START) as tx:
        assert tx.sessions.find(SessionFilter(ended=True)).items == ()
    memory.settle()
    assert standing(memory) == {("user", "lives_in", "Lyon"), ("The API", "port", "8080")}


def test_saying_it_again_in_another_session_is_evidence(memory: Memory, days: Days) -> None:
    said(memory, "s1", "We use pnpm.")
    memory.settle()
    days.pass_by(3)
    said(memory, "s2", "We use pnpm.")
    memory.settle()
    (fact,) = known(memory)
    assert fact.provenance_sessions == ("s1", "s2")
    assert fact.last_accessed_at == days.now


def test_an_agent_that_repeats_what_it_was_told_adds_no_evidence(memory: Memory, days: Days) -> None:
    said(memory, "s1", "We use pnpm.")
    memory.settle()
    days.pass_by(3)
    said(memory, "s2", "We use pnpm.", role="assistant")
    memory.settle()
    (fact,) = known(memory)
    assert fact.provenance_sessions == ("s1",)


def test_the_newer_value_of_what_can_have_one_closes_the_older(memory: Memory, days: Days) -> None:
    said(memory, "s1", "I live in Lyon.")
    memory.settle()
    days.pass_by(30)
    said(memory, "s2", "I live in Paris.")
    memory.settle()
    old, new = sorted(known(memory), key=lambda fact: fact.created_at)
    assert old.deprecated_at == days.now
    assert old.valid_until == days.now
    assert old.confidence < new.confidence
    assert [(tie.kind, tie.record) for tie in new.relations] == [(RelationKind.SUPERSEDES, old.id)]
    assert standing(memory) == {("user", "lives_in", "Paris")}


def test_what_was_believed_on_a_day_is_answered_from_history(memory: Memory, days: Days) -> None:
    said(memory, "s1", "I live in Lyon.")
    memory.settle()
    days.pass_by(30)
    said(memory, "s2", "I live in Paris.")
    memory.settle()

    def where(**options: object) -> set[str]:
        return {hit.text for hit in memory.search("where does the user live", turns=None, **options)}  # type: ignore[arg-type]

    assert where() == {"The user lives in Paris"}
    assert where(as_of=START + timedelta(days=10)) == {"The user lives in Lyon"}
    assert where(as_of=START - timedelta(days=1)) == set()


def test_undoing_the_new_fact_brings_the_old_one_back(memory: Memory, days: Days) -> None:
    said(memory, "s1", "I live in Lyon.")
    memory.settle()
    days.pass_by(30)
    said(memory, "s2", "I live in Paris.")
    memory.settle()
    (new,) = known(memory, deprecated=False)
    memory.undo(new.id)
    assert standing(memory) == {("user", "lives_in", "Lyon")}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("We use Redis.", "We use Postgres."),
        ("I live in Lyon.", "I work at Acme."),
        ("The API listens on port 8080.", "The worker listens on port 9090."),
        ("My sister's birthday is on 3 May.", "My brother's birthday is on 4 June."),
        ("My dog Rex is ill.", "My dog Bo is well."),
        ("Remember that the docs are in a/.", "Remember that the images are in b/."),
        ("The server runs on port 8080.", "The server runs on port 9090."),
        ("Never commit to main.", "Always run the linter."),
        ("I don't eat pork.", "I don't eat shellfish."),
        ("Ich esse kein Fleisch.", "Ich esse keine Eier."),
        ("I'm a nurse.", "I'm a volunteer firefighter."),
        ("I live in Berlin.", "I live in Kreuzberg with two flatmates."),
        ("I work at Siemens.", "I work for Meier Dental."),
        ("The API listens on port 8080.", "The API listens on port 8443 for TLS."),
        ("The API listens on port 8080 for HTTP.", "The API listens on port 8443 for HTTPS."),
        ("My name is Carla.", "Call me Caz."),
    ],
)
def test_what_differs_in_subject_attribute_or_just_in_value_coexists(
    memory: Memory, days: Days, first: str, second: str
) -> None:
    said(memory, "s1", first)
    memory.settle()
    days.pass_by(1)
    said(memory, "s2", second)
    memory.settle()
    assert len(known(memory, deprecated=False)) == 2
    assert known(memory, deprecated=True) == ()


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        ("We use npm.", "We switched from npm to pnpm.", {("project", "uses", "pnpm")}),
        ("We use Redis for sessions.", "We replaced Redis with Valkey.", {("project", "uses", "Valkey")}),
        ("We use Postgres 16.", "We upgraded to Postgres 17.", {("Postgres", "version", "17")}),
        ("The API listens on port 8080.", "The API listens on port 9090.", {("The API", "port", "9090")}),
        ("I live in Lyon.", "I moved to Paris.", {("user", "lives_in", "Paris")}),
        ("I work at Acme.", "I work at Globex.", {("user", "works_at", "Globex")}),
        ("I'm a nurse.", "I'm now a translator.", {("user", "role", "translator")}),
        ("I'm vegetarian.", "I'm now vegan.", {("user", "diet", "vegan")}),
        ("The API listens on port 8080.", "The API now listens on port 9090.", {("The API", "port", "9090")}),
        ("I work at Acme.", "I left my job at Acme.", {("user", "works_at", "Acme")}),
    ],
)
def test_values_that_exclude_each_other_do(
    memory: Memory, days: Days, first: str, second: str, left: set[tuple[str, str, str]]
) -> None:
    said(memory, "s1", first)
    memory.settle()
    days.pass_by(1)
    said(memory, "s2", second)
    memory.settle()
    assert standing(memory) == left
    assert len(known(memory, deprecated=True)) == 1


def test_another_speaker_does_not_close_what_somebody_said(memory: Memory, days: Days) -> None:
    said(memory, "s1", "The API listens on port 8080.", speaker="Ana")
    memory.settle()
    days.pass_by(1)
    said(memory, "s2", "The API listens on port 9090.", speaker="Ben")
    memory.settle()
    assert len(known(memory, deprecated=False)) == 2
    days.pass_by(1)
    said(memory, "s3", "The API moved to port 7070.", speaker="Cleo")
    memory.settle()
    assert standing(memory) == {("The API", "port", "7070")}


def test_an_assistant_teaches_nothing(memory: Memory) -> None:
    said(memory, "s1", "The API listens on port 9090. From now on, always use pnpm.", role="assistant")
    memory.settle()
    assert not known(memory)


def test_a_correction_needs_what_the_assistant_said_before_it(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("treering.knowledge.session_learning.PAGE_TURNS", 2)
    memory = open_memory()
    for role, text in (
        ("user", "Which port does the database have?"),
        ("assistant", "The database listens on port 5432."),
        ("user", "No, it's 5433, not 5432."),
    ):
        said(memory, "s1", text, role=role)
    memory.settle()
    (fact,) = known(memory)
    assert fact.content == 'It\'s 5433, not 5432 (instead of: "The database listens on port 5432")'


def test_learning_can_be_turned_off(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=Settings.make(learn={"enabled": False}))
    said(memory, "s1", "I live in Lyon.")
    memory.settle()
    assert not known(memory)
    assert [hit.text for hit in memory.search("Lyon")] == ["I live in Lyon."]


def test_what_arrives_late_but_was_said_earlier_does_not_close_what_holds_now(memory: Memory, days: Days) -> None:
    said(memory, "s2", "I live in Paris.", at=START)
    memory.settle()
    said(memory, "s1", "I live in Lyon.", at=START - timedelta(days=90))
    memory.settle()
    assert standing(memory) == {("user", "lives_in", "Paris")}
    (history,) = known(memory, deprecated=True)
    assert history.valid_until == START


def test_an_agent_does_not_take_back_what_a_person_said(memory: Memory, days: Days) -> None:
    said(memory, "s1", "The API listens on port 8080.")
    memory.settle()
    days.pass_by(1)
    said(memory, "s2", "The API listens on port 9090.", role="assistant")
    memory.settle()
    person = next(fact for fact in known(memory) if "8080" in fact.content)
    assert person.deprecated_at is None


def test_text_that_we_injected_is_not_learned_again(memory: Memory) -> None:
    memory.remember("The user lives in Berlin", type="fact")
    packed = memory.context.build("where does the user live").text
    said(memory, "s1", f"{packed}\nThanks, what about the port?")
    memory.settle()
    assert [fact.content for fact in known(memory)] == ["The user lives in Berlin"]


def test_a_personal_turn_becomes_a_personal_fact(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    said(ada, "s1", "I live in Lyon.", visibility="personal")
    ada.settle()
    assert [fact.owner for fact in known(ada)] == ["ada"]
    assert known(bob) == ()
    assert not bob.search("Lyon")


def test_a_personal_statement_never_closes_what_the_project_knows(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    said(ada, "s1", "The API listens on port 8080.")
    ada.settle()
    said(bob, "s2", "The API listens on port 9090.", visibility="personal")
    bob.settle()
    assert [fact.deprecated_at for fact in known(ada)] == [None]


def test_a_worker_reads_a_personal_session_as_its_owner(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    said(ada, "s1", "I live in Lyon.", visibility="personal")
    said(ada, "s2", "Hello.", visibility="personal")
    bob.settle()
    assert [fact.owner for fact in known(ada)] == ["ada"]


def test_a_tainted_turn_teaches_tainted_facts(memory: Memory) -> None:
    said(memory, "s1", "The API listens on port 8080.", tainted=True)
    memory.settle()
    assert [fact.tainted for fact in known(memory)] == [True]


def test_every_fact_is_in_the_audit_log(memory: Memory) -> None:
    said(memory, "s1", "I live in Lyon.")
    memory.settle()
    (fact,) = known(memory)
    assert [entry.action for entry in memory.history(fact.id)] == [Action.CREATE]


def test_who_changes_their_mind_twice_on_one_page_is_believed_last(memory: Memory) -> None:
    for hour, city in enumerate(("Lyon", "Paris", "Lyon")):
        said(memory, "s1", f"I live in {city}.", at=START + timedelta(hours=hour))
    memory.settle()
    assert standing(memory) == {("user", "lives_in", "Lyon")}


def test_forgetting_a_turn_takes_what_was_learned_from_it_alone(memory: Memory) -> None:
    told = memory.turn(session="s1", role="user", text="I live in Lyon.")
    said(memory, "s1", "We use pnpm.")
    said(memory, "s2", "We use pnpm.")
    memory.settle()
    memory.forget(told.id)
    assert standing(memory) == {("project", "uses", "pnpm")}
    memory.undo(told.id)
    assert standing(memory) == {("project", "uses", "pnpm"), ("user", "lives_in", "Lyon")}


def test_what_several_turns_said_stays_when_one_of_them_goes(memory: Memory) -> None:
    first = memory.turn(session="s1", role="user", text="We use pnpm.")
    memory.turn(session="s2", role="user", text="We use pnpm.")
    memory.settle()
    memory.forget(first.id, hard=True)
    assert standing(memory) == {("project", "uses", "pnpm")}


def test_a_turn_forgotten_for_good_leaves_no_fact_behind(memory: Memory) -> None:
    told = memory.turn(session="s1", role="user", text="I live in Zanzibar.")
    memory.settle()
    proof = memory.forget(told.id, hard=True).prove()
    assert proof.clean, proof
    assert known(memory, deleted=None) == ()


def test_a_confirmed_fact_outlives_the_turn_it_came_from(memory: Memory) -> None:
    told = memory.turn(session="s1", role="user", text="I live in Lyon.")
    memory.settle()
    (fact,) = known(memory)
    memory.confirm(fact.id)
    memory.forget(told.id)
    assert standing(memory) == {("user", "lives_in", "Lyon")}


def later(memory: Memory, days: Days, first: str, second: str, apart: float = 1.0) -> None:
    said(memory, "s1", first)
    memory.settle()
    days.pass_by(apart)
    said(memory, "s2", second)
    memory.settle()


@pytest.mark.parametrize(
    ("first", "second", "left"),
    [
        ("I live in Paris.", "I have lived in Lyon since January.", "Lyon"),
        ("I work at Acme.", "I have been working at Globex since April.", "Globex"),
    ],
)
def test_what_was_said_last_holds_though_it_began_before(
    memory: Memory, days: Days, first: str, second: str, left: str
) -> None:
    later(memory, days, first, second)
    assert {value for _, _, value in standing(memory)} == {left}
    assert all(fact.deprecated_at is None or fact.deprecated_at >= fact.created_at for fact in known(memory))


def test_what_is_to_come_does_not_hide_what_holds_now(memory: Memory, days: Days) -> None:
    heard = [
        TurnStatement(
            Statement(subject="user", attribute="lives_in", value=city, text=f"User lives in {city}", valid_from=since),
            turn(f"t-{city}", at=START + timedelta(days=day), recorded_at=START),
        )
        for day, city, since in ((0, "Paris", None), (1, "Lyon", START + timedelta(days=90)))
    ]
    keep(memory, heard)
    assert {value for _, _, value in standing(memory)} == {"Paris", "Lyon"}
    paris = next(fact for fact in known(memory) if "Paris" in fact.content)
    assert paris.valid_until == START + timedelta(days=90)


@pytest.mark.parametrize(
    "text",
    [
        "Remember that the garage code changes in June.",
        "I'm allergic to kiwis.",
        "I don't eat pork.",
        "Never push to main.",
    ],
)
def test_what_a_user_states_outright_does_not_expire(memory: Memory, days: Days, text: str) -> None:
    said(memory, "s1", text)
    memory.settle()
    (fact,) = known(memory)
    for _ in range(6):
        days.pass_by(80)
        memory.maintenance.run("forget")
    assert memory.get(fact.id) == fact


def test_undoing_one_fact_of_a_page_leaves_the_others(memory: Memory, days: Days) -> None:
    later(
        memory, days, "I live in Paris. The API listens on port 8080.", "I live in Lyon. The API listens on port 9090."
    )
    (lyon,) = (fact for fact in known(memory, deprecated=False) if "Lyon" in fact.content)
    memory.undo(lyon.id)
    assert {value for _, _, value in standing(memory)} == {"Paris", "9090"}


def test_what_a_person_corrected_is_not_learned_again_from_an_agent(memory: Memory, days: Days) -> None:
    said(memory, "s1", "The API listens on port 8080.")
    memory.settle()
    (fact,) = known(memory)
    memory.correct(fact.id, "inaccurate", text="The API listens on port 9090")
    days.pass_by(1)
    said(memory, "s2", "The API listens on port 8080.", role="assistant")
    memory.settle()
    assert [each.content for each in known(memory, deprecated=False)] == ["The API listens on port 9090"]


def test_a_taught_fact_and_a_statement_can_contradict_each_other(memory: Memory, days: Days) -> None:
    memory.remember("The API listens on port 9090", source="user_taught")
    days.pass_by(1)
    said(memory, "s1", "The API listens on port 8080.")
    memory.settle()
    assert [each.content for each in known(memory, deprecated=False)] == ["The API listens on port 8080"]


def test_forgetting_what_changed_a_fact_brings_the_fact_back(memory: Memory, days: Days) -> None:
    said(memory, "s1", "I live in Paris.")
    memory.settle()
    days.pass_by(1)
    told = memory.turn(session="s2", role="user", text="I live in Lyon.")
    memory.settle()
    memory.forget(told.id)
    assert standing(memory) == {("user", "lives_in", "Paris")}
    memory.undo(told.id)
    assert standing(memory) == {("user", "lives_in", "Lyon")}


def test_a_turn_that_was_gone_when_it_would_have_been_read_is_read_when_it_is_back(memory: Memory) -> None:
    told = memory.turn(session="s1", role="user", text="I live in Lyon.")
    memory.forget(told.id)
    memory.settle()
    assert standing(memory) == set()
    memory.undo(told.id)
    assert standing(memory) == {("user", "lives_in", "Lyon")}


def test_a_day_names_all_that_was_said_on_it(memory: Memory) -> None:
    said(memory, "s1", "I live in Lyon.")
    memory.settle()
    assert [hit.text for hit in memory.search("Lyon", turns=None, as_of="2026-05-08")] == ["The user lives in Lyon"]


def test_nights_of_one_principal_read_the_sessions_of_others_as_their_owners(
    open_memory: OpenMemory, days: Days
) -> None:
    ada, bob = open_memory(principal="ada", clock=days), open_memory(principal="bob", clock=days)
    said(bob, "s1", "The API listens on port 8080.")
    said(bob, "s1", "I live in Lyon.", visibility="personal")
    days.pass_by(1)
    ada.maintenance.run("consolidate")
    assert {fact.visibility.value for fact in known(bob)} == {"personal", "project"}
    assert {fact.visibility.value for fact in known(ada)} == {"project"}


def keep(memory: Memory, heard: Sequence[TurnStatement]) -> None:
    with memory.store.transaction(memory.scope, START) as tx:
        for each in heard:
            tx.turns.create(each.turn)
        FactStorage(tx, memory._parts.new_id).store(heard)


def test_nothing_is_learned_from_a_page_whose_mark_does_not_move(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(memory, "s", "The billing service listens on port 8443.")
    learner = Learner(memory.store, memory.models, memory.settings, lambda: uuid4().hex)
    with monkeypatch.context() as patch:
        patch.setattr(SessionRecords, "mark_learned", lambda *_given, **_marks: False)
        with pytest.raises(Conflict, match="try again"):
            learner.learn(memory.scope, START, "s")
    assert not known(memory)
    assert learner.learn(memory.scope, START, "s") == 1


def test_the_night_counts_only_sessions_that_it_ended(
    memory: Memory, days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    said(memory, "s", "The billing service listens on port 8443.")
    days.pass_by(1)
    with monkeypatch.context() as patch:
        patch.setattr(SessionRecords, "end", lambda *_given: False)
        (run,) = memory.maintenance.run("consolidate")
    assert (run.counts.get("sessions", 0), run.counts["learned"]) == (0, 1)
