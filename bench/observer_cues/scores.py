"""Scores of the observer's cues on the labelled sentences."""

import json
import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from treering.core.language.folding import fold
from treering.observe.cues import CueKind, CueMatch, cues_in
from treering.observe.cues.kinds import USER_KINDS

SENTENCES = Path(__file__).with_name("sentences.jsonl")
Row = dict[str, Any]
Outcomes = Counter[tuple[str, str, bool, bool]]


def load() -> list[Row]:
    return [json.loads(line) for line in SENTENCES.read_text("utf-8").splitlines()]


def outcomes(rows: list[Row]) -> Outcomes:
    """Counts by part, kind, whether it was detected, and whether it was labelled."""
    counted: Outcomes = Counter()
    for row in rows:
        text = f"{row['before']} {row['sentence']}{row['after']}"  # sentences are stored without the space before them
        found = {each.kind for each in cues_in(text, by_user=row["by_user"]) if _is_in(each, row["sentence"])}
        for kind in CueKind:
            if (kind in USER_KINDS) == row["by_user"]:
                for part in {row["part"], "all"} - {"more"}:
                    counted[part, kind, kind in found, kind in row["labels"]] += 1
    return counted


def _is_in(match: CueMatch, sentence: str) -> bool:
    """Whether the words that matched are in the labelled sentence, not in one beside it."""
    around, own = " ".join(match.sentence.split()), " ".join(sentence.strip(" \t*_#>-").split())
    return (own in around or around in own) and match.phrase in " ".join(fold(sentence).split())


def interval(right: int, total: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    z = 1.96
    share, spread = right / total, z * math.sqrt(right * (total - right) / total**3 + (z / total) ** 2 / 4)
    middle, scale = share + z * z / (2 * total), 1 + z * z / total
    return (middle - spread) / scale, (middle + spread) / scale


def totals(counted: Outcomes, part: str, kinds: Iterable[CueKind]) -> tuple[int, int, int]:
    """Right, wrong and missed detections of `kinds`."""
    chosen = list(kinds)
    right, wrong, missed = (
        sum(counted[part, kind, found, labelled] for kind in chosen)
        for found, labelled in ((True, True), (True, False), (False, True))
    )
    return right, wrong, missed
