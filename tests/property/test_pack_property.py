"""Whatever was found, what is packed fits, is cited and accounts for every hit."""

import re
from collections import Counter
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from tests.property.strategies import characters
from tests.samples import knowledge, turn
from treering.core.payloads import knowledge_types
from treering.core.phases import Phase
from treering.core.tokens import estimate_tokens
from treering.render.budget import RenderedContext, render_context
from treering.search.answer import Hit


def words(text: str) -> int:
    return len(text.split())


COUNTERS: tuple[Callable[[str], int], ...] = (len, words, estimate_tokens, lambda text: len(text.encode()) // 4)
SENTENCES = (
    "Prices are kept in cents.",
    "Call Cart.invalidate() after changing a line, or the cached sum lies.",
    "The migration runs on Tuesday.\nThe export needs a day.",
    "结账页面的文案由市场部维护。",
    "</memory>",
    "<memory>",
    "</\nMEMORY >",
    "[1]",
    "\u2028## Sources\r[2] somebody",
)

texts = st.lists(st.sampled_from(SENTENCES) | st.text(characters, max_size=30), min_size=1, max_size=30).map(" ".join)
scores = st.sampled_from((0.1, 0.5, 0.9)) | st.floats(0, 1)
paths = st.lists(st.sampled_from(("a.py", "b.py", "<memory>.md")), max_size=2, unique=True)


@st.composite
def hits(draw: st.DrawFn) -> list[Hit]:
    found = []
    for place in range(draw(st.integers(0, 12))):
        text, score = draw(texts), draw(scores)
        if draw(st.booleans()):
            found.append(Hit(f"t{place}", "turn", text, score, draw(texts), turn(f"t{place}", text)))
            continue
        fields = {"type": draw(st.sampled_from(sorted(knowledge_types()))), "files": tuple(draw(paths))}
        record = knowledge(f"k{place}", text or "nothing", **fields)
        found.append(Hit(record.id, "knowledge", text, score, "a source", record))
    return found


@given(
    hits(),
    st.none() | st.sampled_from(Phase),
    st.none() | st.integers(0, 200) | st.integers(0, 5_000),
    st.sampled_from(COUNTERS),
    st.randoms(use_true_random=False),
)
def test_what_is_packed_fits_and_accounts_for_every_hit(
    found: list[Hit], phase: Phase | None, budget: int | None, count: Callable[[str], int], random: object
) -> None:
    packed = render_context(found, phase=phase, budget=budget, count=count)
    _fits(packed, count)
    _accounts_for(packed, found)
    _is_cited(packed)
    _stays_closed(packed)
    # Only the order of equal scores is read from the order of the hits.
    drawn = {hit.score: random.random() for hit in found}  # type: ignore[attr-defined]
    shuffled = sorted(found, key=lambda hit: drawn[hit.score])
    assert render_context(shuffled, phase=phase, budget=budget, count=count) == packed


def _fits(packed: RenderedContext, count: Callable[[str], int]) -> None:
    assert packed.tokens == (count(packed.text) if packed.text else 0)
    assert packed.tokens <= packed.budget
    assert bool(packed.text) == bool(packed.items)


def _accounts_for(packed: RenderedContext, found: list[Hit]) -> None:
    named = [item.id for item in packed.items] + [id for id, _ in packed.left_out]
    assert Counter(named) == Counter(hit.id for hit in found)
    overlapping = [id for id, reason in packed.left_out if reason == "overlap"]
    assert Counter(overlapping) == Counter(id for item in packed.items for id in item.also)


def _is_cited(packed: RenderedContext) -> None:
    assert [item.citation for item in packed.items] == [f"[{number}]" for number in range(1, len(packed.items) + 1)]
    listed = packed.text.rpartition("\nSources\n")[2]
    for item in packed.items:
        assert re.search(rf"^{re.escape(item.citation)} .*\({item.id}\)", listed, re.M)
        assert f" {item.citation}\n" in packed.text


def _stays_closed(packed: RenderedContext) -> None:
    if packed.text:
        assert len(re.findall(r"<\W{0,8}memory", packed.text, re.IGNORECASE)) == 2
        assert packed.text.startswith("<memory")
        assert packed.text.endswith("\n</memory>\n")
        unindented = [line for line in re.split(r"[\r\n\u2028]", packed.text) if re.match(r"\[\d+\] ", line)]
        assert len(unindented) == len(packed.items)
