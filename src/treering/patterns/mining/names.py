"""Readable names for mined patterns, from a language model if one is configured."""

import re
from importlib.resources import files
from itertools import islice

from treering.core.delimiters import DATA, delimited, escaped
from treering.core.errors import Conflict, ModelUnavailable, NotFound, UnusableAnswer
from treering.core.history import Action
from treering.core.patterns import Pattern, PatternStatus
from treering.core.privacy import may_leave
from treering.core.queries import PatternFilter
from treering.core.values import Text, Value
from treering.jobs.stage import StageRun
from treering.patterns.mining.conformance import mined_of
from treering.patterns.mining.findings import short_name
from treering.ports.models import Writer
from treering.prompts.model_answers import ask_json
from treering.prompts.token_budget import metered_writer

_PROMPT = "pattern_name.md"
_IN_USE = PatternFilter(statuses=(PatternStatus.VALIDATED,))
_NUMBER = re.compile(r"\d+")


class PatternName(Value):
    """Answer schema of the prompt."""

    name: Text


def name_mined_patterns(run: StageRun) -> None:
    """Name validated patterns that still have their generated name; a limited number per run."""
    if run.settings.learn.model == "off" or run.dry_run or not run.settings.mining.named_a_night:
        return
    try:
        writer = metered_writer(run.models, run.store, run.scope, run.now, run.settings)
    except ModelUnavailable:
        return
    with run.store.reading(run.scope, run.now) as tx:
        found = (each for each in tx.patterns.stream(_IN_USE) if _has_generated_name(each))
        unnamed = (each for each in found if may_leave(each, writer.location))
        some = list(islice(unnamed, run.settings.mining.named_a_night))
    run.progress.expect(len(some))
    for pattern in some:
        try:
            named = _name(run, writer, pattern)
        except UnusableAnswer:
            named = False
        except ModelUnavailable as exc:
            run.models.failed("writer", exc)
            run.progress.advance(None, 0, unnamed=1)
            return
        run.progress.advance(None, **{"named" if named else "unnamed": 1})


def _has_generated_name(pattern: Pattern) -> bool:
    found = mined_of(pattern)
    return found is not None and found.get("name") == pattern.name


def _name(run: StageRun, writer: Writer, pattern: Pattern) -> bool:
    """Rename the pattern; False if the answer is unusable, such as a name with numbers not in the finding."""
    prompt = files("treering.prompts").joinpath(_PROMPT).read_text("utf-8")
    request = prompt.format(finding=delimited(DATA, escaped(f"{pattern.name}\n{pattern.summary}")))
    given = ask_json(writer, request, PatternName, most_tokens=run.settings.mining.name_tokens)
    name = short_name("".join(each if each.isprintable() else " " for each in given.name))
    numbers = set(_NUMBER.findall(f"{pattern.name} {pattern.summary}"))
    if not name or name == pattern.name or not numbers.issuperset(_NUMBER.findall(name)):
        return False
    named = pattern.replace(name=name, updated_at=run.now)
    try:
        with run.store.transaction(run.scope, run.now) as tx:
            tx.patterns.update(named, Action.UPDATE, {"cause": "named"})
    except (Conflict, NotFound):
        return False
    return True
