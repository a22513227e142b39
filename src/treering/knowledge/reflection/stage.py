"""Writes the week's reflection: by rules, and better where a language model is there to put it into words."""

from datetime import timedelta
from importlib.resources import files

from treering.core.delimiters import DATA, delimited, escaped
from treering.core.errors import ModelUnavailable, UnusableAnswer
from treering.core.payloads import Reflection
from treering.core.privacy import may_leave
from treering.core.records import Knowledge, Source
from treering.core.taint import inherited_taint
from treering.core.values import Text, Value
from treering.jobs.stage import StageRun
from treering.knowledge.reflection.digest import Digest, Week, cited_in, digest, opening
from treering.knowledge.reflection.week import WEEKLY, WRITTEN, last_reflected, read_week
from treering.ports.store import Transaction
from treering.prompts.model_answers import ask_json
from treering.prompts.token_budget import metered_writer

MIN_NEW_FACTS = 3  # fewer new facts need no digest

_PROMPT = "reflection.md"
_CLAIM = "reflection"


class WrittenReflection(Value):
    """What a language model makes of a digest: one thought a line, each citing what it rests on."""

    lines: tuple[Text, ...]


def reflect(run: StageRun) -> None:
    """Look back on the week, where the last look is six days old and there is enough to see.

    However many workers come to it at once, one reflection is stored.
    """
    with run.store.reading(run.scope, run.now) as tx:
        if _is_too_soon(tx, run):
            run.progress.advance(None, 0, too_soon=1)
            return
        week = read_week(tx, run.now, run.settings.reflection)
    if week.fact_count < MIN_NEW_FACTS:
        run.progress.advance(None, 0, too_few_facts=1)
        return
    if run.dry_run:
        run.progress.advance(None, **{WRITTEN: 1})
        return
    made = digest(week)
    text, counts = _worded(run, made, week)
    with run.store.transaction(run.scope, run.now) as tx:
        tx.claim(_CLAIM)
        first = not _is_too_soon(tx, run)
        if first:
            tx.knowledge.create(_record(run, made, week, text))
    run.progress.advance(None, **({WRITTEN: 1, **counts} if first else {"too_soon": 1}))


def _is_too_soon(tx: Transaction, run: StageRun) -> bool:
    last = last_reflected(tx)
    return last is not None and run.now - last < timedelta(days=run.settings.reflection.every_days)


def _record(run: StageRun, made: Digest, week: Week, text: str) -> Knowledge:
    return Knowledge(
        id=run.new_id(),
        type="reflection",
        content=text,
        payload=Reflection(period_start=week.since, period_end=week.until, fact_count=week.fact_count),
        tags=(WEEKLY,),
        source=Source.CONSOLIDATION,
        source_ids=made.sources,
        owner=run.scope.principal,
        taint=inherited_taint(made.records),
        needs_review=any(getattr(each, "needs_review", False) for each in made.records),
        created_at=run.now,
        updated_at=run.now,
        last_accessed_at=run.now,
    )


def _worded(run: StageRun, made: Digest, week: Week) -> tuple[str, dict[str, int]]:
    """The digest in a model's words; the digest itself without a model, or with one that fails or may not read it."""
    if run.settings.learn.model == "off":
        return made.text, {}
    try:
        writer = metered_writer(run.models, run.store, run.scope, run.now, run.settings)
    except ModelUnavailable:
        return made.text, {}
    if not all(may_leave(each, writer.location) for each in made.records):
        return made.text, {"withheld": 1}
    prompt = files("treering.prompts").joinpath(_PROMPT).read_text("utf-8")
    asked = prompt.format(digest=delimited(DATA, escaped(made.text)))
    try:
        answer = ask_json(writer, asked, WrittenReflection, most_tokens=run.settings.reflection.written_tokens)
    except ModelUnavailable as exc:
        if not isinstance(exc, UnusableAnswer):
            run.models.failed("writer", exc)
        return made.text, {"unwritten": 1}
    lines = _grounded(answer, made)
    if not lines:
        return made.text, {"unwritten": 1}
    listed = "\n".join(f"- {line}" for line in lines)
    return f"{opening(week)}\n\nIn short\n{listed}", {"written": 1}


def _grounded(answer: WrittenReflection, made: Digest) -> list[str]:
    """Only what rests on a source that there is."""
    known = frozenset(range(1, len(made.sources) + 1))
    lines = (" ".join(line.split()).lstrip("- ") for line in answer.lines)
    return [line for line in lines if (cited := cited_in(line)) and cited <= known]
