"""What a task is given when it begins, and what helps when a step of it fails."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from treering.core.delimiters import escaped, one_line
from treering.core.pattern_words import instruction_lines
from treering.core.tokens import CountTokens, estimate_tokens
from treering.search.episode_text import MAX_INSIGHTS, excerpt_line

if TYPE_CHECKING:
    from treering.core.patterns import Pattern
    from treering.episodes.answer import EpisodeAnswer, EpisodeHit, FailureAnswer, FailureHit
    from treering.patterns.matching.ranking import Ranked
    from treering.search.answer import Answer, Hit


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
        return _within(map(_block, self.passages()), budget, count)


@dataclass(frozen=True, slots=True)
class AfterFailure:
    """What helps after a failure: recoveries that are proven, what is known of it, episodes that met it, steps that
    usually follow."""

    error: str
    features: Mapping[str, Any]
    recoveries: tuple[Ranked, ...]
    similar: FailureAnswer
    next_steps: tuple[Step, ...]
    known: tuple[Hit, ...] = ()

    def passages(self) -> tuple[Passage, ...]:
        """All that has an id, what is proven first."""
        return (
            *(_pattern_passage(each) for each in self.recoveries),
            *(Passage(hit.id, hit.source, hit.text) for hit in self.known),
            *(_failure_passage(each) for each in self.similar),
        )

    def usual_steps(self) -> tuple[str, ...]:
        """What followed such a failure before, and how often. Nobody stored them: they have no ids."""
        return tuple(f"{excerpt_line(each.step)} ({each.because})" for each in self.next_steps if each.times)

    def text(self, budget: int | None = None, *, count: CountTokens = estimate_tokens) -> str:
        """As text for a prompt, within a budget of tokens."""
        steps = (f"What usually comes next: {escaped(each)}" for each in self.usual_steps())
        return _within((*map(_block, self.passages()), *steps), budget, count)


def advice_of(pattern: Pattern) -> str:
    """What a pattern says to do, and how."""
    return "\n".join(
        filter(None, (pattern.summary or pattern.description, *instruction_lines(pattern), pattern.guidance.how))
    )


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
    lessons = (f"- {excerpt_line(each.text)}" for each in hit.episode.reflection.insights[:MAX_INSIGHTS])
    return Passage(hit.id, hit.source, "\n".join((excerpt_line(hit.text), *lessons)))


def _failure_passage(hit: FailureHit) -> Passage:
    """What went wrong in which task, and how that got out."""
    ended = hit.episode.outcome.output
    lines = (
        ("", [hit.error]),
        ("task: ", [hit.episode.task.input]),
        ("then: ", hit.recovery),
        ("in the end: ", [ended] if ended.strip() not in ("", hit.error.strip()) else []),
        ("learned: ", hit.insights[:MAX_INSIGHTS]),
        ("solved by ", [", ".join(hit.solved_by)] if hit.solved_by else []),
    )
    text = "\n".join(f"{what}{excerpt_line(each)}" for what, said in lines for each in said)
    return Passage(hit.id, hit.source, text)


def _block(passage: Passage) -> str:
    return f"[{one_line(passage.id)}] {one_line(passage.source)}\n{escaped(passage.text)}"


def _within(blocks: Iterable[str], budget: int | None, count: CountTokens) -> str:
    taken = list[str]()
    for block in blocks:
        if budget is None or count("\n\n".join((*taken, block))) <= budget:
            taken.append(block)
    return "\n\n".join(taken)
