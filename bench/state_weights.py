"""Learns the weights of `search/states.py` on the development dialogues, and prints them with what they are worth."""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import treering
from bench.changing_facts import Asked, dialogues, grouped, store
from bench.retrieval.ways import use_bundled_embedder
from treering.search.statements import MARGIN, WEIGHTS, StatementSet

FOLDS, STEPS, RATE = 5, 1000, 0.2
DECAYS = (0.002, 0.01, 0.03)
KINDS = ("now", "unchanged")

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Example:
    """The results of one question: what is seen of each, and which of them are right."""

    dialogue: str
    kind: str
    features: Matrix
    lead: int
    right: NDArray[np.bool_]

    def is_right(self, weights: Matrix) -> bool:
        scores = self.features @ weights
        best = int(np.argmax(scores))
        return bool(self.right[best if scores[best] - scores[self.lead] >= MARGIN else self.lead])


def main() -> None:
    use_bundled_embedder()
    examples = [*read("dev", together=False), *read("dev", together=True)]
    for decay in DECAYS:
        print(f"decay {decay}:", ", ".join(f"{kind} {share:.2f}" for kind, share in crossed(examples, decay)))
        print("  ", dict(zip(WEIGHTS, learned(examples, decay).round(2).tolist(), strict=True)))


def read(part: str, *, together: bool) -> Iterator[Example]:
    """The questions for the present, each with the results that were compared for it."""
    seen: list[StatementSet] = []

    def current_row(self: StatementSet) -> None:
        seen.append(self)

    with tempfile.TemporaryDirectory() as place, patch.object(StatementSet, "current_row", current_row):
        for project, told in grouped(dialogues(part), together=together).items():
            with treering.open(Path(place) / "facts.db", project=project) as memory:
                for dialogue in told:
                    store(memory, dialogue)
                memory.settle(timeout=60.0)
                for dialogue, question in ((each, asked) for each in told for asked in each["questions"]):
                    seen.clear()
                    asked = Asked(dialogue, question, memory.search(question["query"], limit=20, knowledge=None))
                    if asked.kind in KINDS and seen:
                        hits = {hit.id: hit for hit in asked.answer}
                        right = [
                            each.record.id in hits and asked.states(hits[each.record.id]) for each in seen[-1].results
                        ]
                        features, lead = seen[-1].features(), seen[-1].lead
                        yield Example(dialogue["id"], asked.kind, features, lead, np.array(right))


def crossed(examples: Sequence[Example], decay: float) -> Iterator[tuple[str, float]]:
    """The share of right answers by kind, each to dialogues that the weights were not learned from."""
    names = sorted({each.dialogue for each in examples})
    right: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    for fold in range(FOLDS):
        held = set(names[fold::FOLDS])
        weights = learned([each for each in examples if each.dialogue not in held], decay)
        for each in examples:
            if each.dialogue in held:
                right[each.kind].append(each.is_right(weights))
    return ((kind, float(np.mean(of_kind))) for kind, of_kind in right.items())


def learned(examples: Sequence[Example], decay: float) -> Matrix:
    """Multinomial logit: of the results of one question, a right one is to be the first."""
    weights = np.zeros(len(WEIGHTS))
    for _ in range(STEPS):
        gradient = np.zeros_like(weights)
        for each in (example for example in examples if example.right.any()):
            scores = each.features @ weights
            shares = np.exp(scores - scores.max())
            shares /= shares.sum()
            wanted = shares * each.right
            gradient += each.features.T @ (wanted / wanted.sum() - shares)
        weights += RATE * (gradient / len(examples) - decay * weights)
    return weights


if __name__ == "__main__":
    main()
