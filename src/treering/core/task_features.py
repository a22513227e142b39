"""Features of a task, extracted from its words, which conditions test.

| field        | what it is                                                                       |
| ------------ | -------------------------------------------------------------------------------- |
| `task_type`  | fix, refactor, test, docs, investigate, optimise, configure, release, upgrade,   |
|              | review or feature; absent if no word indicates it                                |
| `domain`     | frontend, backend, database, security, …; absent if no word indicates it         |
| `complexity` | from 0 (a typo) to 1 (a rewrite), by length, files and words of difficulty       |
| `languages`  | programming languages, by the endings of files and by name                       |
| `tools`      | by name                                                                          |
| `files`      | paths that the text names                                                        |
| `extensions` | their endings, without the dot                                                   |
| `context`    | further information from the caller, unchanged                                   |

Given values take precedence over extracted ones. Extraction is deterministic and covers five languages.
"""

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as package_files
from itertools import chain
from math import exp
from pathlib import PurePosixPath
from typing import Any

from treering.core.episodes import Episode
from treering.core.errors import InvalidInput
from treering.core.language.folding import fold
from treering.core.values import EMPTY, FrozenDict, FrozenMap, Label, Share, Text, Value

# Longer requests contain pasted logs, which follow the request itself.
_READ = 20_000
_WORD = re.compile(r"\w+(?:-\w+)*(?:\+\+|#)?")
_PATH = re.compile(r"(?<![\w@:/.-])(?:[\w.-]+/)*[\w-][\w.-]*\.(\w{1,5})(?![\w/@(])")
_FIRST, _STRONG, _WEAK = 2.0, 1.0, 0.25


@dataclass(frozen=True, slots=True)
class LabelCues:
    """Labels by complete words and by prefixes."""

    words: Mapping[str, tuple[str, ...]]
    beginnings: Mapping[str, tuple[str, ...]]
    longest: int

    @classmethod
    def of(cls, words: Iterable[tuple[str, str]]) -> "LabelCues":
        """Cues from pairs of a label and a word; `*` marks a prefix."""
        complete, beginnings = dict[str, list[str]](), dict[str, list[str]]()
        for label, word in words:
            folded = fold(word)
            table, key = (beginnings, folded[:-1]) if folded.endswith("*") else (complete, folded)
            if label not in (labels := table.setdefault(key, [])):
                labels.append(label)
        return cls(
            {word: tuple(labels) for word, labels in complete.items()},
            {word: tuple(labels) for word, labels in beginnings.items()},
            max(map(len, beginnings), default=0),
        )

    def read(self, word: str) -> tuple[str, ...]:
        """Labels of a folded word."""
        found = list(self.words.get(word, ()))
        for end in range(2, min(len(word), self.longest) + 1):
            found += self.beginnings.get(word[:end], ())
        return tuple(dict.fromkeys(found))


class TaskFeatures(Value):
    """Features that a caller may pass explicitly."""

    task_type: Label | None = None
    domain: Label | None = None
    complexity: Share | None = None
    tools: tuple[Label, ...] = ()
    files: tuple[Text, ...] = ()
    languages: tuple[Label, ...] = ()
    context: FrozenMap = EMPTY


def given_features(text: object, known: Mapping[str, Any]) -> FrozenDict:
    """Features of a task with explicit values. Raises `InvalidInput` for unknown features and invalid values."""
    if not isinstance(text, str):
        raise InvalidInput(f"the task is {text!r:.60}; pass a text that describes it")
    if unknown := sorted(known.keys() - TaskFeatures.model_fields.keys()):
        raise InvalidInput(
            f"unknown features of a task: {', '.join(unknown)}; use {', '.join(TaskFeatures.model_fields)}"
        )
    return features_of(text, **TaskFeatures.make(**known).__dict__)


def features_of(
    text: str,
    *,
    task_type: str | None = None,
    domain: str | None = None,
    complexity: float | None = None,
    tools: Sequence[str] = (),
    files: Sequence[str] = (),
    languages: Sequence[str] = (),
    context: Mapping[str, Any] = EMPTY,
) -> FrozenDict:
    """Features of a task. Unknown ones are absent, and a test of an absent field fails."""
    text = text[:_READ]
    words = _WORD.findall(fold(text))
    paths = tuple(dict.fromkeys(files or _paths(text)))
    extensions = tuple(dict.fromkeys(_extensions(paths)))
    # Paths are no cues for the type: `tests/api.py` does not make a task a test.
    kind = task_type or _task_type(_WORD.findall(fold(_PATH.sub(" ", text))))
    known = {
        "task_type": kind,
        "domain": domain or _domain(words, kind),
        "complexity": _complexity(words, len(paths)) if complexity is None else complexity,
        "languages": tuple(languages) or _languages(words, extensions),
        "tools": tuple(tools) or tuple(dict.fromkeys(word for word in words if word in _tool_names())),
        "files": paths,
        "extensions": extensions,
        "context": context,
    }
    try:
        return FrozenDict({name: value for name, value in known.items() if value is not None})
    except ValueError as exc:
        raise InvalidInput(f"the features of a task are not JSON: {exc}") from exc


def features_of_episode(episode: Episode) -> FrozenDict:
    """Features of an executed task: from its metadata, else extracted from its words.

    Files and languages come from the task's context if present. The trace is ignored, because it was not known when the
    task began; only the used tools are taken from the metadata.
    """
    task, about = episode.task, episode.metadata
    return features_of(
        "\n".join((task.input, *task.goals)),
        task_type=about.task_type,
        domain=about.domain,
        complexity=task.complexity,
        tools=about.tools,
        files=_texts(task.context.get("files")),
        languages=_texts(task.context.get("languages")),
        context=task.context,
    )


def _texts(given: Any) -> tuple[str, ...]:
    return tuple(each for each in given if isinstance(each, str)) if isinstance(given, list | tuple) else ()


def _task_type(words: Sequence[str]) -> str | None:
    """The label with the most cue words; the first cue counts double because a request begins with its verb."""
    strong, weak = _task_cues()
    scores, weight = defaultdict[str, float](float), _FIRST
    for word in dict.fromkeys(words):
        for label in weak.read(word):
            scores[label] += _WEAK
        if labels := strong.read(word):
            for label in labels:
                scores[label] += weight
            weight = _STRONG
    return _best(scores, tuple(_words()["task_types"]))


def _domain(words: Sequence[str], task_type: str | None) -> str | None:
    counted = Counter(chain.from_iterable(_domain_cues().read(word) for word in dict.fromkeys(words)))
    by_type: Mapping[str, str] = _words()["domain_of_type"]
    return _best(counted, tuple(_words()["domains"])) or by_type.get(task_type or "")


def _best(scores: Mapping[str, float], order: Sequence[str]) -> str | None:
    return max(scores, key=lambda label: (scores[label], -order.index(label)), default=None)


def _complexity(words: Sequence[str], files: int) -> float:
    """Complexity that is monotonic: more words, files and hard words never lower it, easy words never raise it."""
    table: Mapping[str, Any] = _words()["complexity"]
    cues = Counter(chain.from_iterable(_difficulty_cues().read(word) for word in dict.fromkeys(words)))
    hard, easy = (min(cues[name], table["most_cues"]) for name in ("hard", "easy"))
    value: float = (
        table["base"]
        + table["words"] * (1 - exp(-len(words) / table["words_scale"]))
        + table["files"] * (1 - exp(-files / table["files_scale"]))
        + table["hard"] * hard
        - table["easy"] * easy
    )
    return round(min(max(value, 0.0), 1.0), 3)


def _paths(text: str) -> Iterator[str]:
    known = _language_of_extension()
    return (found[0] for found in _PATH.finditer(text) if found[1].lower() in known)


def _extensions(paths: Iterable[str]) -> Iterator[str]:
    suffixes = (PurePosixPath(path.replace("\\", "/")).suffix for path in paths)
    return (suffix[1:].lower() for suffix in suffixes if len(suffix) > 1)


def _languages(words: Sequence[str], extensions: Sequence[str]) -> tuple[str, ...]:
    by_extension = (_language_of_extension().get(each, "") for each in extensions)
    by_name = chain.from_iterable(map(_language_cues().read, words))
    return tuple(dict.fromkeys(filter(None, chain(by_extension, by_name))))


@cache
def _words() -> Mapping[str, Any]:
    return tomllib.loads((package_files(__package__) / "task_words.toml").read_text("utf-8"))


@cache
def _task_cues() -> tuple[LabelCues, LabelCues]:
    """Cues for the type, and weak cues that count only without others."""
    tables: Mapping[str, Mapping[str, str]] = _words()["task_types"]
    strong = {label: {key: table[key] for key in table if key != "weak"} for label, table in tables.items()}
    weak = {label: {"weak": table.get("weak", "")} for label, table in tables.items()}
    return LabelCues.of(_listed(strong)), LabelCues.of(_listed(weak))


@cache
def _domain_cues() -> LabelCues:
    return LabelCues.of(_listed(_words()["domains"]))


@cache
def _difficulty_cues() -> LabelCues:
    table = _words()["complexity"]
    return LabelCues.of(_listed({"hard": table["hard_words"], "easy": table["easy_words"]}))


def _listed(tables: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    return ((label, word) for label, table in tables.items() for words in table.values() for word in words.split())


@cache
def _language_cues() -> LabelCues:
    return LabelCues.of((language, word) for language, words in _words()["languages"].items() for word in words.split())


@cache
def _language_of_extension() -> Mapping[str, str]:
    return {ending: language for language, endings in _words()["extensions"].items() for ending in endings.split()}


@cache
def _tool_names() -> frozenset[str]:
    return frozenset(_words()["tools"]["names"].split())
