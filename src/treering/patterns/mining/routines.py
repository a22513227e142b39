"""Sequences of steps and of subtasks as candidates: what is usually done together, and how it then went."""

from collections.abc import Sequence

import numpy as np

from treering.core.patterns import PatternCategory, Procedure, ProcedureStep
from treering.patterns.mining.corpus import Corpus, Numbers
from treering.patterns.mining.evidence import best_supported, candidate, times
from treering.patterns.mining.findings import MinedPattern
from treering.patterns.mining.sequences import Lines, Steps, episodes_with, frequent_sequences, lines_of
from treering.patterns.mining.sequences import told_sequences as told

ARROW = " → "


def tool_routines(corpus: Corpus) -> list[MinedPattern]:
    """What tools are used one after the other."""
    return _routines(corpus, [each.steps for each in corpus.told], "steps")


def plan_routines(corpus: Corpus) -> list[MinedPattern]:
    """Which subtasks stand one after the other in plans."""
    return _routines(corpus, [each.plan for each in corpus.told], "subtasks")


def _routines(corpus: Corpus, sequences: Sequence[Steps], what: str) -> list[MinedPattern]:
    table, lines = frequent_sequences(corpus, sequences), lines_of(sequences, corpus.sessions)
    # Looking at where each occurs costs more than counting: only those that may be told are looked at.
    likely = sorted(
        told(table, corpus.settings.absorbed_at),
        key=lambda steps: (-table[steps].sessions * len(steps), -table[steps].episodes, steps),
    )
    found = [_routine(corpus, lines, steps, what) for steps in likely[: 3 * corpus.settings.most_candidates]]
    return best_supported(found, corpus.settings.most_candidates)


def _routine(corpus: Corpus, lines: Lines, steps: Steps, what: str) -> MinedPattern:
    places = episodes_with(lines, steps, corpus.settings.most_gap)
    well = corpus.succeeded[places]
    expected = float(corpus.base_rates[places].mean())
    harmful = float(well.mean()) < expected - corpus.settings.least_gain
    good, bad = _places(places[well]), _places(places[~well])
    category = PatternCategory.FAILURE if harmful else PatternCategory.SEQUENCE
    line = ARROW.join(steps)
    went = f"{len(good):,} of {times(len(places), 'episode')} with it succeeded; {expected:.0%} of such tasks do"
    lead = "Often goes wrong" if harmful else "Usual order"
    return candidate(
        corpus,
        category,
        (what, *steps),
        name=f"{'Careful: ' if harmful else ''}{line}",
        summary=f"{lead}: {line} (up to {corpus.settings.most_gap} other steps between). {went}.",
        content=Procedure(steps=tuple(_step(place, step) for place, step in enumerate(steps, 1))),
        # What speaks for a warning are the episodes that went wrong.
        good=bad if harmful else good,
        bad=good if harmful else bad,
        base_rate=1 - expected if harmful else expected,
        steps=steps if what == "steps" else (),
    )


def _places(places: Numbers) -> list[int]:
    return [int(place) for place in np.sort(places)]


def _step(place: int, step: str) -> ProcedureStep:
    return ProcedureStep(name=f"{place}", action=step)
