"""Public conversations and texts that the fusion weights are learned on; none of them is a set that is measured.

TREERING_OUTSIDE_DATA names a folder with these files, fetched once from public GitHub repositories:

| file | repository, path | commit |
| --- | --- | --- |
| fq_dev.json, fq_tst.json | emorynlp/FriendsQA, dat/friendsqa_dev.json, dat/friendsqa_tst.json | 9ce6c98a |
| c3m_dev.json, c3m_test.json | nlpdata/c3, data/c3-m-dev.json, data/c3-m-test.json | 1f41682e |
| mol_test.json | HIT-SCIR/Molweni, MRC(withDiscourse)/test.json | 2eb681d7 |
| qm/*.json | Yale-LILY/QMSum, data/ALL/train, val and test | 83d7768c |

Turns of a series, a chat and meetings, sentences of Chinese texts; and, as whole texts, scenes and Chinese passages.
"""

import json
import os
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.retrieval.sets import Dataset, Document, Group, Question

DATA = Path(os.environ.get("TREERING_OUTSIDE_DATA") or "/nonexistent")
# Questions of a set that are learned from, so that no set outweighs the others.
MOST_QUESTIONS = 400
# Longer meetings take long to index and add few questions whose answers are short.
LONGEST_MEETING = 700

Asked = tuple[str, list[int]]


class _Groups:
    """Texts and questions, gathered in groups of so many sources."""

    def __init__(self, name: str, sources: int) -> None:
        self._name, self._sources, self._seen = name, sources, 0
        self._texts: dict[str, list[str]] = {}
        self._asked: dict[str, list[Asked]] = {}

    def add(self, texts: list[str], asked: list[Asked]) -> None:
        """One source: questions name their answers by place among its texts."""
        group = f"{self._name}-{self._seen // self._sources}"
        self._seen += 1
        held = self._texts.setdefault(group, [])
        first = len(held)
        held += texts
        self._asked.setdefault(group, []).extend((query, [first + place for place in gold]) for query, gold in asked)

    def made(self) -> Dataset:
        groups = (
            Group(
                name,
                tuple(Document(str(place), text, None) for place, text in enumerate(texts)),
                tuple(Question(query, "", frozenset(map(str, gold))) for query, gold in self._asked[name] if gold),
            )
            for name, texts in self._texts.items()
        )
        return Dataset(self._name, tuple(groups))


def load() -> list[Dataset]:
    """Every set with a fixed sample of its questions, and only the groups that these are asked in."""
    return [_sampled(read()) for read in _READERS.values()]


def _sampled(dataset: Dataset) -> Dataset:
    asked = [(group.name, question) for group in dataset.groups for question in group.questions]
    chosen = random.Random(0).sample(asked, min(MOST_QUESTIONS, len(asked)))
    groups = (
        replace(group, questions=tuple(question for name, question in chosen if name == group.name))
        for group in dataset.groups
    )
    return replace(dataset, groups=tuple(group for group in groups if group.questions))


def _friends_turns() -> Dataset:
    found = _Groups("friends_turns", 18)
    for scene in sorted(_scenes(), key=lambda scene: str(scene["title"])):
        for paragraph in scene["paragraphs"]:
            said = paragraph["utterances:"]
            place = {turn["uid"]: number for number, turn in enumerate(said)}
            asked = [
                (_joined(each["question"]), sorted({place[answer["utterance_id"]] for answer in each["answers"]}))
                for each in paragraph["qas"]
            ]
            found.add([_said(turn) for turn in said], asked)
    return found.made()


def _friends_scenes() -> Dataset:
    found = _Groups("friends_scenes", 130)
    for scene in _scenes():
        paragraph = scene["paragraphs"][0]
        text = "\n".join(map(_said, paragraph["utterances:"]))
        found.add([text], [(_joined(each["question"]), [0]) for each in paragraph["qas"]])
    return found.made()


def _scenes() -> list[Any]:
    return [scene for part in ("dev", "tst") for scene in _read(f"fq_{part}.json")["data"]]


def _said(turn: Mapping[str, Any]) -> str:
    speaker = str((turn["speakers"] or ["Note"])[0]).split()[0].title()
    return f"{speaker}: {_joined(turn['utterance'])}"


def _joined(tokens: str) -> str:
    """Words as they are written, from words set apart."""
    return re.sub(r"\s+('\w+|n't)\b", r"\1", re.sub(r"\s+([.,!?;:%])", r"\1", tokens)).strip()


def _c3_sentences() -> Dataset:
    """A sentence answers a question if it holds the right choice literally."""
    found = _Groups("c3_sentences", 12)
    for paragraphs, questions, _ in _c3():
        parts = (part for text in paragraphs for part in re.split(r"(?<=[。！？!?])", text))
        sentences = [part.strip() for part in parts if part.strip()]
        asked = []
        for question in questions:
            answer = re.sub(r"[。，,.\s]", "", question["answer"])
            gold = [place for place, text in enumerate(sentences) if answer in re.sub(r"\s", "", text)]
            if len(answer) >= 2 and len(gold) <= 3:
                asked.append((question["question"], gold))
        found.add(sentences, asked)
    return found.made()


def _c3_passages() -> Dataset:
    """Only questions that are long enough to say what they are about."""
    found = _Groups("c3_passages", 150)
    for paragraphs, questions, _ in _c3():
        asked = [(each["question"], [0]) for each in questions if len(each["question"]) >= 10]
        found.add(["\n".join(paragraphs)], asked)
    return found.made()


def _c3() -> list[Any]:
    return [*_read("c3m_dev.json"), *_read("c3m_test.json")]


def _molweni() -> Dataset:
    found = _Groups("molweni", 15)
    data = _read("mol_test.json")["data"]
    for dialogue in data["dialogues"] if isinstance(data, dict) else data:
        said = dialogue["edus"]
        asked = []
        for each in dialogue["qas"]:
            answers = [answer["text"] for answer in each["answers"] if answer["text"]]
            gold = [place for place, turn in enumerate(said) if any(answer in turn["text"] for answer in answers)]
            if len(gold) <= 4:
                asked.append((each["question"], gold))
        found.add([f"{turn['speaker']}: {turn['text']}" for turn in said], asked)
    return found.made()


def _qmsum() -> Dataset:
    found = _Groups("qmsum", 1)
    for meeting in _meetings():
        said = [
            f"{turn['speaker']}: {re.sub(r'{.*?}', '', turn['content']).strip()}"
            for turn in meeting["meeting_transcripts"]
        ]
        if len(said) >= LONGEST_MEETING:
            continue
        asked = []
        for each in meeting["specific_query_list"]:
            spans = ((int(first), int(last)) for first, last in each["relevant_text_span"])
            gold = {place for first, last in spans for place in range(first, min(last + 1, len(said)))}
            if len(gold) <= 8:
                asked.append((each["query"], sorted(gold)))
        found.add(said, asked)
    return found.made()


def _meetings() -> Iterator[Any]:
    for path in sorted((DATA / "qm").glob("*.json")):
        yield json.loads(path.read_text("utf-8"))


def _read(name: str) -> Any:
    return json.loads((DATA / name).read_text("utf-8"))


_READERS: Mapping[str, Callable[[], Dataset]] = {
    "friends_turns": _friends_turns,
    "friends_scenes": _friends_scenes,
    "c3_sentences": _c3_sentences,
    "c3_passages": _c3_passages,
    "molweni": _molweni,
    "qmsum": _qmsum,
}
