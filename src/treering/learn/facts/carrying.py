"""What a clause takes over from the one before it."""

import re
from typing import NamedTuple

from treering.learn.facts.grammar import Grammar, given_names
from treering.learn.facts.letters import lowered
from treering.learn.facts.subjects import Talk

_MOST_WORDS = 4
_LAST_NAME = re.compile(r"(?<![\w-])[A-ZÀ-ÖØ-Þ][\w.+#-]*(?:\s+[A-ZÀ-ÖØ-Þ\d][\w.+#-]*){0,2}\Z")
_APPOSITION = re.compile(r",\s+([A-ZÀ-ÖØ-Þ][\w-]+(?:\s+[A-ZÀ-ÖØ-Þ][\w-]+)?),\s+(?!(?:[A-ZÀ-ÖØ-Þ]))")
_NAME_BEFORE = re.compile(r"(?<![\w-])([A-ZÀ-ÖØ-Þ][\w-]+)(?:,\s+|\s+\()\Z")
_FIRST_NAME = re.compile(r"[A-ZÀ-ÖØ-Þ][\w-]+(?:\s+[A-ZÀ-ÖØ-Þ][\w-]+)?(?=[\s'’])")


class Before(NamedTuple):
    """The clause before, and the `subjects` that the next one may leave out."""

    said: str = ""
    subjects: tuple[str, ...] = ()

    def antecedent(self, talk: Talk, rules: Grammar) -> str:
        """Whom or what "who …" and "which …" speak of: the name at its end, or all of a short clause."""
        said = self.said.strip(" ,")
        if found := _LAST_NAME.search(said):
            return found[0]
        short = 0 < len(said.split()) <= _MOST_WORDS
        noun = rules.expression("articles", r"{}\s").match(lowered(said)) is not None
        return said if short and (noun or talk.kin(said, rules)) else ""


def with_names(said: str, rules: Grammar) -> str:
    """`said` with each name right behind what it is of: "my wife, Ama, works", "Ama (my wife) works"."""
    if "," not in said and "(" not in said:
        return said
    kin = rules.expression("mine", rf"(?<!\w){{}}\s+(?:{rules.kin})(?!\w)")
    for found in reversed(list(kin.finditer(lowered(said)))):
        start, end = found.span()
        if name := _APPOSITION.match(said, end):
            said = f"{said[:end]} {name[1]} {said[name.end() :]}"
        elif (name := _NAME_BEFORE.search(said, 0, start)) and said[end : end + 1] in (",", ")"):
            said = f"{said[: name.start()]}{said[start:end]} {name[1]}{said[end + 1 :]}"
    return said


def opening_subject(said: str, rules: Grammar) -> str:
    """Whom a clause speaks of, as far as its first words show it: "we", "Anna", "my sister"."""
    low = lowered(said)
    if found := rules.expression("pronouns", r"{}(?!\w)").match(low):
        return said[: found.end()]
    name = _FIRST_NAME.match(said)
    if name and low.split()[0].partition("'")[0] in given_names():
        return name[0]
    own = rules.expression("mine", rf"{{}}\s+(?:{rules.kin})(?!\w)").match(low)
    if own is None:
        # "the importer is slow and …": a noun and its verb.
        noun = rules.expression("label_verb", r"(?:[^\s,:]+\s+){1,4}?(?=(?:{})\s)").match(low)
        return said[: noun.end()].strip() if noun else ""
    name = _FIRST_NAME.match(said, own.end() + 1)
    return said[: name.end() if name else own.end()]
