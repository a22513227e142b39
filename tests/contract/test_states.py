"""Questions about a state get the statement that holds first, on both engines."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.conftest import OpenMemory
from tests.served import agent_of
from treering.memory import Memory
from treering.search.answer import Answer

START = datetime(2026, 3, 2, 9, tzinfo=UTC)


def say(memory: Memory, *texts: str, role: str = "user", days: int = 4) -> None:
    """Each some days after the one before."""
    for place, text in enumerate(texts):
        at = START + timedelta(days=days * place)
        memory.turn(session=f"{at:%Y-%m-%d}", role=role, text=text, at=at, id=f"t{place + 1}")
    memory.settle(timeout=60.0)


def ids(answer: Answer) -> list[str]:
    return [hit.id for hit in answer if hit.kind == "turn"]


STANDUP = (
    "The daily standup is at 9:15, the link is pinned.",
    "Could we do the standup at 10 instead?",
    "OK: starting tomorrow the daily standup happens at 9:45.",
    "Maybe we move the standup to 11 one day.",
    "The printer on the fourth floor is broken.",
)


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    memory = open_memory()
    say(memory, *STANDUP)
    return memory


def test_the_present_state_comes_first_and_what_it_replaced_says_so(memory: Memory) -> None:
    answer = memory.search("What time is the daily standup?", knowledge=None)
    old = next(hit for hit in answer if hit.id == "t1")
    assert (answer[0].id, answer[0].superseded_by) == ("t3", None)
    assert old.superseded_by == "t3"
    assert old.source.endswith(", superseded")
    assert [hit.score for hit in answer] == sorted((hit.score for hit in answer), reverse=True)


def test_a_context_shows_the_present_state_first_and_marks_what_it_replaced(memory: Memory) -> None:
    query = "What time is the daily standup?"
    packed = memory.context.build(query, knowledge=None)
    assert packed.items[0].id == "t3"
    assert "user (superseded): The daily standup is at 9:15" in packed.text
    with agent_of(memory) as agent:
        results = agent.call("search_memory", query=query, kinds=["turn"])["results"]
        assert {each["id"]: each["superseded_by"] for each in results}["t1"] == results[0]["id"] == "t3"
        assert "user (superseded): The daily standup is at 9:15" in agent.told("search_memory", query=query)


def test_what_held_before_comes_first_where_the_query_asks_for_it(memory: Memory) -> None:
    for query in ("What time was the daily standup before?", "When was the daily standup originally?"):
        assert ids(memory.search(query, knowledge=None))[0] == "t1", query


def test_as_of_a_day_what_held_then_comes_first(memory: Memory) -> None:
    assert ids(memory.search("What time is the daily standup?", knowledge=None, as_of="2026-03-08"))[0] == "t1"
    assert ids(memory.search("What time was the daily standup on 8 March 2026?", knowledge=None))[0] == "t1"
    assert ids(memory.search("What time was the daily standup on 20 March 2026?", knowledge=None))[0] == "t3"


def test_history_is_in_the_order_of_time(memory: Memory) -> None:
    found = ids(memory.search("How has the time of the daily standup changed over time?", knowledge=None))
    assert found.index("t1") < found.index("t3")


def test_questions_about_events_keep_their_order(memory: Memory) -> None:
    answer = memory.search("When did somebody mention the daily standup?", knowledge=None)
    assert all(hit.superseded_by is None for hit in answer)


@pytest.mark.parametrize(
    ("texts", "query", "right"),
    [
        (
            (
                "Ich wohne in Köln, Südstadt.",
                "Meine Schwester wohnt jetzt in Bonn.",
                "Umzug geschafft: ich wohne jetzt in Aachen.",
            ),
            "Wo wohne ich?",
            "t3",
        ),
        (
            ("Le rapport d'étape est à rendre le 20 mars.", "Le rapport d'étape est reporté au 3 avril."),
            "Quand faut-il rendre le rapport d'étape ?",
            "t2",
        ),
        (
            ("La riunione del comitato è lunedì alle 10.", "La riunione del comitato è spostata a martedì alle 15."),
            "Quando è la riunione del comitato?",
            "t2",
        ),
        (
            ("Las claves del equipo se guardan en Bitwarden.", "Las claves del equipo ahora se guardan en Keeper."),
            "¿Dónde se guardan las claves del equipo?",
            "t2",
        ),
    ],
)
def test_changes_are_followed_in_other_languages(
    open_memory: OpenMemory, texts: tuple[str, ...], query: str, right: str
) -> None:
    memory = open_memory()
    say(memory, *texts)
    assert ids(memory.search(query, knowledge=None))[0] == right


@pytest.mark.parametrize(
    ("texts", "query"),
    [
        (
            ("The search API listens on port 7700.", "What if the search API moved to port 9000?"),
            "Which port is the search API on?",
        ),
        (("My dentist is Dr Okafor.", "My sister's dentist is now Dr Lind."), "Who is my dentist?"),
        (
            ("Choir rehearsal is on Tuesday evenings.", "They are thinking about moving choir rehearsal to Thursday."),
            "When is choir rehearsal?",
        ),
        (("Our region is eu-west-1.", "Is our region still eu-west-1, or us-east-1 now?"), "What is our region?"),
    ],
)
def test_plans_questions_and_other_people_replace_nothing(
    open_memory: OpenMemory, texts: tuple[str, ...], query: str
) -> None:
    memory = open_memory()
    say(memory, *texts)
    assert ids(memory.search(query, knowledge=None))[0] == "t1"


def test_records_that_were_remembered_are_statements_too(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.remember("The office printer is a Brother in room 12", id="old")
    say(memory, "The office printer moved, it is in room 40 now.")
    assert {hit.id for hit in memory.search("Where is the office printer?")[:2]} == {"old", "t1"}


def test_a_search_with_one_result_or_none_is_left_as_it_is(open_memory: OpenMemory) -> None:
    memory = open_memory()
    assert not memory.search("Where do I live?")
    say(memory, "I live in Leeds.")
    assert ids(memory.search("Where do I live?", knowledge=None)) == ["t1"]


@pytest.mark.parametrize(
    ("texts", "query", "right"),
    [
        (("I live in Oslo.", "I moved to Bergen."), "Where do I live?", "t2"),
        (("Ich wohne in Köln.", "Ich bin nach Bonn gezogen."), "Wo wohne ich?", "t2"),
        (("Vivo en Sevilla.", "Me mudé a Madrid."), "¿Dónde vivo?", "t2"),
    ],
)
def test_a_turn_whose_fact_was_superseded_gives_way_to_the_one_that_holds(
    open_memory: OpenMemory, texts: tuple[str, ...], query: str, right: str
) -> None:
    memory = open_memory()
    say(memory, *texts, "The weather is lovely today.", "I baked bread with walnuts.")
    answer = memory.search(query, knowledge=None)
    assert (answer[0].id, next(hit for hit in answer if hit.id == "t1").superseded_by) == (right, right)


@pytest.mark.parametrize(
    ("texts", "query"),
    [
        (
            ("The production database has 64 GB of memory.", "The test database has 8 GB of memory."),
            "How much memory does the production database have?",
        ),
        (("The kitchen paint is Sage Green.", "The bathroom paint is Sky Blue."), "What is the kitchen paint?"),
        (("I drive a Golf.", "I used to drive a Polo."), "What car do I drive?"),
        (
            ("The conference is in Vienna.", "Tom claims the conference has moved to Prague."),
            "Where is the conference?",
        ),
    ],
)
def test_other_things_the_past_and_hearsay_replace_nothing(
    open_memory: OpenMemory, texts: tuple[str, ...], query: str
) -> None:
    memory = open_memory()
    say(memory, *texts)
    answer = memory.search(query, knowledge=None)
    assert (answer[0].id, answer[0].superseded_by) == ("t1", None)


def test_people_are_told_apart(open_memory: OpenMemory) -> None:
    memory = open_memory()
    said = (("Ana", "My favourite tea is oolong."), ("Ben", "My favourite tea is now sencha."))
    for place, (speaker, text) in enumerate(said):
        at = START + timedelta(days=place)
        memory.turn(session="s", role="user", speaker=speaker, text=text, at=at, id=f"t{place + 1}")
    memory.settle(timeout=60.0)
    first = memory.search("What is Ana's favourite tea?", knowledge=None)[0]
    assert (first.id, first.superseded_by) == ("t1", None)


def test_what_an_agent_says_replaces_nothing_that_a_person_said(open_memory: OpenMemory) -> None:
    memory = open_memory()
    say(memory, "Sessions are stored in Redis.")
    at = START + timedelta(days=3)
    memory.turn(session="s", role="assistant", text="Sessions are now stored in Memcached.", at=at, id="agent")
    memory.settle(timeout=60.0)
    assert memory.search("Where are sessions stored?", knowledge=None)[0].id == "t1"
