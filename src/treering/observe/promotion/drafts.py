"""Type, text and payload of the record that each signal may become."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from treering.observe.cues import CueKind
from treering.observe.promotion.tallies import best_way, tallied
from treering.observe.scratchpad import Signal

_MAX_TEXT = 600
_MAX_FILES = 6
_MAX_EFFECTS = 4
_MIN_WORDS = 8  # of an agent's correction; a shorter one does not say what was wrong
MIN_EFFECT_SESSIONS = 3  # in which a file was edited together with a configuration file
_TOOL_SOURCE = "download: "  # outside content that names a program, not a document
_IDENTIFIER = re.compile(r"[A-Za-z_][\w.:/-]{3,}")
_LASTING = re.compile(
    r"(?i)\b(?:use|using|prefer|instead|always|never|don't|do not|must|should|only|nutze|verwende|benutze|nimm|immer"
    r"|nie|niemals|statt|usa|usar|utiliza|siempre|nunca|utilise|utiliser|toujours|jamais|usare|utilizza|sempre|mai"
    r"|invece|plutôt|en lugar|au lieu)\b"
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A record to be: its type, its sentence and its payload. `dead_end` drafts are about what did not work."""

    type: str
    text: str
    payload: Mapping[str, Any] = field(default_factory=dict)

    @property
    def dead_end(self) -> bool:
        return self.type == "dead_end"


@dataclass(frozen=True, slots=True)
class EvidenceSupport:
    """What a draft is written from: the subject, its latest details, its files and the number of its sessions.

    `coupling` is the share of the sessions with the busier of two files that have both.
    """

    subject: str
    detail: Mapping[str, Any]
    files: tuple[str, ...]
    sessions: int
    coupling: float | None = None


def draft_of(signal: Signal, support: EvidenceSupport) -> Draft | None:
    """The draft, or None if the evidence does not make a sentence that helps a colleague."""
    write = _WRITERS.get(signal)
    draft = None if write is None else write(support)
    if draft is None or len(draft.text) > _MAX_TEXT:
        return None
    return draft


def seen_in(sessions: int) -> str:
    return "1 session" if sessions == 1 else f"{sessions} sessions"


def _error(support: EvidenceSupport) -> Draft | None:
    detail, way = support.detail, best_way(support.detail)
    summary = str(detail.get("summary", "")).strip()
    if not summary or way is None:
        return None
    command = detail.get("command") or detail.get("tool") or "a command"
    seen = f"seen in {seen_in(support.sessions)}; resolved by {way.name}"
    text = f"{_code(str(command))} fails with {_code(summary)} ({seen})"
    payload = {
        "fingerprint": support.subject,
        "message": summary,
        "tool": str(command)[:200],
        "resolution": way.name,
        "occurrences": max(1, int(detail.get("count", 1))),
    }
    return Draft("error_pattern", text, payload)


def _cue(support: EvidenceSupport) -> Draft | None:
    detail = support.detail
    kind, sentence = CueKind(detail["cue"]), str(detail.get("sentence", "")).strip()
    if not sentence or sentence.endswith(":"):
        return None  # what it announces is not part of it
    if kind in (CueKind.EXPLICIT_RULE, CueKind.USER_CORRECTION):
        # "Revert your file" corrects this session; "no, use pnpm" also holds for the next one.
        lasting = kind is CueKind.EXPLICIT_RULE or _LASTING.search(sentence) is not None
        return Draft("preference", sentence) if lasting else None
    if detail.get("dead_end"):
        return _dead_end(detail, sentence, is_environment=kind is CueKind.ENVIRONMENT_UNAVAILABLE)
    if not support.files or len(sentence.split()) < _MIN_WORDS or "`" not in sentence:
        return None  # without a name from the code, it is about the moment
    return Draft("gotcha", f"{sentence} (about {_listed(support.files)})")


def _dead_end(detail: Mapping[str, Any], sentence: str, *, is_environment: bool) -> Draft | None:
    approach, reason = str(detail.get("approach") or ""), str(detail.get("reason") or "")
    alternative = str(detail.get("alternative") or "").rstrip(" :")
    if alternative == sentence:
        alternative = ""
    if not (alternative or reason):
        return None  # that something did not work helps only with the reason or what to do instead
    if not (approach or reason or is_environment):
        return None  # "let me try something else" does not say what failed
    parts = [f"Did not work: {approach}" if approach else f"An approach was given up: {sentence}"]
    parts += [f"Reason: {reason}"] if reason and reason not in parts[0] else []
    parts += [f"Instead: {alternative}"] if alternative else []
    payload = {"approach": approach or sentence, "reason": reason or None, "alternative": alternative or None}
    return Draft(
        "dead_end", " ".join(each if each.endswith((".", "!", "?")) else f"{each}." for each in parts), payload
    )


def _pair(support: EvidenceSupport) -> Draft | None:
    if len(support.files) < 2:
        return None
    cause, effect = support.files[:2]
    share = support.coupling
    used = "edited" if support.detail.get("both_edited") else "used"
    often = f", in {share:.0%} of the sessions with either of them" if share else ""
    text = f"`{cause}` and `{effect}` are {used} together (seen in {seen_in(support.sessions)}{often})"
    payload = {
        "cause": cause,
        "effects": [effect],
        "coupling": share,
        "directional": bool(support.detail.get("directional")),
    }
    return Draft("causal_dependency", text, payload)


def _config(support: EvidenceSupport) -> Draft | None:
    config = support.files[0]
    paired = [each.name for each in tallied(support.detail) if each.sessions >= MIN_EFFECT_SESSIONS][:_MAX_EFFECTS]
    if not paired:
        return None
    text = f"A change of `{config}` comes with changes of {_listed(paired)} (seen in {seen_in(support.sessions)})"
    return Draft("causal_dependency", text, {"cause": config, "effects": paired, "directional": True})


def _chase(support: EvidenceSupport) -> Draft | None:
    chain = [str(each) for each in support.detail.get("chain", ())]
    if len(chain) < 3:
        return None
    path = " → ".join(f"`{each}`" for each in chain[:_MAX_FILES])
    text = f"What `{chain[0]}` does is decided in `{chain[-1]}`: {path} (followed in {seen_in(support.sessions)})"
    return Draft("causal_dependency", text, {"cause": chain[-1], "effects": [chain[0]], "directional": True})


def _backtrack(support: EvidenceSupport) -> Draft | None:
    detail, path = support.detail, support.subject
    paired = [each for each in detail.get("paired", ()) if each != path]
    cause, failure = detail.get("likely_cause"), str(detail.get("failure") or "")
    sessions = seen_in(support.sessions)
    if cause == "cascading_change" and paired:
        text = f"An edit of `{path}` needs edits of {_listed(paired)} as well (edited again in {sessions})"
        return Draft("gotcha", text, {"trigger": f"editing `{path}`", "workaround": f"edit {_listed(paired)} too"})
    if failure:
        text = f"The first edit of `{path}` had to be corrected in {sessions}; last because of {_code(failure)}"
        return Draft("gotcha", text, {"trigger": f"editing `{path}`", "consequence": failure})
    return None


def _conflict(support: EvidenceSupport) -> Draft:
    text = f"`{support.subject}` had conflicting edits: {support.detail.get('cause', 'parallel work')}"
    return Draft("gotcha", text, {"trigger": f"parallel edits of `{support.subject}`"})


def _read_abandon(support: EvidenceSupport) -> Draft | None:
    detail, path = support.detail, support.subject
    if detail.get("rule") == "abandoned" and detail.get("instead"):
        text = f"`{path}` is mistaken for `{detail['instead']}`, where the code is (in {seen_in(support.sessions)})"
        return Draft("gotcha", text, {"trigger": f"opening `{path}`", "workaround": f"open `{detail['instead']}`"})
    return None


def _grep(support: EvidenceSupport) -> Draft | None:
    answers = [str(each) for each in support.detail.get("answers", ())]
    if not answers or not _IDENTIFIER.fullmatch(support.subject):
        return None
    text = f"{_code(support.subject)} is in {_listed(answers)} (searched for repeatedly in {seen_in(support.sessions)})"
    return Draft("module_insight", text)


def _recipe(support: EvidenceSupport) -> Draft | None:
    commands = [str(each) for each in support.detail.get("commands", ())]
    if len(commands) < 2:
        return None
    listed = ", then ".join(map(_code, commands))
    text = f"Usual order of commands: {listed} (seen in {seen_in(support.sessions)})"
    steps = [{"description": each} for each in commands]
    return Draft("workflow_recipe", text, {"steps": steps, "success_count": support.sessions})


def _reference(support: EvidenceSupport) -> Draft | None:
    if not support.files or support.subject.startswith(_TOOL_SOURCE):
        return None
    text = f"Work on {_listed(support.files)} refers to {support.subject} (seen in {seen_in(support.sessions)})"
    return Draft("module_insight", text)


def _code(text: str) -> str:
    """The text as code in Markdown, also if it has backticks itself."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _listed(files: Sequence[str]) -> str:
    named = [f"`{each}`" for each in files[:_MAX_FILES]]
    more = len(files) - len(named)
    if more > 0:
        return f"{', '.join(named)} and {more} more"
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1]))) if named else ""


_WRITERS: Mapping[Signal, Callable[[EvidenceSupport], Draft | None]] = {
    Signal.ERROR_RETRY: _error,
    Signal.SELF_CORRECTION: _cue,
    Signal.CO_ACCESS: _pair,
    Signal.CONFIG_TOUCH: _config,
    Signal.IMPORT_CHASE: _chase,
    Signal.BACKTRACK: _backtrack,
    Signal.PARALLEL_CONFLICT: _conflict,
    Signal.READ_ABANDON: _read_abandon,
    Signal.REPEATED_GREP: _grep,
    Signal.TOOL_SEQUENCE: _recipe,
    Signal.EXTERNAL_REFERENCE: _reference,
}
"""Signals without an entry support others (time anomaly), or become records of a module (file access, test order, step
overrun, tokens)."""
