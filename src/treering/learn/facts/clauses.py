"""Parts of a sentence that may say something by themselves, without the times, asides and fillers in them."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from treering.learn.facts.grammar import Grammar, Opening
from treering.learn.facts.letters import bare, lowered
from treering.learn.facts.times import When, times_in

_WORD = re.compile(r"[^\W_]+")
_ASIDE = re.compile(r"\s*\([^()]{0,200}\)|\s*[\u2600-\u27bf\U0001f300-\U0001faff]+|\s+[:;]-?[)(DP](?!\w)")
_ASIDE_SIGNS = frozenset("(:;")
_MORE_BOUNDARIES = r";|\s[-–—]+\s|:\s|,\s"
_SIGNS = " ,–-:\t"
# Past this a sentence is a list, and its parts say nothing by themselves.
_MOST_PARTS = 12
# How far before a time the words may begin that it opens with.
_OPENS = 24
# A label ("port: 8080") and what stands behind it are this short.
_LABEL = 4
_LABELLED = 5
_ITEM = re.compile(r"[^,;]+")


class Clause(NamedTuple):
    """Words as they were `said`, and the same `low`: folded, character by character."""

    said: str
    low: str
    times: tuple[When, ...] = ()
    often: str = ""
    """Words that say how often: "every Thursday"."""
    whole: str = ""
    """The words with the times and fillers that were among them."""
    first: bool = False
    """Whether the sentence begins with it."""

    def uncut(self, rules: Grammar) -> "Clause":
        """With the times and fillers, which belong to a rule."""
        if not self.whole:
            return self
        return without_leads(self._replace(said=self.whole, low=lowered(self.whole)), rules)

    def without(self, start: int, end: int) -> "Clause":
        said, low = f"{self.said[:start]} {self.said[end:]}", f"{self.low[:start]} {self.low[end:]}"
        return self._replace(said=said, low=low)

    def ordered(self, found: re.Match[str], order: Iterable[str]) -> "Clause":
        """The words and the groups of `found` in that order."""
        spans = {name: found.span(name) for name in found.re.groupindex}
        said, low = (
            " ".join(
                text[slice(*spans[name])] if name in spans else name for name in order if spans.get(name) != (-1, -1)
            )
            for text in (self.said, self.low)
        )
        return Clause(said, low, self.times, self.often)

    def behind(self, words: str) -> "Clause":
        """The same clause after some words of another."""
        return Clause(f"{words} {self.said}", f"{lowered(words)} {self.low}", self.times, self.often)

    def trimmed(self) -> "Clause":
        """Without the signs at its ends."""
        if self.low and self.low[0] not in _SIGNS and self.low[-1] not in _SIGNS:
            return self
        lead = len(self.low) - len(self.low.lstrip(_SIGNS))
        end = len(self.low.rstrip(_SIGNS))
        if lead >= end:
            return _EMPTY
        return self._replace(said=self.said[lead:end], low=self.low[lead:end])


_EMPTY = Clause("", "")


class Part(NamedTuple):
    """From one boundary of a sentence to the next."""

    start: int
    end: int
    opening: Opening


class SentenceWords:
    """One sentence, with all that is needed to take clauses out of it."""

    def __init__(self, said: str, rules: Grammar, at: datetime) -> None:
        self.said = said
        self.bare = bare(said)
        self.low = self.bare.lower()
        self.rules = rules
        self.at = at
        self.words = frozenset(_WORD.findall(self.low))
        self.times: tuple[When, ...] = ()
        self._cuts: list[tuple[int, int]] = []
        self._often: list[tuple[int, int]] = []

    def read_times(self) -> None:
        """Find the times; they are in no clause."""
        if self.rules.may_hold("often", self.words):
            often = self.rules.expression("often", r"(?<!\w){}(?!\w)")
            self._often = [found.span() for found in often.finditer(self.low)]
        times = times_in(self.said, self.bare, self.words, self.rules.times, self.at)
        self.times = tuple(
            self._opening(each)
            for each in times
            if not any(start < each.end and each.start < end for start, end in self._often)
        )
        self._cuts = sorted(
            [self._widened(each.start, each.end) for each in self.times]
            + [self._widened(*span) for span in self._often]
            + self._asides()
        )

    def _asides(self) -> list[tuple[int, int]]:
        if self.low.isascii() and _ASIDE_SIGNS.isdisjoint(self.low):
            return []
        return [found.span() for found in _ASIDE.finditer(self.low)]

    def _widened(self, start: int, end: int) -> tuple[int, int]:
        """With the prepositions before it and the time of day behind it."""
        before = self.rules.expression("before_time", r"(?<!\w){}\s*\Z").search(self.low, max(0, start - 24), start)
        behind = self.rules.expression("behind_time", r"{}(?!\w)").match(self.low, end)
        return before.start() if before else start, behind.end() if behind else end

    def _opening(self, time: When) -> When:
        """The same; where a word like "from" or "starting" stands before it, it says so."""
        opens = self.rules.expression("opens", r"(?<!\w){}\s*")
        found = opens.match(self.low, time.start) or self.rules.expression("opens", r"(?<!\w){}\s*\Z").search(
            self.low, max(0, time.start - _OPENS), time.start
        )
        return replace(time, opens=True) if found else time

    def parts(self) -> list[Part]:
        """The sentence cut where clauses may begin."""
        found: list[Part] = []
        start, sign = 0, ";"
        boundary = self.rules.expression("boundary", rf",?\s+{{}}\s+|{_MORE_BOUNDARIES}")
        for cut in boundary.finditer(self.low):
            end = self._boundary_end(cut)
            if cut.start() < start or end is None or not self._parts_here(cut, start):
                continue
            found.append(self._part(start, cut.start(), sign))
            start, sign = end, self.low[cut.start() : end].strip(" ,")
            if len(found) >= _MOST_PARTS:
                break
        found.append(self._part(start, len(self.low), sign))
        return found

    def _boundary_end(self, cut: re.Match[str]) -> int | None:
        """Where the next part begins: before a time, if the boundary's word is part of that; None inside of one."""
        start, end = cut.span()
        for first, last in self._cuts:
            if first < end - 1 and start + 1 < last:
                return first if start < first and cut[0].startswith(",") else None
        return end

    def _parts_here(self, cut: re.Match[str], start: int) -> bool:
        """A colon behind a label or an announcement ("decided: …") belongs to what follows, as does "it's Ada who"."""
        if self.rules.expression("cleft", r"\s*{}\s*\Z").match(self.low, start, cut.end()):
            return False
        if not cut[0].startswith(":"):
            return True
        before = self.low[start : cut.start()]
        behind = _ITEM.match(self.low, cut.end())
        short = len(before.split()) <= _LABEL and behind is not None and len(behind[0].split()) <= _LABELLED
        label = short and not self.rules.expression("label_verb", r"(?<!\w){}(?!\w)").search(before)
        return not label and not self.rules.expression("announces", r"\b{}\b").search(before)

    def _part(self, start: int, end: int, sign: str) -> Part:
        return Part(start, end, self.rules.opening(sign))

    def clause(self, part: Part) -> Clause:
        """What is said from `part.start` to `part.end`."""
        said, low, at = [], [], part.start
        for start, end in self._cuts:
            if start < part.start or end > part.end or start < at:
                continue
            said.append(self.said[at:start])
            low.append(self.low[at:start])
            at = end
        cut_first = bool(said) and not low[0].strip(" ,")
        times = tuple(each for each in self.times if part.start <= each.start and each.end <= part.end)
        often = " ".join(self.said[a:b] for a, b in self._often if part.start <= a and b <= part.end)
        raw = Clause(
            " ".join([*said, self.said[at : part.end]]),
            " ".join([*low, self.low[at : part.end]]),
            times,
            often,
            self.said[part.start : part.end],
            first=part.start == 0,
        )
        return self._plain(self._dated_label(raw), cut_first)

    def _dated_label(self, clause: Clause) -> Clause:
        """With a verb before the time of a label: "freeze: 22 May"."""
        if not clause.low.rstrip().endswith(":") or not (clause.times or clause.often):
            return clause
        verb = self.rules.words.get("label_verb", ":").partition("|")[0]
        said, low = (f"{text.rstrip()[:-1]} {verb}" for text in (clause.said, clause.low))
        return clause._replace(said=said, low=low)

    def _plain(self, clause: Clause, cut_first: bool) -> Clause:
        """Without the words that only lead in or fill."""
        led = clause.trimmed()
        clause = without_leads(led, self.rules)
        cut_first = cut_first or len(clause.low) < len(led.low)
        if self.rules.may_hold("fillers", self.words):
            fillers = self.rules.expression("fillers", r"(?<![\w-]){}(?![\w-])")
            for found in reversed(list(fillers.finditer(clause.low))):
                cut_first = cut_first or not clause.low[: found.start()].strip(" ,")
                clause = clause.without(*found.span())
            clause = clause.trimmed()
        return self._turned(clause) if cut_first else clause

    def _turned(self, clause: Clause) -> Clause:
        """The subject before its `finite` verb, where a time in front had turned them: "seit Mai wohne ich"."""
        if "turned" not in self.rules.words:
            return clause
        found = self.rules.expression("turned", r"(\w+)\s+({})(?!\w)").match(clause.low)
        if not found or ("finite" in self.rules.words and not self.rules.is_one("finite", found[1])):
            return clause
        verb, pronoun = found.span(1), found.span(2)
        said, low = (
            f"{text[slice(*pronoun)]} {text[slice(*verb)]}{text[found.end() :]}" for text in (clause.said, clause.low)
        )
        return clause._replace(said=said, low=low)


def without_leads(clause: Clause, rules: Grammar) -> Clause:
    """`clause` without what only leads to it: "by the way,"."""
    clause = clause.trimmed()
    leads = rules.expression("leads", r"{}(?:(?<=\w')|(?![\w']))[\s,:]*")
    while lead := leads.match(clause.low):
        clause = clause.without(0, lead.end()).trimmed()
    return clause


def words_in(low: str) -> Iterator[str]:
    return iter(_WORD.findall(low))
