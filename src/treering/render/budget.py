"""Renders hits within a token budget: without repetitions, grouped by file, with a share per type, and cited."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from treering.core.delimiters import escaped, one_line
from treering.core.errors import InvalidInput
from treering.core.excerpts import ELLIPSIS, shortened
from treering.core.phases import OTHER, PHASE_BUDGETS, PHASE_SHARES, Phase
from treering.core.settings import ContextSettings
from treering.core.tokens import CountTokens, estimate_tokens
from treering.render.overlap import repetitions
from treering.render.page import MAX_CHARACTERS_PER_TOKEN
from treering.render.passages import (
    GENERAL,
    REFLECTION,
    RULES,
    WITHOUT_FILE,
    RenderedPassage,
    frame,
    heading_line,
    label_of,
    render,
)
from treering.search.answer import Hit

MIN_USEFUL_TOKENS = 40  # fewer than two sentences of a longer text say what it is about, but not what it says
MAX_FURTHER_SOURCES = 3  # sources that said the same, after the first; more say little and cost a line each
MAX_PASSES = 5  # parts counted one by one come to more than the whole; what is left is distributed again

Reason = Literal["overlap", "budget", "type share", "rules share"]
# Costs are counted before citation numbers are assigned; few contexts have more items.
WIDEST_NUMBER = 100
DEFAULTS = ContextSettings()


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One passage of the context. `also` lists the ids of repeated hits, `tokens` includes the source line."""

    id: str
    citation: str
    source: str
    text: str
    tokens: int
    truncated: bool
    also: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RenderedContext:
    """Text for a prompt. `tokens` counts all of `text` and never exceeds `budget`.

    Every hit is one of the `items` or `left_out` with a reason: "overlap" (a better hit says the same), "type share"
    (the share of its type was used up while a lower hit of another type was shown), "budget" (no tokens left). Rules
    that neither fit into their share nor were found are left out with the reason "rules share".
    """

    text: str
    tokens: int
    items: tuple[ContextItem, ...]
    left_out: tuple[tuple[str, Reason], ...]
    budget: int
    phase: Phase | None

    def __repr__(self) -> str:
        return f"RenderedContext(tokens={self.tokens}, budget={self.budget}, items={len(self.items)})"


@dataclass(frozen=True, slots=True)
class _Constraints:
    """Constraints of one rendering."""

    phase: Phase | None
    budget: int
    count: CountTokens
    settings: ContextSettings
    reflection: str = ""
    rules: frozenset[str] = frozenset()

    def heading_of(self, hit: Hit) -> str:
        """Heading of the hit's reserved section; empty if it belongs to none."""
        return RULES if hit.id in self.rules else REFLECTION if hit.id == self.reflection else ""


@dataclass(frozen=True, slots=True)
class _PassageCost:
    """A passage, the share it counts towards, and its costs in tokens.

    `overhead` covers heading and source line, `without_text` everything but the text, `total` all of it.
    """

    passage: RenderedPassage
    share: str
    overhead: int
    without_text: int
    total: int


@dataclass(frozen=True, slots=True)
class _Plan:
    chosen: tuple[_PassageCost, ...]
    left_out: tuple[tuple[_PassageCost, Reason], ...]

    @property
    def complete(self) -> bool:
        return not self.left_out and not any(each.passage.truncated for each in self.chosen)


def render_context(
    hits: Sequence[Hit],
    *,
    phase: Phase | None = None,
    budget: int | None = None,
    count: CountTokens = estimate_tokens,
    settings: ContextSettings = DEFAULTS,
    reflection: Hit | None = None,
    rules: Sequence[Hit] = (),
) -> RenderedContext:
    """The best of `hits` as one cited text of at most `budget` tokens by `count`.

    The default budget is that of the phase. Without a phase, types have no shares and the best hits come first. `rules`
    come first in the given order and the `reflection` last; both have a share of their own, and rules also get the
    tokens that the results leave over. Raises `InvalidInput` for a negative budget.
    """
    limits = _Constraints(phase, _budget(phase, budget, settings), count, settings)
    # Equal scores keep the order of the answer, which places the current record before those it superseded.
    ranked = sorted(hits, key=lambda hit: -hit.score)
    if reflection is not None:
        ranked = [*(hit for hit in ranked if hit.id != reflection.id), reflection]
        limits = replace(limits, reflection=reflection.id)
    room = limits.budget - count(frame(phase))
    rendered, cost = _render_with_rules(ranked, rules, int(room * settings.rules_share), room, limits)
    for _ in range(MAX_PASSES):
        if not _has_room_for_rules(rendered):
            break
        spare = limits.budget - rendered.tokens if rendered.text else room
        wider, cost = _render_with_rules(ranked, rules, cost + spare, room, limits)
        if _dropped_results(wider) or len(wider.items) <= len(rendered.items):
            break
        rendered = wider
    return rendered


def _render_with_rules(
    ranked: Sequence[Hit], rules: Sequence[Hit], share: int, room: int, limits: _Constraints
) -> tuple[RenderedContext, int]:
    """The context with the rules that fit into `share` tokens, and the cost of these rules."""
    chosen, cost = _fitting_rules(rules, share, limits)
    limits = replace(limits, rules=frozenset(rule.id for rule in chosen))
    ranked = [*chosen, *(hit for hit in ranked if hit.id not in limits.rules)]
    shown = {hit.id for hit in ranked}
    without_share: list[tuple[str, Reason]] = [(rule.id, "rules share") for rule in rules if rule.id not in shown]
    budget, phase, count = limits.budget, limits.phase, limits.count
    if not ranked or room <= 0:
        return RenderedContext(
            "", 0, (), (*((hit.id, "budget") for hit in ranked), *without_share), budget, phase
        ), cost
    plan, text = _fit(_candidates(ranked, limits), room, limits)
    items = tuple(_item(each, number, count) for number, each in enumerate(_in_order(plan.chosen, phase), 1))
    return RenderedContext(
        text, count(text) if text else 0, items, (*_left_out(plan), *without_share), budget, phase
    ), cost


def _has_room_for_rules(rendered: RenderedContext) -> bool:
    """Whether rules were left out although every result is shown in full."""
    return any(reason == "rules share" for _, reason in rendered.left_out) and not _dropped_results(rendered)


def _dropped_results(rendered: RenderedContext) -> bool:
    dropped = any(reason not in ("overlap", "rules share") for _, reason in rendered.left_out)
    return dropped or any(item.truncated for item in rendered.items)


def _fitting_rules(rules: Sequence[Hit], share: int, limits: _Constraints) -> tuple[list[Hit], int]:
    """Rules that fit completely into their share, in order, and their cost."""
    chosen, spent = list[Hit](), 0
    max_characters = limits.budget * MAX_CHARACTERS_PER_TOKEN
    for rule in rules:
        text = escaped(rule.text.strip())
        passage = RenderedPassage(hit=rule, label=label_of(rule), heading=RULES, text=text)
        cost = _cost_of(passage, opens=not chosen, limits=limits).total if len(text) <= max_characters else share + 1
        if spent + cost <= share:
            spent += cost
            chosen.append(rule)
    return chosen, spent


def _budget(phase: Phase | None, budget: int | None, settings: ContextSettings) -> int:
    if budget is None:
        return PHASE_BUDGETS[phase] if phase else settings.budget
    if type(budget) is not int or budget < 0:
        raise InvalidInput(f"the budget is {budget!r}; pass a number of tokens, 0 or more")
    return budget


def _candidates(ranked: Sequence[Hit], limits: _Constraints) -> list[_PassageCost]:
    """Passages without repetitions, with their costs, best first."""
    max_characters = limits.budget * MAX_CHARACTERS_PER_TOKEN
    texts = [_readable(hit.text, max_characters) for hit in ranked]
    repeats = repetitions(texts)
    headings: set[str] = set()
    candidates: list[_PassageCost] = []
    for index, hit in enumerate(ranked):
        if index in repeats:
            continue
        heading = limits.heading_of(hit) or _heading(hit, headings)
        passage = RenderedPassage(
            hit=hit,
            label=label_of(hit),
            heading=heading,
            text=texts[index],
            also=tuple(ranked[later] for later, earlier in repeats.items() if earlier == index),
            also_cited=MAX_FURTHER_SOURCES,
            truncated=len(hit.text) > max_characters,
        )
        candidates.append(_cost_of(passage, opens=heading not in headings, limits=limits))
        headings.add(heading)
    return candidates


def _readable(text: str, limit: int) -> str:
    return escaped(text.strip() if len(text) <= limit else f"{text[:limit].strip()} {ELLIPSIS}")


def _heading(hit: Hit, headings: set[str]) -> str:
    """The first of its files that already has a heading, else its first file, else its kind."""
    files = [one_line(file) for file in getattr(hit.record, "files", ())]
    known = (file for file in files if file in headings)
    return next(known, files[0] if files else WITHOUT_FILE.get(hit.kind, GENERAL))


def _cost_of(passage: RenderedPassage, *, opens: bool, limits: _Constraints) -> _PassageCost:
    heading = heading_line(passage.heading) if opens else ""
    overhead = limits.count(heading) + limits.count(passage.sources(WIDEST_NUMBER))
    without_text, total = (
        overhead + limits.count(replace(passage, text=text).body(WIDEST_NUMBER)) for text in ("", passage.text)
    )
    share = RULES if passage.heading == RULES else _share_of(passage.hit, limits.phase)
    return _PassageCost(passage, share, overhead, without_text, total)


def _share_of(hit: Hit, phase: Phase | None) -> str:
    """The type if the phase has a share for it, else `OTHER`."""
    name = str(getattr(hit.record, "type", OTHER))
    return name if phase and name in PHASE_SHARES[phase] else OTHER


def _fit(candidates: Sequence[_PassageCost], room: int, limits: _Constraints) -> tuple[_Plan, str]:
    """The plan that uses the budget best, and its text.

    It never exceeds the budget, even if `count` of the text is not the sum of `count` of its parts.
    """
    fitting: dict[int, tuple[_Plan, str]] = {}
    plan = tried = _plan(candidates, room, limits)
    overflows = 0
    for _ in range(MAX_PASSES):
        text = _text(tried, limits.phase)
        spare = limits.budget - limits.count(text)
        if text and spare >= 0:
            fitting[spare] = tried, text
        if not text or spare == 0 or (spare > 0 and tried.complete):
            break
        plan = tried
        overflows = overflows + 1 if spare < 0 else 0
        # A few tokens less may give the same plan again and again: then leave out a whole passage.
        room -= max(-spare, min(each.total for each in tried.chosen)) if overflows > 2 else -spare
        tried = _plan(candidates, room, limits)
    return fitting[min(fitting)] if fitting else _drop_lowest(plan, limits)


def _drop_lowest(plan: _Plan, limits: _Constraints) -> tuple[_Plan, str]:
    """The plan without its lowest passages, so that the text fits."""
    text = _text(plan, limits.phase)
    while text and limits.count(text) > limits.budget:
        *chosen, worst = plan.chosen
        plan = _Plan(tuple(chosen), (*plan.left_out, (worst, "budget")))
        text = _text(plan, limits.phase)
    return plan, text


def _text(plan: _Plan, phase: Phase | None) -> str:
    return render([each.passage for each in _in_order(plan.chosen, phase)], phase) if plan.chosen else ""


def _plan(candidates: Sequence[_PassageCost], room: int, limits: _Constraints) -> _Plan:
    """Grant tokens to each type within its share, then the remaining tokens; cut texts that are too long."""
    shares, useful = PHASE_SHARES[limits.phase] if limits.phase else {}, MIN_USEFUL_TOKENS
    reserved = _reserved(candidates, room, limits)
    left = _tokens_by_type(candidates, shares, room - sum(reserved))
    by_type = _grant(candidates, reserved, left, useful, range(len(candidates)))
    grants = _grant(candidates, by_type, {"": room - sum(by_type)}, useful, _round_robin(candidates, by_type, left))
    shown = [_cut_to(each, grant, limits) for each, grant in zip(candidates, grants, strict=True)]
    chosen = tuple(each for each in shown if each)
    by_share = [each for each, grant in zip(shown, by_type, strict=True) if each and grant] if shares else []
    omitted = (each for each, passage in zip(candidates, shown, strict=True) if not passage)
    return _Plan(chosen, tuple((each, _reason(each, by_share)) for each in omitted))


def _reserved(candidates: Sequence[_PassageCost], room: int, limits: _Constraints) -> list[int]:
    """Tokens reserved for rules and the reflection, which have no score and would never be chosen otherwise."""
    share, useful = int(room * limits.settings.reflection_share), MIN_USEFUL_TOKENS
    return [
        each.total
        if each.passage.hit.id in limits.rules
        else min(each.total, share)
        if each.passage.hit.id == limits.reflection and share >= min(each.total, each.without_text + useful)
        else 0
        for each in candidates
    ]


def _tokens_by_type(candidates: Sequence[_PassageCost], shares: Mapping[str, float], room: int) -> dict[str, int]:
    """Tokens of each type: its share, plus a proportional part of what other types leave over."""
    wanted = Counter[str]()
    for each in candidates:
        wanted[each.share] += each.total if each.share in shares else 0
    tokens_by_type, unserved = dict[str, int](), {name for name, tokens in wanted.items() if tokens}
    while unserved:
        total = sum(shares[name] for name in unserved)
        parts = {name: int(room * shares[name] / total) for name in unserved}
        satisfied = {name for name in unserved if wanted[name] <= parts[name]}
        tokens_by_type |= {name: wanted[name] for name in satisfied} or parts
        room -= sum(wanted[name] for name in satisfied)
        unserved = unserved - satisfied if satisfied else set()
    return tokens_by_type


def _grant(
    candidates: Sequence[_PassageCost], before: Sequence[int], left: dict[str, int], useful: int, order: Iterable[int]
) -> list[int]:
    """Tokens granted to each candidate, in `order`: its total cost, or the rest of its share if that is useful.

    Types without a share draw on the entry `""`. `left` is reduced by what is granted.
    """
    grants = list(before)
    for index in order:
        each = candidates[index]
        fund = each.share if each.share in left else ""
        grant = min(each.total, before[index] + left.get(fund, 0))
        if grant > before[index] and grant >= min(each.total, each.without_text + useful):
            left[fund] -= grant - before[index]
            grants[index] = grant
    return grants


def _round_robin(candidates: Sequence[_PassageCost], grants: Sequence[int], left: Mapping[str, int]) -> list[int]:
    """Order in which candidates get unused tokens: one of each type in turn, the type with most left first."""
    waiting, rank = Counter[str](), list[int]()
    for each, grant in zip(candidates, grants, strict=True):
        rank.append(waiting[each.share])
        waiting[each.share] += grant < each.total
    return sorted(range(len(candidates)), key=lambda index: (rank[index], -left.get(candidates[index].share, 0)))


def _cut_to(candidate: _PassageCost, grant: int, limits: _Constraints) -> _PassageCost | None:
    if grant == 0 or grant >= candidate.total:
        return candidate if grant else None
    passage, count = candidate.passage, limits.count
    text = shortened(
        passage.text,
        fits=lambda text: candidate.overhead + count(replace(passage, text=text).body(WIDEST_NUMBER)) <= grant,
        enough=lambda text: count(text) >= MIN_USEFUL_TOKENS,
    )
    return replace(candidate, passage=replace(passage, text=text, truncated=True)) if text else None


def _left_out(plan: _Plan) -> Iterator[tuple[str, Reason]]:
    for omitted, reason in plan.left_out:
        yield from ((hit.id, reason) for hit in (omitted.passage.hit, *omitted.passage.also))
    for each in plan.chosen:
        yield from ((hit.id, "overlap") for hit in each.passage.also)


def _reason(omitted: _PassageCost, by_share: Iterable[_PassageCost]) -> Reason:
    score = omitted.passage.hit.score
    outranked = any(each.share != omitted.share and each.passage.hit.score < score for each in by_share)
    return "type share" if outranked else "budget"


def _in_order(chosen: Sequence[_PassageCost], phase: Phase | None) -> list[_PassageCost]:
    """Sections by their best score; inside one, types in the order of the phase, then by score."""
    sections: dict[str, list[_PassageCost]] = {}
    for candidate in chosen:
        sections.setdefault(candidate.passage.heading, []).append(candidate)
    types = {name: index for index, name in enumerate((*PHASE_SHARES[phase], OTHER))} if phase else {}
    return [
        candidate
        for section in sections.values()
        for candidate in sorted(section, key=lambda each: types.get(each.share, 0))
    ]


def _item(candidate: _PassageCost, number: int, count: CountTokens) -> ContextItem:
    passage = candidate.passage
    return ContextItem(
        id=passage.hit.id,
        citation=f"[{number}]",
        source=passage.hit.source,
        text=passage.text,
        tokens=count(passage.body(number)) + count(passage.sources(number)),
        truncated=passage.truncated,
        also=tuple(hit.id for hit in passage.also),
    )
