"""Plans of the same shape that succeed."""

from collections import defaultdict

from treering.core.patterns import PatternCategory, Template, TemplateSubtask
from treering.patterns.mining.corpus import Corpus
from treering.patterns.mining.evidence import best_supported, candidate, times
from treering.patterns.mining.findings import Mined


def decompositions(corpus: Corpus) -> list[Mined]:
    """Whole plans, without what is special about each, that did no worse than their task types do."""
    by_plan = defaultdict[tuple[str, ...], list[int]](list)
    for place, told in enumerate(corpus.told):
        plan = tuple(dict.fromkeys(told.plan))
        if len(plan) > 1:
            by_plan[plan].append(place)
    least = corpus.settings
    found = []
    for plan, places in by_plan.items():
        sessions = {int(corpus.sessions[place]) for place in places}
        expected = float(corpus.base_rates[places].mean())
        rate = float(corpus.succeeded[places].mean())
        if len(places) >= least.least_episodes and len(sessions) >= least.least_sessions and rate >= expected:
            found.append(_decomposition(corpus, plan, places, expected))
    return best_supported(found, least.most_candidates)


def _decomposition(corpus: Corpus, plan: tuple[str, ...], places: list[int], expected: float) -> Mined:
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
