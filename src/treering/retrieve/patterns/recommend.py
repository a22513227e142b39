"""What a task is given when it begins, and what helps when a step of it fails."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from treering.core.pattern_words import doing
from treering.core.patterns import Pattern
from treering.core.tokens import CountTokens, estimate_tokens
from treering.retrieve.answer import Answer
from treering.retrieve.episodes.answer import EpisodeAnswer, EpisodeHit, FailureAnswer, FailureHit
from treering.retrieve.patterns.ranking import Ranked

# Of what an episode taught or a failure led to, so much tells what it is about.
_LESSONS, _LINE = 3, 400


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text for a prompt, and where it is from."""

    id: str
    source: str
    text: str


class Step(Protocol):
    """A step that usually comes next."""

    @property
    def step(self) -> str: ...
    @property
    def share(self) -> float: ...
    @property
    def because(self) -> str: ...
    @property
    def times(self) -> int: ...


@dataclass(frozen=True, slots=True)
class TaskContext:
    """What memory has for a task: patterns that apply, episodes like it, what is known of it.

    `features` is what the task was taken for, `missing` which ways of finding were not available and why.
    """

    task: str
    features: Mapping[str, Any]
    patterns: tuple[Ranked, ...]
    episodes: EpisodeAnswer
    known: Answer
    missing: Mapping[str, str]

    def passages(self) -> tuple[Passage, ...]:
        """All of it, what is proven first."""
        return (
            *(_pattern_passage(each) for each in self.patterns),
            *(_episode_passage(each) for each in self.episodes),
            *(Passage(hit.id, hit.source, hit.text) for hit in self.known),
        )

    def text(self, budget: int | None = None, *, count: CountTokens = estimate_tokens) -> str:
        """As text for a prompt, within a budget of tokens: whole passages, the first that fit."""
        return _within(self.passages(), budget, count)


@dataclass(frozen=True, slots=True)
class AfterFailure:
    """What helps after a failure: recoveries that are proven, episodes that met it, steps that usually follow."""

    error: str
    features: Mapping[str, Any]
    recoveries: tuple[Ranked, ...]
    similar: FailureAnswer
    next_steps: tuple[Step, ...]

    def passages(self) -> tuple[Passage, ...]:
        return (
            *(_pattern_passage(each) for each in self.recoveries),
            *(_failure_passage(each) for each in self.similar),
            *(Passage(f"next-{place}", each.because, each.step) for place, each in enumerate(self._seen(), 1)),
        )

    def _seen(self) -> Iterator[Step]:
        """A prompt gets only what followed such a failure before."""
        return (each for each in self.next_steps if each.times)

    def text(self, budget: int | None = None, *, count: CountTokens = estimate_tokens) -> str:
        """As text for a prompt, within a budget of tokens."""
        return _within(self.passages(), budget, count)


def advice_of(pattern: Pattern) -> str:
    """What a pattern says to do, and how."""
    return "\n".join(filter(None, (pattern.summary or pattern.description, *doing(pattern), pattern.guidance.how)))


def _pattern_passage(ranked: Ranked) -> Passage:
    pattern, evidence = ranked.pattern, ranked.pattern.evidence
    proven = (
        f", {evidence.success_rate:.0%} success in {evidence.sessions} session{'s' * (evidence.sessions != 1)}"
        if evidence.success_rate is not None
        else ""
    )
    source = f"{pattern.status.value} {pattern.category.value} pattern{proven}"
    return Passage(pattern.id, source, f"{pattern.name}\n{advice_of(pattern)}")


def _episode_passage(hit: EpisodeHit) -> Passage:
    lessons = (f"- {_short(each)}" for each in hit.episode.reflection.insights[:_LESSONS])
    return Passage(hit.id, hit.source, "\n".join((_short(hit.text), *lessons)))


def _failure_passage(hit: FailureHit) -> Passage:
    tried = [f"then: {_short(step)}" for step in hit.recovery]
    learned = [f"learned: {_short(insight)}" for insight in hit.insights[:_LESSONS]]
    solved = [f"solved by {', '.join(hit.solved_by)}"] if hit.solved_by else []
    return Passage(hit.id, hit.source, "\n".join((_short(hit.error), *tried, *learned, *solved)))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LINE else f"{line[: _LINE - 1]}…"


def _within(passages: Sequence[Passage], budget: int | None, count: CountTokens) -> str:
    taken = list[str]()
    for each in passages:
        block = f"[{each.id}] {each.source}\n{each.text}"
        if budget is None or count("\n\n".join((*taken, block))) <= budget:
            taken.append(block)
    return "\n\n".join(taken)
