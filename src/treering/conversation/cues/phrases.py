"""The phrase files: one for each language, and one for machine output in any language.

A file has a table for each cue, whose `phrases` (see `notation.py`) indicate it. A sentence does not count if it
matches a phrase of `except`, if it is a question (unless `questions = true`), or if the next sentence matches
`unless_next`. A message is casual if all its words belong to `phrases` or, next to one of those, to `beside`; both are
plain words.
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
# Roles to which a cue applies. Of tool output, only the patterns in machine.toml indicate errors.
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
    """The phrases of one cue in one file."""

    cue: str
    phrases: tuple[Phrase, ...]
    spared: str
    """Expression of excepted sentences, or ''."""
    questions: bool
    unless_next: str
    """Expression that must not match the next sentence, or ''."""


@dataclass(frozen=True, slots=True)
class PhraseIndex:
    """The phrases for one role, by a word that each requires."""

    by_word: Mapping[str, tuple[tuple[frozenset[str] | None, CueRule, Phrase], ...]]
    """Each with the most selective of the phrase's other required words."""
    by_part: tuple[tuple[CueRule, Phrase], ...]
    """Phrases that are recognised by a part of a word."""
    keys: frozenset[str]
    """The words of `by_word`."""


@dataclass(frozen=True, slots=True)
class SmallTalk:
    """Phrases as folded words separated by spaces."""

    phrases: frozenset[str]
    beside: frozenset[str]

    def covers(self, words: list[str]) -> bool:
        """Whether `words` are only small talk, with at least one of `phrases`."""
        reached: dict[int, bool] = {0: False}
        for start in range(len(words)):
            if start not in reached:
                continue
            for end in range(start + 1, min(len(words), start + _MAX_PHRASE_WORDS) + 1):
                candidate = " ".join(words[start:end])
                if candidate in self.phrases or candidate in self.beside:
                    reached[end] = reached.get(end, False) or reached[start] or candidate in self.phrases
        return reached.get(len(words), False)


compiled = cache(re.compile)


@cache
def phrase_index(role: Role) -> PhraseIndex:
    """The phrases for messages of `role`, loaded on first use."""
    return index_of(_rules(role))


def index_of(rules: Iterable[CueRule]) -> PhraseIndex:
    """An index of the phrases of `rules`."""
    by_word: dict[str, list[tuple[frozenset[str] | None, CueRule, Phrase]]] = {}
    by_part: list[tuple[CueRule, Phrase]] = []
    for rule in rules:
        for each in rule.phrases:
            for key in each.keys:
                by_word.setdefault(key, []).append((next(iter(each.others), None), rule, each))
            if not each.keys:
                by_part.append((rule, each))
    return PhraseIndex({word: tuple(entries) for word, entries in by_word.items()}, tuple(by_part), frozenset(by_word))


@cache
def lead_words() -> frozenset[str]:
    """Words that may precede the first word of a sentence."""
    return frozenset(word for language in LANGUAGES for word in fold(_data(language)["leads"]).split())


@cache
def reply_words() -> frozenset[str]:
    """First words of messages that continue the previous one."""
    return frozenset(word for language in LANGUAGES for word in fold(_data(language)["replies"]).split())


@cache
def small_talk() -> SmallTalk:
    tables = [_data(language)[Cue.CASUAL] for language in LANGUAGES]
    return SmallTalk(
        frozenset(form for table in tables for form in _forms(table["phrases"])),
        frozenset(form for table in tables for form in _forms(table.get("beside", ()))),
    )


def _forms(phrases: list[str]) -> Iterator[str]:
    """Each phrase as words, with and without apostrophes."""
    for written in map(fold, phrases):
        yield " ".join(_WORD.findall(written))
        yield " ".join(_WORD.findall(written.replace("'", "")))


def _rules(role: Role) -> Iterator[CueRule]:
    yield from (rule_of(Cue.ERROR, _data(MACHINE)[name], _data(MACHINE)) for name in _SHAPES[role])
    for language in LANGUAGES:
        data = _data(language)
        spoken = (cue for cue in Cue if cue is not Cue.CASUAL and cue in data and role in APPLIES[cue])
        yield from (rule_of(cue, data[cue], data) for cue in spoken)


# Tables of machine.toml that apply to each role.
_SHAPES: Mapping[Role, tuple[str, ...]] = {
    Role.USER: ("printed", "quoted"),
    Role.ASSISTANT: ("printed", "quoted"),
    Role.TOOL: ("printed",),
    Role.SYSTEM: (),
}


def rule_of(cue: str, table: Mapping[str, Any], data: Mapping[str, Any]) -> CueRule:
    """The rule in `table`, one of the tables of a phrase file."""
    lists: Mapping[str, list[str]] = {name: words.split() for name, words in data.get("words", {}).items()}
    return CueRule(
        cue,
        tuple(phrase(each, lists) for each in table["phrases"]),
        within_sentence(table.get("except", ()), lists),
        table.get("questions", False),
        within_sentence(table.get("unless_next", ()), lists),
    )


@cache
def _data(name: str) -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / f"{name}.toml").read_text("utf-8"))
