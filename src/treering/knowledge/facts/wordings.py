"""The wordings of one language, compiled from its data file.

A wording is an expression with slots: `i live in <Place> => {speaker} lives in`. Its last slot is the value, unless it
has a name: `subject` or `who` is what the statement is about (else the speaker or the project), `old` what the value
replaces. Behind `=>` is the same told of a third person, up to the value or to `^`. In front, `!` marks a change ("I
moved to") and `-` an end ("I no longer work at"). Accents and case count for nothing, but for the capital of a name.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from treering.knowledge.facts.letters import bare

LANGUAGES = ("en", "fr", "it", "de", "es")

_PROPER = r"(?:& )?[A-Z][\w'.&+#/-]*\w[+#]*|[A-Z]\b"
_FIRST = r"[A-Z](?!\w*[A-Z])[\w-]*[\w](?: (?!I\b|\w*[A-Z]{2})[A-Z][\w-]+)?(?!['\w-]*[A-Z0-9/])"
_SMALL = "de|di|da|der|den|von|van|del|della|la|le|los|las|am|sur|of|do|dos"
_PLACE = rf"(?!(?i:{{place_not}}|{{date}})\b)(?:{_PROPER})(?: (?:(?:{_SMALL}) )*(?:{_PROPER}))*"
_CLAUSE = "when|that|who|if|because|wenn|dass|weil|der|die|quand|que|qui|quando|che|perche|cuando|porque"
# What a slot takes; `{date}` is a word list of the language.
_SLOTS: Mapping[str, str] = {
    "Name": rf"(?:{_PROPER})(?: (?:(?:{_SMALL}) )*(?:{_PROPER}))*",
    "First": rf"(?!(?i:{{thing_not}})\b){_FIRST}",
    # A name behind "my sister": a verb or a comma follows.
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


@dataclass(frozen=True, slots=True)
class Wording:
    """One way to state an attribute. Its groups: `value`, `subject`, `who`, `old`. `of_place`: no tool can be meant."""

    attribute: str
    expression: re.Pattern[str]
    told: str = ""
    changes: bool = False
    ended: bool = False
    of_place: bool = False


@dataclass(frozen=True, slots=True)
class Language:
    """The wordings of a language, and the words by which a clause is told from a statement."""

    code: str
    words: Mapping[str, str]
    wordings: tuple[Wording, ...]
    instructions: Mapping[str, tuple[re.Pattern[str], ...]]
    _compiled: dict[str, re.Pattern[str]] = field(default_factory=dict)

    def expression(self, name: str, form: str = r"(?<![\w'-]){}(?![\w'-])") -> re.Pattern[str]:
        """`form` with the words called `name` in the place of its braces."""
        key = f"{name} {form}"
        if key not in self._compiled:
            self._compiled[key] = re.compile(form.replace("{}", f"(?:{self.words[name]})"), re.IGNORECASE)
        return self._compiled[key]

    def holds(self, name: str, text: str) -> bool:
        """Whether one of the words called `name` is in `text`, which has no accents."""
        return self.expression(name).search(text) is not None

    def begins(self, name: str, text: str) -> bool:
        """Whether `text`, which has no accents, begins with one of the words called `name`."""
        return self.expression(name, r"{}(?![\w'-])").match(text) is not None


@cache
def language(code: str) -> Language:
    """The wordings of one of `LANGUAGES`."""
    data = tomllib.loads(bare(files(__package__).joinpath(f"{code}.toml").read_text("utf-8")))
    words = {name: listed.replace("\n", "") for name, listed in data["words"].items()}
    for name in ("tool", "technical", "consumer"):
        words[name] = "|".join(files(__package__).joinpath(f"{name}.txt").read_text("utf-8").split())
    words["to_come"] = words["to_come"].replace("<month>", words["month"])
    words["hedges"] += f"|{words['reported']}"
    return Language(
        code,
        words,
        tuple(_wording(name, each, words) for name, listed in data["wordings"].items() for each in listed),
        {
            name: tuple(re.compile(_slotted(each, words), re.IGNORECASE) for each in listed)
            for name, listed in data["instructions"].items()
        },
    )


def _wording(attribute: str, written: str, words: Mapping[str, str]) -> Wording:
    said, _, told = written.partition(" => ")
    mark = said[0] if said[:2] in ("! ", "- ") else ""
    expression = _slotted(said.removeprefix(f"{mark} "), words)
    ends = r"(?![\w-])" if said.endswith(">") else ""
    if said.endswith("<Thing:subject>"):
        ends = rf"(?=$|,| (?:{words['joins']})\b)"
    whole = re.compile(expression + ends, re.IGNORECASE)
    return Wording(attribute, whole, told, changes=mark == "!", ended=mark == "-", of_place="<Place>" in said)


def _slotted(written: str, words: Mapping[str, str]) -> str:
    """The expression with its slots filled; the last one without a name is the `value`."""
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
