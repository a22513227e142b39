"""What is said of a subject: trimmed to what counts, and refused where it can't be meant."""

import re
from typing import NamedTuple

from treering.learn.facts.grammar import Grammar, given_names
from treering.learn.facts.letters import lowered

_MOST_WORDS = {"rule": 24, "decided": 18, "plans": 14, "did": 14, "prefers": 14, "likes": 8, "dislikes": 8}
_WORDS = 7
_LIST_WORDS = 4
_BEFORE = " ,:;!`'\"“”«»„’*\t"
_EDGES = f".{_BEFORE}"
# What a value of these must look like; the others are told by their words.
_SHAPES = {
    "port": re.compile(r"\d{2,5}\Z"),
    "email": re.compile(r"[^\s@]+@[^\s@]+\.\w+\Z"),
    "phone": re.compile(r"\+?[\d(][\d\s()/.-]{5,20}\Z"),
    "age": re.compile(r"(?:\d{1,3}|[^\W\d_]{2,15})(?: \w+)?\Z"),
    "version": re.compile(r"(?=\S*\d)v?[\w.+-]{1,20}\Z"),
    "name": re.compile(r"[A-ZÀ-ÖØ-Þ][\w'’.-]*(?: (?:[A-ZÀ-ÖØ-Þ][\w'’.-]*|de|di|da|von|van|del|la)){0,3}\Z"),
    "located_at": re.compile(r"(?!\S*@)\S*[/.\\:]\S*\w/?\Z|[\w.-]+/\Z|[A-ZÀ-ÖØ-Þ][\w.-]*(?: [\w.-]+){0,2}\Z"),
}
# Names of people, places and companies begin with a capital.
_NAMED = frozenset(
    {"name", "lives_in", "from", "works_at", "reports_to", "partner", "written_in", "runs_on", "deployed_to"}
)
# Of these, one of the first two words does.
_TOWNS = frozenset({"lives_in", "from"})
# What people are not.
_PLACES = frozenset({"written_in", "runs_on", "deployed_to", "located_at"})
SENTENCES = frozenset({"rule", "decided", "plans", "did"})
# "No meat" is a diet.
_MAY_DENY = SENTENCES | {"diet"}
_DATED = frozenset({"plans", "did"})
_WITH_COMMAS = frozenset({"rule", "decided"})
# There is one, and an "and" begins something else.
_SINGLE = frozenset(
    {"lives_in", "works_at", "from", "runs_on", "deployed_to", "located_at", "named", "port", "version"}
)
# What follows a preposition is not part of these.
_HEADS = frozenset(
    {"uses", "named", "written_in", "deployed_to", "works_at", "runs_on", "depends_on", "allergic_to", "role"}
)
# Nor of these, where a name stands before it.
_NAMES = frozenset({"lives_in", "from", "reports_to", "partner", "relative", "pet", "speaks", "owned_by", "version"})
_LISTS = frozenset(
    {
        "uses",
        "speaks",
        "allergic_to",
        "likes",
        "dislikes",
        "depends_on",
        "written_in",
        "pet",
        "owns",
        "studies",
        "relative",
    }
)
# An "and" comes last in a list: what follows a comma behind it is something else.
_COMMA_LAST = re.compile(r"&[^&]*,\s+[^&]*$")
_CAPITAL_LETTER = re.compile(r"[A-ZÀ-ÖØ-Þ]")
# A version, then what it is there for.
_QUALIFIED = r"\d[\w.]*\s+(?P<by>{})\s*(?P<of>\S.*)\Z"
_QUALIFIER_WORDS = 3
_GENITIVE = re.compile(r"['’]s$")
# "fly.io" is a name as it is.
_DOTTED = re.compile(r"[a-z]\w+\.[a-z]{2,3}")
_TITLE = re.compile(r"[^\W\d_]{1,5}\. ")
_CAPITAL = re.compile(r"[A-ZÀ-ÖØ-Þ]|\d")


class Qualifier(NamedTuple):
    """`by` is the word before the `noun`; it `names` whatever uses the versions where that is sure."""

    by: str
    noun: str
    names: bool


def values_of(attribute: str, said: str, rules: Grammar, *, capitals: bool = True) -> list[str]:
    """The values in `said`, in their order: several where they are listed; none where they can't be meant.

    Without `capitals`, whoever wrote it never uses any.
    """
    parts = _listed(said, rules) if attribute in _LISTS else [said]
    if len(parts) == 1 and ", " in said.strip(_EDGES) and attribute not in _WITH_COMMAS:
        return []
    cleaned = [cleaned_value(part, rules, attribute) for part in parts]
    sound = [value for value in cleaned if _is_sound(attribute, value, rules, capitals)]
    return sound if len(sound) == len(parts) else []


def cleaned_value(said: str, rules: Grammar, attribute: str = "") -> str:
    """Without quotes, articles in front and words that only close a sentence."""
    value = " ".join(said.split()).rstrip(_EDGES).lstrip(_BEFORE)
    if attribute in SENTENCES:
        value = value.replace("`", "")
        if ends := rules.expression("sentence_cut", r",\s+{}(?!\w)").search(lowered(value)):
            value = value[: ends.start()]
        ends = rules.expression("polite", r"[\s,]+{}\Z").search(lowered(value))
        if ends is None and attribute in _DATED:
            # What stood before a time that was taken out.
            ends = rules.expression("before_time", r"\s+{}\Z").search(lowered(value))
        return value[: ends.start()] if ends else value
    if tail := rules.expression("tails", r"[\s,]+{}\Z").search(lowered(value)):
        value = value[: tail.start()].strip(_EDGES)
    article = rules.expression("articles", r"{}\s*").match(lowered(value))
    value = value[article.end() :].strip(_EDGES) if article and article.end() < len(value) else value
    if ends := rules.expression("value_cut", r"[\s,]+{}(?!\w)").search(lowered(value)):
        value = value[: ends.start()].strip(_EDGES)
    if attribute not in _HEADS and attribute not in _NAMES:
        return value
    if attribute == "owned_by":
        value = _GENITIVE.sub("", value)
    head = _head(value, rules)
    return head if is_proper(head) or (attribute in _HEADS and attribute not in _NAMED) else value


def denied_value(said: str, rules: Grammar) -> str:
    """What something is said instead of; it ends with the first thing that is no part of a name."""
    return _head(cleaned_value(said.partition(",")[0], rules), rules)


def _head(value: str, rules: Grammar) -> str:
    """What stands before "for …", "in …", where that is a name."""
    end = rules.expression("value_end", r"\s{}(?!\w)").search(lowered(value))
    return value[: end.start()] if end and end.start() else value


def qualifier(said: str, rules: Grammar) -> Qualifier | None:
    """What the versions in `said` are there for: "CI" of "Node 20 in CI". Without a version, nothing tells it apart."""
    found = rules.expression("qualifies", _QUALIFIED).search(lowered(said))
    if found is None:
        return None
    start, end = found.span("of")
    article = rules.expression("articles", r"{}\s*").match(lowered(said), start)
    noun = said[article.end() if article else start : end].strip(_EDGES)
    low = lowered(noun)
    words = low.split()
    if not words or len(words) > _QUALIFIER_WORDS or (not is_proper(noun) and words[0] in rules.listed["no_value"]):
        return None
    tail = rules.is_one("tails", lowered(said[found.start("by") : end]).strip(_EDGES))
    if (tail and not low.startswith("prod")) or rules.expression("value_end", r"(?<!\w){}(?!\w)").search(low):
        return None
    by = found["by"]
    definite = article is not None or is_proper(noun)
    return Qualifier(by, noun, definite and rules.is_one("purpose", by))


def is_proper(said: str) -> bool:
    """Whether it has what a name has: a capital or a digit."""
    return _CAPITAL.search(said) is not None


def is_bearable(said: str) -> bool:
    """Whether somebody can be called so: "Anna", "anna", "Anna de Vries"."""
    bare = _TITLE.sub("", said)
    return _SHAPES["name"].match(bare) is not None or lowered(said).split()[0] in given_names()


def is_known(said: str, rules: Grammar) -> bool:
    """Whether it is a name that is known without its capital: "postgres", "ada"; any may be, if none are listed."""
    names = rules.listed.get("names")
    words = lowered(said).split()
    if names is None or is_proper(said) or (words and words[0] in given_names()):
        return True
    return any(word.strip(_EDGES) in names or _DOTTED.fullmatch(word) for word in words[:3])


def listed_parts(said: str, rules: Grammar) -> list[str]:
    """`said` cut at each comma and "and"."""
    items = rules.expression("listing", r"\s*,\s*{}\s+|\s+{}\s+|\s*,\s+").split(said)
    return [item for item in items if item.strip(_EDGES)]


def _listed(said: str, rules: Grammar) -> list[str]:
    """The items of a list of names, or the whole."""
    items = listed_parts(said, rules)
    short = all(len(item.split()) <= _LIST_WORDS for item in items)
    # Without an "and", what follows a comma is as often something else.
    if _COMMA_LAST.search(rules.expression("listing", r"\s{}\s").sub("&", said)):
        return [said]
    sure = rules.expression("listing", r"\s{}\s").search(lowered(said)) or all(map(is_proper, items))
    # "Hugo and publish to Pages": the second is a verb with what belongs to it.
    names = [item for item in items if not rules.expression("value_end", r"[a-z]+\s{}\s").match(item)]
    return (names if names[:1] == items[:1] else items) if short and sure else [said]


def _is_sound(attribute: str, value: str, rules: Grammar, capitals: bool) -> bool:
    words = lowered(value).split()
    labelled = ": " in value and attribute not in _WITH_COMMAS
    if not words or labelled or len(words) > _MOST_WORDS.get(attribute, _WORDS):
        return False
    if attribute not in _MAY_DENY and words[0].strip(_EDGES).partition("'")[0] in rules.listed["no_value"]:
        return False
    if _is_misplaced(attribute, value, rules):
        return False
    if _holds_more(attribute, lowered(value), rules):
        return False
    shape = _SHAPES.get(attribute)
    if shape is not None:
        return shape.match(value) is not None
    known = attribute in _PLACES and "names" in rules.listed and is_known(value, rules)
    return (known or _is_name(attribute, value, capitals) or _is_workplace(attribute, value, rules)) and (
        attribute != "role" or rules.expression("jobs", r"(?<!\w){}(?!\w)").search(lowered(value)) is not None
    )


def _holds_more(attribute: str, low: str, rules: Grammar) -> bool:
    """Whether it goes on with something else: behind an "and", where there is one only, or with a verb."""
    if attribute in _SINGLE and rules.expression("listing", r"\s{}\s").search(low):
        return True
    return attribute not in SENTENCES and rules.expression("no_value_in", r"\s{}(?!\w)").search(low) is not None


def _is_misplaced(attribute: str, value: str, rules: Grammar) -> bool:
    """Whether it is somebody where only a thing can be meant, or a tool where somebody is: "Terraform" owns nothing."""
    low = lowered(value)
    if attribute == "owned_by":
        return low in rules.listed.get("names", ()) and low not in given_names()
    somebody = low.split()[0] in given_names() and low not in rules.listed.get("names", ())
    return attribute in (*_PLACES, "uses") and somebody


def _is_workplace(attribute: str, value: str, rules: Grammar) -> bool:
    """Whether it is where people work, though it has no name: "a hospital"."""
    return attribute == "works_at" and rules.expression("workplaces", r"{}(?!\w)").match(lowered(value)) is not None


def _is_name(attribute: str, value: str, capitals: bool) -> bool:
    """Whether it can be a name, where that is what it has to be."""
    if attribute in _NAMED:
        begins = " ".join(value.split()[:3]) if attribute in _TOWNS else value
        return not capitals or _CAPITAL_LETTER.search(begins) is not None
    # "It is called twice" names nothing.
    return attribute != "named" or len(value.split()) == 1 or is_proper(value)
