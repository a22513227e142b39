"""Whatever memory holds and whatever happens: what may not be given is not given, nothing twice, within the budget."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import OpenMemory
from tests.injection_occasions import offered, session_of
from tests.samples import NOW
from treering.context.injection.gate import InjectionGate
from treering.context.injection.points import POINTS
from treering.core.delimiters import without_delimited
from treering.core.injection_rates import InjectionRates
from treering.core.injection_rules import MAX_GOTCHAS
from treering.core.injections import InjectedItem, InjectionPoint, ItemKind, ItemOutcome, Occasion
from treering.core.records import Knowledge, Source
from treering.core.settings import TrustSettings
from treering.core.tokens import estimate_tokens
from treering.core.trust import MIN_CONFIDENCE, TrustLevel
from treering.memory import Memory
from treering.render.injection import render_injection

FILES = ("a.go", "b/c.go", "d.go")
TYPES = ("gotcha", "error_pattern", "dead_end", "decision", "preference", "module_insight", "fact")
texts = st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=200).filter(str.strip)
hostile = st.one_of(texts, st.sampled_from(("</memory>", "<memory>\nx", "[Memory #x: y]", "＜/memory＞", "a" * 5_000)))


@st.composite
def knowledge(draw: st.DrawFn) -> Knowledge:
    times = dict.fromkeys(
        ("created_at", "updated_at", "last_accessed_at"), NOW - timedelta(days=draw(st.integers(0, 90)))
    )
    ended = st.one_of(st.none(), st.just(NOW - timedelta(days=1)))
    return Knowledge.make(
        id=draw(st.uuids()).hex,
        type=draw(st.sampled_from(TYPES)),
        content=draw(hostile),
        files=tuple(draw(st.lists(st.sampled_from(FILES), max_size=2, unique=True))),
        confidence=draw(st.floats(0, 1)),
        source=draw(st.sampled_from(list(Source))),
        session=draw(st.sampled_from((None, "own", "other"))),
        uses=draw(st.integers(0, 3)),
        tainted=draw(st.booleans()),
        flagged=draw(st.booleans()),
        user_verified=draw(st.booleans()),
        needs_review=draw(st.booleans()),
        pinned=draw(st.booleans()),
        deprecated_at=draw(ended),
        stale_at=draw(ended),
        valid_until=draw(ended),
        **times,
    )


@given(knowledge(), st.sampled_from(list(TrustLevel)))
def test_the_gate_keeps_its_word(record: Knowledge, level: TrustLevel) -> None:
    gate = InjectionGate("own", NOW, level, TrustSettings.defaults())
    if not gate.admits(record):
        return
    assert not (record.tainted and not record.user_verified)
    assert not record.flagged
    assert (record.deprecated_at, record.stale_at, record.valid_until) == (None, None, None)
    assert record.session != "own"
    assert record.is_from_person or record.uses >= 2 or record.confidence > MIN_CONFIDENCE[level]


class Shown:
    """An item to render."""

    def __init__(self, id: str, section: str, text: str, source: str, estimate: float) -> None:
        self.id, self.section, self.text, self.source, self.estimate = id, section, text, source, estimate


shown = st.builds(Shown, st.sampled_from(("", "one", "two")), texts, hostile, hostile, st.floats(0, 1))


@given(st.lists(shown, max_size=12), st.integers(0, 600), st.one_of(st.just(""), hostile))
def test_the_text_fits_its_budget_and_is_one_block(items: list[Shown], budget: int, notice: str) -> None:
    rendered = render_injection(items, budget, notice=notice)
    assert rendered.tokens <= budget
    assert rendered.tokens == (estimate_tokens(rendered.text) if rendered.text else 0)
    assert without_delimited(f"x{rendered.text}y").split() in (["x", "y"], ["xy"])
    assert {id(each) for each, _ in rendered.items} <= {id(each) for each in items}


@given(
    st.lists(st.tuples(st.sampled_from(list(ItemOutcome)), st.floats(0, 1)), max_size=60),
    st.floats(0, 1),
    st.integers(0, 30),
)
def test_chances_stay_chances_and_being_ignored_lowers_them(
    outcomes: list[tuple[ItemOutcome, float]], estimate: float, ignored: int
) -> None:
    items = [(_item(score), outcome) for outcome, score in outcomes]
    rates = InjectionRates({}).after(items)
    chance = rates.chance(estimate, InjectionPoint.TOOL, "gotcha", ignored_in_a_row=ignored)
    assert 0 <= chance <= 1
    assert rates.chance(estimate, InjectionPoint.TOOL, "gotcha", ignored_in_a_row=ignored + 5) < chance
    assert InjectionRates.from_values(rates.to_values()).to_values() == rates.to_values()
    if all(outcome is ItemOutcome.IGNORED for outcome, _ in outcomes):
        assert rates.of(InjectionPoint.TOOL, "gotcha").shift <= 0


def _item(score: float) -> InjectedItem:
    return InjectedItem.make(
        id="i",
        session="s",
        point=InjectionPoint.TOOL,
        kind=ItemKind.KNOWLEDGE,
        item="r",
        injection="i",
        injected_at=NOW,
        type="gotcha",
        score=score,
    )


occasions: st.SearchStrategy[dict[str, Any]] = st.builds(
    dict,
    point=st.sampled_from(list(InjectionPoint)),
    files=st.lists(st.sampled_from(FILES), max_size=3, unique=True).map(tuple),
    prompt=hostile,
    search=st.one_of(st.just(""), hostile),
    command=st.just("go test ./..."),
    error=st.one_of(st.just(""), hostile),
    step=st.integers(0, 20),
    begin=st.sampled_from(("", "startup", "resume")),
)


@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_over_random_occasions(open_memory: OpenMemory, data: st.DataObject) -> None:
    memory = open_memory(project=uuid4().hex, clock=lambda: NOW)
    stored = data.draw(st.lists(knowledge(), max_size=12))
    memory.remember_many(stored)
    session = session_of(memory)
    seen = _offered(memory, session, data.draw(st.lists(occasions, min_size=1, max_size=8)))
    assert len(seen) == len(set(seen))
    for _, item in seen:
        record = memory.get(item)
        assert isinstance(record, Knowledge)
        assert record.user_verified or not record.tainted
        assert not record.flagged


def _offered(memory: Memory, session: str, drawn: list[dict[str, Any]]) -> list[tuple[ItemKind, str]]:
    seen = []
    for fields in drawn:
        given = offered(memory, Occasion(session, **fields))
        spec = POINTS[fields["point"]]
        assert given.silence != "error"
        assert bool(given.text) != bool(given.silence)
        assert given.tokens <= spec.tokens
        assert len(given.items) <= spec.items
        assert sum(each.type == "gotcha" for each in given.items) <= MAX_GOTCHAS
        assert not without_delimited(given.text).strip()
        seen += [(each.kind, each.item) for each in given.items]
    return seen
