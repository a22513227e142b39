"""The project's false-positive rates: what people confirmed and rejected among the records of each signal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from treering.core.queries import SignalEvidenceFilter

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.observe.scratchpad import Signal
    from treering.ports.store import Transaction

PRIOR_STRENGTH = 10  # judgements that the prior rate counts for
_MAX_JUDGED = 200  # latest records of a signal that are considered


def false_positive_rates(tx: Transaction, signals: Iterable[Signal]) -> dict[Signal, float]:
    """Rates by signal. A record that was flagged, corrected or forgotten is rejected; a confirmed one is not."""
    # The table takes long to import, and `is_rejected` does without it.
    from treering.observe.signals import SIGNALS

    wanted = tuple(dict.fromkeys(signals))
    ids_by_signal = _promoted(tx, [signal.value for signal in wanted])
    records = tx.knowledge.get_many(id for ids in ids_by_signal.values() for id in ids)
    rates = {}
    for signal in wanted:
        ids = ids_by_signal.get(signal.value, [])
        known = {id: records[id] for id in ids if id in records}
        rejected = sum(1 for id in ids if is_rejected(known.get(id)))
        confirmed = sum(1 for each in known.values() if each.user_verified and not is_rejected(each))
        prior = SIGNALS[signal].false_positive_rate
        rates[signal] = (PRIOR_STRENGTH * prior + rejected) / (PRIOR_STRENGTH + rejected + confirmed)
    return rates


def _promoted(tx: Transaction, signals: Sequence[str]) -> dict[str, list[str]]:
    """Records by signal, the latest of each. One query is enough unless the project has very many."""
    page = tx.evidence.find(SignalEvidenceFilter(signals=tuple(signals), promoted=True), limit=_MAX_JUDGED)
    if page.next is not None and len(signals) > 1:
        return {signal: ids for each in signals for signal, ids in _promoted(tx, [each]).items()}
    found: dict[str, list[str]] = {}
    for each in page.items:
        if each.record is not None:
            found.setdefault(each.signal, []).append(each.record)
    return found


def is_rejected(record: Knowledge | None) -> bool:
    """Whether a person took the record back. Records that expired are deleted as well, so they count, too."""
    return record is None or record.deleted_at is not None or record.deprecated_at is not None or record.flagged
