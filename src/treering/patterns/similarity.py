"""Similarity of patterns by content, applicability and words."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from treering.core.applicability import folded
from treering.core.conditions import Condition, explain, written
from treering.core.language.terms import terms_of
from treering.core.patterns import (
    Applicability,
    Heuristic,
    Pattern,
    Procedure,
    Strategy,
    Template,
)
from treering.core.settings.patterns import PatternSettings
from treering.core.values import Value


@dataclass(frozen=True, slots=True)
class Outline:
    """The compared features of a pattern, computed once for many comparisons."""

    pattern: Pattern
    form: str
    parts: frozenset[str]
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class PatternLikeness:
    """Similarity of two patterns, each measure from 0 to 1; `score` is the weighted mean."""

    structure: float
    applicability: float
    words: float
    score: float

    def in_words(self) -> str:
        return f"structure {self.structure:.2f}, applicability {self.applicability:.2f}, words {self.words:.2f}"


@dataclass(frozen=True, slots=True)
class SimilarPattern:
    """A pattern and its similarity to another one."""

    pattern: Pattern
    likeness: PatternLikeness


def outline_of(pattern: Pattern) -> Outline:
    texts = (pattern.name, pattern.summary, pattern.description, pattern.guidance.when, pattern.guidance.how)
    content = pattern.content
    return Outline(pattern, content.form, frozenset(_PARTS[type(content)](content)), frozenset(_terms(texts)))


def compare_outlines(one: Outline, other: Outline, settings: PatternSettings) -> PatternLikeness:
    """Symmetric; 1 for a pattern and itself."""
    structure = _overlap(one.parts, other.parts) if one.form == other.form else 0.0
    where = compare_applicability(one.pattern.applicability, other.pattern.applicability)
    words = _overlap(one.words, other.words)
    weights = (settings.alike_structure, settings.alike_applicability, settings.alike_words)
    total = sum(weights)
    parts = zip(weights, (structure, where, words), strict=True)
    return PatternLikeness(
        structure, where, words, sum(weight * part for weight, part in parts) / total if total else 0.0
    )


def most_similar(
    pattern: Pattern, others: Iterable[Pattern | Outline], settings: PatternSettings, *, limit: int | None = None
) -> list[SimilarPattern]:
    """Patterns of the same category above the threshold, most similar first, ties by id."""
    own = outline_of(pattern)
    outlines = (each if isinstance(each, Outline) else outline_of(each) for each in others)
    found = [
        SimilarPattern(each.pattern, compare_outlines(own, each, settings))
        for each in outlines
        if each.pattern.id != pattern.id and each.pattern.category is pattern.category
    ]
    close = [each for each in found if each.likeness.score >= settings.alike]
    return sorted(close, key=lambda each: (-each.likeness.score, each.pattern.id))[:limit]


def compare_applicability(one: Applicability, other: Applicability) -> float:
    """Mean similarity of labels, range and conditions; two empty ones are equal."""
    both = [(facet(one), facet(other)) for facet in _FACETS]
    return (sum(_overlap(*pair) for pair in both) + _shared_range(one, other)) / (len(_FACETS) + 1)


def _shared_range(one: Applicability, other: Applicability) -> float:
    shared = min(one.complexity_max, other.complexity_max) - max(one.complexity_min, other.complexity_min)
    spanned = max(one.complexity_max, other.complexity_max) - min(one.complexity_min, other.complexity_min)
    return max(shared, 0.0) / spanned if spanned else 1.0


def _overlap(one: Collection[str], other: Collection[str]) -> float:
    """Jaccard index; 1 if both are empty."""
    united = set(one) | set(other)
    return len(set(one) & set(other)) / len(united) if united else 1.0


def _terms(texts: Iterable[str]) -> Iterable[str]:
    return (term for text in texts for term in terms_of(text))


def _written(conditions: Iterable[Condition]) -> frozenset[str]:
    return frozenset(map(written, conditions))


_FACETS: tuple[Callable[[Applicability], frozenset[str]], ...] = (
    lambda each: folded(each.problem_types),
    lambda each: folded(each.domains),
    lambda each: folded(each.capabilities),
    lambda each: _written(each.conditions),
    lambda each: _written(each.anti_conditions),
)


def _strategy(content: Strategy) -> Iterable[str]:
    return _terms((content.approach, *content.principles, content.trade_offs or ""))


def _template(content: Template) -> Iterable[str]:
    yield from _steps([each.title for each in content.structure])
    yield from (f"parameter {each.name.casefold()}" for each in content.parameters)
    yield from (f"{each.title} after {before}".casefold() for each in content.structure for before in each.depends_on)


def _heuristic(content: Heuristic) -> Iterable[str]:
    yield f"when {explain(content.condition)}"
    yield from _terms((content.action,))


def _procedure(content: Procedure) -> Iterable[str]:
    yield from _steps([each.name for each in content.steps])
    yield from _terms(each.action for each in content.steps)


def _steps(titles: Sequence[str]) -> Iterable[str]:
    """The steps and their order: the same steps in another order make another pattern."""
    plain = [" ".join(terms_of(title)) for title in titles]
    yield from (f"step {title}" for title in plain)
    yield from (f"step {before} then {after}" for before, after in pairwise(plain))


_PARTS: Mapping[type[Value], Callable[..., Iterable[str]]] = {
    Strategy: _strategy,
    Template: _template,
    Heuristic: _heuristic,
    Procedure: _procedure,
}
