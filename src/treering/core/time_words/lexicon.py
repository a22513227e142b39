"""Time expressions of one language, compiled from its data file.

A template is a regular expression in which a space matches any white space and `{month}` a word of the table
`words.month`, a word of the list `lists.month` or the expression `groups.month`. The part after an underscore only
distinguishes tables: `{month_sure}` names a month too. `{phrase}` is an event: the group defines its beginning, and it
extends to the end of the clause. Of the templates under `read`, the first match wins; templates with the reading
"nothing" prevent false matches of others.
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

from treering.core.time_words.values import TimeRelation

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
# Words of these tables are too common to be cues.
_NO_CUES = frozenset({"number", "which", "third"})
_DIGITS = frozenset({"year", "date"})
_CLAUSE_END = r"[,;:?!()\n]|\.(?:\s|$)|$"
_FOLDED = {
    code: base
    for code in range(0xC0, 0x250)
    if (base := unicodedata.normalize("NFD", chr(code))[0]).isascii() and base.isalpha()
} | {ord("’"): "'"}


def fold(text: str) -> str:
    """`text` without accents; positions are preserved."""
    return text.translate(_FOLDED)


@dataclass(frozen=True, slots=True)
class TimeTemplate:
    """One time expression. `given` are fixed arguments of its reading."""

    reading: str
    expression: str
    given: Mapping[str, Any]
    explicit: bool

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled on first use and cached by `re`; most are never needed."""
        return re.compile(self.expression, re.I)


@dataclass(frozen=True, slots=True)
class AnchorTemplate:
    """One expression of a time by an event; `when` and `unless` are tested against the whole query."""

    relation: TimeRelation
    pattern: re.Pattern[str]
    when: re.Pattern[str] | None
    unless: re.Pattern[str] | None

    def applies(self, text: str) -> bool:
        wanted = self.when is None or self.when.search(text) is not None
        return wanted and (self.unless is None or self.unless.search(text) is None)


@dataclass(frozen=True)
class TimeLexicon:
    """Time expressions of one language, compiled on first use."""

    data: Mapping[str, Any]

    @property
    def spaced(self) -> bool:
        """Whether words are separated by spaces, unlike in Chinese."""
        return bool(self.data.get("spaced", True))

    @cached_property
    def common(self) -> frozenset[str]:
        """Words that identify the language; most sentences contain one."""
        return frozenset(fold(self.data["common"]).split())

    @cached_property
    def cues(self) -> frozenset[str]:
        """Cues: every time expression contains one of them, or four digits."""
        return self.time_cues | self._cues(self.data["anchor"])

    @cached_property
    def time_cues(self) -> frozenset[str]:
        """The cues without those of events."""
        return self._cues(entry for entry in self.data["read"] if entry["as"] != "nothing")

    @cached_property
    def templates(self) -> tuple[TimeTemplate, ...]:
        return tuple(self._template(dict(entry)) for entry in self.data["read"])

    @cached_property
    def any_template(self) -> re.Pattern[str]:
        """All templates in one pattern; the matched group is named `t` plus the template's number."""
        branches = (
            f"(?P<t{i}>{self._expand(entry['match'], named=False)})" for i, entry in enumerate(self.data["read"])
        )
        return self._compile("|".join(branches))

    @cached_property
    def bounds(self) -> dict[str, re.Pattern[str]]:
        """Expressions that make a time a bound: before the time, in Chinese after it."""
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
                TimeRelation(entry["relation"]),
                re.compile(f"{_BEFORE if self.spaced else ''}{self._expand(entry['match'])}", re.I),
                *(self._compile(self._expand(entry[key])) if key in entry else None for key in ("when", "unless")),
            )
            for entry in self.data["anchor"]
        )

    def words_of(self, found: re.Match[str]) -> dict[str, Any] | None:
        """Values of the matched words by argument; None if a word has no value."""
        written = ((name.partition("__")[0], words) for name, words in found.groupdict().items() if words)
        read = {name.partition("_")[0]: self._value(name, words) for name, words in written}
        return None if None in read.values() else read

    def _value(self, name: str, written: str) -> Any:
        table = self.tables.get(name)
        if table is None:
            # Only the first day has a name: primo, primero.
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

    def _template(self, entry: dict[str, Any]) -> TimeTemplate:
        reading, expression = entry.pop("as"), self._whole(self._expand(entry.pop("match")))
        return TimeTemplate(reading, expression, explicit=entry.pop("explicit", False), given=entry)

    def _cues(self, entries: Iterable[Mapping[str, Any]]) -> frozenset[str]:
        return frozenset(word for entry in entries for word in self._needed(fold(entry["match"]))) - self.common

    def _needed(self, template: str) -> Iterator[str]:
        """Words of which `template` needs one: those of its tables, else its own; digits are handled separately."""
        names = [name for name in _PLACEHOLDER.findall(template) if name not in _NO_CUES]
        if tables := [self.tables[name] for name in names if name in self.tables]:
            yield from (word for table in tables for key in table for word in re.findall(r"\w+", key))
        elif not _DIGITS.intersection(names):
            for word, optional in _LITERAL.findall(_ESCAPE.sub(" ", _PLACEHOLDER.sub(" ", template))):
                yield from (word.lower(), word[:-1].lower()) if optional else (word.lower(),)


@cache
def lexicon(language: str) -> TimeLexicon:
    """The cached lexicon of a language."""
    return TimeLexicon(tomllib.loads((files(__package__) / f"{language}.toml").read_text("utf-8")))
