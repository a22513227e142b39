"""One fixed set of hits, and how each phase packs it into a third of its budget: tight enough that shares matter."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.samples import sample
from treering.core.phases import PHASE_BUDGETS, Phase
from treering.core.records import Knowledge
from treering.core.turns import Turn
from treering.render.budget import render_context
from treering.search.answer import Hit

FOLDER = Path(__file__).parent / "pack"
PHASES = (*Phase, None)
UNPHASED_BUDGET = 600
MONDAY = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)

CART, TAX, DOCS = "src/shop/cart.py", "src/shop/tax.py", "docs/checkout.md"

# score, type, files, text
KNOWN: tuple[tuple[float, str, tuple[str, ...], str], ...] = (
    (1.00, "gotcha", (CART,), "Cart.total() caches its sum. Call Cart.invalidate() after changing a line, or it lies."),
    (
        0.97,
        "error_pattern",
        (CART, TAX),
        "KeyError 'vat' in Cart.total(): the tax table is loaded lazily. Import tax first.",
    ),
    (0.95, "gotcha", (CART,), "Cart.total() caches its sum; call Cart.invalidate() after changing a line, or it lies!"),
    (0.93, "decision", (TAX,), "Prices are integers in cents.\nFloats lost a cent on 3 of 1,000 orders in March."),
    (
        0.91,
        "workflow_recipe",
        (TAX,),
        "To add a country: 1. add its rates to rates.csv. 2. Run make rates, which checks them against last year. "
        "3. Add one test with a rounded price. 4. Ask Mia to confirm the reduced rate. 5. Deploy on a Tuesday, because "
        "the accounting export runs on Wednesdays and needs a day of checks. 6. Watch the refund queue for an hour.",
    ),
    (
        0.88,
        "dead_end",
        (CART,),
        "Computing VAT in the database failed: PostgreSQL rounds half to even, the law half up.",
    ),
    (0.86, "requirement", (DOCS,), "Checkout answers within 300 ms for 95 % of carts with up to 50 lines."),
    (0.84, "pattern", (), "Money goes through Money.of(); never build it from a float."),
    (
        0.82,
        "causal_dependency",
        (CART, DOCS),
        "Whoever changes cart.py changes the figures in docs/checkout.md within a day.",
    ),
    (0.80, "task_calibration", (), "Tax tasks took 1.8 times as many steps as planned, over 9 tasks."),
    (0.78, "module_insight", (TAX,), "tax.py is the only module that knows countries; the rest passes codes through."),
    (
        0.76,
        "work_unit_outcome",
        (TAX,),
        "Switzerland was added in 14 steps; the only failure was a missing rounding test.",
    ),
    (0.74, "e2e_observation", (DOCS,), "The pay button stays grey for a second after the coupon field loses focus."),
    (
        0.72,
        "error_pattern",
        (TAX,),
        "ValueError: rate out of range. The csv holds percent, the loader wants shares: divide by 100.",
    ),
    (0.70, "fact", (), "Mia Brandt confirms tax rates; she is away in August."),
    (0.66, "preference", (), "Reviewers want one test per country rather than one big table."),
    (0.60, "decision", (DOCS,), "结账页面的文案由市场部维护。改动前先通知他们，并在文档里写明日期。"),
    (
        0.50,
        "gotcha",
        (DOCS,),
        "The docs build treats </memory> and <memory> as HTML and drops what stands between them.",
    ),
)

# score, speaker, text
SAID: tuple[tuple[float, str, str], ...] = (
    (
        0.90,
        "Mia",
        "From July Finland charges 25.5 % instead of 24 %. Please keep the old rate for orders placed in June.",
    ),
    (
        0.75,
        "Ben",
        "I tried three ways to speed up the cart. The first was to cache per line, which broke coupons. The second was "
        "to cache per cart, which is what we have. The third was to compute in the client, and security said no. "
        "So let us measure before we touch it again. The numbers from last week are in the dashboard under checkout.",
    ),
    (0.55, "Mia", "Reviewers want one test per country rather than one big table."),
    (0.40, "Ben", "Thanks, that works now."),
)


def _known(place: int, score: float, type: str, files: tuple[str, ...], text: str) -> Hit:
    at = MONDAY + timedelta(days=place)
    record = sample(Knowledge, id=f"k{place}", type=type, content=text, files=files, created_at=at)
    return Hit(record.id, "knowledge", text, score, f"{type}, agent_explicit, {at:%Y-%m-%d}", record)


def _said(place: int, score: float, speaker: str, text: str) -> Hit:
    at = MONDAY + timedelta(minutes=place)
    record = sample(Turn, id=f"t{place}", session="planning", seq=place, speaker=speaker, text=text, at=at)
    return Hit(
        record.id, "turn", text, score, f"{speaker}, turn {place + 1} of session planning, {at:%Y-%m-%d %H:%M}", record
    )


HITS = (
    *(_known(place, *row) for place, row in enumerate(KNOWN)),
    *(_said(place, *row) for place, row in enumerate(SAID)),
)


def golden(phase: Phase | None) -> Path:
    return FOLDER / f"{phase or 'no_phase'}.txt"


def shown(phase: Phase | None) -> str:
    """What is packed, and below a line what was left out and why."""
    packed = render_context(HITS, phase=phase, budget=PHASE_BUDGETS[phase] // 3 if phase else UNPHASED_BUDGET)
    cut = ", ".join(item.id for item in packed.items if item.truncated) or "none"
    left = "".join(f"{id}: {reason}\n" for id, reason in packed.left_out)
    return f"{packed.text}---\n{packed.tokens} of {packed.budget} tokens; cut: {cut}; left out:\n{left}"
