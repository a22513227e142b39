"""Extraction of explicit statements by users: commands to remember, a closed list of attributes, corrections.

Uncertain wordings yield nothing: the turn itself is stored and found by search.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from treering.core.language.folding import lower
from treering.core.language.stems import language_of, stop_words, supported_language
from treering.core.statements import ATTRIBUTES, PROJECT, SPEAKER, Statement
from treering.core.values import LABEL_BYTES
from treering.knowledge.facts.letters import bare
from treering.knowledge.facts.sentences import Sentence, sentences
from treering.knowledge.facts.wordings import LANGUAGES, FactLanguage, FactWording, language

# Text beyond this is pasted.
MAX_CHARACTERS = 20_000
CONFIDENCE = 0.8
_MAX_OWN_TEXT = 1_500
"""Characters; most of a longer turn is pasted, and only commands in it are certainly the user's own."""
_MAX_NOTE = 400
"""Characters of a turn of one line that may be a note: "Note: …" is frequent in documents and reviews."""
_UNSTORABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\u2028\u2029]")
_WORD = re.compile(r"[^\W_]+")
_LETTERS = re.compile(r"(?<=\d)\D+")
_NAME = re.compile(r"[A-Z][\w'’-]*\w(?: [A-Z][\w'’.-]*)*\Z")
_PROPER = re.compile(r"[A-Z\d]|\w[./]\w")
# Not the name of a person.
_TECHNICAL = re.compile(r"[a-z][A-Z]|[\d./+#]|\b[A-Z]{2,}")
_IDENTIFIER = re.compile(r"[a-z][A-Z]|\w[./_]\w|[A-Z]{3}|[A-Z]{2}\d")
_TYPES = {"rule": "preference", "decided": "decision"}
_OF_PROJECT = frozenset({"uses", "decided", "deadline", "version", "port", "owned_by"})
# Attributes whose meaning changes with a few more words.
_UNQUALIFIED_ONLY = frozenset({"diet", "avoids", "email", "name"})
# Attributes that also occur in private talk, about a cake or a holiday.
_OF_WORK = frozenset({"decided", "deadline", "owned_by", "uses"})
# Attributes whose value is only the name, without the rest of the clause.
_ONE_NAME = frozenset({"relative", "pet"})
# Attributes that the rest of the clause does not qualify.
_UNQUALIFIED = frozenset({"decided", "deadline", *_ONE_NAME})
_MIN_WORDS = 2
_FEW_WORDS = 4
"""Length of a clause that only expresses doubt: ", I think"."""
_MAX_ARTICLE = 2
"""Letters of articles and the like."""
_MAX_CORRECTING = 2
"""Sentences at the start of a turn that may correct the previous turn."""


class _Clause(NamedTuple):
    """A clause as written and without accents."""

    text: str
    plain: str


@dataclass(frozen=True, slots=True)
class _TurnContext:
    """Context of one turn read with the rules of one language."""

    rules: FactLanguage
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
    """Explicit statements of the user in `text`, in order; none for any other role.

    `previous` is the preceding text of the assistant, which `text` may correct. Without `language`, it is detected.
    """
    if role != "user":
        return ()
    parsed = list(sentences(_UNSTORABLE.sub(" ", text[:MAX_CHARACTERS])))
    for code in _languages(parsed, language):
        short = len(text) <= _MAX_NOTE and "\n" not in text.strip()
        if found := _read(_TurnContext(_rules(code), speaker, previous, len(text) > _MAX_OWN_TEXT, short), parsed):
            return found
    return ()


_rules = language


def _languages(parsed: Sequence[Sentence], language: str | None) -> tuple[str, ...]:
    """The language of the sentences; if it is not recognised, those with the most matching stop words."""
    text = " ".join(each.text for each in parsed)
    code = supported_language(language) if language else language_of(text, LANGUAGES)
    if code:
        return (code,) if code in LANGUAGES else ()
    words = set(_WORD.findall(text.lower()))
    fitting = {each: len(words & stop_words(each)) for each in LANGUAGES}
    return tuple(each for each in LANGUAGES if fitting[each] == max(fitting.values()))


def _read(turn: _TurnContext, parsed: Sequence[Sentence]) -> tuple[Statement, ...]:
    whole = _plain(" ".join(each.text for each in parsed))
    if turn.rules.holds("jest", whole) or turn.rules.holds("material", whole) or _asks_for_text(turn.rules, parsed):
        return ()
    found: dict[tuple[str, str, str], Statement] = {}
    own = takewhile(lambda one: not _announces(turn, one), parsed)
    for statement in (
        *_corrections(turn, parsed),
        *(each for one in own for each in _sentence_statements(turn, one)),
    ):
        if not any(statement.quote in other.quote for other in found.values() if other.attribute == "correction"):
            found.setdefault((statement.subject, statement.attribute, statement.value), statement)
    return tuple(found.values())


def _asks_for_text(rules: FactLanguage, parsed: Sequence[Sentence]) -> bool:
    """Whether a turn begins with a request for a text or announces one, so that the rest is not the user's own."""
    return bool(parsed) and rules.begins("fiction", _plain(_without_lead(rules, parsed[0].text)))


def _announces(turn: _TurnContext, sentence: Sentence) -> bool:
    """Whether the sentence introduces a text: "Tell her: …"; commands to remember do not count."""
    text = _without_lead(turn.rules, sentence.text)
    head, colon, _ = text.partition(": ")
    return bool(colon) and _is_order(turn.rules, _plain(head)) and _instruction(turn, text, asks=False) is None


def _sentence_statements(turn: _TurnContext, sentence: Sentence) -> Iterator[Statement]:
    text, asks = _without_tail(turn.rules, sentence)
    clauses = list(_clauses(turn.rules, text))
    if asks and len(clauses) > 1:
        # The clauses before the question are statements.
        text, asks = text[: clauses[-2][1]], False
        clauses = clauses[:-1]
    elif asks and _is_question_of_its_own(turn.rules, text.partition(", ")[2]):
        text, asks = text.partition(", ")[0], False
        clauses = [(0, len(text))]
    after = _after_condition(turn.rules, text)
    if after and (order := _instruction(turn, text[after:], asks=asks)) is not None:
        yield from (_with_condition(turn, each, text) for each in order)
        return
    for start, end in clauses:
        rest = _without_lead(turn.rules, text[start:])
        if (order := _instruction(turn, rest, asks=asks)) is not None:
            yield from order if start == 0 else (_with_condition(turn, each, text) for each in order)
            return
        if asks or (sentence.asks and end == len(text) == len(_without_tail(turn.rules, sentence)[0])):
            # "We use Redis, right?"
            return
        if ": " in text[:start] and ": " in _without_lead(turn.rules, text[:start]):
            return
        if not turn.long and not _is_hedged(turn.rules, text, start, end):
            yield from _clause_statements(turn, _without_lead(turn.rules, text[start:end]))


def _is_question_of_its_own(rules: FactLanguage, text: str) -> bool:
    """Whether the question is independent of the statement before it: "I live in Bonn, which bus …?"."""
    plain = _plain(text)
    return len(text.split()) >= _FEW_WORDS and not rules.begins("joins", plain) and not rules.holds("hedges", plain)


def _clause_statements(turn: _TurnContext, clause: str) -> Iterator[Statement]:
    """Statements of a clause; after "as of today" they are changes."""
    dated = turn.rules.expression("dated", r"{},?\s+").match(_plain(clause))
    if dated is None:
        yield from _listed_statements(turn, clause)
    else:
        found = _listed_statements(turn, clause[dated.end() :])
        yield from (each.replace(text=_quoted(turn, clause, own=True), quote=clause, changes=True) for each in found)


def _after_condition(rules: FactLanguage, text: str) -> int:
    """Start of the main clause in "When you commit, always …"; 0 without a leading condition."""
    comma = text.find(", ")
    return comma + 2 if comma > 0 and rules.begins("condition", _plain(text)) else 0


def _is_hedged(rules: FactLanguage, text: str, start: int, end: int) -> bool:
    """Whether a clause is hedged: before it, within it up to its first comma, or by a few words at the end."""
    first, _, more = text[start:end].partition(",")
    last = text[max(start + len(first), text.rfind(",")) :]
    parts = [text[:start], first, *(each for each in (more, last) if len(each.split()) <= _FEW_WORDS)]
    return any(rules.holds("hedges", _plain(each)) for each in parts)


def _without_tail(rules: FactLanguage, sentence: Sentence) -> tuple[str, bool]:
    """The sentence without closing words (", please", ", ok?"), and whether it still asks."""
    text = sentence.text.rstrip(" ?!.")
    tail = rules.expression("tail", r"[,\s]+{}$").search(_plain(text))
    if tail is None:
        return text, sentence.asks
    return text[: tail.start()], sentence.asks and text[tail.start()] != ","


def _clauses(rules: FactLanguage, text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each clause of a sentence."""
    begins, start = r"(?={}(?![\w'-]))", 0
    joins = rf"(?:{rules.words['joins']})\s+"
    form = rf"(?:,|\s[–—-]+)\s+(?:{joins})?{begins}|;\s+|\s[–—-]+\s+|\s{joins}{begins}"
    for between in rules.expression("starts", form).finditer(_plain(text)):
        yield start, between.start()
        start = between.end()
    yield start, len(text)


def _without_lead(rules: FactLanguage, text: str) -> str:
    """The text without opening words; "no" and "if" are only removed before a comma."""
    marked = rf"{{}}(?:\s+(?:{rules.words['addressed']}))?\s*[,:!.–—-]+\s*"
    bare_lead = rf"(?!nei?no?n?\b|no\w{{0,2}}\b|s[ei]\b){{}}\s+(?!{rules.words['keeps_lead']})"
    lead = rules.expression("lead", f"(?:{marked}|{bare_lead})+").match(_plain(text))
    return text[lead.end() :] if lead and lead.end() < len(text) else text


# Commands to remember.


def _instruction(turn: _TurnContext, text: str, *, asks: bool) -> list[Statement] | None:
    """Statements of a command to remember or to act from now on; None if `text` is not such a command."""
    rules, plain = turn.rules, _plain(text)
    lowered = lower(plain)
    for kind, expressions in rules.instructions.items():
        for expression in expressions:
            found = expression.match(plain, lowered)
            if found is None or (asks and not rules.begins("asked", plain)) or (kind == "note" and not turn.short):
                continue
            begins = found.start("body") if "body" in found.groupdict() else found.end()
            if (order := _KINDS[kind](turn, text[begins:].lstrip(" ,:–—-"))) is not None:
                # The verb comes last after "dass", so only the whole sentence is grammatical.
                whole = _quoted(turn, text, own=True) if found[0].endswith(" dass") else ""
                return [each.replace(text=whole) if whole else each for each in order]
    return None


def _with_condition(turn: _TurnContext, order: Statement, text: str) -> Statement:
    """The order including a leading condition: "When you commit, always …"."""
    whole = _without_lead(turn.rules, text)
    if order.attribute != "rule" or not turn.rules.begins("condition", _plain(whole)):
        return order
    return order.replace(text=_quoted(turn, whole), value=whole, quote=whole)


def _remembered(turn: _TurnContext, body: str) -> list[Statement] | None:
    """Statements of a command to remember: of the closed list if the wordings match, else verbatim."""
    plain = _plain(body)
    rejected = (
        turn.rules.begins("not_noted", plain) or turn.rules.holds("one_off", plain) or _is_reported(turn.rules, body)
    )
    if len(body.split()) < _MIN_WORDS or rejected:
        return None
    parts = [body[start:end] for start, end in _clauses(turn.rules, body)]
    stated = [each for part in parts for each in _listed_statements(turn, part)]
    if len(stated) == len(parts):
        return stated
    return [_verbatim(turn, "rule" if turn.rules.begins("to_do", plain) else "noted", body)]


def _from_now_on(turn: _TurnContext, body: str) -> list[Statement] | None:
    plain = _plain(body)
    rejected = not _is_order(turn.rules, plain) or _is_reported(turn.rules, body)
    return None if rejected or len(body.split()) < _MIN_WORDS else [_verbatim(turn, "rule", body)]


def _is_order(rules: FactLanguage, plain: str) -> bool:
    """Whether the text begins with an imperative; a German order may also end with its verb."""
    if "imperative" in rules.words:
        ordered = rules.begins("imperative", plain) or rules.expression("verb", r".*\b{}$").match(plain) is not None
    else:
        form = r"{}(?:mi|ci|gli|l[aeio]|me|nos|te|-moi)?(?![\w'])"
        ordered = rules.expression("verb", form).match(plain) is not None
    return ordered or rules.begins("order", plain)


def _order(turn: _TurnContext, body: str) -> list[Statement] | None:
    first = _plain(body).partition(",")[0]
    empty = turn.rules.expression("empty", r".{0,16}?\b{}(?: \w+){0,2}\Z").match(first)
    rejected = empty or turn.rules.holds("one_off", _plain(body)) or _is_reported(turn.rules, body)
    return None if rejected else [_verbatim(turn, "rule", body)]


def _is_reported(rules: FactLanguage, body: str) -> bool:
    """Whether the text is reported or addressed to other people: "…, my teacher wrote", "…, kids"."""
    last = _plain(body.rpartition(",")[2])
    if rules.expression("reported", r",\s+(?:\w+\s+)?{}(?!\w)").search(_plain(body)):
        return True
    others = rules.holds("hedges", last) or rules.expression("audience", r"\s*{}\Z").match(last) is not None
    return "," in body and len(last.split()) <= _FEW_WORDS and others


_KINDS = {"keep": _remembered, "note": _remembered, "onwards": _from_now_on, "orders": _order, "again": _order}


def _verbatim(turn: _TurnContext, attribute: str, body: str) -> Statement:
    subject = PROJECT if attribute == "rule" else turn.me
    return _make_statement(turn, attribute, subject=subject, value=body, text=_quoted(turn, body), quote=body)


# The closed list.


def _listed_statements(turn: _TurnContext, text: str) -> Iterator[Statement]:
    """Statement of one clause about an attribute of the closed list."""
    clause = _Clause(text, _plain(text))
    if "~" in text:
        return
    lowered = lower(clause.plain)
    for wording in turn.rules.wordings:
        found = wording.expression.match(clause.plain, lowered)
        if found is not None and not _is_doubtful(turn.rules, wording, found, clause):
            yield _statement_from(turn, wording, found, clause)
            return


def _is_doubtful(rules: FactLanguage, wording: FactWording, found: re.Match[str], clause: _Clause) -> bool:
    after = clause.plain[found.end() :].partition(",")[0]
    subject = found.groupdict().get("subject") or ""
    modal = rules.holds("modals", f"{subject} |{after}") and wording.attribute not in _UNQUALIFIED
    # "I live in Slack."
    elsewhere = wording.of_place and any(rules.begins(name, found["value"]) for name in ("tool", "consumer"))
    to_come = wording.attribute != "deadline" and rules.begins("to_come", after.lstrip())
    private = wording.attribute in _OF_WORK and not _is_of_work(rules, clause)
    # "I'm vegan on Mondays."
    narrowed = (
        wording.attribute in _UNQUALIFIED_ONLY and bool(after.strip()) and not rules.begins("goes_on", after.lstrip())
    )
    return modal or elsewhere or to_come or private or narrowed or _is_common(rules, wording, found, clause)


def _is_of_work(rules: FactLanguage, clause: _Clause) -> bool:
    """Whether a clause mentions something technical, unlike "we decided on the blue sofa"."""
    named = any(rules.holds(name, clause.plain) for name in ("technical", "tool"))
    return (named or _IDENTIFIER.search(clause.text) is not None) and not rules.holds("consumer", clause.plain)


def _is_common(rules: FactLanguage, wording: FactWording, found: re.Match[str], clause: _Clause) -> bool:
    """Whether the word in the place of a tool is not a tool: "we use paper plates", "Tom replaced Anna"."""
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


def _statement_from(turn: _TurnContext, wording: FactWording, found: re.Match[str], clause: _Clause) -> Statement:
    groups = {name: clause.text[slice(*found.span(name))] for name, took in found.groupdict().items() if took}
    about = groups.get("subject") or groups.get("who")
    subject = about or (PROJECT if wording.attribute in _OF_PROJECT else turn.me)
    if "who" in groups and turn.rules.begins("kin", _plain(groups["who"])):
        kin, _, name = groups["who"].replace(",", "").partition(" ")
        subject = name or f"{turn.me}: {kin}"
    value = groups.get("value", turn.me)
    whole = wording.attribute not in _ONE_NAME and not ATTRIBUTES[wording.attribute].exclusive
    if whole and "value" in groups and "old" not in groups:
        value = clause.text[found.start("value") :]
    text = _third_person_text(turn, wording, found, clause) or _quoted(turn, clause.text, own=subject == turn.me)
    statement = _make_statement(turn, wording.attribute, subject=subject, value=value, text=text, quote=clause.text)
    over = (groups["old"],) if "old" in groups else ()
    specific = about is None or not turn.rules.expression("generic", r"(?:\w+['\s])?{}\Z").match(_plain(about))
    return statement.replace(over=over, ended=wording.ended, changes=wording.changes, specific=specific)


def _third_person_text(turn: _TurnContext, wording: FactWording, found: re.Match[str], clause: _Clause) -> str:
    """The clause in the third person; empty if grammar or the speaker's name makes that uncertain."""
    certain = _NAME.match(bare(turn.speaker)) is not None if turn.speaker else turn.rules.code == "en"
    if not wording.third_person or not certain:
        return ""
    name = turn.speaker or "The user"
    rest = clause.text[found.start("rest" if "rest" in found.groupdict() else "value") :]
    return "" if turn.rules.holds("mine", _plain(rest)) else f"{wording.third_person.replace('{speaker}', name)} {rest}"


# Corrections.


def _corrections(turn: _TurnContext, parsed: Sequence[Sentence]) -> Iterator[Statement]:
    """Corrections of the assistant's preceding text."""
    rules = turn.rules
    if not turn.previous or not parsed or not rules.begins("denial", _plain(parsed[0].text)):
        return
    for sentence in parsed[:_MAX_CORRECTING]:
        text = rules.expression("denial", r"(?:{}\s*[,.:;!–—-]*\s*)+").sub("", _plain(sentence.text), count=1)
        clause = sentence.text[len(sentence.text) - len(text) :]
        if sentence.asks or rules.holds("hedges", text):
            return
        contrast = rules.expression("contrast", r"[,\s]+(?:{})\s+(?P<old>[^,;]+)").search(text)
        corrected = _sentence_with(turn.previous, contrast["old"] if contrast else "")
        if corrected and rules.begins("restated", text):
            over = (clause[slice(*contrast.span("old"))],) if contrast else ()
            yield from _corrected_statements(turn, clause, over, corrected)
            return


def _corrected_statements(
    turn: _TurnContext, clause: str, over: tuple[str, ...], corrected: str
) -> Iterator[Statement]:
    """A statement of the closed list if the wordings match, else a correction that quotes the corrected sentence."""
    place = turn.rules.expression("contrast", r"[,\s]+(?:{})\s").search(_plain(clause))
    stated = list(_listed_statements(turn, clause[: place.start()] if place else clause))
    for each in stated:
        yield each.replace(over=each.over or over, changes=True)
    if not stated:
        text = f'{_quoted(turn, clause)} (instead of: "{corrected}")'
        made = _make_statement(turn, "correction", subject=turn.me, value=clause, text=text, quote=clause)
        yield made.replace(over=over)


def _sentence_with(previous: str, words: str) -> str:
    """The sentence of `previous` with these words; without words, its only sentence."""
    texts = [each.text for each in sentences(previous)]
    if not words:
        return texts[0] if len(texts) == 1 else ""
    wanted = _content_words(words)
    return next((each for each in texts if wanted and wanted <= _content_words(each)), "")


def _content_words(text: str) -> set[str]:
    """Words of a text without articles and the like; words with digits are reduced to these: "the 30th", "30. Juli"."""
    words = _WORD.findall(_plain(text).lower())
    return {_LETTERS.sub("", word) or word for word in words if len(word) > _MAX_ARTICLE or word.isdigit()}


# The text of a record.


def _quoted(turn: _TurnContext, clause: str, *, own: bool = False) -> str:
    """The clause unchanged if it mentions neither speaker nor agent, else as a quotation; `own` forces a quotation."""
    whole = clause[:1].upper() + clause[1:]
    if not own and not turn.rules.holds("mine" if turn.speaker else "me", _plain(clause)):
        return whole
    return f'{turn.speaker or "User"}: "{whole}"'


def _make_statement(
    turn: _TurnContext, attribute: str, *, subject: str, value: str, text: str, quote: str
) -> Statement:
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
    """`text` without accents; positions are preserved."""
    return bare(text).replace("’", "'")
