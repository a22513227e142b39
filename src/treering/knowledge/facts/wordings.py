"""The wordings of one language, compiled from its data file.

A wording is an expression with slots: `i live in <Place> => {speaker} lives in`. Its last slot is the value, unless it
has a name: `subject` or `who` is the subject of the statement (else the speaker or the project), `old` the replaced
value. After `=>` follows the statement in the third person, up to the value or to `^`. A leading `!` marks a change ("I
moved to") and `-` an end ("I no longer work at"). Accents and case are ignored, except for the capital of a name.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Self

from treering.knowledge.facts.letters import bare

LANGUAGES = ("en", "fr", "it", "de", "es")

_PROPER = r"(?:& )?[A-Z][\w'.&+#/-]*\w[+#]*|[A-Z]\b"
_FIRST = r"[A-Z](?!\w*[A-Z])[\w-]*[\w](?: (?!I\b|\w*[A-Z]{2})[A-Z][\w-]+)?(?!['\w-]*[A-Z0-9/])"
_SMALL = "de|di|da|der|den|von|van|del|della|la|le|los|las|am|sur|of|do|dos"
_PLACE = rf"(?!(?i:{{place_not}}|{{date}})\b)(?:{_PROPER})(?: (?:(?:{_SMALL}) )*(?:{_PROPER}))*"
_CLAUSE = "when|that|who|if|because|wenn|dass|weil|der|die|quand|que|qui|quando|che|perche|cuando|porque"
# Expressions of the slots; `{date}` is a word list of the language.
_SLOTS: Mapping[str, str] = {
    "Name": rf"(?:{_PROPER})(?: (?:(?:{_SMALL}) )*(?:{_PROPER}))*",
    "First": rf"(?!(?i:{{thing_not}})\b){_FIRST}",
    # A name after "my sister": a verb or a comma follows.
    "Called": rf"(?!(?i:{{not_name}}|{{date}})\b){_FIRST}(?=$|,| (?i:{{does}})\b)",
    "Firm": _PLACE,
    "Place": _PLACE,
    "Tool": r"(?!(?i:{thing_not})\b)[\w@](?:[\w.+#/@-]*[\w+#])?(?: [A-Z\d][\w.+#-]*){0,2}",
    "Version": r"v?\d+(?:\.[\dx]+)*(?:[-+ ]?(?:rc|beta|alpha|lts|LTS)[\d.]*)?(?![\w%:/]|\.\d)",
    "Port": r"\d{2,5}(?![\w%]|[.:,-]\d)",
    "Date": r"(?:[a-z']{2,4} ?)?(?:(?i:the )?\d{1,2}(?:st|nd|rd|th|er|\.)?(?!\w)|\d{4}-|(?i:{month})\b)[^,;]{0,30}",
    "Due": r"(?:[\w']{2,7} ){0,2}?(?:\d|(?i:\b(?:{date}|{month})\b))[^;]{0,60}",
    "Year": r"(?:19|20)\d\d\b",
    "Zone": (
        r"(?:(?:UTC|GMT)(?:[+-]\d{1,2}(?::\d\d)?)?|[A-Z]{2,4}T|MES?Z|[A-Z][a-z]+/[A-Z][a-z_]+"
        r"|(?:Pacific|Eastern|Central|Mountain)(?: [Tt]ime)?)\b"
    ),
    "Email": r"[^\s@,;]+@[^\s@,;]+\.\w+",
    "Phone": r"\+?[\d(][\d\s()/.-]{5,20}\d",
    "Handle": r"@?[\w.-]*[\w-]",
    "At": r"@[\w.-]*[\w-]",
    "Any": r"\S.+",
    "one": r"[\w-]+",
    "Thing": rf"(?!(?i:{{thing_not}})\b(?! [A-Z]))[\w./@'-]+(?: (?!(?i:{_CLAUSE})\b)[\w./@-]+){{0,4}}?",
    "Old": r"(?!(?i:{thing_not})\b)[\w@](?:[\w.+#/@-]*[\w+#])?(?: [A-Z\d][\w.+#-]*){0,2}",
}
_SLOT = re.compile(r"(?<!\?P)<(\w+)(?::(\w+))?>")
_LIST = re.compile(r"\{([a-z_]+)\}")
_PART = re.compile(
    r"(?P<opens>\((?:\?(?:P<\w+>|[-i]*:|<?[=!]))?)|(?P<closes>\))|(?P<alternative>\|)"
    r"|\\.|\[\^?\]?[^\]]*\]|<\w+(?::\w+)?>|[^\\\[<(){][?*{]|\{[^}]*\}|[?*+$^.]|(?P<character>.)"
)
"""Parts of a written expression; a character that may be absent has no group."""


@dataclass(frozen=True)
class ClauseExpression:
    """An expression with slots for the beginning of a clause, compiled for the first clause that may match it.

    Every match contains the `literals` and begins with `beginning`, both in lower case. `ending` has no slots.
    """

    written: str
    words: Mapping[str, str] = field(repr=False)
    ending: str
    literals: tuple[str, ...]
    beginning: str

    @classmethod
    def of(cls, written: str, words: Mapping[str, str], ending: str = "") -> Self:
        literals = required_literals(written)
        begins = bool(literals) and written.lower().startswith(literals[0])
        return cls(written, words, ending, literals, literals[0] if begins else "")

    def match(self, clause: str, lowered: str) -> re.Match[str] | None:
        """The match at the beginning of a clause without accents; `lowered` is the clause as `lower` returns it."""
        possible = lowered.startswith(self.beginning) and all(each in lowered for each in self.literals)
        return self.pattern.match(clause) if possible else None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(_slotted(self.written, self.words) + self.ending, re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FactWording:
    """One way to state an attribute, with the groups `value`, `subject`, `who` and `old`.

    `third_person` is the beginning of the statement in the third person. With `of_place`, the value cannot be a tool.
    """

    attribute: str
    expression: ClauseExpression
    third_person: str = ""
    changes: bool = False
    ended: bool = False
    of_place: bool = False


@dataclass(frozen=True, slots=True)
class FactLanguage:
    """Wordings and word lists of a language."""

    code: str
    words: Mapping[str, str]
    wordings: tuple[FactWording, ...]
    instructions: Mapping[str, tuple[ClauseExpression, ...]]
    _compiled: dict[str, re.Pattern[str]] = field(default_factory=dict)

    def expression(self, name: str, form: str = r"(?<![\w'-]){}(?![\w'-])") -> re.Pattern[str]:
        """`form` with the word list `name` in place of its braces."""
        key = f"{name} {form}"
        if key not in self._compiled:
            self._compiled[key] = re.compile(form.replace("{}", f"(?:{self.words[name]})"), re.IGNORECASE)
        return self._compiled[key]

    def holds(self, name: str, text: str) -> bool:
        """Whether `text`, without accents, contains a word of the list `name`."""
        return self.expression(name).search(text) is not None

    def begins(self, name: str, text: str) -> bool:
        """Whether `text`, without accents, begins with a word of the list `name`."""
        return self.expression(name, r"{}(?![\w'-])").match(text) is not None


@cache
def language(code: str) -> FactLanguage:
    """The wordings of one of `LANGUAGES`."""
    data = tomllib.loads(bare(files(__package__).joinpath(f"{code}.toml").read_text("utf-8")))
    words = {name: listed.replace("\n", "") for name, listed in data["words"].items()}
    for name in ("tool", "technical", "consumer"):
        words[name] = "|".join(files(__package__).joinpath(f"{name}.txt").read_text("utf-8").split())
    words["to_come"] = words["to_come"].replace("<month>", words["month"])
    words["hedges"] += f"|{words['reported']}"
    return FactLanguage(
        code,
        words,
        tuple(_wording(name, each, words) for name, listed in data["wordings"].items() for each in listed),
        {
            name: tuple(ClauseExpression.of(each, words) for each in listed)
            for name, listed in data["instructions"].items()
        },
    )


def _wording(attribute: str, written: str, words: Mapping[str, str]) -> FactWording:
    pattern, _, third_person = written.partition(" => ")
    mark = pattern[0] if pattern[:2] in ("! ", "- ") else ""
    ending = r"(?![\w-])" if pattern.endswith(">") else ""
    if pattern.endswith("<Thing:subject>"):
        ending = rf"(?=$|,| (?:{words['joins']})\b)"
    expression = ClauseExpression.of(pattern.removeprefix(f"{mark} "), words, ending)
    return FactWording(
        attribute, expression, third_person, changes=mark == "!", ended=mark == "-", of_place="<Place>" in pattern
    )


def required_literals(written: str) -> tuple[str, ...]:
    """The texts outside groups and slots of an expression, in lower case; none if it has alternatives there."""
    texts, depth = [""], 0
    for part in _PART.finditer(written.replace(" ^", " ")):
        depth += (part.lastgroup == "opens") - (part.lastgroup == "closes")
        if depth == 0 and part.lastgroup == "alternative":
            return ()
        if depth == 0 and part.lastgroup == "character":
            texts[-1] += part[0].lower()
        elif texts[-1]:
            texts.append("")
    return tuple(filter(None, texts))


def _slotted(written: str, words: Mapping[str, str]) -> str:
    """The expression with its slots filled; the last unnamed slot is the `value`."""
    written = written.replace(" ^", " (?P<rest>)")
    nameless = [slot for slot in _SLOT.finditer(written) if not slot[2] and slot[1] not in ("Old", "Kin")]
    last = nameless[-1].start() if nameless and "(?P<value" not in written else -1

    def filled(slot: re.Match[str]) -> str:
        name = slot[2] or ("old" if slot[1] == "Old" else "value" if slot.start() == last else "")
        if slot[1] == "Kin":
            return f"(?:(?:{words['older']}) )?(?P<who>(?:{words['kin']})(?:,? (?-i:{_FIRST}))?)"
        takes = _SLOTS.get(slot[1]) or words[slot[1]]
        takes = _LIST.sub(lambda found: words[found[1]], takes)
        scoped = f"(?-i:{takes})" if slot[1] in _SLOTS else f"(?:{takes})"
        return f"(?P<{name}>{scoped})" if name else scoped

    return _SLOT.sub(filled, written)
