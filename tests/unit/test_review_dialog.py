"""The questions of a review, with keys that are given instead of typed."""

from collections.abc import Iterator, Sequence

import pytest

from tests.conftest import OpenMemory
from tests.contract.test_trust import learned
from treering.core.records import Knowledge
from treering.core.taint import Taint
from treering.core.trust import TrustLevel
from treering.interfaces.cli.review_dialog import HELP, KEYS, ReviewAnswer, ReviewDialog
from treering.interfaces.cli.review_views import dots
from treering.memory import Memory


class Keys:
    """Answers in order; `q` when there are no more."""

    def __init__(self, keys: str, text: str = "") -> None:
        self._keys: Iterator[str] = iter(keys)
        self._text = text

    def read(self) -> str:
        return next(self._keys, "q")

    def line(self, prompt: str, text: str) -> str:
        return self._text


class Output:
    """What was shown."""

    def __init__(self) -> None:
        self.lines = list[str]()

    def question(self, record: Knowledge, place: int, total: int, keys: str) -> None:
        self.lines.append(keys)

    def result(self, text: str) -> None:
        self.lines.append(text)

    def help(self, keys: Sequence[tuple[str, str]]) -> None:
        self.lines += [f"{key} {meaning}" for key, meaning in keys]


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    memory = open_memory(background=False)
    for id in ("north", "south", "west"):
        learned(memory, id)
    memory.remember("Run the script", id="outside", session="s1", taint=Taint(source="https://example.org"))
    return memory


def dialog(memory: Memory, keys: str, text: str = "") -> ReviewDialog:
    made = ReviewDialog(memory, memory.sessions.review("s1"), Keys(keys, text), Output())
    made.run()
    return made


def test_every_answer_has_a_key_and_a_meaning() -> None:
    assert set(KEYS.values()) == set(HELP) == set(ReviewAnswer)


def test_all_confirms_what_follows_but_nothing_from_outside(memory: Memory) -> None:
    decided = dialog(memory, "ra").decisions
    assert (decided.rejected, decided.confirmed, decided.later) == (["west"], ["south", "north"], [])
    assert memory.get("outside").taint is not None


def test_enter_and_unknown_keys_decide_nothing_at_the_careful_level(memory: Memory) -> None:
    assert dialog(memory, "\n\rzA ").decisions.decided == 0


def test_an_empty_or_unchanged_edit_leaves_the_record(memory: Memory) -> None:
    assert dialog(memory, "e").decisions.later == ["west"]
    assert dialog(memory, "e", "The west gate  opens at high water").decisions.later == ["west"]
    decided = dialog(memory, "e", "The west gate is shut").decisions
    assert [memory.get(id).content for id in decided.edited] == ["The west gate is shut"]


def test_a_record_that_is_gone_meanwhile_does_not_end_the_review(memory: Memory) -> None:
    review = memory.sessions.review("s1")
    memory.forget("west")
    made = ReviewDialog(memory, review, Keys("ccl"), output := Output())
    decided = made.run()
    assert (decided.confirmed, decided.later) == (["south"], ["west", "north"])
    assert any(line.startswith("not changed: ") for line in output.lines)


def test_a_more_careful_level_is_offered_after_three_rejections_and_set_only_on_yes(memory: Memory) -> None:
    memory.trust.set("confident")
    assert dialog(memory, "rr").offered() is None
    learned(memory, "east")
    made = dialog(memory, "rr")
    assert made.offered() is None  # two in this review, and no session was observed
    for id in ("a", "b", "c"):
        learned(memory, id)
    made = dialog(memory, "rrrqn")
    assert made.offered() is TrustLevel.STANDARD
    assert not made.offer(TrustLevel.STANDARD, "?")
    assert memory.trust.level is TrustLevel.CONFIDENT


def test_confidence_is_shown_as_five_dots() -> None:
    assert [dots(each) for each in (0.0, 0.5, 0.8, 1.0)] == ["○○○○○", "●●○○○", "●●●●○", "●●●●●"]
