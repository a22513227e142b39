"""Facts that a language model extracts from a conversation, accepted if the quoted turn supports them."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from typing import Annotated, Any, Literal

from dateutil.relativedelta import relativedelta
from pydantic import BeforeValidator, ConfigDict, ValidationError

from treering.core.delimiters import DATA, delimited, escaped, one_line, without_delimited
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
from treering.knowledge.model_evidence import is_supported
from treering.ports.models import Writer
from treering.prompts.model_answers import ask_json

PAGE_TURNS = 30  # turns per call: enough to resolve pronouns, few enough that the model overlooks no facts
MAX_TURN_CHARACTERS = 6_000  # a longer turn is pasted text and would push the others from the page

CONFIDENCE = 0.8
"""Less than that of a record that a person states explicitly."""
_PROMPT = "facts.md"
_SPOKEN_ROLES = frozenset({Role.USER, Role.ASSISTANT})
_SPEAKER_WORDS = frozenset({"user", "i", "me", "myself", "speaker"})
_PROJECT_WORDS = frozenset({"project", "we", "us"})
_HEADER_CHARACTERS = 120
"""Characters that the header of a turn takes on a page."""
# A longer value or sentence is a passage, not a fact.
_MAX_VALUE, _MAX_TEXT = 500, 1_000
_MAX_NAMES = 20
_MAX_FACTS = 20
"""Facts of one turn; a model that returns more is repeating itself."""
_MIN_QUOTED = 0.8
"""Share of a quote's words that the turn must contain: models fix typos and leave words out."""
_MIN_WORDS = 4
"""A shorter quote must occur verbatim: two of three words occur in any turn."""
_MAX_OMITTED = 2
"""Words that a quote may omit."""
_SHORT_TURN = 6
"""Words of a turn in which a quote of one word is evidence; in a longer turn it may be chance."""
_WORD = re.compile(r"\w+")
_ATTRIBUTE = re.compile(r"[a-z][a-z0-9_]{0,39}")
_DATE = re.compile(r"(\d{4})(?:-(\d\d?)(?:-(\d\d?)(?:T.*)?)?)?")


class WrittenFact(Value):
    """A fact as returned by the model."""

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


def _valid_facts(facts: Any) -> Any:
    """The valid facts. Raises `ValueError` with the first problem if none is valid."""
    if not isinstance(facts, list):
        return facts
    valid, first_error = list[WrittenFact](), None
    for fact in facts:
        try:
            valid.append(WrittenFact.model_validate(fact))
        except ValidationError as exc:
            first_error = first_error or exc
    if first_error is not None and not valid:
        reason = first_error.errors()[0]
        raise ValueError(f"no fact matches the schema: {'.'.join(map(str, reason['loc']))}: {reason['msg']}")
    return valid


class WrittenFacts(Value):
    """The model's answer for a page; other keys are ignored."""

    model_config = ConfigDict(extra="ignore")

    facts: Annotated[tuple[WrittenFact, ...], BeforeValidator(_valid_facts)]


@dataclass(frozen=True, slots=True)
class _ShownTurn:
    """A turn and the part of its text that the model is shown."""

    turn: Turn
    shown: str


def extract_statements(
    turns: Sequence[Turn], writer: Writer, *, settings: LearnSettings
) -> tuple[tuple[str, Statement], ...]:
    """Facts stated in the turns, each with the id of its turn, in the order of the turns.

    One model call per page, two if the first answer is invalid. Personal and deleted turns are not sent to a model, and
    private ones not to a model on another machine; tool and system turns are skipped. Raises `ModelUnavailable` if a
    page fails, without the facts of earlier pages. The caller checks `settings.model`.
    """
    shown = [turn for turn in turns if may_leave(turn, writer.location)]
    return tuple(found for page in _pages(shown, settings) for found in _read(page, writer, settings))


def _pages(turns: Sequence[Turn], settings: LearnSettings) -> Iterator[list[_ShownTurn]]:
    page, characters = list[_ShownTurn](), 0
    for turn in turns:
        shown = without_delimited(turn.text).strip()[: min(MAX_TURN_CHARACTERS, settings.page_characters)]
        if not shown or not _is_quotable(turn):
            continue
        length = len(shown) + _HEADER_CHARACTERS
        if page and (len(page) == PAGE_TURNS or characters + length > settings.page_characters):
            yield page
            page, characters = [], 0
        page.append(_ShownTurn(turn, shown))
        characters += length
    if page:
        yield page


def _is_quotable(turn: Turn) -> bool:
    return turn.role in _SPOKEN_ROLES and turn.visibility is not Visibility.PERSONAL and turn.deleted_at is None


def _read(page: list[_ShownTurn], writer: Writer, settings: LearnSettings) -> list[tuple[str, Statement]]:
    prompt = files("treering.prompts").joinpath(_PROMPT).read_text("utf-8")
    attributes = "\n".join(f"- `{each.name}`: {each.meaning}" for each in ATTRIBUTES.values())
    asked = prompt.format(attributes=attributes, turns=_page_text(page))
    answer = ask_json(writer, asked, WrittenFacts, most_tokens=settings.most_tokens)
    shown = " ".join(f"{speaker_of(line.turn) or ''} {line.turn.at.year} {line.shown}" for line in page)
    found: dict[int, dict[tuple[str, ...], Statement]] = {}
    for fact in answer.facts:
        of_turn = found.setdefault(fact.turn, {})
        if 1 <= fact.turn <= len(page) and len(of_turn) < _MAX_FACTS:
            statement = _statement(fact, page[fact.turn - 1])
            if statement is not None and is_supported(statement, page[fact.turn - 1].shown, shown):
                key = (same_name(statement.subject), statement.attribute, same_name(statement.value))
                of_turn.setdefault(key, statement)
    return [(page[number - 1].turn.id, each) for number in sorted(found) for each in found[number].values()]


def _page_text(page: list[_ShownTurn]) -> str:
    lines = [f"[{number}] {_header(line.turn)}: {escaped(line.shown)}" for number, line in enumerate(page, 1)]
    return delimited(DATA, "\n".join(lines))


def _header(turn: Turn) -> str:
    name = speaker_of(turn)
    author = turn.role.value if name is None else f"{one_line(name)[:60]} ({turn.role.value})"
    return f"{turn.at:%A} {turn.at:%Y-%m-%d %H:%M} UTC, {author}"


def _statement(fact: WrittenFact, line: _ShownTurn) -> Statement | None:
    """The fact as a statement; None if the turn does not support it or a field is invalid."""
    attribute = re.sub(r"[\s-]+", "_", fact.attribute.strip().lower())
    valid = all(map(str.strip, (fact.subject, fact.value, fact.text))) and len(fact.text) <= _MAX_TEXT
    valid = valid and all(len(each) <= _MAX_VALUE for each in (fact.subject, fact.value, *fact.over))
    quote = _quoted_part(line.shown, fact.quote)
    if not (valid and quote and _ATTRIBUTE.fullmatch(attribute)):
        return None
    try:
        since, until = _validity(fact)
        return Statement.make(
            subject=_subject(fact.subject, line.turn),
            attribute=attribute,
            value=_one_spaced(fact.value),
            text=_one_spaced(fact.text),
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


def _one_spaced(text: str) -> str:
    return " ".join(text.split())


def _subject(subject: str, turn: Turn) -> str:
    """The subject, with one name for the speaker and one for the project."""
    name = same_name(subject)
    if name in _SPEAKER_WORDS and turn.role is Role.USER:
        return speaker_of(turn) or SPEAKER
    return PROJECT if name in _PROJECT_WORDS else _one_spaced(subject)


def _over(fact: WrittenFact, shown: str) -> tuple[str, ...]:
    """Former values that the turn names, other than the new value."""
    value, text = same_name(fact.value), f" {same_name(shown)} "
    formers = ((former, same_name(former)) for former in map(_one_spaced, fact.over))
    return tuple(former for former, name in formers if name and name != value and f" {name} " in text)


def _names(fact: WrittenFact) -> tuple[str, ...]:
    text = fold(_one_spaced(fact.text))
    names = [_one_spaced(name) for name in fact.names[:_MAX_NAMES]]
    return tuple(name for name in names if name and fold(name) in text)


def _quoted_part(text: str, quote: str) -> str:
    """The part of the text that the quote repeats; empty if the quote is invented.

    Case, accents, punctuation and single words may differ; the text's own wording is returned.
    """
    found, quoted = list(_WORD.finditer(text)), [fold(word) for word in _WORD.findall(quote)]
    words = [fold(word.group()) for word in found]
    if not quoted or len(quote) > _MAX_TEXT or (quote.isascii() and len(quoted) == 1 and len(words) > _SHORT_TURN):
        return ""
    if place := _find_verbatim(words, quoted) or (_find_nearby(words, quoted) if len(quoted) >= _MIN_WORDS else None):
        first, last = place
        return _one_spaced(text[found[first].start() : found[last].end()])
    # In scripts without spaces, a clause is one word.
    plain = _one_spaced(quote)
    return plain if not plain.isascii() and plain in _one_spaced(text) else ""


def _find_verbatim(words: list[str], quoted: list[str]) -> tuple[int, int] | None:
    """First and last position of the quote's words in a row; None if they do not occur."""
    length = len(quoted)
    starts = (at for at in range(len(words) - length + 1) if words[at : at + length] == quoted)
    return next(((at, at + length - 1) for at in starts), None)


def _find_nearby(words: list[str], quoted: list[str]) -> tuple[int, int] | None:
    """First and last position of most of the quote's words close together, in any order."""
    wanted, here, width = Counter(quoted), Counter[str](), len(quoted) + _MAX_OMITTED
    have, best, end = 0, 0, 0
    for at, word in enumerate(words):
        here[word] += 1
        have += here[word] <= wanted[word]
        if at >= width:
            left = words[at - width]
            have -= here[left] <= wanted[left]
            here[left] -= 1
        if have > best:
            best, end = have, at
    if best < _MIN_QUOTED * len(quoted):
        return None
    places = [at for at in range(max(end - width + 1, 0), end + 1) if words[at] in wanted]
    return places[0], places[-1]


def _validity(fact: WrittenFact) -> tuple[datetime | None, datetime | None]:
    """Start and end of validity. The end is inclusive, except for a state that ended on that day."""
    since, until = _period(fact.valid_from), _period(fact.valid_until)
    begins = since[0] if since else None
    ends = until[0 if fact.ended else 1] if until else None
    if begins and ends and begins > ends:
        raise InvalidInput("valid_until is before valid_from")
    return begins, ends


def _period(text: str | None) -> tuple[datetime, datetime] | None:
    """Start and exclusive end of the day, month or year."""
    if text is None or not text.strip():
        return None
    named = _DATE.fullmatch(text.strip())
    if named is None:
        raise InvalidInput("not a date")
    year, month, day = named.groups()
    length = relativedelta(days=1) if day else relativedelta(months=1) if month else relativedelta(years=1)
    try:
        first = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
        return first, first + length
    except (ValueError, OverflowError) as exc:
        raise InvalidInput("not a date") from exc
