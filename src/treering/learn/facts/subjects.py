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
_NEXT_WORD = re.compile(r"\s+([^\W\d_]+)")
_NAMES = re.compile(rf"\s*({_NAME}(?:\s+{_NAME}){{0,2}})")
_GENITIVE = re.compile(r"['’]s?$")
_CODE = re.compile(r"[/_.\d]|[a-z][A-Z]")
_LETTER = re.compile(r"[^\W\d_]")
_EDGES = " ,.:;`'\"“”«»„*"


# Whom one calls one's own, by the entry of `words` that lists them.
_KIN: Mapping[str, str] = {"partner": "partners", "relative": "relatives", "pet": "pets", "reports_to": "bosses"}


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
_EITHER = frozenset({"rule", "uses", "has", "is", "status", "scheduled", "decided"})


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

    def spoken_of(self, said: str, rules: Grammar) -> None:
        """Note whom or what nothing was read of: "she" or "it" may mean that."""
        found = self._named(said, "name", rules)
        if found is not None and found.kind is Kind.PERSON:
            self.person = found.name
        elif found is not None and found.kind is Kind.THING:
            self.thing = found.name

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
        mine = attribute in _PRIVATE or (attribute in ("plans", "did", "rule") and self.known)
        return Subject(self.me, Kind.ME) if mine else Subject(PROJECT, Kind.WE)

    def _named(self, said: str, attribute: str, rules: Grammar) -> Subject | None:
        if ":" in said or "," in said.strip(_EDGES):
            return None
        said = self._spelt_out(said.replace("`", "").strip(_EDGES), rules)
        low = lowered(said)
        if rules.is_one("it", low) and self.thing and Kind.THING in takes(attribute):
            return Subject(self.thing, Kind.THING)
        if rules.is_one("he", low) and self.person:
            return Subject(self.person, Kind.PERSON)
        if rules.is_one("projects", low):
            # "The head of the project" is nobody's boss by that.
            return None if attribute in _PRIVATE else Subject(PROJECT, Kind.WE)
        return self.kin(said, rules) or self._noun(said, low, rules)

    def _spelt_out(self, said: str, rules: Grammar) -> str:
        """With the noun that "the one" stands for, as in "the one in production"."""
        found = rules.expression("the_one", r"{}\s+").match(lowered(said)) if self.thing else None
        return f"{(self.thing or '').split()[0]} {said[found.end() :]}" if found else said

    def kin(self, said: str, rules: Grammar) -> Subject | None:
        """Somebody of the speaker's own at the beginning of `said`: "my sister Anna", "my wife Ama and I"."""
        low = lowered(said)
        mine = rules.expression("mine", r"{}\s+").match(low)
        start = mine.end() if mine else 0
        for attribute, words in _KIN.items():
            found = rules.expression(words, r"{}(?!\w)").match(low, start)
            if found is None:
                continue
            noun = said[found.start() : found.end()]
            sure = mine is not None and noun.split()[-1][0].isupper()
            named = _named_at(said, found.end(), rules, sure=sure)
            titled = named is not None and attribute == "relative" and lowered(named[1]).split()[0] in given_names()
            if mine is None and not titled and not rules.is_one("kin_names", lowered(noun)):
                return None
            rest = low[named.end() if named else found.end() :]
            if named and _GENITIVE.search(named[1]) and rest.strip(_EDGES):
                # "My sister Anna's husband" is somebody else.
                return None
            name = _GENITIVE.sub("", named[1]) if named else self._own(noun, rules)
            also = ((attribute, name),) if named else ()
            if rules.expression("and_me", r"\s*{}").match(rest):
                return Subject(self.me, Kind.ME, also)
            return None if rest.strip(_EDGES) and not named else Subject(name, Kind.PERSON, also)
        return None

    def _own(self, noun: str, rules: Grammar) -> str:
        """The name of what has none but that it is the speaker's: "alice's sister", "hermana de alice"."""
        form: str = rules.data["text"].get("own", "{me}'s {noun}") if self.known else "{me}'s {noun}"
        return form.format(me=self.me, noun=noun)

    def _noun(self, said: str, low: str, rules: Grammar) -> Subject | None:
        article = rules.expression("articles", r"{}\s*").match(low)
        noun = _GENITIVE.sub("", said[article.end() if article else 0 :].strip(_EDGES))
        words = lowered(noun).split()
        if not _LETTER.search(noun) or not _may_be_noun(words, rules, definite=article is not None):
            return None
        title, name = words[0], noun[len(words[0]) :].strip()
        if title in rules.listed["people"] and _NAMES.fullmatch(name):
            return Subject(name, Kind.PERSON)
        kind = self._kind_of_name(noun, words)
        # "die Lea" is somebody, too.
        if kind and (not article or (kind is Kind.PERSON and noun[:1].isupper())):
            return Subject(noun, kind)
        people = not rules.listed["people"].isdisjoint(words) or rules.is_one("pets", lowered(noun))
        mine = rules.expression("my", r"{}\s").match(low)
        return Subject(self._own(noun, rules) if mine else noun, Kind.PERSON if people else Kind.THING)

    def _kind_of_name(self, noun: str, words: list[str]) -> Kind | None:
        """What bears a name without an article; None if it is no name."""
        if noun == self.person or _is_somebody(noun, words):
            return Kind.PERSON
        capital = len(words) <= _NAME_WORDS and _NAMES.fullmatch(noun) and not _CODE.search(noun)
        return Kind.NAME if capital or (len(words) == 1 and not self.capitals) else None


def _may_be_noun(words: list[str], rules: Grammar, *, definite: bool) -> bool:
    """Whether these words, `definite` with an article before them, name something."""
    text = " ".join(words)
    if len(words) > _MOST_WORDS or not rules.listed["no_subject"].isdisjoint(words):
        return False
    if rules.is_one("relations", text) or rules.expression("no_subject_in", r"{}").search(text):
        return False
    return definite or not rules.is_one("verb", words[0])


def _named_at(said: str, start: int, rules: Grammar, *, sure: bool) -> re.Match[str] | None:
    """A name there; where nouns have capitals, too, a first name or, if `sure`, one that is not among `no_names`."""
    named = _NAMES.match(said, start) or _first_name_at(said, start)
    if named is None or "no_names" not in rules.listed:
        return named
    first = lowered(named[1]).split()[0]
    return named if first in given_names() or (sure and first not in rules.listed["no_names"]) else None


def _is_somebody(noun: str, words: list[str]) -> bool:
    """Whether it is a person's name: "Lena", "lena", "Lena Brandt"."""
    return words[0] in given_names() and (len(words) == 1 or (_NAMES.fullmatch(noun) is not None and noun.istitle()))


def _first_name_at(said: str, start: int) -> re.Match[str] | None:
    """A first name there that lacks its capital."""
    named = _NEXT_WORD.match(said, start)
    return named if named and lowered(named[1]) in given_names() else None
