"""Where nouns are written with capitals, what must be a noun has one."""

from treering.learn.facts.grammar import Grammar
from treering.learn.facts.letters import lowered
from treering.learn.facts.values import is_proper

# Their values are nouns.
NOMINAL = frozenset({"uses", "depends_on", "runs_on", "owned_by", "owns", "has", "works_at", "is"})


def tells_nouns(rules: Grammar) -> bool:
    """Whether the language writes nouns with capitals."""
    return "before_noun" in rules.words


def ends_in_noun(said: str, rules: Grammar) -> bool:
    """Whether the last word is a noun: "the new import", not "new and quickly"."""
    words = said.split()
    return bool(words) and (_stands_out(words[-1]) or rules.is_one("tool_names", lowered(words[-1])))


def is_nominal(value: str, rules: Grammar) -> bool:
    """Whether it is a noun, with no more than `before_noun` in front: "old Synology", not "seat heated"."""
    words = value.split()
    if not words or rules.expression("tool_names", r"{}(?!\w)").match(lowered(value)):
        return bool(words)
    first = lowered(words[0])
    if rules.is_one("preps", first) or first in rules.listed["no_subject"]:
        return False
    begins = _is_noun(words[0], rules) or rules.is_one("before_noun", first)
    return begins and _is_noun(words[-1], rules)


def _is_noun(word: str, rules: Grammar) -> bool:
    return _stands_out(word) or rules.is_one("lower_names", lowered(word))


def _stands_out(word: str) -> bool:
    return is_proper(word) or not word.strip(".,;!?()\"'").isalpha()
