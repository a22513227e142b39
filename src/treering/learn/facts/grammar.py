"""How one language says facts, compiled from its data file.

An entry under `say` is read `as` an attribute. Its expressions are regular expressions over folded text in which a
space stands for any white space, `{value}` for what is said, `{subject}` for whom it is said of, `{over}` for what it
is said instead of, and the name of another attribute for what is said along with it (`{role} at {works_at}`).

- `match` is a whole clause. Whom it is said of is its `{subject}`, or `of`: "me", "we".
- `noun` is what somebody has ("birthday"), `thing` what something has ("port"); their forms are in the tables of that
  name, and `then` follows them.
- `relation` is what something has, too, but says nothing where nothing is named that has it ("status").
- `me`, `we` and `they` are verbs for each person, and `then` is what follows the verb, behind any `adverbs`; the
  pronouns are in `who`. With `of`, the subject is in `then`: "we wrote {subject} in {value}".
- `value = "time"` takes the time that the clause names, "date" that time as it was said, "often" the words that
  say how often it happens, "me" whoever speaks.
- `needs = "time"`, "past", "future": only where the clause names such a time; "since": one that is over;
  "over": only where it denies something; "timeless": only where it names no time.
- `proper = true`: only where the value has a capital or a digit; "first": where its first word has.
- `given = true`: only where the value begins with a first name.
- `capital = true`: that, even where whoever writes uses no capitals.
- `person = true`: only of somebody who is known to be one.
- `past = true`: it was so for the time that is named, and is so no longer ("I lived in Bonn until 2020").
- `ended`, `type` and `coming` (a time without a year lies ahead) say what they say in a statement.

`{name}` also stands for an entry of `words`.

An entry under `turn` says how to put a clause in the plain order: what `match` has in its groups goes where `to` has
their names ("it is {Ada} who {owns the docs}": "{Ada} {owns the docs}"). The groups are called `first`, `second`, …
With `opening = true` only the first clause of a sentence is turned ("based in Cork": "i based in Cork").
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, NamedTuple

from treering.core.language.stems import stop_words
from treering.core.statements import ATTRIBUTES
from treering.core.time_words.lexicon import Lexicon, lexicon
from treering.learn.facts.keys import keys_of
from treering.learn.facts.letters import bare
from treering.learn.facts.times import TimeWords

_NOWHERE = r"(?!)"
LANGUAGES = ("en", "fr", "it", "de", "es")
# Values that are taken from the times of a clause.
FROM_TIMES = frozenset({"time", "date", "often"})
PERSONS = ("me", "we", "they")
# Their values, behind a noun, are names of people and pets: "my sister is Anna".
BEARERS = frozenset({"reports_to", "partner", "relative", "pet"})

_PLACE = re.compile(r"\{([a-z_]+)\}")
_GROUPS = {
    "subject": r"(?P<subject>\S(?:.{0,58}?\S)?)",
    "value": r"(?P<value>\S(?:.*\S)?)",
    "short": r"(?P<value>\S(?:.*?\S)?)",
    "over": r"(?P<over>\S(?:.*?\S)?)",
    "name": r"(?P<value>[^\s,]+(?: [^\s,]+){0,3}?)",
    "path": r"(?P<value>(?!v?\d+(?:\.\d+){0,2}(?:[\s,;]|\Z))(?:\w+://|[\w.~@-]*[/.\\])[^\s,;]*[\w/]|`[^`]+`)",
    "number": r"(?P<value>\d[\d.]*)",
}

# Signs of which what stands for a group holds one.
_SIGNS = {"path": re.compile(r"[/.\\`]"), "paths": re.compile(r"[/.\\`#:]"), "number": re.compile(r"\d")}


@dataclass(frozen=True)
class Pattern:
    """One way to say `attribute`; a clause with it holds one of the words `keys` and each of the `signs`."""

    attribute: str
    expression: str
    keys: frozenset[str]
    of: str = "they"
    ended: bool = False
    type: str | None = None
    coming: bool = False
    value: str = "said"
    needs: str | None = None
    proper: bool | str = False
    capital: bool = False
    given: bool = False
    person: bool = False
    past: bool = False
    names: bool = False
    """Whether the value is a name that somebody bears."""
    signs: tuple[re.Pattern[str], ...] = ()

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.expression)

    @cached_property
    def conditional(self) -> bool:
        """Whether a clause must have more than its words."""
        return self.needs is not None or bool(self.signs) or self.value in FROM_TIMES


class Opening(NamedTuple):
    """What the word at which a clause begins tells of it."""

    hard: bool
    """Whether it never goes on with what was before."""
    lists: bool
    """Whether it may be one more of what was listed before."""
    dependent: bool
    """Whether it says nothing by itself: "when …"."""
    shares: bool
    """Whether it may leave out the subject of what was before: "but lives in Cork"."""
    relative: bool
    """Whether it says something of the name before it: "Anna, who lives in Cork"."""


@dataclass(frozen=True)
class Turn:
    """Another order of words; `to` are the words of the plain one and the groups of `expression` among them."""

    number: int
    expression: re.Pattern[str]
    to: tuple[str, ...]
    opening: bool = False


@dataclass(frozen=True)
class Grammar:
    """What one language has to say; nothing is compiled before it is needed."""

    language: str
    data: Mapping[str, Any]

    @cached_property
    def words(self) -> Mapping[str, str]:
        """Expressions by name, without accents."""
        return {name: bare(written) for name, written in self.data["words"].items()}

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """All of them; the first that fits is the one that is meant."""
        return tuple(self._patterns())

    @cached_property
    def by_word(self) -> Mapping[str, frozenset[int]]:
        """The places among the patterns of those that have a word for a key."""
        held: dict[str, set[int]] = {}
        for place, pattern in enumerate(self.patterns):
            for key in pattern.keys:
                held.setdefault(key, set()).add(place)
        return {word: frozenset(places) for word, places in held.items()}

    @cached_property
    def turns(self) -> Mapping[str, tuple[Turn, ...]]:
        """Other orders of words, by a word that each of them holds."""
        held: dict[str, list[Turn]] = {}
        for number, entry in enumerate(self.data.get("turn", ())):
            expression = re.compile(rf"{self.expand(entry['match'])}\s*\Z")
            turn = Turn(number, expression, tuple(entry["to"].split()), entry.get("opening", False))
            for key in self._keys(entry.get("key", entry["match"])):
                held.setdefault(key, []).append(turn)
        return {word: tuple(turns) for word, turns in held.items()}

    @cached_property
    def times(self) -> TimeWords:
        """The language's time words, after those for what is to come, which a query has no use for."""
        known = lexicon(self.language).data
        bounds = {**known["bounds"], **self.data.get("bounds", {})}
        words = {**known["words"], **self.data.get("when_words", {})}
        read = [*self.data.get("when", ()), *known["read"]]
        return TimeWords(Lexicon({**known, "words": words, "bounds": bounds, "read": read}))

    @cached_property
    def drops_subject(self) -> bool:
        """Whether a clause of the speaker's own begins with its verb ("vivo a Roma"), which no other can share."""
        return bool(self.data["who"].get("dropped", False))

    @cached_property
    def _expressions(self) -> dict[tuple[str, str], re.Pattern[str]]:
        return {}

    def expression(self, name: str, around: str = "{}") -> re.Pattern[str]:
        """The entry `name` of `words`, compiled once; `around` says where it stands. A missing one never matches."""
        known = self._expressions.get((name, around))
        if known is None:
            known = re.compile(around.replace("{}", f"(?:{self.expand(self.words.get(name, _NOWHERE))})"))
            self._expressions[name, around] = known
        return known

    @cached_property
    def _keys_by_name(self) -> dict[str, frozenset[str]]:
        return {}

    def may_hold(self, name: str, words: Set[str]) -> bool:
        """Whether a text of these words may hold what the entry `name` of `words` says."""
        keys = self._keys_by_name.get(name)
        if keys is None:
            keys = self._keys_by_name[name] = keys_of(self._spread(self.words[name]), frozenset())
        return not keys or not words.isdisjoint(keys)

    @cached_property
    def kin(self) -> str:
        """An expression for whom and what one calls one's own."""
        return "|".join(self.expand(self.words[name]) for name in ("partners", "relatives", "pets"))

    @cached_property
    def accented_doubt(self) -> re.Pattern[str]:
        """Words of doubt that only their accents tell from others: "würde", not "wurde"."""
        return re.compile(rf"(?<!\w)(?:{self.data['words'].get('accented_doubt', _NOWHERE)})(?!\w)")

    def is_one(self, name: str, text: str) -> bool:
        """Whether all of `text` is an entry `name` of `words`."""
        return self.expression(name).fullmatch(text) is not None

    @cached_property
    def _openings(self) -> dict[str, Opening]:
        return {}

    def opening(self, boundary: str) -> Opening:
        """What it tells of a clause that it begins with `boundary`."""
        known = self._openings.get(boundary)
        if known is None:
            lists = boundary == "" or self.is_one("listing", boundary)
            hard = not lists and not self.is_one("soft", boundary)
            dependent, relative = self.is_one("dependent", boundary), self.is_one("relative_pronoun", boundary)
            shares = not hard or self.is_one("shares", boundary)
            known = Opening(hard, lists, dependent, shares, relative)
            if boundary.isprintable():
                self._openings[boundary] = known
        return known

    @cached_property
    def listed(self) -> Mapping[str, frozenset[str]]:
        """Plain words by the name of their list."""
        return {name: frozenset(bare(words).split()) for name, words in self.data["lists"].items()}

    def expand(self, template: str) -> str:
        def group(found: re.Match[str]) -> str:
            name = found[1]
            if name in _GROUPS:
                return _GROUPS[name]
            if name in self.words:
                return f"(?:{self.expand(self.words[name])})"
            if name in ATTRIBUTES:
                return rf"(?P<{name}>\S(?:.*?\S)?)"
            raise ValueError(f"{self.language}.toml: {{{name}}} is neither a word nor an attribute")

        return _PLACE.sub(group, bare(template)).replace(" ?", r"\s*").replace(" ", r"\s+")

    def _patterns(self) -> Iterator[Pattern]:
        for entry in self.data["say"]:
            for of, template, telling in self._templates(entry):
                yield Pattern(
                    entry["as"],
                    rf"{self.expand(template)}\s*\Z",
                    self._keys(telling),
                    of=of,
                    ended=entry.get("ended", False) or entry.get("past", False),
                    past=entry.get("past", False),
                    type=entry.get("type"),
                    coming=entry.get("coming", False),
                    value=entry.get("value", "said"),
                    needs=entry.get("needs"),
                    proper=entry.get("proper", False),
                    capital=entry.get("capital", False),
                    given=entry.get("given", False),
                    person=entry.get("person", False),
                    names="noun" in entry and entry["as"] in BEARERS,
                    signs=tuple(sign for name, sign in _SIGNS.items() if f"{{{name}}}" in template),
                )

    def _templates(self, entry: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
        """Each with whom it is said of, and the part that tells it."""
        whole = entry.get("match", ())
        for template in [whole] if isinstance(whole, str) else whole:
            yield entry.get("of", "they"), template, entry.get("key", template)
        then = entry.get("then", "{value}")
        then = f" {then}" if then and not then.startswith("(?: ") else then
        between = "(?: (?:{adverbs})(?!\\w))*" if "adverbs" in self.words else ""
        for kind in ("noun", "thing", "relation"):
            for form in self._forms(kind) if kind in entry else ():
                template = form["match"].replace("{noun}", f"(?:{entry[kind]})")
                yield form["of"], template + then, entry.get("key", entry[kind])
        # "Fan d'escalade": no space behind an apostrophe.
        joined = f"(?: |(?<=')){then[1:]}" if then.startswith(" ") else then
        for person in PERSONS:
            if person in entry:
                verbs = entry[person]
                yield (
                    entry.get("of", person),
                    f"{self.data['who'][person]}(?:{verbs})(?:(?<=')|(?!\\w)){between}{joined}",
                    entry.get("key", verbs),
                )

    def _forms(self, kind: str) -> list[Mapping[str, str]]:
        if kind == "relation":
            return [form for form in self.data["thing"] if form["of"] == "they"]
        return list(self.data[kind])

    def _spread(self, template: str) -> str:
        """With the entries of `words` in their places."""
        return _PLACE.sub(
            lambda found: f"(?:{self._spread(self.words[found[1]])})" if found[1] in self.words else found[0],
            bare(template),
        )

    def _keys(self, telling: str) -> frozenset[str]:
        keys = keys_of(self._spread(telling), stop_words(self.language))
        if not keys:
            raise ValueError(f"{self.language}.toml: {telling!r} needs no word; give one as `key`")
        return keys


@cache
def grammar(language: str) -> Grammar:
    """The grammar of a language, read once."""
    return Grammar(language, tomllib.loads((files(__package__) / f"{language}.toml").read_text("utf-8")))


@cache
def given_names() -> frozenset[str]:
    """First names of people, folded, from all languages."""
    return frozenset().union(*(grammar(each).listed["given"] for each in LANGUAGES))
