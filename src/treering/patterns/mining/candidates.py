"""Entry points of mining: candidate patterns and habits of a set of episodes."""

from collections import Counter
from collections.abc import Callable, Iterable

from treering.core.episodes import Episode
from treering.core.settings.mining import MiningSettings
from treering.core.task_features import features_of_episode
from treering.patterns.mining.corpus import Corpus, FeaturesOf, corpus_of
from treering.patterns.mining.costs import costs_saved
from treering.patterns.mining.decompositions import decompositions
from treering.patterns.mining.findings import MinedPattern, Mining
from treering.patterns.mining.habits import failure_habits, habits
from treering.patterns.mining.recoveries import recoveries
from treering.patterns.mining.routines import plan_routines, tool_routines
from treering.patterns.mining.tool_choice import tool_choices

MINERS: tuple[Callable[[Corpus], list[MinedPattern]], ...] = (
    tool_routines,
    plan_routines,
    recoveries,
    tool_choices,
    decompositions,
    costs_saved,
)


def mine(
    episodes: Iterable[Episode],
    settings: MiningSettings | None = None,
    *,
    features_of: FeaturesOf = features_of_episode,
) -> Mining:
    """Candidates and habits of all episodes, independent of their order.

    Needs all episodes, not only new ones: session counts and base rates cannot be summed from parts. Ten thousand
    episodes take seconds.
    """
    corpus = corpus_of(episodes, settings or MiningSettings(), features_of)
    found = {mined.key: mined for miner in MINERS for mined in miner(corpus)} if corpus.episodes else {}
    return _mining(corpus, tuple(found.values()))


def mine_habits(
    episodes: Iterable[Episode], settings: MiningSettings, *, features_of: FeaturesOf = features_of_episode
) -> Mining:
    """Habits only, without candidate patterns."""
    return _mining(corpus_of(episodes, settings, features_of), ())


def _mining(corpus: Corpus, candidates: tuple[MinedPattern, ...]) -> Mining:
    done = Counter(step for each in corpus.episodes for step in each.steps)
    return Mining(
        candidates=candidates,
        habits=habits(corpus),
        failures=failure_habits(corpus),
        frequencies=tuple(sorted(done.items(), key=lambda each: (-each[1], each[0]))),
        episodes=len(corpus.episodes),
        sessions=len(set(corpus.sessions.tolist())) if corpus.episodes else 0,
    )
