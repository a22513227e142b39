"""Fixed answers, and how their explanations are drawn.

Rewritten on purpose with `.venv/bin/python -m tests.golden.explain.drawing`; then read the diff.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.samples import NOW, sample
from treering.core.citations import cite
from treering.core.records import Knowledge
from treering.core.turns import Turn
from treering.interfaces.cli import explanations as reasons
from treering.search.answer import Answer, Explanation, Hit, RankExplanation, ScorePart

FOLDER = Path(__file__).parent
WIDTH = 80

GOTCHA = sample(
    Knowledge,
    id="k1",
    type="gotcha",
    content="Run the migrations before the workers start, or every job fails",
    files=("deploy.yml",),
    confidence=0.9,
)
SAID = sample(Turn, id="t1", session="deploy", seq=0, role="user", speaker="maya", text="It is red again?", at=NOW)
OTHER = sample(Knowledge, id="k2", type="fact", content="Workers \x1b[31mstart late [bold]", confidence=0.4)


def _hit(record: Knowledge | Turn, kind: str, score: float, also: tuple[str, ...] = ()) -> Hit:
    text, source = cite(record)
    return Hit(record.id, kind, text, score, source, record, also)


def _why(
    record: Knowledge | Turn, kind: str, ranks: Mapping[str, int], score: float, **more: object
) -> RankExplanation:
    told: dict[str, Any] = {"parts": (), "relevance": score, "factors": {}} | more
    return RankExplanation(id=record.id, kind=kind, text=cite(record)[0], ranks=ranks, score=score, **told)


FOUND = Answer(
    query="why did the deploy fail last week",
    hits=(_hit(GOTCHA, "knowledge", 1.0, ("k7", "k8")), _hit(SAID, "turn", 0.42)),
    missing={"reranker": "none is configured; the order is that of the fusion"},
    unreadable=("blob of knowledge k9",),
    milliseconds={"embed": 1.23, "search": 4.56, "explain": 0.3, "total": 6.2},
    embedder="wordllama",
    explanation=Explanation(
        understood={
            "kind": "semantic: names no identifier and asks for no relation",
            "words": "deploy, fail",
            "meaning": "wordllama",
            "time": "last week (filter)",
        },
        results=(
            _why(
                GOTCHA,
                "knowledge",
                {"words": 1, "meaning": 3, "graph": 2},
                1.02,
                parts=(ScorePart("words", 0.62, 1.0), ScorePart("graph", 1.0, 0.5), ScorePart("meaning", 0.31, 0.5)),
                relevance=1.0,
                factors={"use": 0.85, "phase": 1.4, "trust": 1.2, "confidence": 0.714, "tainted": 1.0},
            ),
            _why(
                SAID,
                "turn",
                {},
                0.43,
                parts=(
                    ScorePart("words_before", 0.9, 0.25),
                    ScorePart("answers", 0.5, 0.1),
                    ScorePart("asks", 1.0, -0.05),
                    ScorePart("feedback_words", 0.3, 0.1),
                    ScorePart("meaning_2_after", 0.2, 0.1),
                    ScorePart("names_time", 0.1, 0.1),
                    ScorePart("time", 0.02, 0.15),
                    ScorePart("speaker", 0.001, 0.25),
                ),
            ),
        ),
        runners_up=(
            _why(OTHER, "knowledge", {"words": 4}, 0.401, lost="0.029 behind the last result"),
            _why(GOTCHA, "knowledge", {"meaning": 2}, 0.9, lost="duplicate of k1"),
        ),
    ),
)
NOTHING = Answer(
    query="zebra",
    hits=(),
    missing={"meaning": "ollama at http://127.0.0.1:11434 did not answer; start it"},
    milliseconds={"total": 0.8},
    explanation=Explanation({"kind": "semantic", "words": "zebra"}, (), ()),
)
ANSWERS = {"found": FOUND, "nothing": NOTHING}


def golden(name: str) -> Path:
    return FOLDER / f"{name}.txt"


def drawn(name: str) -> str:
    console = Console(width=WIDTH, highlight=False, markup=False, emoji=False, no_color=True)
    with console.capture() as captured:
        console.print(reasons.explained(ANSWERS[name]))
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


if __name__ == "__main__":
    for name in ANSWERS:
        golden(name).write_text(drawn(name), encoding="utf-8")
