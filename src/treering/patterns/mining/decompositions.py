"""Mines decompositions: plans of the same shape that succeed."""

from collections import defaultdict

from treering.core.patterns import PatternCategory, Template, TemplateSubtask
from treering.patterns.mining.corpus import Corpus
from treering.patterns.mining.evidence import best_supported, candidate, times
from treering.patterns.mining.findings import MinedPattern


def decompositions(corpus: Corpus) -> list[MinedPattern]:
    """Complete plans, without task-specific details, that succeed at least as often as their task types."""
    by_plan = defaultdict[tuple[str, ...], list[int]](list)
    for place, episode in enumerate(corpus.episodes):
        plan = tuple(dict.fromkeys(episode.plan))
        if len(plan) > 1:
            by_plan[plan].append(place)
    settings = corpus.settings
    found = []
    for plan, places in by_plan.items():
        sessions = {int(corpus.sessions[place]) for place in places}
        expected = float(corpus.base_rates[places].mean())
        rate = float(corpus.succeeded[places].mean())
        if len(places) >= settings.least_episodes and len(sessions) >= settings.least_sessions and rate >= expected:
            found.append(_decomposition(corpus, plan, places, expected))
    return best_supported(found, settings.most_candidates)


def _decomposition(corpus: Corpus, plan: tuple[str, ...], places: list[int], expected: float) -> MinedPattern:
    good = [place for place in places if corpus.succeeded[place]]
    bad = [place for place in places if not corpus.succeeded[place]]
    line = "; ".join(plan)
    structure = tuple(
        TemplateSubtask(title=title, depends_on=(plan[place - 1],) if place else ()) for place, title in enumerate(plan)
    )
    return candidate(
        corpus,
        PatternCategory.DECOMPOSITION,
        plan,
        name=f"Plan: {line}",
        summary=f"A plan of {len(plan)} subtasks: {line}. {len(good):,} of {times(len(places), 'episode')} with it "
        f"succeeded; {expected:.0%} of such tasks do.",
        content=Template(structure=structure),
        good=good,
        bad=bad,
        base_rate=expected,
    )
