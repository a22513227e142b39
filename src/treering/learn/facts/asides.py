"""What stands in brackets behind a noun: "der Crawler (Elixir)", "Mattermost (chat.example.org)"."""

import re
from collections.abc import Iterator

from treering.learn.facts.clauses import Clause
from treering.learn.facts.grammar import Grammar
from treering.learn.facts.letters import lowered
from treering.learn.facts.matching import Matcher, Reading

_ASIDE = re.compile(r"(?P<noun>[^\s(),;:]+(?:\s+[^\s(),;:]+)?)\s+\((?P<said>[^()]{1,60})\)")
_TOLD = frozenset({"written_in", "located_at", "port", "version"})


def asides(said: str, rules: Grammar, matcher: Matcher) -> Iterator[Reading]:
    """What is told of the noun before each of them, in the languages that name the verbs to try."""
    if "(" not in said or "aside_verbs" not in rules.words:
        return
    for found in _ASIDE.finditer(said):
        told = _plain(found["said"], rules)
        nouns = dict.fromkeys((found["noun"], found["noun"].split()[-1]))
        tries = [f"{noun} {verb} {told}" for noun in nouns for verb in rules.data["words"]["aside_verbs"].split("|")]
        if reading := next(filter(None, (_told(each, told, matcher) for each in tries)), None):
            yield reading


def _plain(said: str, rules: Grammar) -> str:
    """Without the words that only fill."""
    fillers = rules.expression("fillers", r"(?<![\w-]){}(?![\w-])")
    for found in reversed(list(fillers.finditer(lowered(said)))):
        said = said[: found.start()] + said[found.end() :]
    return said.strip(" ,")


def _told(text: str, told: str, matcher: Matcher) -> Reading | None:
    """The reading of `text` where all that was `told` is its value."""
    reading = matcher.read(Clause(text, lowered(text)))
    sure = reading is not None and reading.facts[0].attribute in _TOLD and reading.facts[0].value in told
    return reading if sure else None
