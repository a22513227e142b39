"""Statements: subject, attribute, value and validity, and the keys for finding contradictions."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from treering.core.language.folding import fold
from treering.core.values import KEY_BYTES, Instant, Label, Labels, Share, Text, Value

SPEAKER = "user"
"""Subject of statements of unnamed people about themselves."""
PROJECT = "project"
"""Subject of statements with "we"."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A property of a subject; an `exclusive` one has one value at a time.

    `replaced` is the wording with which another value replaces the former one without stating a change: `any` words
    with the same qualifier after the value, the `same_words` apart from the value, or none (`change`).
    """

    name: str
    meaning: str
    exclusive: bool = False
    replaced: Literal["any", "same_words", "change"] = "any"


ATTRIBUTES: Mapping[str, Attribute] = MappingProxyType(
    {
        attribute.name: attribute
        for attribute in (
            # People.
            Attribute("name", "what somebody is called", exclusive=True, replaced="same_words"),
            Attribute("lives_in", "where somebody lives", exclusive=True),
            Attribute("from", "where somebody was born or grew up"),
            Attribute("born_on", "somebody's birthday", exclusive=True),
            Attribute("age", "how old somebody is"),
            Attribute("works_at", "the employer", exclusive=True, replaced="same_words"),
            Attribute("role", "the job or function", exclusive=True, replaced="change"),
            Attribute("team", "the team somebody is in"),
            Attribute("reports_to", "the boss"),
            Attribute("email", "the mail address"),
            Attribute("phone", "the telephone number"),
            Attribute("handle", "the user name at a service"),
            Attribute("timezone", "the time zone somebody works in", exclusive=True),
            Attribute("partner", "husband, wife, partner"),
            Attribute("relative", "a child, parent, brother, sister…"),
            Attribute("pet", "an animal somebody keeps"),
            Attribute("owns", "a thing somebody has"),
            Attribute("speaks", "a language somebody speaks"),
            Attribute("studies", "what somebody studies or learns"),
            Attribute("likes", "what somebody likes"),
            Attribute("dislikes", "what somebody dislikes"),
            Attribute("prefers", "what somebody wants rather than something else"),
            Attribute("allergic_to", "what somebody must not have"),
            Attribute("diet", "how somebody eats: vegetarian, vegan…", exclusive=True, replaced="change"),
            Attribute("avoids", "a food or drink that somebody does not take"),
            Attribute("plans", "what somebody is going to do"),
            Attribute("did", "what somebody did once: an event with a date"),
            # Projects and the things in them.
            Attribute("uses", "what a project or somebody works with"),
            Attribute("version", "which version of it is in use", exclusive=True),
            Attribute("written_in", "the language something is written in"),
            Attribute("runs_on", "what something runs on or is hosted by"),
            Attribute("deployed_to", "where something is deployed"),
            Attribute("located_at", "the path, address or URL of something"),
            Attribute("port", "the port something listens on", exclusive=True),
            Attribute("owned_by", "whose responsibility something is", exclusive=True),
            Attribute("depends_on", "what something needs"),
            Attribute("deadline", "until when something is due", exclusive=True),
            Attribute("scheduled", "when something regularly happens"),
            Attribute("named", "what a thing is called"),
            Attribute("default", "the value that is taken unless another is given"),
            Attribute("status", "the state something is in: frozen, deprecated, in review…"),
            Attribute("decided", "what was decided"),
            Attribute("rule", "what must always or never be done"),
            Attribute("noted", "what memory was asked to keep"),
            Attribute("correction", "what is said instead of something that memory or an agent said"),
            Attribute("is", "anything else that something is"),
            Attribute("has", "anything else that something has"),
        )
    }
)


class Statement(Value):
    """A self-contained statement.

    `text` is a complete sentence without "I", "it" or "yesterday". `over` lists values of the same subject and
    attribute that the statement replaces ("not MySQL", "instead of npm", "switched from…"). `ended` is set if the value
    is no longer true, `changes` if it is announced as new ("moved to", "switched"). A subject that is not `specific`
    ("the server") may refer to different things. `type` is the knowledge type of the record.
    """

    subject: Text
    attribute: Label
    value: Text
    text: Text
    type: Label = "fact"
    over: tuple[Text, ...] = ()
    ended: bool = False
    changes: bool = False
    specific: bool = True
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    speaker: Label | None = None
    quote: Text = ""
    language: Label | None = None
    confidence: Share = 0.7
    entities: Labels = ()

    @property
    def exclusive(self) -> bool:
        """Whether the attribute has one value at a time."""
        known = ATTRIBUTES.get(self.attribute)
        return known is not None and known.exclusive and self.specific


_ARTICLES = frozenset(files("treering.core.language").joinpath("articles.txt").read_text("utf-8").split())


@lru_cache(maxsize=2_000)  # a search asks twice for each name that its query may contain
def same_name(text: str) -> str:
    """Key that is equal for spellings of one name: "the API team", "API-Team", "our api team".

    Articles before other words are ignored ("Plan A" keeps its letter), and so are signs next to letters and digits. A
    name that consists of signs keeps them.
    """
    folded = fold(text)
    words = "".join(char if char.isalnum() or char in "+#." else " " for char in folded).split()
    words = [word for word in (each.strip(".") for each in words) if word]
    first = next((place for place, word in enumerate(words[:-1]) if word not in _ARTICLES), len(words) - 1)
    return " ".join(words[max(first, 0) :]) or " ".join(folded.split())


def fact_key(subject: str, attribute: str) -> str:
    """Key of the statements about one subject and attribute, which may contradict each other.

    It can always be stored: long or unprintable parts are replaced by a digest.
    """
    name = same_name(subject)
    key = f"{name}|{attribute}"
    if _is_storable(key) and "|" not in name:
        return key
    key = f"{_digest(name)}|{attribute}"
    return key if _is_storable(key) else f"{_digest(name)}|{_digest(attribute)}"


def _is_storable(key: str) -> bool:
    return key.isprintable() and len(key.encode("utf-8", "surrogatepass")) <= KEY_BYTES


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
