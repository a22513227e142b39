"""The public sets: documents in groups, and questions with the documents that answer them."""

import gzip
import json
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from bench.data import data_folder

NAMES = (
    "locomo",
    "realtalk",
    "longmemeval",
    "beam100k",
    "memdaily",
    "xquad_en_en",
    "xquad_es_es",
    "xquad_zh_zh",
    "xquad_es_en",
    "xquad_zh_en",
)
# A question of this set is answered only by all of its sessions together.
ALL_AT_10 = frozenset({"longmemeval"})
# Documents that are no turns of one conversation. The order of their file is not one that anything was said in; that of
# longmemeval even lists the sessions of a question one after the other.
WHOLE_TEXTS = frozenset(name for name in NAMES if name == "longmemeval" or name.startswith("xquad"))


@dataclass(frozen=True, slots=True)
class Document:
    id: str
    text: str
    date: str | None


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Group:
    """Documents in their order, and the questions that are asked among them."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    groups: tuple[Group, ...]

    @property
    def documents(self) -> int:
        return sum(len(group.documents) for group in self.groups)

    @property
    def questions(self) -> int:
        return sum(len(group.questions) for group in self.groups)


def load(name: str, *, groups: int | None = None, questions: int | None = None) -> Dataset:
    """A set; with numbers, only the first groups and the first questions of each."""
    folder = data_folder(name)
    documents: dict[str, list[Document]] = {}
    for line in _lines(folder / "corpus.jsonl.gz"):
        documents.setdefault(line["group"], []).append(Document(line["id"], line["text"], line["date"]))
    asked: dict[str, list[Question]] = {}
    for line in _lines(folder / "tasks.jsonl.gz"):
        asked.setdefault(line["group"], []).append(Question(line["query"], line["cat"], frozenset(line["gold"])))
    made = (Group(group, tuple(held), tuple(asked.get(group, ())[:questions])) for group, held in documents.items())
    return Dataset(name, tuple(islice((group for group in made if group.questions), groups)))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
