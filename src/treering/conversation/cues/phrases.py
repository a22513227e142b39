"""The phrase files: one for each language, and one for what machines print in any of them.

A file holds a table for each cue. `phrases` show it, in the notation of `notation.py`. A sentence that holds a phrase
of `except` shows nothing, nor does one that asks, unless `questions = true`, nor one before a sentence with a phrase of
`unless_next`. Casual messages are told otherwise: all their words must belong to its `phrases` or, beside one of those,
to `beside`; both are plain.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

from treering.conversation.cues.notation import LANGUAGES, Phrase, phrase, within_sentence
from treering.core.language.folding import fold
from treering.core.messages import Role


class Cue(StrEnum):
    DIRECTIVE = "directive"
    CORRECTION = "correction"
    ERROR = "error"
    CASUAL = "casual"
    OPENS_TASK = "opens_task"
    ENDS_TASK = "ends_task"
    REFERENCES = "references"


MACHINE = "machine"
_TALK = frozenset({Role.USER, Role.ASSISTANT})
# Whose words show what. Tools say many things about errors; only the shapes in machine.toml are theirs.
APPLIES: Mapping[Cue, frozenset[Role]] = {
    Cue.DIRECTIVE: frozenset({Role.USER}),
    Cue.CORRECTION: frozenset({Role.USER}),
    Cue.ERROR: _TALK,
    Cue.CASUAL: _TALK,
    # An assistant says "now let's" before each of its steps.
    Cue.OPENS_TASK: frozenset({Role.USER}),
    Cue.ENDS_TASK: _TALK,
    Cue.REFERENCES: _TALK,
}
_MAX_PHRASE_WORDS = 5
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class CueRule:
    """What one file says of one cue."""

    cue: Cue
    phrases: tuple[Phrase, ...]
    spared: str
    """Expression of the sentences that show nothing; '' where there are none."""
    questions: bool
    unless_next: str
    """Expression of what must not begin the next sentence; '' where there is none."""


@dataclass(frozen=True, slots=True)
class PhraseIndex:
    """Every phrase that counts for one role, by the words it can't do without."""

    by_word: Mapping[str, tuple[tuple[frozenset[str] | None, CueRule, Phrase], ...]]
    """With the first of the phrase's other words, which rules out most."""
    by_part: tuple[tuple[CueRule, Phrase], ...]
    """Those that are told by a part of a word."""


@dataclass(frozen=True, slots=True)
class SmallTalk:
    """Phrases as their folded words with a space between."""

    phrases: frozenset[str]
    beside: frozenset[str]

    def covers(self, words: list[str]) -> bool:
        """Whether nothing but small talk is in `words`, and not only what stands beside it."""
        reached: dict[int, bool] = {0: False}
        for start in range(len(words)):
            if start not in reached:
                continue
            for end in range(start + 1, min(len(words), start + _MAX_PHRASE_WORDS) + 1):
                said = " ".join(words[start:end])
                if said in self.phrases or said in self.beside:
                    reached[end] = reached.get(end, False) or reached[start] or said in self.phrases
        return reached.get(len(words), False)


compiled = cache(re.compile)


@cache
def phrase_index(role: Role) -> PhraseIndex:
    """The phrases for messages of `role`, read at the first call."""
    by_word: dict[str, list[tuple[frozenset[str] | None, CueRule, Phrase]]] = {}
    by_part: list[tuple[CueRule, Phrase]] = []
    for rule in _rules(role):
        for each in rule.phrases:
            for key in each.keys:
                by_word.setdefault(key, []).append((next(iter(each.others), None), rule, each))
            if not each.keys:
                by_part.append((rule, each))
    return PhraseIndex({word: tuple(held) for word, held in by_word.items()}, tuple(by_part))


@cache
def lead_words() -> frozenset[str]:
    """Words that may stand before the first of a sentence."""
    return frozenset(word for language in LANGUAGES for word in fold(_data(language)["leads"]).split())


@cache
def reply_words() -> frozenset[str]:
    """First words of messages that go on with what was said before."""
    return frozenset(word for language in LANGUAGES for word in fold(_data(language)["replies"]).split())


@cache
def small_talk() -> SmallTalk:
    tables = [_data(language)[Cue.CASUAL] for language in LANGUAGES]
    return SmallTalk(
        frozenset(form for table in tables for form in _forms(table["phrases"])),
        frozenset(form for table in tables for form in _forms(table.get("beside", ()))),
    )


def _forms(phrases: list[str]) -> Iterator[str]:
    """As words, with and without the apostrophes."""
    for written in map(fold, phrases):
        yield " ".join(_WORD.findall(written))
        yield " ".join(_WORD.findall(written.replace("'", "")))


def _rules(role: Role) -> Iterator[CueRule]:
    yield from (_rule(Cue.ERROR, _data(MACHINE)[name], _data(MACHINE)) for name in _SHAPES[role])
    for language in LANGUAGES:
        data = _data(language)
        spoken = (cue for cue in Cue if cue is not Cue.CASUAL and cue in data and role in APPLIES[cue])
        yield from (_rule(cue, data[cue], data) for cue in spoken)


# Tables of machine.toml by whose words they are looked for in.
_SHAPES: Mapping[Role, tuple[str, ...]] = {
    Role.USER: ("printed", "quoted"),
    Role.ASSISTANT: ("printed", "quoted"),
    Role.TOOL: ("printed",),
    Role.SYSTEM: (),
}


def _rule(cue: Cue, table: Mapping[str, Any], data: Mapping[str, Any]) -> CueRule:
    lists: Mapping[str, list[str]] = {name: words.split() for name, words in data.get("words", {}).items()}
    return CueRule(
        cue,
        tuple(phrase(each, lists) for each in table["phrases"]),
        _either(table.get("except", ()), lists),
        table.get("questions", False),
        _either(table.get("unless_next", ()), lists),
    )


def _either(phrases: Iterable[str], lists: Mapping[str, list[str]]) -> str:
    return "|".join(within_sentence(each, lists) for each in phrases)


@cache
def _data(name: str) -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text("utf-8"))
