"""What the verbs promise, on both engines."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.samples import NOW, sample
from treering.core.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
from treering.core.history import Action
from treering.core.patterns import Pattern
from treering.core.queries import KnowledgeFilter
from treering.core.records import RelationKind, Source
from treering.core.turns import Turn
from treering.memory import Memory


def test_a_remembered_text_is_recalled_with_its_source(memory: Memory) -> None:
    record = memory.remember("We use Postgres 16, not MySQL", type="decision", tags=["db"], files=["src/db.py"])

    hits = memory.search("which postgres version")

    assert [hit.id for hit in hits] == [record.id]
    assert hits[0].source.startswith("decision, agent_explicit in src/db.py")


@pytest.mark.parametrize(
    ("verb", "call"),
    [
        ("remember", lambda memory: memory.remember("x", bogus=1)),
        ("turn", lambda memory: memory.turn(session="s", role="user", text="x", bogus=1)),
        ("task", lambda memory: memory.task("x", bogus=1)),
        ("context.build", lambda memory: memory.context.build("x", bogus=1)),
    ],
)
def test_an_unknown_argument_is_reported_with_the_verb_that_was_called(
    memory: Memory, verb: str, call: Callable[[Memory], Any]
) -> None:
    with pytest.raises(InvalidInput, match=rf"^{verb}\(\) has no argument 'bogus'; use [a-z_]+, "):
        call(memory)


def test_a_corrected_record_gives_way_and_undo_brings_it_back(memory: Memory) -> None:
    old = memory.remember("We use Postgres 16", type="decision")
    new = memory.correct(old.id, "outdated", text="We use Postgres 18")
    assert [hit.id for hit in memory.search("postgres")] == [new.id]

    memory.undo(new.id)

    assert [hit.id for hit in memory.search("postgres")] == [old.id]
    with pytest.raises(NotFound):
        memory.get(new.id)


def test_a_turn_delivered_twice_is_stored_once(memory: Memory) -> None:
    first = memory.turn(session="s", role="user", text="hello", id="t1")
    assert memory.turn(session="s", role="user", text="hello", id="t1") == first
    with pytest.raises(Conflict):
        memory.turn(session="s", role="user", text="other", id="t1")
    assert memory.stats().records["turns"] == 1


def test_a_forgotten_turn_delivered_again_is_a_conflict_that_says_how_to_get_it_back(memory: Memory) -> None:
    said = memory.turn(session="s", role="user", text="hello", id="t1")
    memory.forget("t1")
    with pytest.raises(Conflict, match="undo"):
        memory.turn(session="s", role="user", text="hello", id="t1")
    assert memory.undo("t1") == said


def test_turns_find_their_sessions_in_one_pass(memory: Memory) -> None:
    class Watched(list[Turn]):
        passes = 0

        def __iter__(self) -> Iterator[Turn]:
            self.passes += 1
            return super().__iter__()

    turns = Watched(sample(Turn, f"t{number}", session=f"s{number % 50}") for number in range(100))
    with memory.store.transaction(memory.scope, NOW) as tx:
        reserve = tx.sessions.reserve  # type: ignore[attr-defined]
        assert reserve(turns, reopening=True) == {f"s{number}": 0 for number in range(50)}
    assert turns.passes == 1


@pytest.fixture
def steady(open_memory: OpenMemory) -> Memory:
    """A memory for which it is always the same moment."""
    return open_memory(clock=lambda: NOW)


def test_the_same_words_again_strengthen_the_record_that_holds_them(memory: Memory) -> None:
    first = memory.remember("Tea is served  at four", tags=["tea"], session="s1", confidence=0.5)
    again = memory.remember("tea is served at FOUR", tags=["time"], session="s2", confidence=0.9, files=["a.py"])

    assert again.id == first.id
    assert memory.stats().records["knowledge"] == 1
    assert (again.confidence, again.access_count, again.tags, again.files) == (0.9, 1, ("tea", "time"), ("a.py",))
    assert "s2" in again.provenance_sessions
    assert memory.history(first.id)[0].action is Action.REINFORCE


@pytest.mark.parametrize("difference", [{"type": "decision"}, {"visibility": "personal"}, {"text": "tea at five"}])
def test_what_differs_in_words_type_or_audience_is_another_record(memory: Memory, difference: dict[str, Any]) -> None:
    first = memory.remember("tea at four")
    other = memory.remember(**{"text": "tea at four"} | difference)
    assert other.id != first.id


def test_words_that_were_corrected_forgotten_or_doubted_are_learned_anew(memory: Memory) -> None:
    for retire in (
        lambda id: memory.correct(id, "inaccurate"),
        memory.forget,
        memory.flag,
    ):
        old = memory.remember("tea at four")
        retire(old.id)
        assert memory.remember("tea at four").id != old.id
        memory.forget(memory.search("tea")[0].id, hard=True)


@pytest.mark.parametrize("reason", ["inaccurate", "outdated", "too_specific"])
@pytest.mark.parametrize("text", ["tea at five", None])
def test_a_correction_retires_the_old_record_and_its_text_stands(steady: Memory, reason: str, text: str | None) -> None:
    old = steady.remember("tea at four", confidence=0.5, tags=["tea"], tainted=True)

    standing = steady.correct(old.id, reason, text=text)

    retired = steady.get(old.id)
    assert (retired.content, retired.deprecated_at) == ("tea at four", NOW)
    assert retired.confidence == pytest.approx(0.15)
    assert retired.valid_until == (NOW if reason == "outdated" else None)
    if text is None:
        assert standing == retired
        assert not steady.search("tea")
        return
    assert (standing.content, standing.source, standing.tags) == (text, Source.USER_TAUGHT, ("tea",))
    assert standing.source_ids == (old.id,)
    assert [(link.kind, link.record) for link in standing.relations] == [(RelationKind.SUPERSEDES, old.id)]
    assert standing.valid_from == (NOW if reason == "outdated" else None)
    assert standing.user_verified
    assert [hit.id for hit in steady.search("tea")] == [standing.id]
    assert {hit.id for hit in steady.search("tea", superseded=True)} == {standing.id, old.id}


def test_a_duplicate_gives_its_evidence_to_the_record_it_repeats(memory: Memory) -> None:
    kept = memory.remember("tea at four", tags=["tea"], confidence=0.4)
    repeated = memory.remember("four o'clock is tea", tags=["time"], confidence=0.9, session="s")

    standing = memory.correct(repeated.id, "duplicate", duplicate_of=kept.id)

    assert standing.id == kept.id
    assert (standing.tags, standing.confidence, standing.provenance_sessions) == (("tea", "time"), 0.9, ("s",))
    assert [hit.id for hit in memory.search("tea")] == [kept.id]


@pytest.mark.parametrize(
    ("reason", "options", "says"),
    [
        ("duplicate", {}, "needs duplicate_of"),
        ("duplicate", {"duplicate_of": "k", "text": "x"}, "takes no text"),
        ("duplicate", {"duplicate_of": "k"}, "duplicate of itself"),
        ("outdated", {"duplicate_of": "other"}, "needs the reason 'duplicate'"),
        ("wrong", {}, "use one of inaccurate, outdated, too_specific, duplicate"),
        ("outdated", {"text": ""}, "content"),
    ],
)
def test_a_correction_that_makes_no_sense_is_refused_and_changes_nothing(
    memory: Memory, reason: str, options: dict[str, Any], says: str
) -> None:
    record = memory.remember("tea at four", id="k")
    with pytest.raises(InvalidInput, match=says):
        memory.correct("k", reason, **options)
    assert memory.get("k") == record


def test_a_doubted_record_is_not_recalled_until_it_is_confirmed(memory: Memory) -> None:
    record = memory.remember("tea at four", confidence=0.6)
    flagged = memory.flag(record.id, "says who?")
    assert (flagged.flagged, flagged.needs_review, flagged.confidence) == (True, True, 0.3)
    assert not memory.search("tea")
    assert memory.search("tea", knowledge=KnowledgeFilter(flagged=True))
    assert memory.history(record.id)[0].detail == {"note": "says who?"}

    confirmed = memory.confirm(record.id)
    assert (confirmed.flagged, confirmed.needs_review, confirmed.user_verified) == (False, False, True)
    assert confirmed.confidence == 0.95
    assert [hit.id for hit in memory.search("tea")] == [record.id]


def test_a_pin_is_put_in_and_taken_out(memory: Memory) -> None:
    record = memory.remember("tea at four")
    assert memory.pin(record.id).pinned
    assert not memory.pin(record.id, pinned=False).pinned
    assert [entry.action.value for entry in memory.history(record.id)] == ["unpin", "pin", "create"]


def test_history_tells_each_change_with_the_text_before_it(steady: Memory) -> None:
    record = steady.remember("one")
    for text in ("two", "three"):
        with steady.store.transaction(steady.scope, NOW) as tx:
            tx.knowledge.update(tx.knowledge.get(record.id).replace(content=text))
    steady.undo(record.id)

    told = [
        (entry.action.value, entry.version, entry.content_before, entry.undone) for entry in steady.history(record.id)
    ]

    assert told == [
        ("undo", None, None, False),
        ("update", 2, "two", True),
        ("update", 1, "one", False),
        ("create", None, None, False),
    ]
    for missing in ("missing", "nul\x00"):
        with pytest.raises((NotFound, InvalidInput)):
            steady.history(missing)


def test_the_history_of_other_learned_kinds_is_told_too(memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.patterns.create(sample(Pattern, "p"))
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.patterns.delete("p")
    assert {entry.action.value for entry in memory.history("p")} == {"create", "delete"}


@pytest.mark.parametrize("verb", ["confirm", "flag", "pin", "forget", "undo", "get"])
def test_a_verb_on_what_is_forgotten_or_was_never_there_is_not_found(memory: Memory, verb: str) -> None:
    forgotten = memory.remember("gone")
    memory.forget(forgotten.id)
    ids = ["missing"] if verb == "undo" else ["missing", forgotten.id]
    for id in ids:
        with pytest.raises(NotFound, match=id):
            getattr(memory, verb)(id)


def test_stats_count_what_is_there(memory: Memory) -> None:
    pinned = memory.remember("pinned", type="decision")
    memory.pin(pinned.id)
    memory.flag(memory.remember("doubted").id)
    memory.forget(memory.remember("forgotten").id)
    memory.correct(memory.remember("old").id, "inaccurate")
    memory.turn(session="s", role="user", text="hello")

    told = memory.stats()

    assert told.records["knowledge"] == 3
    assert (told.records["turns"], told.records["sessions"]) == (1, 1)
    assert told.knowledge == {"decision": 1, "fact": 2}
    assert {name: count for name, count in told.states.items() if count} == {
        "pinned": 1,
        "needs review": 1,
        "flagged": 1,
        "superseded": 1,
        "forgotten": 1,
    }


def test_stats_tell_when_the_latest_record_of_each_kind_was_stored(memory: Memory) -> None:
    assert memory.stats().latest == {}
    memory.turn(session="s", role="user", text="I moved", at="2023-05-08")
    said = memory.turn(session="s", role="user", text="long ago", at="2020-05-08")
    memory.remember("first")
    kept = memory.remember("second")
    memory.forget(memory.remember("forgotten").id)
    done = memory.episode("Paint the fence")
    latest = memory.stats().latest
    assert latest == {"knowledge": kept.created_at, "turns": said.recorded_at, "episodes": done.at}


def test_turns_are_recalled_with_who_said_them_and_when(memory: Memory) -> None:
    memory.turn(session="talk", role="user", text="I moved to Lisbon", speaker="Ada", at="1:56 pm on 8 May, 2023")
    (hit,) = memory.search("where is lisbon")
    assert (hit.kind, hit.source) == ("turn", "Ada, turn 1 of session talk, 2023-05-08 13:56")


def test_an_empty_query_lists_the_newest_first(memory: Memory) -> None:
    for year in (1955, 2023, 2024):
        memory.turn(session="s", role="user", text=f"in {year}", at=f"{year}-01-01")
    hits = memory.search("")
    assert [hit.text for hit in hits] == ["in 2024", "in 2023", "in 1955"]
    assert hits[0].score == 1.0
    assert all(0 <= hit.score <= 1 for hit in hits)


@pytest.mark.parametrize("limit", [0, -1, 1_001])
def test_a_limit_outside_what_recall_gives_is_refused(memory: Memory, limit: int) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        memory.search("x", limit=limit)


@pytest.mark.parametrize(
    "call",
    [
        lambda memory: memory.remember("x", colour="red"),
        lambda memory: memory.remember("", type="fact"),
        lambda memory: memory.remember("x", type="spell"),
        lambda memory: memory.remember("x", tags=[f"t{number}" for number in range(10_000)]),
        lambda memory: memory.remember("x", files=["../../etc/passwd"]),
        lambda memory: memory.remember("x", files=["/etc/passwd"]),
        lambda memory: memory.remember("a\x00b"),
        lambda memory: memory.remember("\ud800"),
        lambda memory: memory.turn(session="s", role="bystander", text="x"),
        lambda memory: memory.turn(session="", role="user", text="x"),
        lambda memory: memory.turn(session="s", role="user", text="x", at="one fine day"),
        lambda memory: memory.turn(session="s", role="user", text="x", metadata={"a": float("nan")}),
    ],
)
def test_what_cannot_be_kept_is_refused_and_leaves_no_trace(memory: Memory, call: Callable[[Memory], object]) -> None:
    with pytest.raises(InvalidInput):
        call(memory)
    assert not any(memory.stats().records.values())


def test_a_correction_needs_no_reason_and_leaves_the_way_to_its_successor(memory: Memory) -> None:
    first = memory.remember("The port is 5432")
    second = memory.correct(first.id, text="The port is 5433")
    third = memory.correct(second.id, text="The port is 5434")

    assert memory.get(first.id).superseded_by == second.id
    assert memory.get(second.id).superseded_by == third.id
    assert memory.get(third.id).superseded_by is None
    assert memory.history(first.id)[0].detail["reason"] == "inaccurate"

    memory.undo(third.id)
    assert memory.get(second.id).superseded_by is None
    assert memory.history(second.id)[0].detail == {"undone": "correct"}


def test_a_duplicate_names_the_record_that_it_repeats(memory: Memory) -> None:
    kept, repeated = memory.remember("The port is 5432"), memory.remember("The port of the database is 5432")
    memory.correct(repeated.id, duplicate_of=kept.id)
    assert memory.get(repeated.id).superseded_by == kept.id
    assert memory.history(repeated.id)[0].detail["reason"] == "duplicate"


def test_a_record_that_was_only_retired_has_no_successor(memory: Memory) -> None:
    old = memory.remember("The port is 5432")
    memory.correct(old.id)
    assert memory.get(old.id).superseded_by is None


def test_injections_are_in_the_audit_log(open_memory: OpenMemory) -> None:
    memory = open_memory(project="injected")
    kept = memory.remember("The port is 5432")
    memory.context.build("port")
    memory.search("port")
    memory.context.build("nothing like it, zebra")

    (entry,) = memory.audit(actions=["inject"])

    assert (entry.subject, entry.detail["via"], entry.detail["records"]) == ("injected", "context", (kept.id,))
    assert entry.detail["tokens"] > 0
    assert [each.action.value for each in memory.audit()] == ["inject", "create"]
    with pytest.raises(InvalidInput, match="use one of create, import"):
        memory.audit(actions=["eat"])


def test_an_injection_does_not_wait_for_a_writer_and_is_noted_later(open_memory: OpenMemory) -> None:
    memory = open_memory(project="busy")
    memory.remember("The port is 5432")
    if memory.store.engine == "sqlite":
        with memory.store.transaction(memory.scope, NOW):
            memory.injected(["k1"], via="test")
        assert memory.audit(actions=["inject"]) == ()
    memory.injected(["k2"], via="test")
    noted = [entry.detail["records"] for entry in memory.audit(actions=["inject"])]
    assert ("k2",) in noted
    assert memory.store.engine != "sqlite" or ("k1",) in noted


def test_projects_are_listed_with_their_sizes(open_memory: OpenMemory) -> None:
    first, second = open_memory(project="first"), open_memory(project="second")
    first.remember("The port is 5432", visibility="personal")
    first.turn(session="s", role="user", text="What is the port?")
    second.remember("Ships on Friday")

    found = {each.project: each for each in first.projects()}

    assert (found["first"].knowledge, found["first"].turns, found["first"].episodes) == (1, 1, 0)
    assert found["second"].knowledge == 1
    assert found["first"].characters == len("The port is 5432") + len("What is the port?")
    assert first.search("port")


def test_an_injection_whose_commit_was_not_acknowledged_is_noted_once(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("Luca is allergic to peanuts")
    write = memory.store.write_if_free

    def unacknowledged(*arguments: Any, **options: Any) -> bool:
        write(*arguments, **options)
        raise StoreUnavailable("the connection was lost")

    with monkeypatch.context() as lost:
        lost.setattr(memory.store, "write_if_free", unacknowledged)
        assert memory.context.build("peanuts").text
    assert memory.context.build("peanuts").text
    noted = [entry for entry in memory.audit() if entry.action is Action.INJECT]
    assert len(noted) == 2


def test_a_hard_forget_keeps_what_was_true_until_it_changed(memory: Memory) -> None:
    before = memory.remember("The shop runs on PostgreSQL 16", type="decision")
    after = memory.correct(before.id, "outdated", text="The shop runs on PostgreSQL 18")
    memory.forget(after.id, hard=True)
    assert memory.get(before.id).content == "The shop runs on PostgreSQL 16"
