"""Facts that change in a dialogue: is the value asked for the first result?"""

import argparse
import gzip
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import treering
from bench.data import data_folder
from bench.results import table, write_section
from bench.retrieval.ways import use_bundled_embedder
from treering.memory import Memory
from treering.retrieve.answer import Answer, Hit

OWN = Path(__file__).parent / "changing_facts"
KINDS = ("now", "before", "as_of", "unchanged", "none")
Dialogue = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a dialogue, and the answer to it."""

    dialogue: Dialogue
    question: dict[str, Any]
    answer: Answer

    @property
    def kind(self) -> str:
        kind: str = self.question["kind"]
        return "unchanged" if self.dialogue["kind_of_change"] == "unchanged" and kind == "now" else kind

    def is_right(self, first: int = 1) -> bool:
        """Whether one of the first results is the value that is asked for; where there is none, whether it says so."""
        if self.kind == "none":
            return self.answer.confidence == "low" or not self.answer
        return any(self.states(hit) for hit in self.answer[:first])

    def is_stale(self) -> bool:
        return bool(self.answer) and any(
            word.lower() in self.answer[0].text.lower() for word in self.question["stale_any"]
        )

    def states(self, hit: Hit) -> bool:
        if hit.id in {f"{self.dialogue['id']}/{turn}" for turn in self.question["gold_turns"]}:
            return True
        said = hit.text.lower()
        if any(word.lower() in said for word in self.question["stale_any"]):
            return False
        return any(word.lower() in said for word in self.question["answer_any"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true", help="print the wrong answers to the development dialogues")
    parser.add_argument("--part", choices=("dev", "held", "public"), help="only print the totals of this part")
    chosen = parser.parse_args()
    use_bundled_embedder()
    if chosen.show:
        _print_wrong(asked_of(dialogues("dev")))
    elif chosen.part:
        told = dialogues(chosen.part)
        print(
            totals(
                {chosen.part: list(asked_of(told)), f"{chosen.part}, all in one": list(asked_of(told, together=True))}
            )
        )
    else:
        write_section(
            "changing-facts",
            "Facts that change",
            totals({part: list(asked_of(dialogues(part))) for part in ("dev", "held", "public")}),
        )


def dialogues(part: str) -> list[Dialogue]:
    if part == "public":
        with gzip.open(data_folder("changing_facts") / "dialogues.jsonl.gz", "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]
    return [json.loads(line) for line in (OWN / f"{part}.jsonl").read_text("utf-8").splitlines()]


def asked_of(told: Iterable[Dialogue], *, together: bool = False) -> Iterator[Asked]:
    """Every question of every dialogue; each dialogue is a project of its own, or all of a language are one together."""
    with tempfile.TemporaryDirectory() as place:
        for project, of_project in grouped(told, together=together).items():
            with treering.open(Path(place) / "facts.db", project=project) as memory:
                for dialogue in of_project:
                    store(memory, dialogue)
                memory.settle(timeout=60.0)
                for dialogue in of_project:
                    for question in dialogue["questions"]:
                        yield Asked(
                            dialogue, question, memory.search(question["query"], limit=5, as_of=question.get("as_of"))
                        )


def grouped(told: Iterable[Dialogue], *, together: bool) -> dict[str, list[Dialogue]]:
    """The dialogues by project."""
    projects: dict[str, list[Dialogue]] = {}
    for dialogue in told:
        projects.setdefault(f"all-{dialogue['lang']}" if together else dialogue["id"], []).append(dialogue)
    return projects


def store(memory: Memory, dialogue: Dialogue) -> None:
    """Each day is a session."""
    for turn in dialogue["turns"]:
        at = datetime.fromisoformat(turn["at"])
        memory.turn(
            session=f"{dialogue['id']}-{at:%Y-%m-%d}",
            role=turn["role"],
            speaker=turn["speaker"],
            text=turn["text"],
            at=at,
            id=f"{dialogue['id']}/{turn['id']}",
        )


def totals(parts: dict[str, Sequence[Asked]]) -> str:
    rows: list[tuple[object, ...]] = []
    for part, asked in parts.items():
        for kind in KINDS:
            of_kind = [each for each in asked if each.kind == kind]
            if of_kind:
                first, five = (sum(each.is_right(most) for each in of_kind) for most in (1, 5))
                stale = sum(each.is_stale() for each in of_kind)
                rows.append(
                    (
                        part,
                        kind,
                        len(of_kind),
                        f"{first / len(of_kind):.0%}",
                        f"{five / len(of_kind):.0%}",
                        f"{stale / len(of_kind):.0%}",
                    )
                )
    return table(("part", "asked for", "questions", "right first", "in the first five", "stale first"), rows)


def _print_wrong(asked: Iterable[Asked]) -> None:
    asked = list(asked)
    for each in asked:
        if not each.is_right():
            print(
                f"\n{each.dialogue['id']} {each.dialogue['kind_of_change']} {each.kind}: {each.question['query']}  gold {each.question['gold_turns']}"
            )
            for turn in each.dialogue["turns"]:
                print(f"    {turn['id']} {turn['at'][:10]} {turn['speaker'] or turn['role']}: {turn['text']}")
            for hit in each.answer:
                print(f"  {hit.score:.3f} {hit.kind} {hit.id.rpartition('/')[2]} {hit.text[:110]}")
    print(totals({"dev": asked}))
    print(Counter((each.dialogue["kind_of_change"], each.is_right()) for each in asked if each.kind == "now"))


if __name__ == "__main__":
    main()
