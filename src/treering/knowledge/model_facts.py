"""Facts that a language model reads from a conversation; those count that the cited turn bears out."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Annotated, Any, Literal

from dateutil.relativedelta import relativedelta
from pydantic import BeforeValidator, ConfigDict, ValidationError

from treering.core.delimiters import DATA, delimited, escaped, one_line, without_ours
from treering.core.errors import InvalidInput
from treering.core.language.folding import fold
from treering.core.messages import Role
from treering.core.privacy import may_leave
from treering.core.scope import Visibility
from treering.core.settings import LearnSettings
from treering.core.statements import ATTRIBUTES, PROJECT, SPEAKER, Statement, same_name
from treering.core.turns import Turn
from treering.core.values import Value
from treering.knowledge.facts.speakers import speaker_of
from treering.knowledge.model_evidence import is_borne_out
from treering.ports.models import Writer
from treering.prompts.model_answers import ask_json

PAGE_TURNS = 30  # turns per call: enough to know who "she" is, few enough to miss nothing
MAX_TURN_CHARACTERS = 6_000  # a longer turn is pasted text and would push the others from the page

CONFIDENCE = 0.8
"""More than the rules', less than a person's own word."""
_PROMPT = "facts.md"
_SPEAKING = frozenset({Role.USER, Role.ASSISTANT})
_MYSELF = frozenset({"user", "i", "me", "myself", "speaker"})
_OURS = frozenset({"project", "we", "us"})
_NAMING = 120
"""Characters of head that a turn takes on a page, beside its words."""
# A longer value or sentence is a passage, and not a fact.
_LONGEST_VALUE, _LONGEST_TEXT = 500, 1_000
_MOST_NAMES = 20
_MOST_FACTS = 20
"""Facts of one turn; a model that finds more is repeating itself."""
_BORNE_OUT = 0.8
"""What share of a quote's words must stand in the turn: a model mends a typo, or leaves a word out."""
_LEAST_WORDS = 4
"""A shorter quote must stand there as it is: of three words, two stand in any turn."""
_SLACK = 2
"""Words that a quote may leave out."""
_TERSE = 6
"""One word is evidence in a turn of so few; in a longer one it stands by chance."""
_WORD = re.compile(r"\w+")
_ATTRIBUTE = re.compile(r"[a-z][a-z0-9_]{0,39}")
_DATE = re.compile(r"(\d{4})(?:-(\d\d?)(?:-(\d\d?)(?:T.*)?)?)?")


class WrittenFact(Value):
    """A fact as the model writes it down."""

    turn: int
    quote: str
    subject: str
    attribute: str
    value: str
    text: str
    type: Literal["fact", "preference", "decision"] = "fact"
    over: tuple[str, ...] = ()
    ended: bool = False
    valid_from: str | None = None
    valid_until: str | None = None
    names: tuple[str, ...] = ()


def _sound(facts: Any) -> Any:
    """Those that are facts: one that is none costs no other. Where none is, the first tells why."""
    if not isinstance(facts, list):
        return facts
    sound, why = list[WrittenFact](), None
    for fact in facts:
        try:
            sound.append(WrittenFact.model_validate(fact))
        except ValidationError as exc:
            why = why or exc
    if why is not None and not sound:
        reason = why.errors()[0]
        raise ValueError(f"no fact has the form asked for: {'.'.join(map(str, reason['loc']))}: {reason['msg']}")
    return sound


class WrittenFacts(Value):
    """What the model answers for a page; what it says beside the facts is not read."""

    model_config = ConfigDict(extra="ignore")

    facts: Annotated[tuple[WrittenFact, ...], BeforeValidator(_sound)]


@dataclass(frozen=True, slots=True)
class _Line:
    """A turn, and what the model is shown of its words."""

    turn: Turn
    shown: str


def write_statements(
    turns: Sequence[Turn], writer: Writer, *, settings: LearnSettings
) -> tuple[tuple[str, Statement], ...]:
    """What the turns state as facts, each with the id of the turn that states it, in the order of the turns.

    One call a page, two where the first answer is faulty. Personal and deleted turns are not shown to a model, private
    ones not to one elsewhere; tools and the system state nothing. A page that fails fails them all
    (`ModelUnavailable`): whoever wants to keep the pages before it gives one at a time. Heeding `settings.model` is up
    to the caller.
    """
    shown = [turn for turn in turns if may_leave(turn, writer.location)]
    return tuple(found for page in _pages(shown, settings) for found in _read(page, writer, settings))


def _pages(turns: Sequence[Turn], settings: LearnSettings) -> Iterator[list[_Line]]:
    page, characters = list[_Line](), 0
    for turn in turns:
        shown = without_ours(turn.text).strip()[: min(MAX_TURN_CHARACTERS, settings.page_characters)]
        if not shown or not _is_quotable(turn):
            continue
        length = len(shown) + _NAMING
        if page and (len(page) == PAGE_TURNS or characters + length > settings.page_characters):
            yield page
            page, characters = [], 0
        page.append(_Line(turn, shown))
        characters += length
    if page:
        yield page


def _is_quotable(turn: Turn) -> bool:
    return turn.role in _SPEAKING and turn.visibility is not Visibility.PERSONAL and turn.deleted_at is None


def _read(page: list[_Line], writer: Writer, settings: LearnSettings) -> list[tuple[str, Statement]]:
    prompt = files("treering.prompts").joinpath(_PROMPT).read_text("utf-8")
    attributes = "\n".join(f"- `{each.name}`: {each.meaning}" for each in ATTRIBUTES.values())
    asked = prompt.format(attributes=attributes, turns=_told(page))
    answer = ask_json(writer, asked, WrittenFacts, most_tokens=settings.most_tokens)
    shown = " ".join(f"{speaker_of(line.turn) or ''} {line.turn.at.year} {line.shown}" for line in page)
    found: dict[int, dict[tuple[str, ...], Statement]] = {}
    for fact in answer.facts:
        of_turn = found.setdefault(fact.turn, {})
        if 1 <= fact.turn <= len(page) and len(of_turn) < _MOST_FACTS:
            statement = _statement(fact, page[fact.turn - 1])
            if statement is not None and is_borne_out(statement, page[fact.turn - 1].shown, shown):
                key = (same_name(statement.subject), statement.attribute, same_name(statement.value))
                of_turn.setdefault(key, statement)
    return [(page[number - 1].turn.id, each) for number in sorted(found) for each in found[number].values()]


def _told(page: list[_Line]) -> str:
    lines = [f"[{number}] {_head(line.turn)}: {escaped(line.shown)}" for number, line in enumerate(page, 1)]
    return delimited(DATA, "\n".join(lines))


def _head(turn: Turn) -> str:
    name = speaker_of(turn)
    who = turn.role.value if name is None else f"{one_line(name)[:60]} ({turn.role.value})"
    return f"{turn.at:%A} {turn.at:%Y-%m-%d %H:%M} UTC, {who}"


def _statement(fact: WrittenFact, line: _Line) -> Statement | None:
    """The fact, or None where the turn does not bear it out, or it cannot be one."""
    attribute = re.sub(r"[\s-]+", "_", fact.attribute.strip().lower())
    said = (fact.subject, fact.value, fact.text)
    sound = all(map(str.strip, said)) and len(fact.text) <= _LONGEST_TEXT
    sound = sound and all(len(each) <= _LONGEST_VALUE for each in (fact.subject, fact.value, *fact.over))
    quote = _cited(line.shown, fact.quote)
    if not (sound and quote and _ATTRIBUTE.fullmatch(attribute)):
        return None
    try:
        since, until = _validity(fact)
        return Statement.make(
            subject=_subject(fact.subject, line.turn),
            attribute=attribute,
            value=_tidy(fact.value),
            text=_tidy(fact.text),
            type=fact.type,
            over=_over(fact, line.shown),
            ended=fact.ended,
            valid_from=since,
            valid_until=until,
            speaker=speaker_of(line.turn),
            quote=quote,
            language=line.turn.language,
            confidence=CONFIDENCE,
            entities=_names(fact),
        )
    except InvalidInput:
        return None


def _tidy(text: str) -> str:
    return " ".join(text.split())


def _subject(said: str, turn: Turn) -> str:
    """Whoever speaks has one name, however the model calls them."""
    name = same_name(said)
    if name in _MYSELF and turn.role is Role.USER:
        return speaker_of(turn) or SPEAKER
    return PROJECT if name in _OURS else _tidy(said)


def _over(fact: WrittenFact, shown: str) -> tuple[str, ...]:
    """Former values that the turn itself names; a value is not given up for itself."""
    value, said = same_name(fact.value), f" {same_name(shown)} "
    formers = ((former, same_name(former)) for former in map(_tidy, fact.over))
    return tuple(former for former, name in formers if name and name != value and f" {name} " in said)


def _names(fact: WrittenFact) -> tuple[str, ...]:
    text = fold(_tidy(fact.text))
    names = [_tidy(name) for name in fact.names[:_MOST_NAMES]]
    return tuple(name for name in names if name and fold(name) in text)


def _cited(text: str, quote: str) -> str:
    """The words of the text that the quote repeats; empty where it makes them up.

    Case, accents, punctuation and a word here or there may differ: what is kept is what was said.
    """
    found, quoted = list(_WORD.finditer(text)), [fold(word) for word in _WORD.findall(quote)]
    said = [fold(word.group()) for word in found]
    if not quoted or len(quote) > _LONGEST_TEXT or (quote.isascii() and len(quoted) == 1 and len(said) > _TERSE):
        return ""
    if place := _run(said, quoted) or (_nearby(said, quoted) if len(quoted) >= _LEAST_WORDS else None):
        first, last = place
        return _tidy(text[found[first].start() : found[last].end()])
    # Scripts without spaces make one word of a clause.
    plain = _tidy(quote)
    return plain if not plain.isascii() and plain in _tidy(text) else ""


def _run(said: list[str], quoted: list[str]) -> tuple[int, int] | None:
    """Where all words of the quote stand one after the other."""
    length = len(quoted)
    starts = (at for at in range(len(said) - length + 1) if said[at : at + length] == quoted)
    return next(((at, at + length - 1) for at in starts), None)


def _nearby(said: list[str], quoted: list[str]) -> tuple[int, int] | None:
    """Where most words of the quote stand together, in whatever order."""
    wanted, here, width = Counter(quoted), Counter[str](), len(quoted) + _SLACK
    have, best, end = 0, 0, 0
    for at, word in enumerate(said):
        here[word] += 1
        have += here[word] <= wanted[word]
        if at >= width:
            left = said[at - width]
            have -= here[left] <= wanted[left]
            here[left] -= 1
        if have > best:
            best, end = have, at
    if best < _BORNE_OUT * len(quoted):
        return None
    places = [at for at in range(max(end - width + 1, 0), end + 1) if said[at] in wanted]
    return places[0], places[-1]


def _validity(fact: WrittenFact) -> tuple[datetime | None, datetime | None]:
    """What holds until a day holds on that day as well; what ended on it no longer does."""
    since, until = _period(fact.valid_from), _period(fact.valid_until)
    begins = since[0] if since else None
    ends = until[0 if fact.ended else 1] if until else None
    if begins and ends and begins > ends:
        raise InvalidInput("it ends before it begins")
    return begins, ends


def _period(said: str | None) -> tuple[datetime, datetime] | None:
    """The day, month or year from its first moment to the first after it."""
    if said is None or not said.strip():
        return None
    named = _DATE.fullmatch(said.strip())
    if named is None:
        raise InvalidInput("that is no date")
    year, month, day = named.groups()
    length = relativedelta(days=1) if day else relativedelta(months=1) if month else relativedelta(years=1)
    try:
        first = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
        return first, first + length
    except (ValueError, OverflowError) as exc:
        raise InvalidInput("that is no date") from exc
