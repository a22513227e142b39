"""Reasons why files are related, in words."""

from treering.code.history.ranking import RankedFile

_MAX_REASONS = 3
_IMPORTS = "imports"
_REASONS = {
    "imports": "imports",
    "lately": "changed together lately",
    "at_once": "both just changed",
    "new_name": "named alike",
    "words": "path alike",
    "new_folder": "same folder",
    "test_and_code": "test and code",
    "folders": "folders change together",
    "busy": "much changed lately",
}
"""Terms without an entry are not shown."""


def reasons_of(related: RankedFile) -> tuple[str, ...]:
    """The strongest reasons; commits and imports are always included, because they are facts."""
    commits = "1 commit" if related.together == 1 else f"{related.together:,} commits"
    facts = [f"{commits} together"] if related.together else []
    facts += [_REASONS[term.name] for term in related.why if term.name == _IMPORTS and term.value]
    strongest = sorted(related.why, key=lambda term: -term.gain)
    others = dict.fromkeys(_REASONS[term.name] for term in strongest if term.gain > 0 and term.name in _REASONS)
    return (*facts, *[each for each in others if each not in facts][: _MAX_REASONS - len(facts)])
