"""What the vocabularies find in the texts, and in each token of o200k_base on its own."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.calibration.texts import Text
from bench.calibration.vocabularies import Count, load
from treering.adapters.tokenizers.estimates import BASE
from treering.adapters.tokenizers.exact import ExactTokenizer

Tokens = NDArray[np.uint32]
Cuts = NDArray[np.uint8]


@dataclass(frozen=True)
class Found:
    """What one vocabulary finds: in each text, and in each token of o200k_base (255 at most)."""

    counts: NDArray[np.float64]
    cuts: Cuts


def count(texts: Sequence[Text], names: Iterable[str], directory: Path) -> Mapping[str, Found]:
    """By vocabulary; each is counted in a process of its own, as many at once as there are cores."""
    ordered, said = sorted(names), [text.text for text in texts]
    with ProcessPoolExecutor() as pool:
        return dict(zip(ordered, pool.map(partial(_found, texts=said, directory=directory), ordered), strict=True))


def largest(found: Sequence[Found]) -> Found:
    """A family of several vocabularies counts with whichever finds most."""
    counts, cuts = [each.counts for each in found], [each.cuts for each in found]
    return Found(np.maximum.reduce(counts), np.maximum.reduce(cuts))


def base_tokens(texts: Sequence[Text]) -> list[Tokens]:
    """The tokens of o200k_base in each text; ValueError for a text that it cannot cut."""
    base = ExactTokenizer(BASE)
    tokens = [base.encode(text.text) for text in texts]
    found = [each for each in tokens if each is not None]
    if len(found) < len(tokens):
        raise ValueError("a text cannot be cut into tokens of o200k_base; leave it out")
    return found


def _found(name: str, texts: Sequence[str], directory: Path) -> Found:
    real, base = load(name, directory), ExactTokenizer(BASE)
    counts = np.array([real(text) for text in texts], dtype=np.float64)
    cuts = (min(255, _cuts(base.token(number), real)) for number in range(base.size))
    return Found(counts, np.fromiter(cuts, dtype=np.uint8, count=base.size))


def _cuts(token: bytes, real: Count) -> int:
    """Part of a character cannot be counted alone: about a token for each of its bytes."""
    try:
        return real(token.decode())
    except UnicodeDecodeError:
        return len(token) if len(token) < 3 else len(token) - 1
