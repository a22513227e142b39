"""A statement as a sentence in the language it was said in."""

from collections.abc import Iterable

from treering.core.statements import PROJECT, SPEAKER
from treering.learn.facts.grammar import Grammar


def worded(
    rules: Grammar,
    subject: str,
    attribute: str,
    value: str,
    *,
    over: Iterable[str] = (),
    ended: bool = False,
    since: str | None = None,
    until: str | None = None,
) -> str:
    """The sentence, with its dates as ISO writes them."""
    form = rules.data["text"]
    names = {SPEAKER: form["user"], PROJECT: form["project"]}
    text = form[attribute].replace("{subject}", names.get(subject, subject)).replace("{value}", value)
    text = form["ended"].replace("{text}", text) if ended else text
    added = [form["over"].replace("{over}", ", ".join(over))] if over else []
    if ended and since and until:
        added.append(f"({since})" if since == until else f"({since}–{until})")
    else:
        added += [form["since"].replace("{date}", since)] if since else []
        added += [form["until"].replace("{date}", until)] if until else []
    whole = " ".join([text, *added])
    return whole[:1].upper() + whole[1:]
