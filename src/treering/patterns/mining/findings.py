"""What mining finds: a candidate with its evidence, and the table of what usually follows what."""

from functools import cached_property
from hashlib import blake2b

from treering.core.patterns import Applicability, PatternCategory, PatternContent
from treering.core.values import Count, Key, Keys, Label, Share, Text, Value, fitting

_NAME = 120


class MinedPattern(Value):
    """A candidate pattern. Its key is made of what it says, so that mining again finds it again, with new evidence."""

    key: Key
    category: PatternCategory
    name: Label
    summary: Text
    content: PatternContent
    applicability: Applicability
    steps: tuple[Label, ...] = ()
    """The steps it speaks of, as `step_of` names them."""
    supporting: Keys = ()
    """Episodes in which it held and things went well; of many the newest."""
    counter: Keys = ()
    """Episodes in which it was tried and they did not; of many the newest."""
    support: Count
    """Episodes that support it, all of them."""
    against: Count
    sessions: Count
    """Sessions in which it was seen, for or against it."""
    sessions_for: Count
    """Of these, the ones in which most of its episodes went well."""
    base_rate: Share
    """How often it would have gone well without it."""
    lift: float
    """How many times better it went with it; for savings, how many times less it took."""
    saved_ms: float | None = None
    saved_steps: float | None = None
    usual_ms: float | None = None
    """What it takes without it, where it saves time; half of the episodes take less."""
    usual_steps: float | None = None

    @property
    def success_rate(self) -> float:
        return self.support / max(1, self.support + self.against)


class Habit(Value):
    """What came next after some steps (or somewhere after one step, or for a feature of the task), and how often."""

    kind: Label
    after: tuple[Text, ...]
    times: Count
    sessions: Count
    then: tuple[tuple[Label, Count], ...]


class FailureHabit(Value):
    """What was done after a failure, and what got out of it."""

    step: Label
    words: tuple[Text, ...]
    times: Count
    then: tuple[tuple[Label, Count], ...]
    worked: tuple[tuple[Label, Count], ...]
    """Steps that lay between the failure and the same step's success; that step where nothing lay between."""


class Mining(Value):
    """All that one run of mining found."""

    candidates: tuple[MinedPattern, ...] = ()
    habits: tuple[Habit, ...] = ()
    failures: tuple[FailureHabit, ...] = ()
    frequencies: tuple[tuple[Label, Count], ...] = ()
    """How often each step was done at all."""
    episodes: Count = 0
    sessions: Count = 0

    @cached_property
    def by_context(self) -> dict[tuple[str, tuple[str, ...]], Habit]:
        return {(habit.kind, habit.after): habit for habit in self.habits}

    @cached_property
    def shares(self) -> dict[str, float]:
        """How likely each step is when nothing is known."""
        total = sum(count for _, count in self.frequencies)
        return {step: count / total for step, count in self.frequencies}

    @cached_property
    def failures_by_word(self) -> dict[str, tuple[int, ...]]:
        found = dict[str, list[int]]()
        for place, failure in enumerate(self.failures):
            for word in failure.words:
                found.setdefault(word, []).append(place)
        return {word: tuple(places) for word, places in found.items()}


def key_of(category: PatternCategory, *said: str) -> str:
    """The same for the same finding, whatever it is called."""
    digest = blake2b("\x1f".join((category.value, *said)).encode("utf-8", "replace"), digest_size=12)
    return f"mined-{digest.hexdigest()}"


def short(name: str) -> str:
    """A name that fits where names stand: so many characters, and so many bytes."""
    return fitting(" ".join(name.split()), _NAME)
