"""Learns the weights of the order of states on the development dialogues, and prints them."""

import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

import treering
from bench.changing_facts import Asked, dialogues, grouped, store
from bench.retrieval.ways import use_bundled_embedder
from treering.retrieve.states import WEIGHTS, Statements

Rows = tuple[NDArray[np.float64], NDArray[np.bool_]]
FOLDS = 5


def main() -> None:
    use_bundled_embedder()
    read = [*examples("dev", False), *examples("dev", True)]
    import pickle; pickle.dump(read, open("/tmp/read.pkl", "wb"))
    for decay in (0.002, 0.01, 0.03):
        for margin in (0.0, 0.3, 0.6):
            print(decay, margin, crossed(read, decay, margin))
    for decay in (0.002, 0.01, 0.03):
        print(dict(zip(WEIGHTS, learned([rows for _, _, rows in read], decay).round(2).tolist(), strict=True)))


def examples(part: str, together: bool):
    seen: list[Statements] = []
    original = Statements.holding

    def holding(self: Statements) -> Any:
        seen.append(self)
        if len(self.said) > 1: self.kept = self.features()
        return original(self)

    with tempfile.TemporaryDirectory() as place, patch.object(Statements, "holding", holding):
        for project, told in grouped(dialogues(part), together=together).items():
            with treering.open(Path(place) / "facts.db", project=project) as memory:
                for dialogue in told:
                    store(memory, dialogue)
                memory.settle(60.)
                for dialogue in told:
                  for question in dialogue["questions"]:
                    if question["kind"] not in ("now", "unchanged"):
                        continue
                    seen.clear()
                    answer = memory.search(question["query"], limit=5, knowledge=None)
                    asked = Asked(dialogue, question, answer)
                    if not seen or len(seen[-1].said)<2:
                        print("not seen", dialogue["id"], question["query"])
                        continue
                    statements = seen[-1]
                    right = np.array([f"{dialogue['id']}/" in each.record.id and asked._states(_hit(each)) for each in statements.results])
                    yield dialogue["id"], asked.kind + ("+" if together else ""), (statements.kept, right)


class _hit:
    def __init__(self, each):
        self.id, self.text = each.record.id, each.record.text


def crossed(read, decay, margin):
    names = sorted({name for name, _, _ in read})
    right = {}
    for fold in range(FOLDS):
        tested = set(names[fold::FOLDS])
        weights = learned([rows for name, _, rows in read if name not in tested], decay)
        for name, kind, (features, gold) in read:
            if name in tested:
                right.setdefault(kind, []).append(bool(gold[chosen(features, weights, margin)]))
                right.setdefault(kind+"0", []).append(bool(gold[np.argmax(features[:,0])]))
    return {k: round(float(np.mean(v)),2) for k,v in sorted(right.items())}


def chosen(features, weights, margin):
    scores = features @ weights
    lead, best = int(np.argmax(features[:, 0] * features[:, 1])), int(np.argmax(scores))
    return best if scores[best] - scores[lead] >= margin else lead


def learned(examples, decay, steps=1000, rate=0.2):
    """Multinomial logit: of the results of one question, a right one is to be the first."""
    weights = np.zeros(len(WEIGHTS))
    for _ in range(steps):
        gradient = np.zeros_like(weights)
        for features, right in examples:
            if right.any():
                scores = features @ weights
                shares = np.exp(scores - scores.max())
                shares /= shares.sum()
                wanted = shares * right
                gradient += features.T @ (wanted / wanted.sum() - shares)
        weights += rate * (gradient / len(examples) - decay * weights)
    return weights


if __name__ == "__main__":
    main()
