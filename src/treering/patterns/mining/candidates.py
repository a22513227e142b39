"""The whole of mining, in one call."""

from collections import Counter
from collections.abc import Callable, Iterable

from treering.core.episodes import Episode
from treering.core.task_features import features_of_episode
from treering.patterns.mining.corpus import Corpus, FeaturesOf, corpus_of
from treering.patterns.mining.costs import costs_saved
from treering.patterns.mining.decompositions import decompositions
from treering.patterns.mining.findings import Mined, Mining
from treering.patterns.mining.habits import failure_habits, habits
from treering.patterns.mining.limits import MiningLimits
from treering.patterns.mining.recoveries import recoveries
from treering.patterns.mining.routines import plan_routines, tool_routines
from treering.patterns.mining.tool_choice import tool_choices

MINERS: tuple[Callable[[Corpus], list[Mined]], ...] = (
    tool_routines,
    plan_routines,
    recoveries,
    tool_choices,
    decompositions,
    costs_saved,
)


def mine(
    episodes: Iterable[Episode],
    settings: MiningLimits | None = None,
    *,
    features_of: FeaturesOf = features_of_episode,
) -> Mining:
    """Everything that episodes show, the same whatever their order.

    All of them, not only new ones: counts of sessions and rates to compare with cannot be added up from parts, and
    reading the steps of ten thousand episodes takes seconds.
    """
    corpus = corpus_of(episodes, settings or MiningLimits(), features_of)
    found = {mined.key: mined for miner in MINERS for mined in miner(corpus)} if corpus.told else {}
    return _mining(corpus, tuple(found.values()))


def mine_habits(
    episodes: Iterable[Episode], settings: MiningLimits, *, features_of: FeaturesOf = features_of_episode
) -> Mining:
    """What usually follows what, and nothing that claims to work."""
    return _mining(corpus_of(episodes, settings, features_of), ())


def _mining(corpus: Corpus, candidates: tuple[Mined, ...]) -> Mining:
    done = Counter(step for told in corpus.told for step in told.steps)
    return Mining(
        candidates=candidates,
        habits=habits(corpus),
        failures=failure_habits(corpus),
        frequencies=tuple(sorted(done.items(), key=lambda each: (-each[1], each[0]))),
        episodes=len(corpus.told),
        sessions=len(set(corpus.sessions.tolist())) if corpus.told else 0,
    )
