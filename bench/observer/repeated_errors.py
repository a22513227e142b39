"""Errors that came back in a later session, and whether a record with a resolution was there before."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.observer.facts import SessionFacts
from bench.observer.judging import PromotedRecord
from treering.observe.scratchpad import Signal


@dataclass(slots=True)
class RepeatedErrors:
    """Counts of (session, error) where an earlier session had the same error.

    `possible` had it in enough earlier sessions for a record (two), `resolved` was resolved by a change in one of them.
    """

    total: int = 0
    covered: int = 0
    possible: int = 0
    resolved: int = 0
    resolved_twice: int = 0


def repeated_errors(
    facts: Sequence[SessionFacts], records: Sequence[PromotedRecord], *, with_minor: bool
) -> RepeatedErrors:
    known = {each.subject: each.place for each in records[::-1] if each.signal == Signal.ERROR_RETRY}
    counts, seen, resolved = RepeatedErrors(), dict[str, int](), dict[str, int]()
    for place, session in enumerate(facts):
        errors = [each for each in session.failures if with_minor or each not in session.minor]
        for error in errors:
            if error in seen:
                counts.total += 1
                counts.covered += known.get(error, len(facts)) < place
                counts.possible += seen[error] > 1
                counts.resolved += resolved[error] > 0
                counts.resolved_twice += resolved[error] > 0 and seen[error] > 1
        for error in errors:
            seen[error] = seen.get(error, 0) + 1
            resolved[error] = resolved.get(error, 0) + any(session.resolutions(error))
    return counts
