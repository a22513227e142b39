"""Mines routines: frequent sequences of steps and of subtasks, with their success rates."""

from collections.abc import Sequence

import numpy as np

from treering.core.patterns import PatternCategory, Procedure, ProcedureStep
from treering.patterns.mining.corpus import Corpus, Numbers
from treering.patterns.mining.evidence import best_supported, candidate, times
from treering.patterns.mining.findings import MinedPattern
from treering.patterns.mining.sequences import (
    StepLines,
    Steps,
    episodes_with,
    frequent_sequences,
    lines_of,
    maximal_sequences,
)

ARROW = " → "


def tool_routines(corpus: Corpus) -> list[MinedPattern]:
    """Frequent sequences of tool steps."""
    return _routines(corpus, [each.steps for each in corpus.episodes], "steps")


def plan_routines(corpus: Corpus) -> list[MinedPattern]:
    """Frequent sequences of subtasks in plans."""
    return _routines(corpus, [each.plan for each in corpus.episodes], "subtasks")


def _routines(corpus: Corpus, sequences: Sequence[Steps], unit: str) -> list[MinedPattern]:
    table, lines = frequent_sequences(corpus, sequences), lines_of(sequences, corpus.sessions)
    # Locating occurrences costs more than counting, so only likely candidates are located.
    likely = sorted(
        maximal_sequences(table, corpus.settings.absorbed_at),
        key=lambda steps: (-table[steps].sessions * len(steps), -table[steps].episodes, steps),
    )
    found = [_routine(corpus, lines, steps, unit) for steps in likely[: 3 * corpus.settings.most_candidates]]
    return best_supported(found, corpus.settings.most_candidates)


def _routine(corpus: Corpus, lines: StepLines, steps: Steps, unit: str) -> MinedPattern:
    places = episodes_with(lines, steps, corpus.settings.most_gap)
    succeeded = corpus.succeeded[places]
    expected = float(corpus.base_rates[places].mean())
    harmful = float(succeeded.mean()) < expected - corpus.settings.least_gain
    good, bad = _sorted(places[succeeded]), _sorted(places[~succeeded])
    category = PatternCategory.FAILURE if harmful else PatternCategory.SEQUENCE
    line = ARROW.join(steps)
    result = f"{len(good):,} of {times(len(places), 'episode')} with it succeeded; {expected:.0%} of such tasks do"
    lead = "Often goes wrong" if harmful else "Usual order"
    return candidate(
        corpus,
        category,
        (unit, *steps),
        name=f"{'Careful: ' if harmful else ''}{line}",
        summary=f"{lead}: {line} (up to {corpus.settings.most_gap} other steps between). {result}.",
        content=Procedure(steps=tuple(_step(place, step) for place, step in enumerate(steps, 1))),
        # Failed episodes support a warning.
        good=bad if harmful else good,
        bad=good if harmful else bad,
        base_rate=1 - expected if harmful else expected,
        steps=steps if unit == "steps" else (),
    )


def _sorted(places: Numbers) -> list[int]:
    return [int(place) for place in np.sort(places)]


def _step(place: int, step: str) -> ProcedureStep:
    return ProcedureStep(name=f"{place}", action=step)
