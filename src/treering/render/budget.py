"""Packs what was found into a token budget: nothing twice, by file, each type its share, everything cited."""

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
from treering.render.passages import (
    GENERAL,
    REFLECTION,
    RULES,
    WITHOUT_FILE,
    Passage,
    frame,
    heading_line,
    label_of,
    render,
)
from treering.search.answer import Hit

MIN_USEFUL_TOKENS = 40  # fewer than two sentences of a longer text say what it is about, but not what it says
MAX_CHARACTERS_PER_TOKEN = 16  # no tokenizer gets more out of a token in running text
MAX_FURTHER_SOURCES = 3  # sources that said the same, after the first; more say little and cost a line each
MAX_PASSES = 5  # parts counted one by one come to more than the whole; what is left is distributed again

Reason = Literal["overlap", "budget", "type share", "rules share"]
# Costs are counted before the numbers are known; few packings hold more items.
WIDE = 100
DEFAULTS = ContextSettings()


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One passage of the packed text: `also` are the left out hits that say the same; `tokens` with its source line."""

    id: str
    citation: str
    source: str
    text: str
    tokens: int
    truncated: bool
    also: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RenderedContext:
    """Context ready to hand over. `tokens` counts all of `text` and never exceeds `budget`.

    Every hit is one of the `items` or `left_out` with a reason: "overlap" (a better one says it), "type share" (its
    type's share was used up while something that scored lower had its own), "budget" (no room). So is every rule, with
    the reason "rules share" if it did not fit into theirs and was not found either.
    """

    text: str
    tokens: int
    items: tuple[ContextItem, ...]
    left_out: tuple[tuple[str, Reason], ...]
    budget: int
    phase: Phase | None


@dataclass(frozen=True, slots=True)
class _Terms:
    """What one packing keeps to."""

    phase: Phase | None
    budget: int
    count: CountTokens
    settings: ContextSettings
    reflection: str = ""
    rules: frozenset[str] = frozenset()

    def heading_of(self, hit: Hit) -> str:
        """The heading of a section of its own; empty if it has none."""
        return RULES if hit.id in self.rules else REFLECTION if hit.id == self.reflection else ""


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A passage, whose share it draws on and what it costs.

    `around` is what its heading and source line cost, `bare` all but its text, `whole` all of it.
    """

    passage: Passage
    share: str
    around: int
    bare: int
    whole: int


@dataclass(frozen=True, slots=True)
class _Plan:
    chosen: tuple[_Candidate, ...]
    left_out: tuple[tuple[_Candidate, Reason], ...]

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

    Without a budget the phase's holds. Without a phase no type has a share: the best scored come first. A reflection
    comes last and has a share of its own. So have the `rules`, which come first, in their order; room that the results
    leave over is theirs as well.
    """
    terms = _Terms(phase, _budget(phase, budget, settings), count, settings)
    # Equal scores keep the order of the answer, which places the record that holds before those it superseded.
    ranked = sorted(hits, key=lambda hit: -hit.score)
    if reflection is not None:
        ranked = [*(hit for hit in ranked if hit.id != reflection.id), reflection]
        terms = replace(terms, reflection=reflection.id)
    room = terms.budget - count(frame(phase))
    packed, cost = _with_rules(ranked, rules, int(room * settings.rules_share), room, terms)
    for _ in range(MAX_PASSES):
        if not _has_room_for_rules(packed):
            break
        spare = terms.budget - packed.tokens if packed.text else room
        wider, cost = _with_rules(ranked, rules, cost + spare, room, terms)
        if _dropped_results(wider) or len(wider.items) <= len(packed.items):
            break
        packed = wider
    return packed


def _with_rules(
    ranked: Sequence[Hit], rules: Sequence[Hit], share: int, room: int, terms: _Terms
) -> tuple[RenderedContext, int]:
    """The results and the rules that fit into `share`; and what those rules cost."""
    chosen, cost = _chosen_rules(rules, share, terms)
    terms = replace(terms, rules=frozenset(rule.id for rule in chosen))
    ranked = [*chosen, *(hit for hit in ranked if hit.id not in terms.rules)]
    shown = {hit.id for hit in ranked}
    unfit: list[tuple[str, Reason]] = [(rule.id, "rules share") for rule in rules if rule.id not in shown]
    budget, phase, count = terms.budget, terms.phase, terms.count
    if not ranked or room <= 0:
        return RenderedContext("", 0, (), (*((hit.id, "budget") for hit in ranked), *unfit), budget, phase), cost
    plan, text = _fitted(_candidates(ranked, terms), room, terms)
    items = tuple(_item(each, number, count) for number, each in enumerate(_in_order(plan.chosen, phase), 1))
    return RenderedContext(text, count(text) if text else 0, items, (*_left_out(plan), *unfit), budget, phase), cost


def _has_room_for_rules(packed: RenderedContext) -> bool:
    """Whether rules did not fit into their share, while every result is shown whole."""
    return any(reason == "rules share" for _, reason in packed.left_out) and not _dropped_results(packed)


def _dropped_results(packed: RenderedContext) -> bool:
    dropped = any(reason not in ("overlap", "rules share") for _, reason in packed.left_out)
    return dropped or any(item.truncated for item in packed.items)


def _chosen_rules(rules: Sequence[Hit], share: int, terms: _Terms) -> tuple[list[Hit], int]:
    """Rules that fit whole into their share, in their order; and what they cost."""
    chosen, spent = list[Hit](), 0
    readable = terms.budget * MAX_CHARACTERS_PER_TOKEN
    for rule in rules:
        text = escaped(rule.text.strip())
        passage = Passage(hit=rule, label=label_of(rule), heading=RULES, text=text)
        cost = _costed(passage, opens=not chosen, terms=terms).whole if len(text) <= readable else share + 1
        if spent + cost <= share:
            spent += cost
            chosen.append(rule)
    return chosen, spent


def _budget(phase: Phase | None, budget: int | None, settings: ContextSettings) -> int:
    if budget is None:
        return PHASE_BUDGETS[phase] if phase else settings.budget
    if type(budget) is not int or budget < 0:
        raise InvalidInput(f"the budget is {budget!r}; give a number of tokens, 0 or more")
    return budget


def _candidates(ranked: Sequence[Hit], terms: _Terms) -> list[_Candidate]:
    """What remains when nothing is said twice, with its costs. Best first."""
    readable = terms.budget * MAX_CHARACTERS_PER_TOKEN
    texts = [_readable(hit.text, readable) for hit in ranked]
    repeats = repetitions(texts)
    headings: set[str] = set()
    candidates: list[_Candidate] = []
    for place, hit in enumerate(ranked):
        if place in repeats:
            continue
        heading = terms.heading_of(hit) or _heading(hit, headings)
        passage = Passage(
            hit=hit,
            label=label_of(hit),
            heading=heading,
            text=texts[place],
            also=tuple(ranked[later] for later, earlier in repeats.items() if earlier == place),
            also_cited=MAX_FURTHER_SOURCES,
            truncated=len(hit.text) > readable,
        )
        candidates.append(_costed(passage, opens=heading not in headings, terms=terms))
        headings.add(heading)
    return candidates


def _readable(text: str, limit: int) -> str:
    return escaped(text.strip() if len(text) <= limit else f"{text[:limit].strip()} {ELLIPSIS}")


def _heading(hit: Hit, headings: set[str]) -> str:
    """The first of its files that has a heading already, else its first file, else what kind it is."""
    files = [one_line(file) for file in getattr(hit.record, "files", ())]
    known = (file for file in files if file in headings)
    return next(known, files[0] if files else WITHOUT_FILE.get(hit.kind, GENERAL))


def _costed(passage: Passage, *, opens: bool, terms: _Terms) -> _Candidate:
    heading = heading_line(passage.heading) if opens else ""
    around = terms.count(heading) + terms.count(passage.sources(WIDE))
    bare, whole = (around + terms.count(replace(passage, text=text).body(WIDE)) for text in ("", passage.text))
    share = RULES if passage.heading == RULES else _share_of(passage.hit, terms.phase)
    return _Candidate(passage, share, around, bare, whole)


def _share_of(hit: Hit, phase: Phase | None) -> str:
    """Its type, if the phase names it; turns, episodes and all other types are `OTHER`."""
    name = str(getattr(hit.record, "type", OTHER))
    return name if phase and name in PHASE_SHARES[phase] else OTHER


def _fitted(candidates: Sequence[_Candidate], room: int, terms: _Terms) -> tuple[_Plan, str]:
    """The plan that fills the budget best, and its text. Never over budget, however `count` adds up."""
    fitting: dict[int, tuple[_Plan, str]] = {}
    plan = tried = _planned(candidates, room, terms)
    for _ in range(MAX_PASSES):
        text = _text(tried, terms.phase)
        spare = terms.budget - terms.count(text)
        if text and spare >= 0:
            fitting[spare] = tried, text
        if not text or spare == 0 or (spare > 0 and tried.complete):
            break
        plan = tried
        room += spare
        tried = _planned(candidates, room, terms)
    return fitting[min(fitting)] if fitting else _dropped(plan, terms)


def _dropped(plan: _Plan, terms: _Terms) -> tuple[_Plan, str]:
    """The plan without its worst, until the whole text fits."""
    text = _text(plan, terms.phase)
    while text and terms.count(text) > terms.budget:
        *chosen, worst = plan.chosen
        plan = _Plan(tuple(chosen), (*plan.left_out, (worst, "budget")))
        text = _text(plan, terms.phase)
    return plan, text


def _text(plan: _Plan, phase: Phase | None) -> str:
    return render([each.passage for each in _in_order(plan.chosen, phase)], phase) if plan.chosen else ""


def _planned(candidates: Sequence[_Candidate], room: int, terms: _Terms) -> _Plan:
    """First each type within its share, then what is left over; too long texts are cut once, at the end."""
    shares, useful = PHASE_SHARES[terms.phase] if terms.phase else {}, MIN_USEFUL_TOKENS
    kept = _kept_for_sections(candidates, room, terms)
    left = _entitled(candidates, shares, room - sum(kept))
    own = _granted(candidates, kept, left, useful, range(len(candidates)))
    grants = _granted(candidates, own, {"": room - sum(own)}, useful, _in_turn(candidates, own, left))
    shown = [_shown(each, grant, terms) for each, grant in zip(candidates, grants, strict=True)]
    chosen = tuple(each for each in shown if each)
    by_share = [each for each, grant in zip(shown, own, strict=True) if each and grant] if shares else []
    lost = (each for each, seen in zip(candidates, shown, strict=True) if not seen)
    return _Plan(chosen, tuple((each, _reason(each, by_share)) for each in lost))


def _kept_for_sections(candidates: Sequence[_Candidate], room: int, terms: _Terms) -> list[int]:
    """Rules and the reflection are found by nothing: without a part of their own they would never be shown."""
    share, useful = int(room * terms.settings.reflection_share), MIN_USEFUL_TOKENS
    return [
        each.whole
        if each.passage.hit.id in terms.rules
        else min(each.whole, share)
        if each.passage.hit.id == terms.reflection and share >= min(each.whole, each.bare + useful)
        else 0
        for each in candidates
    ]


def _entitled(candidates: Sequence[_Candidate], shares: Mapping[str, float], room: int) -> dict[str, int]:
    """Tokens of each type: its share, and in the same proportion what others leave over of theirs."""
    wanted = Counter[str]()
    for each in candidates:
        wanted[each.share] += each.whole if each.share in shares else 0
    entitled, served = dict[str, int](), {name for name, tokens in wanted.items() if tokens}
    while served:
        total = sum(shares[name] for name in served)
        parts = {name: int(room * shares[name] / total) for name in served}
        content = {name for name in served if wanted[name] <= parts[name]}
        entitled |= {name: wanted[name] for name in content} or parts
        room -= sum(wanted[name] for name in content)
        served = served - content if content else set()
    return entitled


def _granted(
    candidates: Sequence[_Candidate], before: Sequence[int], left: dict[str, int], useful: int, order: Iterable[int]
) -> list[int]:
    """What each may spend, in this order: all it needs, or what is `left` of it if that is worth showing.

    Types for which no tokens are set aside draw on those without a name. What is spent is taken off.
    """
    grants = list(before)
    for place in order:
        each = candidates[place]
        purse = each.share if each.share in left else ""
        grant = min(each.whole, before[place] + left.get(purse, 0))
        if grant > before[place] and grant >= min(each.whole, each.bare + useful):
            left[purse] -= grant - before[place]
            grants[place] = grant
    return grants


def _in_turn(candidates: Sequence[_Candidate], grants: Sequence[int], left: Mapping[str, int]) -> list[int]:
    """Places in the order in which they get what no type could use: one of each type, that with most left first."""
    waiting, rank = Counter[str](), list[int]()
    for each, grant in zip(candidates, grants, strict=True):
        rank.append(waiting[each.share])
        waiting[each.share] += grant < each.whole
    return sorted(range(len(candidates)), key=lambda place: (rank[place], -left.get(candidates[place].share, 0)))


def _shown(candidate: _Candidate, grant: int, terms: _Terms) -> _Candidate | None:
    if grant == 0 or grant >= candidate.whole:
        return candidate if grant else None
    passage, count = candidate.passage, terms.count
    text = shortened(
        passage.text,
        fits=lambda text: candidate.around + count(replace(passage, text=text).body(WIDE)) <= grant,
        enough=lambda text: count(text) >= MIN_USEFUL_TOKENS,
    )
    return replace(candidate, passage=replace(passage, text=text, truncated=True)) if text else None


def _left_out(plan: _Plan) -> Iterator[tuple[str, Reason]]:
    for lost, reason in plan.left_out:
        yield from ((hit.id, reason) for hit in (lost.passage.hit, *lost.passage.also))
    for each in plan.chosen:
        yield from ((hit.id, "overlap") for hit in each.passage.also)


def _reason(lost: _Candidate, by_share: Iterable[_Candidate]) -> Reason:
    score = lost.passage.hit.score
    outdone = any(each.share != lost.share and each.passage.hit.score < score for each in by_share)
    return "type share" if outdone else "budget"


def _in_order(chosen: Sequence[_Candidate], phase: Phase | None) -> list[_Candidate]:
    """Clusters by their best score; inside one, types in the phase's order, then by score, which `chosen` is in."""
    clusters: dict[str, list[_Candidate]] = {}
    for candidate in chosen:
        clusters.setdefault(candidate.passage.heading, []).append(candidate)
    types = {name: place for place, name in enumerate((*PHASE_SHARES[phase], OTHER))} if phase else {}
    return [
        candidate
        for cluster in clusters.values()
        for candidate in sorted(cluster, key=lambda each: types.get(each.share, 0))
    ]


def _item(candidate: _Candidate, number: int, count: CountTokens) -> ContextItem:
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
