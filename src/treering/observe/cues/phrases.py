"""The phrase files of the observer, one for each language: a table for each kind of cue, as in `conversation.cues`."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from treering.conversation.cues.notation import LANGUAGES
from treering.conversation.cues.phrases import CueRule, PhraseIndex, index_of, rule_of
from treering.core.language.folding import fold
from treering.observe.cues.kinds import USER_KINDS, CueKind


@cache
def phrase_index(*, by_user: bool) -> PhraseIndex:
    """The phrases for prompts or for the agent's text, loaded on first use."""
    return index_of(_rules(by_user=by_user))


@cache
def lead_words() -> frozenset[str]:
    """Words that may precede the first word of a sentence."""
    return frozenset(word for language in LANGUAGES for word in fold(_data(language)["leads"]).split())


def _rules(*, by_user: bool) -> Iterator[CueRule]:
    kinds = [kind for kind in CueKind if (kind in USER_KINDS) == by_user]
    for data in map(_data, LANGUAGES):
        yield from (rule_of(kind, data[kind], data) for kind in kinds)


@cache
def _data(language: str) -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / f"{language}.toml").read_text("utf-8"))
