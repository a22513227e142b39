"""What was said becomes what is known: once, with its evidence, in its time, for whoever may see it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from tests.conftest import OpenMemory
from treering.core.history import Action
from treering.core.queries import KnowledgeFilter, SessionFilter
from treering.core.records import Knowledge, RelationKind
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


def said(memory: Memory, session: str, *texts: str, role: str = "user", **fields: object) -> None:
    for text in texts:
        memory.turn(session=session, role=role, text=text, **fields)


def known(memory: Memory, **where: object) -> Sequence[Knowledge]:
    with memory.store.reading(memory.scope, START) as tx:
        return tx.knowledge.find(KnowledgeFilter.make(**where), limit=100).items


def standing(memory: Memory) -> set[tuple[str, str, str]]:
    found = [record.payload for record in known(memory, deprecated=False)]
    return {(each.subject, each.attribute, each.value) for each in found}  # type: ignore[union-attr]


def test_a_statement_becomes_a_fact_with_its_source(memory: Memory) -> None:
    told = memory.turn(session="s1", role="user", text="We use Postgres 16, not MySQL.")
    memory.settle()
    (fact,) = known(memory)
    assert (fact.payload.subject, fact.payload.attribute, fact.payload.value) == ("project", "uses", "Postgres 16")  # type: ignore[union-attr]
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
        assert [job.payload["session"] for job in tx.jobs.find().items] == ["s1"]


def test_a_session_that_goes_on_is_open_again_and_read_from_where_it_was(memory: Memory) -> None:
    said(memory, "s1", "I live in Lyon.")
    said(memory, "s2", "Hello again.")
    memory.settle()
    said(memory, "s1", "The API listens on port 8080.")
    with memory.store.reading(memory.scope, START) as tx:
        assert tx.sessions.find(SessionFilter(ended=True)).items == ()
    memory.settle()
    assert standing(memory) == {("user", "lives_in", "Lyon"), ("API", "port", "8080")}


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
        return {hit.text for hit in memory.recall("where does the user live", turns=None, **options)}  # type: ignore[arg-type]

    assert where() == {"User lives in Paris"}
    assert where(as_of=START + timedelta(days=10)) == {"User lives in Lyon"}
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
        ("Anna lives in Rome.", "Marco lives in Paris."),
        ("I like tea.", "I like coffee."),
        ("The billing service is written in Go.", "The search service is written in Rust."),
        ("Never commit to main.", "Always run the linter."),
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
        ("We use Postgres 16.", "We use Postgres 17.", {("project", "uses", "Postgres 17")}),
        ("The API listens on port 8080.", "The API listens on port 9090.", {("API", "port", "9090")}),
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
    packed = memory.pack("where does the user live").text
    said(memory, "s1", f"{packed}\nThanks, what about the port?")
    memory.settle()
    assert [fact.content for fact in known(memory)] == ["The user lives in Berlin"]


def test_a_personal_turn_becomes_a_personal_fact(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    said(ada, "s1", "I live in Lyon.", visibility="personal")
    ada.settle()
    assert [fact.owner for fact in known(ada)] == ["ada"]
    assert known(bob) == ()
    assert not bob.recall("Lyon")


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
