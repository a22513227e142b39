"""The project's false-positive rates: what people confirmed and rejected among the records of each signal."""

from __future__ import annotations

from collections.abc import Iterable
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

    rates = {}
    for signal in dict.fromkeys(signals):
        where = SignalEvidenceFilter(signals=(signal.value,), promoted=True)
        ids = [each.record for each in tx.evidence.find(where, limit=_MAX_JUDGED).items if each.record is not None]
        known = tx.knowledge.get_many(ids)
        rejected = sum(1 for id in ids if is_rejected(known.get(id)))
        confirmed = sum(1 for each in known.values() if each.user_verified and not is_rejected(each))
        prior = SIGNALS[signal].false_positive_rate
        rates[signal] = (PRIOR_STRENGTH * prior + rejected) / (PRIOR_STRENGTH + rejected + confirmed)
    return rates


def is_rejected(record: Knowledge | None) -> bool:
    """Whether a person took the record back. Records that expired are deleted as well, so they count, too."""
    return record is None or record.deleted_at is not None or record.deprecated_at is not None or record.flagged
