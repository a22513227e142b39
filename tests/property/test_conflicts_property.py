"""Facts about different things never supersede each other, in whatever order they are remembered."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.samples import knowledge
from treering.core.records import Knowledge
from treering.knowledge.conflicts import ComparedRecord, Verdict, verdict_on

THINGS = ("orders", "billing", "search", "mail", "gateway")
PEOPLE = ("Anna", "Bob", "Carla", "Dmitri", "Eve")
PETS = ("Rex", "Tom", "Bella", "Nero")
PLACES = ("Berlin", "Lyon", "Oslo", "Turin")

numbers = st.integers(1, 60_000)
# Each template is about the thing in its first place; the second says something of it.
TEMPLATES: Sequence[tuple[str, Sequence[str], st.SearchStrategy[object]]] = (
    ("The {} service listens on port {}", THINGS, numbers),
    ("The timeout of the {} service is {} seconds", THINGS, numbers),
    ("{}'s birthday is {} May", PEOPLE, st.integers(1, 31)),
    ("{} lives in {}", PEOPLE, st.sampled_from(PLACES)),
    ("The config of {} is at etc/{}.toml", THINGS, numbers),
    ("File {}.py is at src/{}.py", THINGS, numbers),
    ("The {} database is owned by {}", THINGS, st.sampled_from(PEOPLE)),
    ("Ticket {} is blocked by {}", tuple(map(str, range(40, 45))), st.sampled_from(PEOPLE)),
    ("Room {} seats {} people", tuple(map(str, range(10, 15))), numbers),
    ("The server in room {} runs version {}", tuple(map(str, range(10, 15))), numbers),
    ("{} likes {}", PEOPLE, st.sampled_from(PLACES)),
)
# Several of these hold at once.
SEVERAL = (
    "I have a cat called {}",
    "My dog is called {}",
    "We have a dog called {}",
    "I like {}",
    "I visited {}",
    "We met {}",
    "We use {}",
)


def said(text: str) -> ComparedRecord:
    return ComparedRecord(knowledge("k", text))


@st.composite
def unrelated(draw: st.DrawFn) -> tuple[str, str]:
    """Two statements about two things, or two that hold together."""
    if draw(st.booleans()):
        several, names = draw(st.sampled_from(SEVERAL)), st.sampled_from((*PETS, *PLACES))
        one, other = draw(st.lists(names, min_size=2, max_size=2, unique=True))
        return several.format(one), several.format(other)
    template, things, values = draw(st.sampled_from(TEMPLATES))
    first, second = draw(st.lists(st.sampled_from(things), min_size=2, max_size=2, unique=True))
    now = draw(st.sampled_from(("", "now ")))
    texts = template.format(first, draw(values)), template.format(second, draw(values))
    return texts[0], texts[1].replace(" is ", f" is {now}")


@given(pair=unrelated())
@examples(400)
def test_unrelated_facts_never_contradict_each_other(pair: tuple[str, str]) -> None:
    new, old = (said(text) for text in pair)
    assert verdict_on(new, old) is Verdict.UNRELATED
    assert verdict_on(old, new) is Verdict.UNRELATED


@given(text=st.text(max_size=80), other=st.text(max_size=80))
@examples(200)
def test_any_two_texts_are_compared(text: str, other: str) -> None:
    records = [Knowledge.make(**knowledge("k", each or "x").__dict__) for each in _storable(text, other)]
    assert verdict_on(ComparedRecord(records[0]), ComparedRecord(records[1])) in Verdict


def _storable(*texts: str) -> list[str]:
    return [text.replace("\0", " ").encode("utf-8", "replace").decode() for text in texts]
