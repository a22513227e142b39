"""Fixed patterns with their evidence, and how they are drawn.

Rewritten on purpose with `.venv/bin/python -m tests.golden.patterns.drawing`; then read the diff.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType

from tests.samples import NOW, sample
from treering.core.conditions import Test
from treering.core.episodes import OutcomeStatus
from treering.core.history import Action, HistoryEntry
from treering.core.patterns import (
    Applicability,
    Application,
    Evidence,
    Guidance,
    Pattern,
    PatternLinks,
    PatternStatus,
    TemplateSubtask,
)
from treering.interfaces.cli.patterns import chart
from treering.interfaces.cli.patterns import views as pictures
from treering.interfaces.cli.patterns.weeks import weeks_of
from treering.patterns.matching.ranking import ranked
from treering.patterns.mining.findings import MinedPattern
from treering.patterns.pruning import LowValuePattern
from treering.patterns.refinement import Refinement
from treering.patterns.reviews import PatternReview, RefinedPattern
from treering.patterns.similarity import PatternLikeness, SimilarPattern
from treering.patterns.validation import PatternVerdict, SessionCount
from treering.patterns.validation_stage import ValidatedPattern

FOLDER = Path(__file__).parent
WIDTH, NARROW = 80, 40
SMALL = Test.make(field="complexity", operator="range", value=[None, 0.5])

PROVEN = sample(
    Pattern,
    id="p1",
    version=4,
    name="Reproduce it first",
    status="VALIDATED",
    status_since=NOW - timedelta(days=9),
    summary="A test that fails before, and passes after",
    applicability=Applicability.make(
        problem_types=("fix", "test"),
        domains=("backend",),
        complexity_max=0.8,
        capabilities=("pytest", "git"),
        anti_conditions=(Test.make(field="context.branch", operator="prefix", value="release"),),
    ),
    content={"form": "strategy", "approach": "Write the failing test", "principles": ("one cause at a time",)},
    evidence=Evidence(
        generation=2,
        supporting=tuple(f"e{number}" for number in range(1, 8)),
        counter=("e90", "e91"),
        applications=41,
        sessions=23,
        success_rate=0.826,
        base_rate=0.548,
        improvement=0.278,
        confidence=0.861,
        p_value=0.00412,
        e_value=1912.4,
        mean_time_saved_ms=81_000,
        last_validated_at=NOW - timedelta(hours=10),
    ),
    guidance=Guidance(when="a bug report is at hand", risks=("slow \x1b[31mtests",)),
    links=PatternLinks(complements=("p2",)),
    usage_count=60,
    last_used_at=NOW - timedelta(days=1),
)
NEW = sample(Pattern, id="p2", name="small [bold] steps", category="sequence")
# Two weeks of use, a pause, and one session so old that the window does not hold it.
SESSIONS = [
    SessionCount(NOW - timedelta(days=days), successes, partial, n, (("fix", n),))
    for days, successes, partial, n in (
        (1, 3, 0, 3),
        (2, 1, 0, 2),
        (8, 1, 0, 1),
        (9, 0, 1, 1),
        (30, 0, 0, 1),
        (36, 2, 0, 2),
        (200, 0, 0, 5),
    )
]
REASON = "83% success in 23 sessions (55% without it, 61% at most): better than its base rate"


def _judged(status: str, **fields: Any) -> PatternVerdict:
    known = {
        "status": status,
        "sessions": 23,
        "applications": 41,
        "success_rate": 0.826,
        "base_rate": 0.548,
        "null_rate": 0.61,
        "improvement": 0.278,
        "p_value": 0.00412,
        "e_value": 1912.4,
        "confidence": 0.861,
        "reason": REASON,
    }
    return PatternVerdict.make(**{**known, **fields})


# Ids and names as long as they come: what stands beside them must not take their room.
UUID, KEY = "0198c5d2-6b0f-7c31-9f6e-0a4d1be5c2aa", "mined-b5927c53a4e01f6688d2c9aa"
LONG_NAME = "Read the whole log of the failed deployment before anything of the configuration is changed by hand"
LONG = (
    NEW.replace(id=UUID, name=f"{LONG_NAME}."),
    PROVEN.replace(id=KEY, name="pytest → git → docker", category="tool_selection", status="UNDER_REVIEW"),
    NEW,
)


def _validated(pattern: Pattern, before: str, judged: PatternVerdict) -> ValidatedPattern:
    return ValidatedPattern(pattern=pattern.id, name=pattern.name, before=PatternStatus(before), judged=judged)


VERDICTS = (
    _validated(PROVEN, "CANDIDATE", _judged("VALIDATED")),
    _validated(
        NEW,
        "CANDIDATE",
        _judged(
            "CANDIDATE", success_rate=None, p_value=None, e_value=1.0, sessions=0, confidence=0, reason="no session"
        ),
    ),
)
LONG_VERDICTS = (
    _validated(LONG[0], "CANDIDATE", _judged("VALIDATED", e_value=123_456_789.0)),
    _validated(LONG[1], "VALIDATED", _judged("UNDER_REVIEW", reason="lately 2 of 9 sessions succeeded")),
)
MINED = MinedPattern.make(
    key="mined-1f",
    category="recovery",
    name="after ModuleNotFoundError: pip install, then pytest",
    summary="When pytest fails with ModuleNotFoundError, pip install gets out of it",
    content={"form": "strategy", "approach": "install what is missing"},
    applicability={},
    supporting=("e1", "e2", "e3", "e4"),
    counter=("e9",),
    support=12,
    against=1,
    sessions=9,
    sessions_for=8,
    base_rate=0.4,
    lift=2.3,
)
LONG_MINED = MINED.replace(
    key=KEY, category="tool_selection", supporting=(UUID,), support=1, counter=(), against=0, sessions=1
)
NARROWER = Refinement(
    applicability=PROVEN.applicability.replace(conditions=(SMALL,)),
    evidence=3,
    changes=("only where complexity is at most 0.5",),
    reason="only where complexity is at most 0.5: of those that stay 12 of 13 succeeded, of the others 1 of 9",
    p_value=0.003,
    gain=0.4,
)
REFINED = RefinedPattern(PROVEN, PROVEN.replace(version=5, applicability=NARROWER.applicability), NARROWER)
LEFT = RefinedPattern(
    NEW, NEW, Refinement(applicability=None, evidence=1, reason="no application failed: nothing to set apart")
)
FAILED = [
    sample(
        Application,
        id=f"a{n}",
        pattern="p1",
        at=NOW,
        outcome=outcome,
        session=session,
        task_type="fix",
        episode=f"e{n}",
    )
    for n, outcome, session in ((1, OutcomeStatus.FAILURE, "monday"), (2, OutcomeStatus.PARTIAL, None))
]
REVIEW = PatternReview(PROVEN, FAILED, 9, NARROWER)
MOVES = [
    HistoryEntry.make(at=NOW - timedelta(days=days), actor="local", action=Action.UPDATE, detail=detail)
    for days, detail in (
        (9, {"cause": "validation", "from": "CANDIDATE", "to": "VALIDATED", "reason": REASON, "p_value": 0.00412}),
        (60, {"cause": "refinement", "from": "UNDER_REVIEW", "to": "CANDIDATE", "changes": ["not where \x1b[2J"]}),
        (90, {"cause": "told", "to": "CANDIDATE"}),
    )
]
SHOWN = chart.PatternView(PROVEN, weeks_of(SESSIONS, NOW, 90.0), MOVES)
FEATURES = {"task_type": "fix", "domain": "backend", "complexity": 0.3, "tools": ("pytest", "git")}
FOUND = ranked([PROVEN, NEW], FEATURES, NOW)
SUBTASKS = (
    TemplateSubtask(title="Describe the resource", description="fields and rights"),
    TemplateSubtask(title="Write the handler", depends_on=("Describe the resource",)),
)
PICTURES: dict[str, RenderableType] = {
    "show": chart.pattern_view(SHOWN),
    "show_new": chart.pattern_view(chart.PatternView(NEW, [], [])),
    "subtasks": chart.subtasks(SUBTASKS),
    "list": pictures.listing([PROVEN, NEW], True),
    "find": pictures.found(FOUND, proven_only=True),
    "find_nothing": pictures.found([], proven_only=True),
    "validate": pictures.validated(VERDICTS, dry_run=False, everything=True),
    "validate_dry": pictures.validated(VERDICTS[1:], dry_run=True, everything=False),
    "mine": pictures.mined([MINED], dry_run=True),
    "review": pictures.review(REVIEW),
    "refine": pictures.refined(REFINED, dry_run=True),
    "refine_nothing": pictures.refined(LEFT, dry_run=False),
    "similar": pictures.similar([SimilarPattern(NEW, PatternLikeness(1.0, 0.5, 0.25, 0.62))]),
    "prune": pictures.pruned([LowValuePattern(NEW, ("unused: for 200 days", "low confidence"))], dry_run=False),
    "history": pictures.history(MOVES),
    "list_long": pictures.listing(LONG, False),
    "validate_long": pictures.validated(LONG_VERDICTS, dry_run=False, everything=True),
    "mine_long": pictures.mined([LONG_MINED], dry_run=False),
    "show_long": chart.pattern_view(chart.PatternView(LONG[1], SHOWN.weeks, MOVES)),
    "find_long": pictures.found(ranked(LONG, FEATURES, NOW), proven_only=False),
    "review_long": pictures.review(PatternReview(LONG[0], [FAILED[0].replace(episode=UUID)], 9, NARROWER)),
    "similar_long": pictures.similar([SimilarPattern(LONG[0], PatternLikeness(1.0, 0.5, 0.25, 0.62))]),
}
DRAWN = (
    *((name, WIDTH) for name in PICTURES),
    *((name, NARROW) for name in PICTURES if name.endswith("_long")),
)


def golden(name: str, width: int) -> Path:
    return FOLDER / f"{name}{'' if width == WIDTH else f'_{width}'}.txt"


def drawn(name: str, width: int) -> str:
    console = Console(width=width, highlight=False, markup=False, emoji=False, no_color=True)
    with console.capture() as captured:
        console.print(PICTURES[name])
    return "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())


if __name__ == "__main__":
    for name, width in DRAWN:
        golden(name, width).write_text(drawn(name, width), encoding="utf-8")
