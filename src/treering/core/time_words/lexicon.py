"""The time words of one language, compiled from its data file.

A template is a regular expression in which a space stands for any white space and `{month}` for a word of the table
`words.month`, a word of the list `lists.month` or the expression `groups.month`. What follows an underscore only tells
tables apart: `{month_sure}` names a month too. `{phrase}` is an event: the group says how it may begin, and it goes on
to the end of the clause. Of the templates under `read`, the first that matches wins; those read as "nothing" keep
others from misreading.
"""

import itertools
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from treering.core.time_words.values import Relation

# Not inside a longer word, a path, a call or an attribute: latest.log, monday.com, now(), docs/may.
_BEFORE, _AFTER = r"(?<![\w./\\@$#-])", r"(?![\w/\\(]|[.@-]\w)"
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_LITERAL = re.compile(r"([^\W\d_]{3,})(\?)?")
_ESCAPE = re.compile(r"\\.")
_GROUPS = {
    "year": r"(?:19|20)\d\d(?!\d)",
    "day": r"\d{1,2}(?!\d)",
    "until": r"\d{1,2}(?!\d)",
    "month_number": r"\d{2}",
    "date": r"\d{4}-\d{1,2}-\d{1,2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?|\d{4}/\d{1,2}/\d{1,2}"
    r"|(?<!version )(?:\d{1,2}/\d{1,2}/\d{4}|\d{1,2}\.\d{1,2}\.\d{4})",
    "capital": r"(?-i:(?=[A-Z]))",
}
# Words of these tables stand in sentences about anything.
_NO_CUES = frozenset({"number", "which", "third"})
_DIGITS = frozenset({"year", "date"})
_CLAUSE_END = r"[,;:?!()\n]|\.(?:\s|$)|$"
_FOLDED = {
    code: base
    for code in range(0xC0, 0x250)
    if (base := unicodedata.normalize("NFD", chr(code))[0]).isascii() and base.isalpha()
} | {ord("’"): "'"}


def fold(text: str) -> str:
    """`text` without accents, character by character: positions stay."""
    return text.translate(_FOLDED)


@dataclass(frozen=True, slots=True)
class Template:
    """One way to say something. `given` are the arguments of its reading that no word tells."""

    reading: str
    expression: str
    given: Mapping[str, Any]
    explicit: bool

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when first met: most templates never are, and `re` keeps those that were."""
        return re.compile(self.expression, re.I)


@dataclass(frozen=True, slots=True)
class AnchorTemplate:
    """One way to tell a time by an event; `when` and `unless` look at the whole query."""

    relation: Relation
    pattern: re.Pattern[str]
    when: re.Pattern[str] | None
    unless: re.Pattern[str] | None

    def applies(self, text: str) -> bool:
        wanted = self.when is None or self.when.search(text) is not None
        return wanted and (self.unless is None or self.unless.search(text) is None)


@dataclass(frozen=True)
class Lexicon:
    """What one language has to say about time; nothing is compiled before it is needed."""

    data: Mapping[str, Any]

    @property
    def spaced(self) -> bool:
        """Whether words stand apart, as they do not in Chinese."""
        return bool(self.data.get("spaced", True))

    @cached_property
    def common(self) -> frozenset[str]:
        """Words by which the language is known; most of its sentences hold one."""
        return frozenset(fold(self.data["common"]).split())

    @cached_property
    def cues(self) -> frozenset[str]:
        """Of these a sentence about time holds at least one, or four digits."""
        return self.time_cues | self._cues(self.data["anchor"])

    @cached_property
    def time_cues(self) -> frozenset[str]:
        """The cues without those that tell a time by an event."""
        return self._cues(entry for entry in self.data["read"] if entry["as"] != "nothing")

    @cached_property
    def templates(self) -> tuple[Template, ...]:
        return tuple(self._template(dict(entry)) for entry in self.data["read"])

    @cached_property
    def any_template(self) -> re.Pattern[str]:
        """All templates at once; the name of the group that matched is `t` and the template's number."""
        branches = (
            f"(?P<t{i}>{self._expand(entry['match'], named=False)})" for i, entry in enumerate(self.data["read"])
        )
        return self._compile("|".join(branches))

    @cached_property
    def bounds(self) -> dict[str, re.Pattern[str]]:
        """What makes a time an end: it stands before the time, in Chinese behind it."""
        return {name: self._beside(template) for name, template in self.data["bounds"].items()}

    @cached_property
    def range_from(self) -> re.Pattern[str]:
        return re.compile(f"{_BEFORE if self.spaced else ''}(?:{self._expand(self.data['range']['from'])})\\s*$", re.I)

    @cached_property
    def range_to(self) -> re.Pattern[str]:
        return re.compile(rf"\s*(?:{self._expand(self.data['range']['to'])})\s*", re.I)

    @cached_property
    def anchors(self) -> tuple[AnchorTemplate, ...]:
        return tuple(
            AnchorTemplate(
                Relation(entry["relation"]),
                re.compile(f"{_BEFORE if self.spaced else ''}{self._expand(entry['match'])}", re.I),
                *(self._compile(self._expand(entry[key])) if key in entry else None for key in ("when", "unless")),
            )
            for entry in self.data["anchor"]
        )

    def words_of(self, found: re.Match[str]) -> dict[str, Any] | None:
        """What the words of a match mean, by argument; None if one means nothing."""
        written = ((name.partition("__")[0], words) for name, words in found.groupdict().items() if words)
        read = {name.partition("_")[0]: self._value(name, words) for name, words in written}
        return None if None in read.values() else read

    def _value(self, name: str, written: str) -> Any:
        table = self.tables.get(name)
        if table is None:
            # The only day with a name of its own is the first: primo, primero.
            return written if name == "date" else int("".join(filter(str.isdecimal, written)) or 1)
        known = table.get(" ".join(written.lower().split()))
        return int(written) if known is None and written.isdecimal() else known

    @cached_property
    def tables(self) -> dict[str, dict[str, Any]]:
        return {
            name: {fold(word): value for word, value in words.items()} for name, words in self.data["words"].items()
        }

    @cached_property
    def _groups(self) -> dict[str, str]:
        own = {name: fold(group).replace(" ", r"\s+") for name, group in self.data.get("groups", {}).items()}
        tables = {name: self._alternatives(words) for name, words in self.tables.items()}
        lists = {name: "|".join(fold(words).split()) for name, words in self.data.get("lists", {}).items()}
        return _GROUPS | tables | lists | own | {"number": rf"\d{{1,3}}|{tables['number']}"}

    @staticmethod
    def _alternatives(words: Mapping[str, Any]) -> str:
        longest_first = sorted(words, key=lambda word: (-len(word), word))
        return "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in longest_first)

    def _expand(self, template: str, *, named: bool = True) -> str:
        again = itertools.count()

        def group(found: re.Match[str]) -> str:
            key = found.group(1)
            inner = self._groups[key]
            if key == "capital":
                return inner
            if key in self.data.get("lists", {}):
                return f"(?:{inner})"
            if key.startswith("phrase"):
                return self._phrase(inner)
            return f"(?P<{key}__{next(again)}>{inner})" if named else f"(?:{inner})"

        return _PLACEHOLDER.sub(group, fold(template).replace(" ", r"\s+"))

    def _phrase(self, beginning: str) -> str:
        if not self.spaced:
            return f"(?P<phrase>{beginning})"
        stop = fold(self.data["stop"]).replace(" ", r"\s+")
        return rf"(?P<phrase>(?:{beginning}).*?)(?=\s*(?:{_CLAUSE_END})|\s+(?:{stop})(?!\w))"

    def _whole(self, expression: str) -> str:
        return f"{_BEFORE}(?:{expression}){_AFTER}" if self.spaced else expression

    def _compile(self, expression: str) -> re.Pattern[str]:
        return re.compile(self._whole(expression), re.I)

    def _beside(self, template: str) -> re.Pattern[str]:
        pattern = self._expand(template)
        return re.compile(f"{_BEFORE}(?:{pattern})\\s*$" if self.spaced else pattern, re.I)

    def _template(self, entry: dict[str, Any]) -> Template:
        reading, expression = entry.pop("as"), self._whole(self._expand(entry.pop("match")))
        return Template(reading, expression, explicit=entry.pop("explicit", False), given=entry)

    def _cues(self, entries: Iterable[Mapping[str, Any]]) -> frozenset[str]:
        return frozenset(word for entry in entries for word in self._needed(fold(entry["match"]))) - self.common

    def _needed(self, template: str) -> Iterator[str]:
        """The words of which `template` needs one: those of its tables, or else its own; digits are seen apart."""
        names = [name for name in _PLACEHOLDER.findall(template) if name not in _NO_CUES]
        if tables := [self.tables[name] for name in names if name in self.tables]:
            yield from (word for table in tables for key in table for word in re.findall(r"\w+", key))
        elif not _DIGITS.intersection(names):
            for word, optional in _LITERAL.findall(_ESCAPE.sub(" ", _PLACEHOLDER.sub(" ", template))):
                yield from (word.lower(), word[:-1].lower()) if optional else (word.lower(),)


@cache
def lexicon(language: str) -> Lexicon:
    """The words of a language, read once."""
    return Lexicon(tomllib.loads((files(__package__) / f"{language}.toml").read_text("utf-8")))
