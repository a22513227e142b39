"""Why files belong together, in words."""

from treering.code.history.ranking import Related

_MOST = 3
_IMPORTS = "imports"
_SAID = {
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
"""The others are of no use to anybody who reads."""


def reasons_of(related: Related) -> tuple[str, ...]:
    """The strongest in words; commits and imports always, since they are facts."""
    commits = "1 commit" if related.together == 1 else f"{related.together:,} commits"
    said = [f"{commits} together"] if related.together else []
    said += [_SAID[term.name] for term in related.why if term.name == _IMPORTS and term.value]
    strongest = sorted(related.why, key=lambda term: -term.gain)
    others = dict.fromkeys(_SAID[term.name] for term in strongest if term.gain > 0 and term.name in _SAID)
    return (*said, *[each for each in others if each not in said][: _MOST - len(said)])
