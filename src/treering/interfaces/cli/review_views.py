"""Views of a review and of the trust level."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from treering.core.injections import ItemOutcome
from treering.core.trust import MIN_CONFIDENCE, TrustLevel, advance_rule
from treering.interfaces.cli import views as show
from treering.interfaces.cli.layout import counted, indented, rows
from treering.interfaces.cli.output import record_document

if TYPE_CHECKING:
    from treering.context.trust import Trust
    from treering.core.injections import InjectedItem
    from treering.core.records import Knowledge
    from treering.interfaces.cli.review_dialog import ReviewDecisions
    from treering.observe.review import SessionReview

_DOTS = 5
_OUTCOME_STYLES = {ItemOutcome.USED: show.GOOD, ItemOutcome.CONTRADICTED: show.BAD}
WARNING = "yellow"


def dots(confidence: float) -> str:
    """A confidence as five dots: ●●●●○."""
    full = round(confidence * _DOTS)
    return "●" * full + "○" * (_DOTS - full)


def review_document(review: "SessionReview") -> dict[str, Any]:
    return {
        "session": review.session,
        "level": review.level.value,
        "confirms_all": review.confirms_all,
        "given": [item_document(each) for each in review.given],
        "used": len(review.used),
        "tokens": review.tokens,
        "learned": [record_document(each) for each in review.learned],
        "tainted": [record_document(each) for each in review.tainted],
        "not_shown": review.not_shown,
    }


def item_document(item: "InjectedItem") -> dict[str, Any]:
    fields = {"at": "injected_at", "id": "item"} | {
        name: name for name in ("point", "kind", "type", "text", "reason", "tokens", "score", "outcome")
    }
    document: dict[str, Any] = item.model_dump(mode="json")
    return {name: document[source] for name, source in fields.items()}


def injected_document(session: str, items: Sequence["InjectedItem"]) -> dict[str, Any]:
    used = sum(1 for each in items if each.outcome is ItemOutcome.USED)
    tokens = sum(each.tokens for each in items)
    return {"session": session, "items": [item_document(each) for each in items], "used": used, "tokens": tokens}


def injected(session: str, items: Sequence["InjectedItem"]) -> RenderableType:
    """What a session was given, in the order of time, and its cost in tokens."""
    if not items:
        return Text(f"session {show.safe(session)} was given nothing", show.FAINT)
    return Group(*(line for item in items for line in _item(item)), Text(_sum(items), "bold"))


def summary(review: "SessionReview") -> RenderableType:
    """What the session was given and used, and how many records wait."""
    return Group(*_summary_lines(review))


def listed(review: "SessionReview") -> RenderableType:
    """The summary and all records that wait, for output that is not a terminal."""
    records = [*review.learned, *review.tainted]
    lines = [line for place, each in enumerate(records, 1) for line in _record(each, place, len(records))]
    return Group(*_summary_lines(review), *lines)


def question(record: "Knowledge", place: int, total: int, keys: str) -> RenderableType:
    return Group(Text(), *_record(record, place, total), Text(f"  {keys}", show.FAINT))


def help_lines(keys: Sequence[tuple[str, str]]) -> RenderableType:
    return indented(rows((Text(key, "bold"), Text(meaning)) for key, meaning in keys))


def decided(decisions: "ReviewDecisions", left: int) -> RenderableType:
    """The decisions in one line, and what waits for the next review."""
    named = (
        (decisions.confirmed, "confirmed"),
        (decisions.edited, "corrected"),
        (decisions.rejected, "rejected"),
    )
    text = ", ".join(f"{len(ids)} {what}" for ids, what in named if ids) or "nothing decided"
    waiting = f"; {counted(left, 'record')} left for the next review" if left else ""
    return Group(Text(), Text(f"{text}{waiting}", "bold"))


def trust_document(trust: "Trust") -> dict[str, Any]:
    level, offered = trust.level, trust.offered
    return {
        "level": level.value,
        "since": trust.since,
        "min_confidence": MIN_CONFIDENCE[level],
        "evidence": trust.evidence(),
        "next": advance_rule(level),
        "offered": offered and offered.value,
    }


def trust_status(document: dict[str, Any]) -> RenderableType:
    """The level, its meaning, the evidence since it was set, and the rule of the next one."""
    level, seen = TrustLevel(document["level"]), document["evidence"]
    since = f" since {show.when(document['since'])}" if document["since"] else ""
    lines = [
        Text.assemble((level.value, "bold"), f"{since}: {_MEANINGS[level]}"),
        Text(f"  agents are given records with a confidence above {document['min_confidence']:.2f}, or confirmed ones"),
        Text(
            f"  evidence: {counted(seen.sessions, 'session')}; {seen.confirmed} of "
            f"{counted(seen.reviewed, 'reviewed record')} confirmed; {seen.corrected} of "
            f"{counted(seen.used, 'used record')} wrong"
        ),
        Text(f"  next: {document['next']}", show.FAINT),
    ]
    if document["offered"]:
        lines.append(
            Text(
                f"  {seen.flagged_in_last_session} records of the last session were wrong; "
                f"`treering trust {document['offered']}` is more careful",
                WARNING,
            )
        )
    return Group(*lines)


_MEANINGS = {
    TrustLevel.CAUTIOUS: "a review asks about every new record",
    TrustLevel.STANDARD: "a review asks about every new record; to confirm all is the default",
    TrustLevel.CONFIDENT: "a review asks about doubtful records only",
    TrustLevel.AUTONOMOUS: "a review asks about no record unless --all is given",
}


def _summary_lines(review: "SessionReview") -> Iterator[RenderableType]:
    if review.session is not None:
        yield Text(f"session {show.safe(review.session)}", "bold")
    if review.given:
        yield Text(_sum(review.given))
        for item in review.used:
            yield Text.assemble("  used ", (show.preview(item.text or item.item, 100), show.GOOD), _reason(item))
    waiting = len(review.learned) + len(review.tainted)
    if waiting:
        outside = f", {len(review.tainted)} of them from outside" if review.tainted else ""
        yield Text(f"{counted(waiting, 'record')} to review{outside}")
    else:
        yield Text("no record waits for a review", show.FAINT)
    if review.not_shown:
        yield Text(
            f"  {counted(review.not_shown, 'new record')} not asked about at trust level {review.level.value}; "
            "--all includes them",
            show.FAINT,
        )


def _sum(items: Sequence["InjectedItem"]) -> str:
    outcomes = [each.outcome for each in items]
    used = f", {outcomes.count(ItemOutcome.USED)} used" if any(outcomes) else ", not assessed yet"
    return (
        f"given {counted(len(items), 'item')} of memory, {counted(sum(each.tokens for each in items), 'token')}{used}"
    )


def _item(item: "InjectedItem") -> Iterator[RenderableType]:
    outcome = item.outcome.value if item.outcome else "not assessed"
    yield Text.assemble(
        (f"{show.when(item.injected_at)}  {item.point.value:<6}  ", show.FAINT),
        (outcome, _OUTCOME_STYLES.get(item.outcome, show.FAINT) if item.outcome else show.FAINT),
        (
            f"  {counted(item.tokens, 'token')}  {show.safe(item.type or item.kind.value)} {show.safe(item.item)}",
            show.FAINT,
        ),
    )
    yield indented(
        Text(show.safe(item.text or item.item)), *([Text(show.safe(item.reason), show.FAINT)] * bool(item.reason))
    )


def _record(record: "Knowledge", place: int, total: int) -> Iterator[RenderableType]:
    files = f"  {', '.join(map(show.safe, record.files[:2]))}" if record.files else ""
    doubts = [
        name for name, applies in (("flagged", record.flagged), ("stale", record.stale_at is not None)) if applies
    ]
    yield Text.assemble(
        f"{place}/{total}  ",
        (record.type.replace("_", " ").upper(), "bold"),
        files,
        (f"  {dots(record.confidence)}", show.FAINT),
        (f"  {', '.join(doubts)}" if doubts else "", WARNING),
    )
    yield indented(Text(show.preview(record.content)))
    if record.taint is not None:
        yield indented(Text(f"from outside: {show.safe(str(record.taint))}", WARNING))
    for id in record.open_conflicts:
        yield indented(Text(f"contradicts {show.safe(id)}", WARNING))
    session = f" · session {show.safe(record.session)}" if record.session else ""
    unit = f" · {show.safe(' / '.join(record.work_unit.hierarchy))}" if record.work_unit else ""
    yield indented(
        Text(
            f"{record.source.value}{session}{unit} · {show.when(record.created_at)} · {show.safe(record.id)}",
            show.FAINT,
        )
    )


def _reason(item: "InjectedItem") -> tuple[str, str]:
    return (f" ({show.preview(item.reason, 80)})" if item.reason else "", show.FAINT)
