"""Context for a new task, and help after a failure, as passages for a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from treering.core.delimiters import escaped
from treering.core.episode_text import MAX_INSIGHTS, in_a_line
from treering.core.pattern_words import advice_of
from treering.core.tokens import CountTokens, estimate_tokens
from treering.render.listing import cited_block

if TYPE_CHECKING:
    from treering.episodes.answer import EpisodeAnswer, EpisodeHit, FailureAnswer, FailureHit
    from treering.patterns.matching.ranking import RankedPattern
    from treering.patterns.mining.next_steps import Suggestion
    from treering.search.answer import Answer, Hit


@dataclass(frozen=True, slots=True)
class AdvicePassage:
    """Text for a prompt, with its id and source."""

    id: str
    source: str
    text: str


@dataclass(frozen=True, slots=True)
class TaskContext:
    """Patterns that apply to a task, similar episodes and knowledge about it.

    `features` are those inferred for the task, `missing` the search paths that were unavailable, with the reason.
    """

    task: str
    features: Mapping[str, Any]
    patterns: tuple[RankedPattern, ...]
    episodes: EpisodeAnswer
    known: Answer
    missing: Mapping[str, str]

    def passages(self) -> tuple[AdvicePassage, ...]:
        """All results: patterns, then episodes, then knowledge."""
        return (
            *(_pattern_passage(each) for each in self.patterns),
            *(_episode_passage(each) for each in self.episodes),
            *(AdvicePassage(hit.id, hit.source, hit.text) for hit in self.known),
        )

    def text(self, budget: int | None = None, *, count: CountTokens = estimate_tokens) -> str:
        """Text for a prompt within a budget of tokens: complete passages, in order, as far as they fit."""
        return _within(map(_block, self.passages()), budget, count)


@dataclass(frozen=True, slots=True)
class AfterFailure:
    """What helps after a failure: proven recoveries, knowledge about it, episodes with such a failure, next steps."""

    error: str
    features: Mapping[str, Any]
    recoveries: tuple[RankedPattern, ...]
    similar: FailureAnswer
    next_steps: tuple[Suggestion, ...]
    known: tuple[Hit, ...] = ()

    def passages(self) -> tuple[AdvicePassage, ...]:
        """All results with an id: recoveries, then knowledge, then episodes."""
        return (
            *(_pattern_passage(each) for each in self.recoveries),
            *(AdvicePassage(hit.id, hit.source, hit.text) for hit in self.known),
            *(_failure_passage(each) for each in self.similar),
        )

    def usual_steps(self) -> tuple[str, ...]:
        """Steps that followed such a failure before, and how often. They have no ids, as they are not stored."""
        return tuple(f"{in_a_line(each.step)} ({each.because})" for each in self.next_steps if each.times)

    def text(self, budget: int | None = None, *, count: CountTokens = estimate_tokens) -> str:
        """Text for a prompt within a budget of tokens."""
        steps = (f"What usually comes next: {escaped(each)}" for each in self.usual_steps())
        return _within((*map(_block, self.passages()), *steps), budget, count)


def _pattern_passage(ranked: RankedPattern) -> AdvicePassage:
    pattern, evidence = ranked.pattern, ranked.pattern.evidence
    success = (
        f", {evidence.success_rate:.0%} success in {evidence.sessions} session{'s' * (evidence.sessions != 1)}"
        if evidence.success_rate is not None
        else ""
    )
    source = f"{pattern.status.value} {pattern.category.value} pattern{success}"
    return AdvicePassage(pattern.id, source, f"{pattern.name}\n{advice_of(pattern)}")


def _episode_passage(hit: EpisodeHit) -> AdvicePassage:
    lessons = (f"- {in_a_line(each.text)}" for each in hit.episode.reflection.insights[:MAX_INSIGHTS])
    return AdvicePassage(hit.id, hit.source, "\n".join((in_a_line(hit.text), *lessons)))


def _failure_passage(hit: FailureHit) -> AdvicePassage:
    """The error, its task, and how the task recovered and ended."""
    output = hit.episode.outcome.output
    lines = (
        ("", [hit.error]),
        ("task: ", [hit.episode.task.input]),
        ("then: ", hit.recovery),
        ("in the end: ", [output] if output.strip() not in ("", hit.error.strip()) else []),
        ("learned: ", hit.insights[:MAX_INSIGHTS]),
        ("solved by ", [", ".join(hit.solved_by)] if hit.solved_by else []),
    )
    text = "\n".join(f"{label}{in_a_line(text)}" for label, texts in lines for text in texts)
    return AdvicePassage(hit.id, hit.source, text)


def _block(passage: AdvicePassage) -> str:
    return cited_block(passage.id, passage.source, passage.text)


def _within(blocks: Iterable[str], budget: int | None, count: CountTokens) -> str:
    taken = list[str]()
    for block in blocks:
        if budget is None or count("\n\n".join((*taken, block))) <= budget:
            taken.append(block)
    return "\n\n".join(taken)
