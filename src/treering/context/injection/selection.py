"""Chooses among the candidates of one occasion: gates, chances, limits."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from treering.context.injection.contradictions import contradicted_by
from treering.core.delimiters import without_delimited
from treering.core.injection_rates import InjectionRates, ignored_in_a_row
from treering.core.injection_rules import MAX_GOTCHAS, UNTRACEABLE_TYPES
from treering.core.injections import ItemOutcome
from treering.core.project_settings import INJECTION_RATES
from treering.core.queries import InjectedItemFilter, Order

if TYPE_CHECKING:
    from treering.context.injection.candidates import InjectionCandidate
    from treering.context.injection.lookup import InjectionLookup
    from treering.context.injection.points import PointSpec
    from treering.core.injections import InjectionPoint
    from treering.ports.store import Transaction

_MAX_OUTCOMES = 400  # latest outcomes of the candidates at this point


def candidates_of(
    look: InjectionLookup, spec: PointSpec, excluded: frozenset[tuple[str, str]]
) -> tuple[InjectionCandidate, ...]:
    """Candidates of all sources that may be given, each once, with their estimates; () past the deadline."""
    found: dict[tuple[str, str], InjectionCandidate] = {}
    for source in spec.sources():
        if not look.in_time():
            return ()
        for each in source(look):
            admitted = each.record is None or look.gate.admits(each.record)
            if each.key not in excluded and admitted:
                found.setdefault(each.key, each)
    contradicted = _contradicted(look, found.values())
    return tuple(each for each in found.values() if each.item not in contradicted)


def chosen(
    tx: Transaction, candidates: Sequence[InjectionCandidate], point: InjectionPoint, spec: PointSpec
) -> list[InjectionCandidate]:
    """The candidates whose chance of use reaches the threshold, in the order of the sources, within the limits."""
    setting = tx.project_settings.get(INJECTION_RATES) if candidates else None
    rates = InjectionRates.from_values({} if setting is None else setting.values)
    ignored = _ignored(tx, candidates, point)
    likely = []
    for each in candidates:
        chance = rates.chance(each.estimate, point, each.type, ignored_in_a_row=ignored[each.item])
        if chance >= spec.threshold:
            likely.append(each.with_chance(chance))
    ranked = sorted(likely, key=lambda each: -each.estimate)
    kept = {each.key for each in _limited(ranked, spec.items)}
    return [each for each in likely if each.key in kept]


def _limited(ranked: Iterable[InjectionCandidate], limit: int) -> Iterable[InjectionCandidate]:
    count = Counter[str]()
    for each in ranked:
        if count.total() >= limit:
            return
        if each.type != "gotcha" or count["gotcha"] < MAX_GOTCHAS:
            count[each.type] += 1
            yield each


def _ignored(tx: Transaction, candidates: Sequence[InjectionCandidate], point: InjectionPoint) -> Counter[str]:
    """How often each candidate was ignored in a row at this point; rules leave no trace, so it says nothing of them."""
    names = tuple(each.item for each in candidates if each.type not in UNTRACEABLE_TYPES)
    if not names:
        return Counter()
    where = InjectedItemFilter(items=names, points=(point,), judged=True)
    outcomes: dict[str, list[ItemOutcome | None]] = defaultdict(list)
    for item in tx.injected_items.find(where, order=Order(by="injected_at"), limit=_MAX_OUTCOMES).items:
        outcomes[item.item].append(item.outcome)
    return Counter({item: ignored_in_a_row(found) for item, found in outcomes.items()})


def _contradicted(look: InjectionLookup, found: Iterable[InjectionCandidate]) -> frozenset[str]:
    said = without_delimited(look.so_far.said)
    records = [each.record for each in found if each.record is not None]
    if not said.strip() or not records:
        return frozenset()
    return contradicted_by(said, records, look.gate.now, look.tx.index.languages())
