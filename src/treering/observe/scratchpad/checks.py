"""What checks report: serious problems of a review, and what tools that drive a browser or an app saw."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from treering.core.payloads import ObservationKind
from treering.observe.paths import project_path
from treering.observe.scratchpad.activity import Activity
from treering.observe.scratchpad.kept_text import kept_path, kept_text

_SERIOUS = frozenset({"critical", "high", "blocker"})
_LISTS = ("issues", "failures", "problems", "findings")
_MAX_ISSUES = 20
_MAX_TEXT = 300
SCREEN_TOOLS = frozenset({"take_screenshot", "click_by_text", "fill_input", "get_page_structure", "eval"})
"""Tools whose results say how a screen behaves, whatever server provides them."""

# In this order: a sentence about waiting that names a precondition is a precondition.
_OBSERVATIONS: tuple[tuple[ObservationKind, re.Pattern[str]], ...] = (
    (
        ObservationKind.PRECONDITION,
        re.compile(
            r"\b(?:must (?:first|be)|requires?|need(?:s|ed)? to be|only (?:after|when|if)|not (?:logged|signed) in|"
            r"before (?:you|it) can|log in first|sign in first|is disabled until)\b",
            re.IGNORECASE,
        ),
    ),
    (
        ObservationKind.TIMING,
        re.compile(
            r"\b(?:timed? ?out|timeout|still loading|took \d|after \d+ ?(?:ms|s|seconds)|not yet (?:visible|loaded)|"
            r"appears? (?:late|after)|debounced?|animation)\b",
            re.IGNORECASE,
        ),
    ),
    (
        ObservationKind.TEST_SEQUENCE,
        re.compile(r"\b(?:in this order|then click|first click|step \d+ of|sequence)\b", re.IGNORECASE),
    ),
    (
        ObservationKind.GOTCHA,
        re.compile(
            r"\b(?:no (?:such )?element|not found|not clickable|intercept(?:s|ed)|stale element|multiple elements|"
            r"detached|cannot (?:click|fill|read)|failed to (?:click|fill|find))\b",
            re.IGNORECASE,
        ),
    ),
    (
        ObservationKind.UI_BEHAVIOR,
        re.compile(
            r"\b(?:redirects?|navigat(?:es|ed) to|opens? a|shows? an? |modal|dialog|toast|remains disabled|"
            r"clears? the)\b",
            re.IGNORECASE,
        ),
    ),
)
_SENTENCE = re.compile(r"[^.!?\n]{12,300}[.!?\n]?")
_MAX_READ = 4_000
_MAX_SENTENCES = 40


def record_qa_failures(activity: Activity, details: Mapping[str, object], root: str) -> None:
    """Keep what a report calls critical or high, with what was tried and what it recommends."""
    for issue in _issues(details):
        severity = str(issue.get("severity", "")).lower()
        text = kept_text(_said(issue, "description", "title", "message", "issue"), _MAX_TEXT)
        if severity in _SERIOUS and text:
            failure = activity.entry("qa_failures", text)
            failure.severity, failure.step = severity, activity.step
            failure.file = kept_path(project_path(_said(issue, "file", "path"), root) or "") or ""
            failure.tried = kept_text(_said(issue, "what_was_tried", "whatWasTried", "tried"), _MAX_TEXT)
            failure.recommendation = kept_text(_said(issue, "recommendation", "fix", "suggestion"), _MAX_TEXT)


def _issues(details: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    listed = next((each for name in _LISTS if isinstance(each := details.get(name), (list, tuple))), ())
    return (each for each in listed[:_MAX_ISSUES] if isinstance(each, Mapping))


def _said(issue: Mapping[str, object], *names: str) -> str:
    return next((each for name in names if isinstance(each := issue.get(name), str) and each), "")


def screen_tool(tool: str) -> str:
    """The plain name of a tool that drives a screen, without that of its server; empty for other tools."""
    plain = tool.rpartition("__")[2].rpartition(".")[2]
    return plain if plain in SCREEN_TOOLS else ""


def record_screen(activity: Activity, tool: str, text: str) -> None:
    """Keep the first sentence of a result that says how the screen behaves; most results say nothing of it."""
    for sentence in islice(_SENTENCE.finditer(text[:_MAX_READ]), _MAX_SENTENCES):
        kind = next((kind for kind, pattern in _OBSERVATIONS if pattern.search(sentence[0])), None)
        if kind is not None and (kept := kept_text(sentence[0], _MAX_TEXT)):
            found = activity.entry("screens", kept)
            found.kind, found.tool, found.step = kind.value, tool, activity.step
            found.count += 1
            return
