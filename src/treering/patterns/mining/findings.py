"""Results of mining: candidates with their evidence, and habits."""

from functools import cached_property
from hashlib import blake2b

from treering.core.patterns import Applicability, PatternCategory, PatternContent
from treering.core.values import Count, Key, Keys, Label, Share, Text, Value, fitting

_MAX_NAME = 120


class MinedPattern(Value):
    """A candidate pattern. Its key depends only on its content, so mining again yields the same key."""

    key: Key
    category: PatternCategory
    name: Label
    summary: Text
    content: PatternContent
    applicability: Applicability
    steps: tuple[Label, ...] = ()
    """Its steps, as named by `step_of`."""
    supporting: Keys = ()
    """Episodes that followed it and succeeded; the newest if there are many."""
    counter: Keys = ()
    """Episodes that followed it and failed; the newest if there are many."""
    support: Count
    """Number of all episodes that support it."""
    against: Count
    sessions: Count
    """Number of sessions with an episode for or against it."""
    sessions_for: Count
    """Number of those in which most of its episodes succeeded."""
    base_rate: Share
    """Success rate without it."""
    lift: float
    """Ratio of the success rates with and without it; for savings, ratio of the costs without and with it."""
    saved_ms: float | None = None
    saved_steps: float | None = None
    usual_ms: float | None = None
    """Median duration without it, if it saves time."""
    usual_steps: float | None = None

    @property
    def success_rate(self) -> float:
        return self.support / max(1, self.support + self.against)


class StepHabit(Value):
    """How often each step followed in a context: after some steps, near one step, or for a feature of the task."""

    kind: Label
    after: tuple[Text, ...]
    times: Count
    sessions: Count
    then: tuple[tuple[Label, Count], ...]


class FailureHabit(Value):
    """The steps that followed a failure, and those that recovered from it."""

    step: Label
    words: tuple[Text, ...]
    times: Count
    then: tuple[tuple[Label, Count], ...]
    worked: tuple[tuple[Label, Count], ...]
    """Steps between the failure and the success of the same step; that step itself if there were none."""


class Mining(Value):
    """Result of one run of mining."""

    candidates: tuple[MinedPattern, ...] = ()
    habits: tuple[StepHabit, ...] = ()
    failures: tuple[FailureHabit, ...] = ()
    frequencies: tuple[tuple[Label, Count], ...] = ()
    """Number of times each step was done."""
    episodes: Count = 0
    sessions: Count = 0

    @cached_property
    def by_context(self) -> dict[tuple[str, tuple[str, ...]], StepHabit]:
        return {(habit.kind, habit.after): habit for habit in self.habits}

    @cached_property
    def shares(self) -> dict[str, float]:
        """Overall share of each step."""
        total = sum(count for _, count in self.frequencies)
        return {step: count / total for step, count in self.frequencies}

    @cached_property
    def failures_by_word(self) -> dict[str, tuple[int, ...]]:
        found = dict[str, list[int]]()
        for place, failure in enumerate(self.failures):
            for word in failure.words:
                found.setdefault(word, []).append(place)
        return {word: tuple(places) for word, places in found.items()}


def key_of(category: PatternCategory, *identity: str) -> str:
    """A key that depends on the content of a finding, not on its name."""
    digest = blake2b("\x1f".join((category.value, *identity)).encode("utf-8", "replace"), digest_size=12)
    return f"mined-{digest.hexdigest()}"


def short_name(name: str) -> str:
    """The name in one line, shortened to the maximum length."""
    return fitting(" ".join(name.split()), _MAX_NAME)
