"""What somebody says is so: subject, attribute and value, from when to when, and whom it contradicts."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from treering.core.language.folding import fold
from treering.core.values import KEY_BYTES, Instant, Label, Labels, Share, Text, Value

SPEAKER = "user"
"""The subject of what people say of themselves, where their name is not known."""
PROJECT = "project"
"""The subject of what "we" do."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """Something that can be said of a subject. Where it is `exclusive`, a subject has one value at a time.

    `replaced` is how a statement of another value must be worded to replace the former one, unless it states a change:
    `any` words with the same qualifier behind the value, the `same_words` but for the value, or only as a `change`.
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
    """One thing that was said to be so, understandable by itself.

    `text` is a whole sentence without "I", "it" or "yesterday". `over` names values of the same subject and attribute
    that no longer hold by this very statement ("not MySQL", "instead of npm", "switched from…"). With `ended` the
    value itself holds no longer, with `changes` it says that the value is a new one ("moved to", "switched"). A subject
    that is not `specific` ("the server") may be another thing each time. `type` is the knowledge type it becomes.
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
        """Whether another value of this subject and attribute cannot hold beside it."""
        known = ATTRIBUTES.get(self.attribute)
        return known is not None and known.exclusive and self.specific


_ARTICLES = frozenset(files("treering.core.language").joinpath("articles.txt").read_text("utf-8").split())


def same_name(text: str) -> str:
    """Equal for two ways to write one name: "the API team", "API-Team", "our api team".

    Articles count for nothing in front of other words ("Plan A" keeps its letter), signs for nothing beside letters
    and digits: a name of signs alone is told apart by them.
    """
    folded = fold(text)
    words = "".join(char if char.isalnum() or char in "+#." else " " for char in folded).split()
    words = [word for word in (each.strip(".") for each in words) if word]
    first = next((place for place, word in enumerate(words[:-1]) if word not in _ARTICLES), len(words) - 1)
    return " ".join(words[max(first, 0) :]) or " ".join(folded.split())


def fact_key(subject: str, attribute: str) -> str:
    """What two statements share that may contradict each other: different for each two names or attributes.

    Always a key that can be stored: what is too long for one, or can't be printed, is there as a digest.
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
