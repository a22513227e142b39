"""Rules: preferences, requirements and pinned records, which are part of every context."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime

from treering.core.citations import cite
from treering.core.errors import InvalidInput
from treering.core.methodologies import phase_named
from treering.core.phases import Phase
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge, Level, Source
from treering.ports.store import Transaction
from treering.search.answer import Hit

MAX_CONSIDERED = 50
"""Number of rules read for each filter, newest first; more than the share of any budget holds."""
PHASE_TAG = "phase:"
"""A rule with the tag `phase:implement` applies to that phase only."""

_TRUSTED = KnowledgeFilter(deprecated=False, flagged=False, tainted=False, levels=(Level.GLOBAL, Level.MODULE))
_TYPED = _TRUSTED.replace(types=("preference", "requirement"))
_FILTERS = (_TRUSTED.replace(pinned=True), _TYPED.replace(user_verified=True), _TYPED)
_STATED = frozenset({Source.USER_TAUGHT, Source.AGENT_EXPLICIT})


def applicable_rules(
    tx: Transaction, *, files: Iterable[str] | None = None, phase: Phase | None = None, session: str | None = None
) -> tuple[Knowledge, ...]:
    """Rules for these files and this phase; stated, pinned, confirmed and new ones come first.

    With `files=None` the work is not known yet, and every rule is returned. Rules of the current `session` are left out
    because the model has read them.
    """
    newest = (tx.knowledge.newest(where, limit=MAX_CONSIDERED) for where in _FILTERS)
    found = {match.value.id: match.value for matches in newest for match in matches}
    in_play = None if files is None else tuple(files)
    applying = (
        each
        for each in found.values()
        if _is_valid(each, tx.now) and _applies(each, in_play, phase) and (session is None or each.session != session)
    )
    return tuple(sorted(applying, key=_rank))


def as_hits(rules: Iterable[Knowledge]) -> list[Hit]:
    cited = ((rule, *cite(rule)) for rule in rules)
    return [Hit(rule.id, "knowledge", text, 0.0, source, rule) for rule, text, source in cited]


def _rank(rule: Knowledge) -> tuple[bool, bool, bool, bool, float]:
    stated = rule.source in _STATED or rule.user_verified
    return not stated, rule.needs_review, not rule.pinned, not rule.user_verified, -rule.created_at.timestamp()


def _is_valid(rule: Knowledge, now: datetime) -> bool:
    begun = rule.valid_from is None or rule.valid_from <= now
    return begun and (rule.valid_until is None or rule.valid_until > now)


def _applies(rule: Knowledge, files: tuple[str, ...] | None, phase: Phase | None) -> bool:
    if files is None:
        return True
    named = [tag.removeprefix(PHASE_TAG) for tag in rule.tags if tag.startswith(PHASE_TAG)]
    if named and phase not in [*_phases(named)]:
        return False
    return not rule.files or any(_covers(path, file) for path in rule.files for file in files)


def _phases(names: Iterable[str]) -> Iterator[Phase]:
    """The phases with these names; names that no methodology has apply to none."""
    for name in names:
        with suppress(InvalidInput):
            yield phase_named(name)


def _covers(path: str, file: str) -> bool:
    """Whether `path` is the file or one of its parent folders."""
    return file == path or file.startswith(f"{path.rstrip('/')}/")
