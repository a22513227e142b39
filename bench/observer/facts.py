"""What happened in a recorded session, read from its events without the observer's scratchpad.

Tool calls, commands and failures are named by the functions of the observer (`tool_use`, `parse_command`,
`failure_of`), so that names can be compared; what follows from them is counted here.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from bench.observer.recorded import RecordedSession
from treering.observe.commands import Purpose, parse_command
from treering.observe.errors import failure_of, other_form, other_path, ways_of
from treering.observe.tools import ToolAction, ToolUse, tool_use

_QUIET = frozenset({Purpose.READ, Purpose.SEARCH, Purpose.LIST, Purpose.VCS, Purpose.EDIT})
_CHARACTERS_PER_TOKEN = 4
_FORM_STEPS = 6  # a call this soon after a failed one may be another form of it
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Step:
    """A file that was read or edited, a pattern searched, or the outcome of a call (`source` names the call)."""

    number: int
    kind: str  # read, edit, search, success, failure
    value: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class CallResult:
    number: int
    tool: str
    use: ToolUse
    text: str
    is_error: bool


@dataclass(slots=True)
class SessionFacts:
    """One session. `minor` are fingerprints of failures that say little about the project."""

    id: str
    steps: list[Step] = field(default_factory=list)
    reads: Counter[str] = field(default_factory=Counter)
    edits: Counter[str] = field(default_factory=Counter)
    searches: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    summaries: dict[str, str] = field(default_factory=dict)
    minor: set[str] = field(default_factory=set)
    tokens: dict[str, int] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)
    named: dict[str, set[str]] = field(default_factory=dict)
    """By fingerprint, the files that its message names."""
    touched: frozenset[str] = frozenset()

    @property
    def succeeded(self) -> list[tuple[int, str]]:
        """Commands that succeeded, with the step of each."""
        return [(step.number, step.value) for step in self.steps if step.kind == "success" and step.value]

    def resolutions(self, fingerprint: str) -> Iterator[frozenset[str]]:
        """For each time that the failing call succeeded later: files edited and commands that succeeded in between."""
        last: dict[str, int] = {}
        for place, step in enumerate(self.steps):
            if step.kind == "failure" and step.value == fingerprint:
                last[step.source] = place
            elif step.kind == "success" and (begun := last.pop(step.source, None)) is not None:
                between = self.steps[begun + 1 : place]
                yield frozenset(
                    each.value
                    for each in between
                    if each.kind == "edit" or (each.kind == "success" and each.value and each.source != step.source)
                )

    def ways(self, fingerprint: str) -> Iterator[str]:
        """The ways in which the failing call, or another form of it, came to succeed."""
        last: dict[str, int] = {}
        for place, step in enumerate(self.steps):
            if step.kind == "failure":
                if step.value == fingerprint:
                    last[step.source] = place
            elif step.kind == "success" and last:
                if (begun := last.pop(step.source, None)) is not None:
                    yield from self._same_call(fingerprint, begun, place)
                else:
                    yield from self._other_call(last, place)

    def _same_call(self, fingerprint: str, begun: int, place: int) -> Iterator[str]:
        step, between = self.steps[place], self.steps[begun + 1 : place]
        kinds = {kind: [each.value for each in between if each.kind == kind] for kind in ("edit", "read")}
        path = "" if step.value else step.source.partition(" ")[2]
        named = self.named.get(fingerprint, set())
        yield from ways_of(path, named, kinds["edit"], kinds["read"], is_tool=not step.value)

    def _other_call(self, last: dict[str, int], place: int) -> Iterator[str]:
        step = self.steps[place]
        for source, begun in last.items():
            if step.number - self.steps[begun].number > _FORM_STEPS:
                continue
            if step.value:
                yield other_form(source, step.value)
            elif source.partition(" ")[0] == step.source.partition(" ")[0]:
                between = self.steps[begun + 1 : place]
                searched = any(each.kind in ("search", "list") for each in between)
                yield other_path(source.partition(" ")[2], step.source.partition(" ")[2], searched=searched)


def facts_of(session: RecordedSession) -> SessionFacts:
    """What the session shows beyond the events that it copied from an earlier one."""
    facts, calls, number = SessionFacts(session.id), dict[str, tuple[str, ToolUse]](), 0
    for event in session.events[session.copied :]:
        kind, text = event["kind"], str(event.get("text") or "")
        if kind in ("prompt", "reasoning"):
            facts.sentences += [each for each in _SENTENCE.split(text) if len(each) > 20]
        elif kind == "tool_call":
            number += 1
            tool, arguments = str(event.get("tool") or ""), event.get("arguments")
            use = tool_use(tool, arguments if isinstance(arguments, dict) else {}, session.root)
            calls[str(event.get("call_id"))] = (tool, use)
        elif kind == "tool_result" and str(event.get("call_id")) in calls:
            result = CallResult(number, *calls.pop(str(event.get("call_id"))), text, bool(event.get("is_error")))
            _add_result(facts, result, session.root)
    facts.touched = frozenset(facts.reads) | frozenset(facts.edits)
    return facts


def _add_result(facts: SessionFacts, result: CallResult, root: str) -> None:
    use, number = result.use, result.number
    parsed = parse_command(use.command, root) if use.command else None
    source = (parsed.normal if parsed else "") or " ".join((result.tool, *use.paths[:1]))
    checked = result.is_error or (use.action is ToolAction.RUN and parsed is not None and parsed.purpose not in _QUIET)
    failure = failure_of(result.tool, use, result.text, is_error=result.is_error, root=root) if checked else None
    subject = next(iter(use.paths), "") or (parsed.normal if parsed else "") or use.pattern
    if subject:
        facts.tokens[subject] = max(facts.tokens.get(subject, 0), len(result.text) // _CHARACTERS_PER_TOKEN)
    if failure is not None:
        facts.failures[failure.fingerprint] += 1
        facts.summaries[failure.fingerprint] = failure.summary
        facts.named.setdefault(failure.fingerprint, set()).update(failure.files)
        if failure.minor:
            facts.minor.add(failure.fingerprint)
        facts.steps.append(Step(number, "failure", failure.fingerprint, source))
    elif not result.is_error:
        _add_success(facts, number, use, source, is_command=parsed is not None)


def _add_success(facts: SessionFacts, number: int, use: ToolUse, source: str, *, is_command: bool) -> None:
    if use.action is ToolAction.SEARCH and use.pattern:
        facts.searches[use.pattern] += 1
        facts.steps.append(Step(number, "search", use.pattern))
    if use.action is ToolAction.LIST:
        facts.steps.append(Step(number, "list", use.pattern))
    for path in use.paths:
        if use.action in (ToolAction.READ, ToolAction.EDIT):
            kept = facts.edits if use.action is ToolAction.EDIT else facts.reads
            kept[path] += 1
            facts.steps.append(Step(number, use.action.value, path))
    facts.steps.append(Step(number, "success", source if is_command else "", source))
