"""Reads what a user states outright: commands to remember, a closed list of attributes, corrections.

What no wording is sure of states nothing: the turn itself is kept, and found by search.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from treering.core.language.stems import known, language_of, stop_words
from treering.core.statements import ATTRIBUTES, PROJECT, SPEAKER, Statement
from treering.core.values import LABEL_BYTES
from treering.knowledge.facts.letters import bare
from treering.knowledge.facts.sentences import Sentence, sentences
from treering.knowledge.facts.wordings import LANGUAGES, Language, Wording, language

# What comes after is pasted.
LONGEST = 20_000
CONFIDENCE = 0.8
_PASTED = 1_500
"""Characters of a turn of which most is pasted: in a longer one only commands are the user's own for sure."""
_NOTE = 400
"""The same for "Note: …", with which documents and reviews abound: only a turn of one line is a note for sure."""
_UNSTORABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\u2028\u2029]")
_WORD = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"(?<=\d)\D+")
_NAME = re.compile(r"[A-Z][\w'’-]*\w(?: [A-Z][\w'’.-]*)*\Z")
_PROPER = re.compile(r"[A-Z\d]|\w[./]\w")
# No person is called so.
_TECHNICAL = re.compile(r"[a-z][A-Z]|[\d./+#]|\b[A-Z]{2,}")
_IDENTIFIER = re.compile(r"[a-z][A-Z]|\w[./_]\w|[A-Z]{3}|[A-Z]{2}\d")
_TYPES = {"rule": "preference", "decided": "decision"}
_OF_PROJECT = frozenset({"uses", "decided", "deadline", "version", "port", "owned_by"})
# Of these a few words more change what is said.
_WHOLE = frozenset({"diet", "avoids", "email", "name"})
# Said at home of a cake or a holiday as well.
_OF_WORK = frozenset({"decided", "deadline", "owned_by", "uses"})
# Of these the name is the value, and not what else the clause says.
_ONE_NAME = frozenset({"relative", "pet"})
# What else a clause with one of these says leaves it as it is.
_UNQUALIFIED = frozenset({"decided", "deadline", *_ONE_NAME})
_LEAST_WORDS = 2
_FEW = 4
"""Words of a clause that only doubts what is before it: ", I think"."""
_SHORT = 2
"""Articles and the like are no longer than this."""
_CORRECTING = 2
"""Sentences of a turn that can correct what was said before it."""


class _Clause(NamedTuple):
    """`said` as it was written, `plain` the same without accents."""

    said: str
    plain: str


@dataclass(frozen=True, slots=True)
class _Turn:
    """One turn in one language."""

    rules: Language
    speaker: str | None
    previous: str
    long: bool
    short: bool

    @property
    def me(self) -> str:
        return self.speaker or SPEAKER


def read_statements(
    text: str, *, speaker: str | None = None, role: str = "user", language: str | None = None, previous: str = ""
) -> tuple[Statement, ...]:
    """What the user states outright in `text`, in the order it was said; nothing for any other role.

    `previous` is what the assistant said just before, which `text` may correct. Without `language`, it is guessed.
    """
    if role != "user":
        return ()
    said = list(sentences(_UNSTORABLE.sub(" ", text[:LONGEST])))
    for code in _languages(said, language):
        short = len(text) <= _NOTE and "\n" not in text.strip()
        if found := _read(_Turn(_rules(code), speaker, previous, len(text) > _PASTED, short), said):
            return found
    return ()


_rules = language


def _languages(said: Sequence[Sentence], language: str | None) -> tuple[str, ...]:
    """The one it is in; where that can't be told, those that fit its words best."""
    text = " ".join(each.text for each in said)
    code = known(language) if language else language_of(text, LANGUAGES)
    if code:
        return (code,) if code in LANGUAGES else ()
    words = set(_WORD.findall(text.lower()))
    fitting = {each: len(words & stop_words(each)) for each in LANGUAGES}
    return tuple(each for each in LANGUAGES if fitting[each] == max(fitting.values()))


def _read(turn: _Turn, said: Sequence[Sentence]) -> tuple[Statement, ...]:
    whole = _plain(" ".join(each.text for each in said))
    if turn.rules.holds("jest", whole) or turn.rules.holds("material", whole) or _asks_for_text(turn.rules, said):
        return ()
    found: dict[tuple[str, str, str], Statement] = {}
    own = takewhile(lambda one: not _announces(turn, one), said)
    for statement in (*_corrections(turn, said), *(each for one in own for each in _stated(turn, one))):
        if not any(statement.quote in other.quote for other in found.values() if other.attribute == "correction"):
            found.setdefault((statement.subject, statement.attribute, statement.value), statement)
    return tuple(found.values())


def _asks_for_text(rules: Language, said: Sequence[Sentence]) -> bool:
    """Whether a turn begins by asking for a text or announcing one: what follows are not the speaker's words."""
    return bool(said) and rules.begins("fiction", _plain(_without_lead(rules, said[0].text)))


def _announces(turn: _Turn, sentence: Sentence) -> bool:
    """Whether a text follows that was asked for: "Tell her: …". What is to be remembered follows a colon, too."""
    text = _without_lead(turn.rules, sentence.text)
    head, colon, _ = text.partition(": ")
    return bool(colon) and _is_order(turn.rules, _plain(head)) and _instruction(turn, text, asks=False) is None


def _stated(turn: _Turn, sentence: Sentence) -> Iterator[Statement]:
    text, asks = _without_tail(turn.rules, sentence)
    clauses = list(_clauses(turn.rules, text))
    if asks and len(clauses) > 1:
        # What is said before a question is said.
        text, asks = text[: clauses[-2][1]], False
        clauses = clauses[:-1]
    elif asks and _is_question_of_its_own(turn.rules, text.partition(", ")[2]):
        text, asks = text.partition(", ")[0], False
        clauses = [(0, len(text))]
    behind = _behind_condition(turn.rules, text)
    if behind and (order := _instruction(turn, text[behind:], asks=asks)) is not None:
        yield from (_conditioned(turn, each, text) for each in order)
        return
    for start, end in clauses:
        rest = _without_lead(turn.rules, text[start:])
        if (order := _instruction(turn, rest, asks=asks)) is not None:
            yield from order if start == 0 else (_conditioned(turn, each, text) for each in order)
            return
        if asks or (sentence.asks and end == len(text) == len(_without_tail(turn.rules, sentence)[0])):
            # "We use Redis, right?"
            return
        if ": " in text[:start] and ": " in _without_lead(turn.rules, text[:start]):
            return
        if not turn.long and not _is_hedged(turn.rules, text, start, end):
            yield from _dated(turn, _without_lead(turn.rules, text[start:end]))


def _is_question_of_its_own(rules: Language, text: str) -> bool:
    """Whether it asks something else than what is said before it is so: "I live in Bonn, which bus …?"."""
    plain = _plain(text)
    return len(text.split()) >= _FEW and not rules.begins("joins", plain) and not rules.holds("hedges", plain)


def _dated(turn: _Turn, clause: str) -> Iterator[Statement]:
    """What a clause states; behind "as of today" it states a change."""
    dated = turn.rules.expression("dated", r"{},?\s+").match(_plain(clause))
    if dated is None:
        yield from _statement(turn, clause)
    else:
        found = _statement(turn, clause[dated.end() :])
        yield from (each.replace(text=_quoted(turn, clause, own=True), quote=clause, changes=True) for each in found)


def _behind_condition(rules: Language, text: str) -> int:
    """Where the main clause begins in "When you commit, always …"; 0 where the sentence begins with no condition."""
    comma = text.find(", ")
    return comma + 2 if comma > 0 and rules.begins("condition", _plain(text)) else 0


def _is_hedged(rules: Language, text: str, start: int, end: int) -> bool:
    """Whether a clause is doubted: before it, within it up to its first comma, or by a few words at the end."""
    first, _, more = text[start:end].partition(",")
    last = text[max(start + len(first), text.rfind(",")) :]
    said = [text[:start], first, *(each for each in (more, last) if len(each.split()) <= _FEW)]
    return any(rules.holds("hedges", _plain(each)) for each in said)


def _without_tail(rules: Language, sentence: Sentence) -> tuple[str, bool]:
    """The sentence without words that only close it: ", please", ", ok?"; a question that is one no more states."""
    text = sentence.text.rstrip(" ?!.")
    tail = rules.expression("tail", r"[,\s]+{}$").search(_plain(text))
    if tail is None:
        return text, sentence.asks
    return text[: tail.start()], sentence.asks and text[tail.start()] != ","


def _clauses(rules: Language, text: str) -> Iterator[tuple[int, int]]:
    """Where each clause of a sentence begins and ends."""
    begins, start = r"(?={}(?![\w'-]))", 0
    joins = rf"(?:{rules.words['joins']})\s+"
    form = rf"(?:,|\s[–—-]+)\s+(?:{joins})?{begins}|;\s+|\s[–—-]+\s+|\s{joins}{begins}"
    for between in rules.expression("starts", form).finditer(_plain(text)):
        yield start, between.start()
        start = between.end()
    yield start, len(text)


def _without_lead(rules: Language, text: str) -> str:
    """The text without words that only open it; of a "no" or an "if" without a comma it stays."""
    marked = rf"{{}}(?:\s+(?:{rules.words['addressed']}))?\s*[,:!.–—-]+\s*"
    bare_lead = rf"(?!nei?no?n?\b|no\w{{0,2}}\b|s[ei]\b){{}}\s+(?!{rules.words['keeps_lead']})"
    lead = rules.expression("lead", f"(?:{marked}|{bare_lead})+").match(_plain(text))
    return text[lead.end() :] if lead and lead.end() < len(text) else text


# Commands to remember.


def _instruction(turn: _Turn, text: str, *, asks: bool) -> list[Statement] | None:
    """What the user wants to be remembered or done from now on; None where `text` is no such wish."""
    rules, plain = turn.rules, _plain(text)
    for kind, expressions in rules.instructions.items():
        for expression in expressions:
            found = expression.match(plain)
            if found is None or (asks and not rules.begins("asked", plain)) or (kind == "note" and not turn.short):
                continue
            begins = found.start("body") if "body" in found.groupdict() else found.end()
            if (order := _KINDS[kind](turn, text[begins:].lstrip(" ,:–—-"))) is not None:
                # The verb is last behind "dass": only the whole sentence is one.
                whole = _quoted(turn, text, own=True) if found[0].endswith(" dass") else ""
                return [each.replace(text=whole) if whole else each for each in order]
    return None


def _conditioned(turn: _Turn, order: Statement, text: str) -> Statement:
    """The order with the condition before it: "When you commit, always …"."""
    whole = _without_lead(turn.rules, text)
    if order.attribute != "rule" or not turn.rules.begins("condition", _plain(whole)):
        return order
    return order.replace(text=_quoted(turn, whole), value=whole, quote=whole)


def _kept(turn: _Turn, body: str) -> list[Statement] | None:
    """What is to be kept: one of the closed list where it reads as such, else in its own words."""
    plain = _plain(body)
    barred = turn.rules.begins("not_noted", plain) or turn.rules.holds("one_off", plain) or _is_told(turn.rules, body)
    if len(body.split()) < _LEAST_WORDS or barred:
        return None
    parts = [body[start:end] for start, end in _clauses(turn.rules, body)]
    stated = [each for part in parts for each in _statement(turn, part)]
    if len(stated) == len(parts):
        return stated
    return [_worded(turn, "rule" if turn.rules.begins("to_do", plain) else "noted", body)]


def _onwards(turn: _Turn, body: str) -> list[Statement] | None:
    plain = _plain(body)
    barred = not _is_order(turn.rules, plain) or _is_told(turn.rules, body)
    return None if barred or len(body.split()) < _LEAST_WORDS else [_worded(turn, "rule", body)]


def _is_order(rules: Language, plain: str) -> bool:
    """Whether it begins like an order; a German one may also end with its verb."""
    if "imperative" in rules.words:
        ordered = rules.begins("imperative", plain) or rules.expression("verb", r".*\b{}$").match(plain) is not None
    else:
        form = r"{}(?:mi|ci|gli|l[aeio]|me|nos|te|-moi)?(?![\w'])"
        ordered = rules.expression("verb", form).match(plain) is not None
    return ordered or rules.begins("order", plain)


def _order(turn: _Turn, body: str) -> list[Statement] | None:
    said = _plain(body).partition(",")[0]
    empty = turn.rules.expression("empty", r".{0,16}?\b{}(?: \w+){0,2}\Z").match(said)
    barred = empty or turn.rules.holds("one_off", _plain(body)) or _is_told(turn.rules, body)
    return None if barred else [_worded(turn, "rule", body)]


def _is_told(rules: Language, body: str) -> bool:
    """Whether it is said to have been said, or to other people: "…, my teacher wrote", "…, kids"."""
    last = _plain(body.rpartition(",")[2])
    if rules.expression("reported", r",\s+(?:\w+\s+)?{}(?!\w)").search(_plain(body)):
        return True
    others = rules.holds("hedges", last) or rules.expression("audience", r"\s*{}\Z").match(last) is not None
    return "," in body and len(last.split()) <= _FEW and others


_KINDS = {"keep": _kept, "note": _kept, "onwards": _onwards, "orders": _order, "again": _order}


def _worded(turn: _Turn, attribute: str, body: str) -> Statement:
    subject = PROJECT if attribute == "rule" else turn.me
    return _made(turn, attribute, subject=subject, value=body, text=_quoted(turn, body), quote=body)


# The closed list.


def _statement(turn: _Turn, text: str) -> Iterator[Statement]:
    """What one clause says of an attribute of the closed list."""
    clause = _Clause(text, _plain(text))
    if "~" in text:
        return
    for wording in turn.rules.wordings:
        found = wording.expression.match(clause.plain)
        if found is not None and not _is_doubtful(turn.rules, wording, found, clause):
            yield _of_wording(turn, wording, found, clause)
            return


def _is_doubtful(rules: Language, wording: Wording, found: re.Match[str], clause: _Clause) -> bool:
    behind = clause.plain[found.end() :].partition(",")[0]
    subject = found.groupdict().get("subject") or ""
    modal = rules.holds("modals", f"{subject} |{behind}") and wording.attribute not in _UNQUALIFIED
    # "I live in Slack."
    elsewhere = wording.of_place and any(rules.begins(name, found["value"]) for name in ("tool", "consumer"))
    to_come = wording.attribute != "deadline" and rules.begins("to_come", behind.lstrip())
    private = wording.attribute in _OF_WORK and not _is_of_work(rules, clause)
    # "I'm vegan on Mondays."
    narrowed = wording.attribute in _WHOLE and bool(behind.strip()) and not rules.begins("goes_on", behind.lstrip())
    return modal or elsewhere or to_come or private or narrowed or _is_common(rules, wording, found, clause)


def _is_of_work(rules: Language, clause: _Clause) -> bool:
    """Whether a clause names something technical: "we decided on the blue sofa" is said at home."""
    named = any(rules.holds(name, clause.plain) for name in ("technical", "tool"))
    return (named or _IDENTIFIER.search(clause.said) is not None) and not rules.holds("consumer", clause.plain)


def _is_common(rules: Language, wording: Wording, found: re.Match[str], clause: _Clause) -> bool:
    """Whether a tool is named by a word that is none: "we use paper plates", "Tom replaced Anna"."""
    groups = found.groupdict()
    names = {"uses": ("value", "old"), "version": ("subject",)}.get(wording.attribute, ())
    tools = [groups[name] for name in names if groups.get(name)]
    if any(not _PROPER.search(tool) and not rules.begins("tool", tool) for tool in tools):
        return True
    if wording.attribute == "version" and "." not in found["value"]:
        # "We're on day 20."
        return not any(_TECHNICAL.search(tool) or rules.begins("tool", tool) for tool in tools)
    by_us = not groups.get("old") or rules.begins("mine", clause.plain) or found.start("value") > found.start("old") > 0
    return not by_us and not any(_TECHNICAL.search(tool) or rules.begins("tool", tool) for tool in tools)


def _of_wording(turn: _Turn, wording: Wording, found: re.Match[str], clause: _Clause) -> Statement:
    groups = {name: clause.said[slice(*found.span(name))] for name, took in found.groupdict().items() if took}
    about = groups.get("subject") or groups.get("who")
    subject = about or (PROJECT if wording.attribute in _OF_PROJECT else turn.me)
    if "who" in groups and turn.rules.begins("kin", _plain(groups["who"])):
        kin, _, name = groups["who"].replace(",", "").partition(" ")
        subject = name or f"{turn.me}: {kin}"
    value = groups.get("value", turn.me)
    whole = wording.attribute not in _ONE_NAME and not ATTRIBUTES[wording.attribute].exclusive
    if whole and "value" in groups and "old" not in groups:
        value = clause.said[found.start("value") :]
    text = _told(turn, wording, found, clause) or _quoted(turn, clause.said, own=subject == turn.me)
    statement = _made(turn, wording.attribute, subject=subject, value=value, text=text, quote=clause.said)
    over = (groups["old"],) if "old" in groups else ()
    specific = about is None or not turn.rules.expression("generic", r"(?:\w+['\s])?{}\Z").match(_plain(about))
    return statement.replace(over=over, ended=wording.ended, changes=wording.changes, specific=specific)


def _told(turn: _Turn, wording: Wording, found: re.Match[str], clause: _Clause) -> str:
    """The clause told of a third person; '' where grammar or the speaker's name makes that doubtful."""
    name = turn.speaker or ("User" if turn.rules.code == "en" else "")
    if not wording.told or not _NAME.match(bare(name)):
        return ""
    rest = clause.said[found.start("rest" if "rest" in found.groupdict() else "value") :]
    return "" if turn.rules.holds("mine", _plain(rest)) else f"{wording.told.replace('{speaker}', name)} {rest}"


# Corrections.


def _corrections(turn: _Turn, said: Sequence[Sentence]) -> Iterator[Statement]:
    """What the turn says instead of something that the assistant said just before."""
    rules = turn.rules
    if not turn.previous or not said or not rules.begins("denial", _plain(said[0].text)):
        return
    for sentence in said[:_CORRECTING]:
        text = rules.expression("denial", r"(?:{}\s*[,.:;!–—-]*\s*)+").sub("", _plain(sentence.text), count=1)
        clause = sentence.text[len(sentence.text) - len(text) :]
        if sentence.asks or rules.holds("hedges", text):
            return
        contrast = rules.expression("contrast", r"[,\s]+(?:{})\s+(?P<old>[^,;]+)").search(text)
        corrected = _sentence_with(turn.previous, contrast["old"] if contrast else "")
        if corrected and rules.begins("restated", text):
            over = (clause[slice(*contrast.span("old"))],) if contrast else ()
            yield from _corrected(turn, clause, over, corrected)
            return


def _corrected(turn: _Turn, clause: str, over: tuple[str, ...], corrected: str) -> Iterator[Statement]:
    """As a statement of the closed list where it reads as one, else beside the sentence that it corrects."""
    place = turn.rules.expression("contrast", r"[,\s]+(?:{})\s").search(_plain(clause))
    stated = list(_statement(turn, clause[: place.start()] if place else clause))
    for each in stated:
        yield each.replace(over=each.over or over, changes=True)
    if not stated:
        text = f'{_quoted(turn, clause)} (instead of: "{corrected}")'
        made = _made(turn, "correction", subject=turn.me, value=clause, text=text, quote=clause)
        yield made.replace(over=over)


def _sentence_with(previous: str, words: str) -> str:
    """The sentence of `previous` that has these words; without words, its only one."""
    said = [each.text for each in sentences(previous)]
    if not words:
        return said[0] if len(said) == 1 else ""
    wanted = _telling(words)
    return next((each for each in said if wanted and wanted <= _telling(each)), "")


def _telling(text: str) -> set[str]:
    """Its words but for articles and the like; of those with digits the digits: "the 30th", "30. Juli"."""
    words = _WORD.findall(_plain(text).lower())
    return {_LETTERS.sub("", word) or word for word in words if len(word) > _SHORT or word.isdigit()}


# The text of a record.


def _quoted(turn: _Turn, clause: str, *, own: bool = False) -> str:
    """The clause as it is where it speaks of nobody present, else as the words of its speaker (`own`: it does)."""
    whole = clause[:1].upper() + clause[1:]
    if not own and not turn.rules.holds("mine" if turn.speaker else "me", _plain(clause)):
        return whole
    return f'{turn.speaker or "User"}: "{whole}"'


def _made(turn: _Turn, attribute: str, *, subject: str, value: str, text: str, quote: str) -> Statement:
    return Statement(
        subject=subject,
        attribute=attribute,
        value=value,
        text=text,
        type=_TYPES.get(attribute, "fact"),
        speaker=_label(turn.speaker),
        quote=quote,
        language=turn.rules.code,
        confidence=CONFIDENCE,
    )


def _label(speaker: str | None) -> str | None:
    return speaker if speaker and speaker.isprintable() and len(speaker.encode()) <= LABEL_BYTES else None


def _plain(text: str) -> str:
    """Without accents, one for one, so that positions stay."""
    return bare(text).replace("’", "'")
