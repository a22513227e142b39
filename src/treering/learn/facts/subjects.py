"""Whom or what a statement is about."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from treering.core.statements import PROJECT
from treering.learn.facts.grammar import Grammar, given_names
from treering.learn.facts.letters import lowered

_MOST_WORDS = 6
_NAME_WORDS = 3
_NAME = r"[A-ZÀ-ÖØ-Þ][\w'’-]*"
_NAMES = re.compile(rf"\s*({_NAME}(?:\s+{_NAME}){{0,2}})")
_GENITIVE = re.compile(r"['’]s?$")
_CODE = re.compile(r"[/_.\d]|[a-z][A-Z]")
_LETTER = re.compile(r"[^\W\d_]")
_EDGES = " ,.:;`'\"“”«»„*"


# Whom one calls one's own, by the entry of `words` that lists them.
_KIN: Mapping[str, str] = {"partner": "partners", "relative": "relatives", "pet": "pets"}


class Kind(Enum):
    ME = "me"
    WE = "we"
    PERSON = "person"
    THING = "thing"
    NAME = "name"
    """A name without an article, of somebody or something."""


_SOMEBODY = frozenset({Kind.ME, Kind.WE, Kind.PERSON, Kind.NAME})
_SOMETHING = frozenset({Kind.WE, Kind.THING, Kind.NAME})
_ANY = frozenset(Kind)
_PRIVATE = frozenset(
    {
        "name",
        "lives_in",
        "from",
        "born_on",
        "age",
        "works_at",
        "role",
        "team",
        "reports_to",
        "email",
        "phone",
        "timezone",
        "partner",
        "relative",
        "pet",
        "speaks",
        "studies",
        "allergic_to",
        "diet",
        "owns",
    }
)
_SHARED = frozenset({"likes", "dislikes", "prefers", "plans", "did"})
# A hotline has a number, too.
_CONTACTS = frozenset({"email", "phone"})
_EITHER = frozenset({"uses", "has", "is", "status", "scheduled", "deadline", "decided"})


def takes(attribute: str) -> frozenset[Kind]:
    """Of whom or what it can be said."""
    if attribute in _CONTACTS:
        return _ANY
    if attribute in _PRIVATE or attribute in _SHARED:
        return _SOMEBODY
    return _ANY if attribute in _EITHER else _SOMETHING


@dataclass(frozen=True, slots=True)
class Subject:
    name: str
    kind: Kind
    also: tuple[tuple[str, str], ...] = ()
    """What naming it says of the speaker: "my sister Anna"."""


@dataclass
class Talk:
    """Who speaks, and who and what was spoken of last."""

    me: str
    known: bool
    capitals: bool = True
    person: str | None = None
    thing: str | None = None

    @property
    def myself(self) -> Subject:
        return Subject(self.me, Kind.ME)

    def noted(self, subject: Subject) -> None:
        if subject.kind in (Kind.PERSON, Kind.NAME):
            self.person = subject.name
        if subject.kind in (Kind.THING, Kind.NAME):
            self.thing = subject.name

    def subject(self, of: str, said: str, attribute: str, rules: Grammar) -> Subject | None:
        """The one meant by `of` or, where that is "they", by what was `said`; None where nobody can tell."""
        match of:
            case "me":
                found: Subject | None = Subject(self.me, Kind.ME)
            case "we":
                found = self._we(attribute)
            case "them":
                found = Subject(self.person, Kind.PERSON) if self.person and attribute != "name" else None
            case "it":
                found = Subject(self.thing or PROJECT, Kind.THING)
            case _:
                found = self._named(said, attribute, rules)
        return found if found and found.kind in takes(attribute) else None

    def _we(self, attribute: str) -> Subject:
        mine = attribute in _PRIVATE or (attribute in ("plans", "did") and self.known)
        return Subject(self.me, Kind.ME) if mine else Subject(PROJECT, Kind.WE)

    def _named(self, said: str, attribute: str, rules: Grammar) -> Subject | None:
        if ":" in said or "," in said.strip(_EDGES):
            return None
        said = said.strip(_EDGES)
        low = lowered(said)
        if rules.is_one("it", low) and self.thing and Kind.THING in takes(attribute):
            return Subject(self.thing, Kind.THING)
        if rules.is_one("he", low) and self.person:
            return Subject(self.person, Kind.PERSON)
        if rules.is_one("projects", low):
            return Subject(PROJECT, Kind.WE)
        return self.kin(said, rules) or self._noun(said, low, rules)

    def kin(self, said: str, rules: Grammar) -> Subject | None:
        """Somebody of the speaker's own at the beginning of `said`: "my sister Anna", "my wife Ama and I"."""
        low = lowered(said)
        mine = rules.expression("mine", r"{}\s+").match(low)
        if mine is None:
            return None
        for attribute, words in _KIN.items():
            found = rules.expression(words, r"{}(?!\w)").match(low, mine.end())
            if found is None:
                continue
            named = _NAMES.match(said, found.end())
            rest = low[named.end() if named else found.end() :]
            also = ((attribute, named[1]),) if named else ()
            if rules.expression("and_me", r"\s*{}").match(rest):
                return Subject(self.me, Kind.ME, also)
            name = named[1] if named else self._own(said[found.start() : found.end()])
            return None if rest.strip(_EDGES) and not named else Subject(name, Kind.PERSON, also)
        return None

    def _own(self, noun: str) -> str:
        """The name of what has none but that it is the speaker's: "alice's sister", in any language."""
        return f"{self.me}'s {noun}"

    def _noun(self, said: str, low: str, rules: Grammar) -> Subject | None:
        article = rules.expression("articles", r"{}\s*").match(low)
        start = article.end() if article else 0
        noun = _GENITIVE.sub("", said[start:].strip(_EDGES))
        words = lowered(noun).split()
        if not _LETTER.search(noun) or len(words) > _MOST_WORDS or not rules.listed["no_subject"].isdisjoint(words):
            return None
        if rules.is_one("relations", " ".join(words)) or rules.is_one("verb", words[0]):
            return None
        if not article and _is_somebody(noun, words):
            return Subject(noun, Kind.PERSON)
        if not article and len(words) <= _NAME_WORDS and _NAMES.fullmatch(noun) and not _CODE.search(noun):
            return Subject(noun, Kind.NAME)
        if not article and len(words) == 1 and not self.capitals:
            return Subject(noun, Kind.NAME)
        people = not rules.listed["people"].isdisjoint(words) or rules.is_one("pets", lowered(noun))
        mine = rules.expression("my", r"{}\s").match(low)
        return Subject(self._own(noun) if mine else noun, Kind.PERSON if people else Kind.THING)


def _is_somebody(noun: str, words: list[str]) -> bool:
    """Whether it is a person's name: "Lena", "lena", "Lena Brandt"."""
    return words[0] in given_names() and (len(words) == 1 or (_NAMES.fullmatch(noun) is not None and noun.istitle()))
