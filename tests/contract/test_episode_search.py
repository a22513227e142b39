"""Episodes found again: by meaning, attributes, time, and what went wrong. On both engines."""

from datetime import timedelta
from math import exp, log1p
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.sample_episodes import Clock, at_hand, ids, rich
from tests.samples import NOW, sample
from treering.core.episodes import Episode, EpisodeStatus, OutcomeStatus
from treering.core.errors import Conflict, InvalidInput, NotFound
from treering.core.queries import EpisodeFilter, TimeRange
from treering.core.settings import EmbedderSettings, Settings
from treering.memory import Memory

DAY = timedelta(days=1)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def steady(open_memory: OpenMemory, clock: Clock) -> Memory:
    """A memory whose time stands still until the test moves it."""
    return open_memory(clock=clock)


def test_relevance_is_the_formula_and_each_part_is_shown(steady: Memory, clock: Clock) -> None:
    rich(steady)
    steady.episode("Paint the fence green", id="far", outcome="FAILURE")
    for _ in range(4):
        steady.episodes.touch("e")
    clock.now += 15 * DAY

    found = steady.episodes.search_semantic("put an index on the orders table", domain="database")

    best = found[0]
    parts = {part.name: part for part in best.parts}
    assert (best.id, found.missing) == ("e", {})
    assert {name: part.weight for name, part in parts.items()} == {
        "cosine": 0.5,
        "recency": 0.2,
        "success": 0.15,
        "use": 0.1,
        "domain": 0.05,
    }
    assert 0.3 < parts["cosine"].value <= 1
    assert parts["recency"].value == pytest.approx(exp(-15 / 30))
    assert parts["use"].value == pytest.approx(log1p(4) / 10)
    assert (parts["success"].value, parts["domain"].value) == (1.0, 1.0)
    assert best.score == pytest.approx(sum(part.added for part in best.parts))


def test_success_use_and_recency_decide_between_alike(steady: Memory, clock: Clock) -> None:
    rich(steady, "failed", outcome="FAILURE")
    rich(steady, "old", at=NOW - 29 * DAY)
    rich(steady, "new")
    rich(steady, "used")
    for _ in range(10):
        steady.episodes.touch("used")
    assert [hit.id for hit in steady.episodes.search("index orders")] == ["used", "new", "old", "failed"]


def test_hybrid_search_holds_the_filters(steady: Memory) -> None:
    for number in range(30):
        rich(steady, f"e{number:02}", domain="web" if number else "database", tools=["bash"])
    for verb in (steady.episodes.search, steady.episodes.search_semantic):
        found = verb("index on the orders table", where=EpisodeFilter(domains=("database",)), limit=5)
        assert [hit.id for hit in found] == ["e00"]
        assert {part.name: part.value for part in found[0].parts}["domain"] == 1.0


def test_without_a_model_words_are_compared_and_the_answer_says_so(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=Settings(embedder=EmbedderSettings(provider="none")))
    rich(memory)
    for verb in (memory.episodes.search, memory.episodes.search_semantic):
        found = verb("orders index")
        assert [hit.id for hit in found] == ["e"]
        assert "meaning" in found.missing
        assert found[0].parts[0].name == "words"
        assert 0 < found[0].parts[0].value <= 1


def test_words_of_time_in_a_query_narrow_it(steady: Memory) -> None:
    rich(steady, "old", at=NOW - 20 * DAY)
    rich(steady, "new", at=NOW - 1 * DAY)
    assert [hit.id for hit in steady.episodes.search("orders index since the day before yesterday")] == ["new"]
    long_ago = steady.episodes.search("orders index before 2020")
    assert ({hit.id for hit in long_ago}, "time" in long_ago.missing) == ({"old", "new"}, True)


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ({"domains": ["web"]}, ["b"]),
        ({"task_types": ["fix"]}, ["c"]),
        ({"outcomes": ["FAILURE"]}, ["c"]),
        ({"tools": ["psql"]}, ["c", "a"]),
        ({"tags": ["orders"]}, ["c", "b", "a"]),
        ({"sessions": ["s2"]}, ["b"]),
        ({"happened": TimeRange(since=NOW - 2 * DAY)}, ["c"]),
        ({"strategies": ["divide"]}, ["b"]),
        ({}, ["c", "b", "a"]),
    ],
)
def test_structured_search_finds_by_attributes(steady: Memory, where: dict[str, Any], ids: list[str]) -> None:
    rich(steady, "a", at=NOW - 5 * DAY)
    rich(steady, "b", at=NOW - 3 * DAY, domain="web", tools=["bash"], session="s2", strategies=["divide"])
    rich(steady, "c", at=NOW - 1 * DAY, outcome="FAILURE", task_type="fix")
    found = steady.episodes.search_structured(EpisodeFilter.make(**where))
    assert [hit.id for hit in found] == ids


def test_what_is_old_comes_where_it_is_highly_relevant_or_asked_for(steady: Memory, clock: Clock) -> None:
    rich(steady, "old")
    clock.now += 400 * DAY
    steady.episodes.archive_old()
    rich(steady, "new")
    episodes = steady.episodes

    assert {hit.id for hit in episodes.search("Add an index to the orders table")} == {"new", "old"}
    assert {hit.id for hit in episodes.search("slow tables")} <= {"new"}
    archived = EpisodeFilter(statuses=(EpisodeStatus.ARCHIVED,))
    assert [hit.id for hit in episodes.search("slow table", where=archived)] == ["old"]
    assert {hit.id for hit in episodes.search("slow table", cold=True)} == {"new", "old"}
    assert [hit.id for hit in episodes.search_structured()] == ["new"]
    assert [hit.id for hit in episodes.search_structured(archived)] == ["old"]
    assert [hit.id for hit in episodes.search_structured(cold=True)] == ["new", "old"]


def test_episodes_made_into_one_are_shown_as_that_one(steady: Memory) -> None:
    first = rich(steady, "first", at=NOW - 3 * DAY)
    rich(steady, "second", at=NOW - 2 * DAY)
    one = sample(
        Episode,
        "one",
        at=NOW - 2 * DAY,
        session="s1",
        task={"input": "Add indices"},
        metadata=first.metadata,
        consolidation={
            "representative": "first",
            "members": ("first", "second"),
            "instances": 2,
            "first_at": NOW - 3 * DAY,
            "last_at": NOW - 2 * DAY,
            "success_rate": 1.0,
        },
    )
    with steady.store.transaction(steady.scope, NOW) as tx:
        tx.episodes.create(one)
        for id in ("first", "second"):
            lifecycle = {"status": "archived", "consolidated_into": "one"}
            tx.episodes.set_lifecycle(id, first.lifecycle.replace(**lifecycle))
    episodes = steady.episodes

    for found in (
        episodes.search("Add an index to the orders table"),
        episodes.search_semantic("Add an index to the orders table"),
        episodes.search_structured(EpisodeFilter(domains=("database",))),
        episodes.recent(5),
        episodes.recent(5, sessions=1),
        episodes.during(NOW - 4 * DAY),
        episodes.around("first"),
    ):
        assert [hit.id for hit in found] == ["one"]
    assert set(episodes.search("Add an index to the orders table")[0].stands_for) == {"first", "second"}
    assert [hit.id for hit in episodes.similar_failures("ERROR: relation 99 is locked")] == ["one"]
    originals = episodes.search_structured(EpisodeFilter(consolidated=True), cold=True)
    assert [hit.id for hit in originals] == ["second", "first"]
    assert [row.episodes for row in episodes.trend()] == [2]
    steady.forget("one")
    assert {hit.id for hit in episodes.recent(5)} == {"first", "second"}


def test_what_maintenance_makes_into_one_is_shown_as_one_until_it_is_taken_apart(steady: Memory, clock: Clock) -> None:
    members = [rich(steady, f"e{number}", at=NOW + number * timedelta(hours=1)) for number in range(5)]
    clock.now += 40 * DAY
    steady.episodes.archive_old()

    assert steady.episodes.consolidate_similar()["clusters"] == 1

    (one,) = steady.episodes.search("Add an index to the orders table")
    assert one.episode.consolidation is not None
    assert set(one.episode.consolidation.members) == {each.id for each in members}
    assert steady.episodes.get("e0").execution == members[0].execution
    assert ids(steady.episodes.similar_failures("ERROR: relation 99 is locked")) == [one.id]

    assert set(steady.episodes.dissolve(one.id)) == {each.id for each in members}
    assert set(ids(steady.episodes.search("Add an index to the orders table"))) == {each.id for each in members}


def test_a_likeness_may_be_given_above_which_episodes_become_one(steady: Memory, clock: Clock) -> None:
    for number, table in enumerate(("orders", "customers", "invoices")):
        steady.episode(f"Add an index to the {table} table", id=f"e{number}", at=NOW, domain="database")
    clock.now += 40 * DAY
    steady.episodes.archive_old()
    assert "clusters" not in steady.episodes.consolidate_similar(likeness=0.9999)
    assert steady.episodes.consolidate_similar(likeness=0.01)["clusters"] == 1
    for wrong in (0, 1, -0.5):
        with pytest.raises(InvalidInput, match="likeness"):
            steady.episodes.consolidate_similar(likeness=wrong)


def test_members_are_found_again_while_what_stands_for_them_is_forgotten(steady: Memory, clock: Clock) -> None:
    for number in range(3):
        rich(steady, f"e{number}", at=NOW + number * timedelta(hours=1))
    steady.episode("Paint the fence", id="fence", at=NOW + 2 * DAY)
    clock.now += 40 * DAY
    steady.episodes.archive_old()
    steady.episodes.consolidate_similar()
    (one,) = steady.episodes.search("Add an index to the orders table", limit=1)
    members, far = {"e0", "e1", "e2"}, "the orders and something entirely different that nobody has ever done before"

    steady.forget(one.id)
    assert set(ids(steady.episodes.search("Add an index to the orders table"))) == members
    assert members <= set(ids(steady.episodes.search(far)))
    assert ids(steady.episodes.search_structured()) == ["fence", "e2", "e1", "e0"]
    assert ids(steady.episodes.search_structured(limit=2)) == ["fence", "e2"]
    assert ids(steady.episodes.search_structured(EpisodeFilter(domains=("web",)))) == []
    assert ids(steady.episodes.similar_failures("ERROR: relation 99 is locked")) == ["e2", "e1", "e0"]

    steady.undo(one.id)
    assert set(ids(steady.episodes.search_structured())) == {"fence", one.id}
    steady.forget(one.id)
    clock.now += 400 * DAY
    assert ids(steady.episodes.search_structured(EpisodeFilter(domains=("database",)))) == []


def test_a_personal_episode_is_found_by_its_owner_only(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    rich(ada, visibility="personal", artifacts={"a.txt": "x"})
    assert ada.episodes.get("e").id == "e"
    assert [hit.id for hit in ada.episodes.search("index")] == ["e"]
    for found in (
        bob.episodes.search("index", cold=True),
        bob.episodes.search_structured(),
        bob.episodes.recent(),
        bob.episodes.during(),
        bob.episodes.trend(),
        bob.episodes.similar_failures("ERROR: relation 17 is locked"),
    ):
        assert len(found) == 0
    for hidden in (bob.episodes.get, bob.episodes.touch, lambda id: bob.episodes.artifact(id, "a.txt")):
        with pytest.raises(NotFound):
            hidden("e")
    with pytest.raises(Conflict):
        rich(bob)
    assert len(open_memory(project="other").episodes.recent()) == 0


@pytest.mark.parametrize("limit", [0, -1, 10_000, True, "5"])
def test_a_limit_that_makes_no_sense_is_refused(memory: Memory, limit: Any) -> None:
    episodes = memory.episodes
    for ask in (episodes.search, episodes.search_semantic, episodes.similar_failures):
        with pytest.raises(InvalidInput, match="limit"):
            ask("x", limit=limit)
    for count in (episodes.recent, lambda n: episodes.search_structured(limit=n)):
        with pytest.raises(InvalidInput, match="limit"):
            count(limit)


def test_a_query_that_is_no_text_is_refused_and_an_empty_one_lists_the_newest(memory: Memory) -> None:
    rich(memory)
    with pytest.raises(InvalidInput):
        memory.episodes.search(7)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput):
        memory.episodes.similar_failures("  ")
    assert [hit.id for hit in memory.episodes.search(" ")] == ["e"]
    assert len(memory.episodes.search("…?!")) == 0


@pytest.fixture
def weeks(steady: Memory) -> Memory:
    """Sessions s0 to s8, a day apart, two episodes each; and one that belongs to no session."""
    for number in range(9):
        for part in range(2):
            at = NOW - (9 - number) * DAY + part * timedelta(hours=1)
            outcome = "SUCCESS" if number % 2 else "FAILURE"
            domain = "database" if number < 5 else "web"
            rich(steady, f"e{number}{part}", session=f"s{number}", at=at, outcome=outcome, domain=domain)
    rich(steady, "lone", session=None, at=NOW - 4.5 * DAY)
    return steady


def test_recent_gives_the_newest_or_the_last_sessions(weeks: Memory) -> None:
    assert ids(weeks.episodes.recent(3)) == ["e81", "e80", "e71"]
    assert ids(weeks.episodes.recent(sessions=2)) == ["e81", "e80", "e71", "e70"]
    web = EpisodeFilter(outcomes=(OutcomeStatus.SUCCESS,))
    assert ids(weeks.episodes.recent(sessions=1, where=web)) == ["e71", "e70"]
    with pytest.raises(InvalidInput):
        weeks.episodes.recent(sessions=0)


def test_during_gives_a_span_in_its_order(weeks: Memory) -> None:
    since, before = NOW - 5 * DAY, NOW - 4 * DAY
    assert ids(weeks.episodes.during(since, before)) == ["e40", "e41", "lone"]
    assert ids(weeks.episodes.during(since.isoformat(), f"{before:%Y-%m-%d %H:%M}")) == ["e40", "e41", "lone"]
    assert len(weeks.episodes.during()) == 19


def test_around_gives_the_sessions_before_and_after(weeks: Memory) -> None:
    near = ["e20", "e21", "e30", "e31", "e40", "e41", "lone", "e50", "e51"]
    assert ids(weeks.episodes.around("e41", sessions=2)) == near
    assert ids(weeks.episodes.around("lone", sessions=1)) == ["e40", "e41", "lone", "e50", "e51"]
    assert ids(weeks.episodes.around(NOW - 8.2 * DAY, sessions=1)) == ["e00", "e01", "e10", "e11"]
    said = weeks.turn(session="s4", role="user", text="hello", at=NOW - 5 * DAY)
    assert ids(weeks.episodes.around(said.id, sessions=2)) == near
    assert len(weeks.episodes.around("e41")) == 13
    with pytest.raises(NotFound, match="neither"):
        weeks.episodes.around("missing thing")


def test_a_trend_counts_by_period_and_group(weeks: Memory) -> None:
    told = [
        ((NOW - row.before) // DAY, row.group, row.episodes, round(row.success_rate, 2))
        for row in weeks.episodes.trend(28)
    ]
    assert told == [(7, "database", 4, 0.5), (0, "database", 7, 0.43), (0, "web", 8, 0.5)]
    assert {row.group for row in weeks.episodes.trend(28, by="tool")} == {"psql"}
    assert [row.episodes for row in weeks.episodes.trend(28, by="task_type", every=28)] == [19]
    for wrong in ({"by": "colour"}, {"days": 0}, {"every": 0}):
        with pytest.raises(InvalidInput):
            weeks.episodes.trend(**wrong)


def test_the_same_failure_is_found_again_with_the_way_out(steady: Memory) -> None:
    rich(steady, "got-out", at=NOW - 10 * DAY)
    rich(
        steady,
        "did-not",
        at=NOW - 5 * DAY,
        outcome="FAILURE",
        output='Traceback (most recent call last):\n  File "/tmp/x/run.py", line 7\nERROR: relation 23 is locked',
        trace=[],
    )
    rich(steady, "later", at=NOW - 1 * DAY, trace=[], insights=[])
    steady.episode("Paint the fence", outcome="FAILURE", output="no paint left")

    found = steady.episodes.similar_failures("ERROR: relation 4711 is locked")

    assert ids(found) == ["did-not", "got-out"]
    ended, recovered = found
    assert (ended.same, ended.recovered, ended.recovery, ended.solved_by) == (True, False, (), ("later",))
    assert recovered.recovery == ("create index concurrently (psql): CREATE INDEX",)
    assert recovered.insights == ("concurrent index builds do not lock",)
    assert recovered.error == "ERROR: relation 17 is locked"


def test_a_failure_is_not_solved_by_another_task_in_almost_the_same_words(steady: Memory) -> None:
    failed: dict[str, Any] = {"outcome": "FAILURE", "output": "ERROR: the pool is exhausted"}
    steady.episode("Fix bug #137 in the checkout", id="failed", at=NOW - 2 * DAY, **failed)
    for number, id in ((138, "other"), (137, "same")):
        steady.episode(f"Fix bug #{number} in the checkout", id=id, at=NOW - DAY, outcome="SUCCESS")
    (found,) = steady.episodes.similar_failures("ERROR: the pool is exhausted")
    assert found.solved_by == ("same",)


def test_an_alike_failure_is_found_by_its_words(steady: Memory) -> None:
    rich(steady)
    found = steady.episodes.similar_failures("ERROR: relation 17 is locked by session 4")
    assert [(hit.id, hit.same) for hit in found] == [("e", False)]
    assert 0.5 <= found[0].likeness < 1
    assert len(steady.episodes.similar_failures("connection refused")) == 0
    assert len(steady.episodes.similar_failures("42")) == 0


def test_a_failure_is_known_again_after_its_episode_was_archived(steady: Memory, clock: Clock) -> None:
    rich(steady)
    for days in (200, 200):
        clock.now += days * DAY
        steady.episodes.archive_old()
    found = steady.episodes.similar_failures("ERROR: relation 3 is locked")
    assert found[0].recovery == ("create index concurrently (psql): CREATE INDEX",)

    steady.store.blobs.delete(steady.scope, at_hand(steady, "e").cold or "")
    found = steady.episodes.similar_failures("ERROR: relation 3 is locked")
    assert (ids(found), found[0].recovery, found.unreadable) == (["e"], (), ("blob of episode e",))


def test_what_shares_too_few_of_the_words_stays_out_where_that_is_asked_for(memory: Memory) -> None:
    lesson = "write the migration before the model"
    for number, table in enumerate(("orders", "users", "carts")):
        memory.episode(f"Add a column to {table}", id=f"e{number}", insights=[lesson])
    memory.episode("Paint the model of the ship", id="ship")
    assert "ship" in ids(memory.episodes.search(lesson))
    assert set(ids(memory.episodes.search(lesson, least=0.6))) == {"e0", "e1", "e2"}
    assert ids(memory.episodes.search("zebra crossings", least=0.6)) == []
