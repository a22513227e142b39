"""Built-in types: results and callback arguments of methods of arrays, maps and promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from treering.code.languages.typescript.members import awaited, element
from treering.code.languages.typescript.signatures import CallSite, returned
from treering.code.languages.typescript.values import OUTSIDE, UNKNOWN, TsValue, generic

if TYPE_CHECKING:
    from treering.code.languages.typescript.evaluator import TsEvaluator


def _callback_result(site: CallSite) -> TsValue | None:
    return returned(site.e, site.argument(0))


def _item(site: CallSite, of: TsValue) -> TsValue | None:
    return element(site.e, of)


SAME = frozenset(
    ("filter", "slice", "concat", "sort", "reverse", "splice", "toSorted", "toReversed", "with", "fill", "values")
)
ONE = frozenset(("find", "findLast", "pop", "shift", "at"))
EACH = frozenset(("forEach", "map", "filter", "find", "findLast", "findIndex", "some", "every", "flatMap", "sort"))
FOLDS = frozenset(("reduce", "reduceRight"))


def method_result(site: CallSite, method: TsValue) -> TsValue | None:
    """Return the result of a method of a built-in type."""
    of, name = method.parts[0], method.text
    if of.kind == "function":
        return of._replace(target=None) if name == "bind" else returned(site.e, of)
    return RESULTS.get(of.text, _sequence_result)(site, of, name)


def _promise_result(site: CallSite, of: TsValue, name: str) -> TsValue | None:
    if name == "then":
        return generic("Promise", awaited(_callback_result(site)))
    return of if name in ("catch", "finally") else OUTSIDE


def _map_result(site: CallSite, of: TsValue, name: str) -> TsValue | None:
    position = {"get": 1, "values": 1, "keys": 0}.get(name)
    if position is None or position >= len(of.parts):
        return OUTSIDE
    return of.parts[position] if name == "get" else generic("Array", of.parts[position])


def _sequence_result(site: CallSite, of: TsValue, name: str) -> TsValue | None:
    result = SEQUENCE_RESULTS.get(name)
    return result(site, of) if result is not None else OUTSIDE


def _same(site: CallSite, of: TsValue) -> TsValue | None:
    return generic("Array", _item(site, of))


def _mapped(site: CallSite, of: TsValue) -> TsValue | None:
    return generic("Array", _callback_result(site))


def _flat_mapped(site: CallSite, of: TsValue) -> TsValue | None:
    return generic("Array", element(site.e, _callback_result(site)))


def _folded(site: CallSite, of: TsValue) -> TsValue | None:
    return site.argument(1)


def _numbered(site: CallSite, of: TsValue) -> TsValue | None:
    return generic("Array", generic("Tuple", TsValue("literal", text="number"), _item(site, of)))


RESULTS: dict[str, Callable[[CallSite, TsValue, str], TsValue | None]] = {
    "Promise": _promise_result,
    "Map": _map_result,
}
SEQUENCE_RESULTS: dict[str, Callable[[CallSite, TsValue], TsValue | None]] = {
    **dict.fromkeys(SAME, _same),
    **dict.fromkeys(ONE, _item),
    **dict.fromkeys(FOLDS, _folded),
    "map": _mapped,
    "flatMap": _flat_mapped,
    "entries": _numbered,
}


def method_callback(site: CallSite, method: TsValue) -> TsValue | None:
    """Return the arguments that a method of a built-in type passes to its callback."""
    of, name = method.parts[0], method.text
    if of.kind == "function":
        return None
    passed: tuple[TsValue, ...] = ()
    if of.text == "Promise":
        passed = (awaited(of) or UNKNOWN,) if name == "then" else ()
    elif of.text == "Map":
        passed = tuple(reversed(of.parts))
    else:
        item = _item(site, of) or UNKNOWN
        if name in ("push", "unshift"):
            return item
        if name in EACH:
            passed = (item, item if name == "sort" else UNKNOWN)
        elif name in FOLDS:
            passed = (site.argument(1) or UNKNOWN, item)
    return TsValue("callback", parts=passed) if passed else OUTSIDE


def _values(e: TsEvaluator, site: CallSite) -> TsValue | None:
    return generic("Array", element(e, site.argument(0)))


def _entries(e: TsEvaluator, site: CallSite) -> TsValue | None:
    return generic("Array", generic("Tuple", TsValue("literal", text="string"), element(e, site.argument(0))))


def _all(e: TsEvaluator, site: CallSite) -> TsValue | None:
    listed = site.argument(0)
    if listed is None or listed.kind != "generic":
        return generic("Promise", None)
    return generic("Promise", listed._replace(parts=tuple(awaited(part) or UNKNOWN for part in listed.parts)))


def _any(e: TsEvaluator, site: CallSite) -> TsValue | None:
    return generic("Promise", awaited(element(e, site.argument(0))))


def _resolved(e: TsEvaluator, site: CallSite) -> TsValue | None:
    return generic("Promise", awaited(site.argument(0)))


def _passed(e: TsEvaluator, site: CallSite) -> TsValue | None:
    return site.argument(0)


def _assigned(e: TsEvaluator, site: CallSite) -> TsValue | None:
    parts = [site.argument(position) for position in range(len(site.arguments))]
    found = tuple(part for part in parts if part is not None)
    return TsValue("all of", parts=found, target=found[0].target) if found else None


def _from(e: TsEvaluator, site: CallSite) -> TsValue | None:
    return generic("Array", element(e, site.argument(0)))


STATICS: dict[tuple[str, str], Callable[[TsEvaluator, CallSite], TsValue | None]] = {
    ("Object", "values"): _values,
    ("Object", "entries"): _entries,
    ("Object", "freeze"): _passed,
    ("Object", "seal"): _passed,
    ("Object", "assign"): _assigned,
    ("Promise", "all"): _all,
    ("Promise", "race"): _any,
    ("Promise", "any"): _any,
    ("Promise", "resolve"): _resolved,
    ("Array", "from"): _from,
}
"""Static functions of built-in objects that return their arguments."""
