"""review and trust: decide about what was learned, and how much is given to agents unasked."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from treering.core.errors import NotFound
from treering.interfaces.cli.options import QUICK_DRAIN, AsJson, Db, Project, opened
from treering.interfaces.cli.output import emit

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.interfaces.cli.review_dialog import ReviewDialog
    from treering.memory import Memory
    from treering.observe.review import SessionReview

_LATEST = "last"


def review(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="[SESSION]", help="Id of a session, or `last`. Default: all sessions, and records that wait."
        ),
    ] = None,
    *,
    every: Annotated[
        bool, typer.Option("--all", help="Include the new records that the trust level does not ask about.")
    ] = False,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Review a session: what it used, what was learned; confirm, edit or reject each with one key.

    Each decision is stored at once. If stdin or stdout is not a terminal, the records are listed.
    """
    from treering.interfaces.cli import review_views

    with opened(db, project, drain_seconds=QUICK_DRAIN) as memory:
        found = memory.sessions.review(_named(memory, session), every=every)
        if not as_json and sys.stdin.isatty() and sys.stdout.isatty():
            _ask(memory, found)
            return
    emit(review_views.review_document(found), lambda: review_views.listed(found), as_json=as_json)


def trust(
    level: Annotated[
        str | None,
        typer.Argument(metavar="[LEVEL]", help="cautious, standard, confident or autonomous. Default: show the level."),
    ] = None,
    db: Db = None,
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Show or set the trust level: how certain a record must be before agents are given it unasked.

    The evidence for the next level is counted from the moment at which a level is set.
    """
    from treering.interfaces.cli import review_views

    with opened(db, project) as memory:
        if level is not None:
            memory.trust.set(level)
        document = review_views.trust_document(memory.trust)
    emit(document, lambda: review_views.trust_status(document), as_json=as_json)


def _named(memory: "Memory", session: str | None) -> str | None:
    if session != _LATEST:
        return session
    latest = memory.sessions.list(limit=1)
    if not latest:
        raise NotFound(f"no session was observed in project {memory.scope.project!r}; connect an agent first")
    return latest[0].id


def _ask(memory: "Memory", found: "SessionReview") -> None:
    from treering.interfaces.cli import review_views
    from treering.interfaces.cli.review_dialog import ReviewDialog
    from treering.interfaces.cli.single_keys import single_keys

    emit(None, lambda: review_views.summary(found), as_json=False)
    if not found.learned and not found.tainted:
        return
    with single_keys() as keys:
        dialog = ReviewDialog(memory, found, keys, _Screen())
        try:
            dialog.run()
            _offer_level(dialog)
        finally:  # also after Ctrl-C: what was decided is stored, and the summary says so
            left = len(found.learned) + len(found.tainted) - dialog.decisions.decided
            emit(None, lambda: review_views.decided(dialog.decisions, left), as_json=False)


def _offer_level(dialog: "ReviewDialog") -> None:
    if not dialog.decisions.rejected or (level := dialog.offered()) is None:
        return
    question = f"Several records of one session were wrong. Set the more careful trust level {level.value}? [y/N]"
    if dialog.offer(level, question):
        _Screen().result(f"the trust level is {level.value} now")


class _Screen:
    """Prints the questions of a review."""

    def question(self, record: "Knowledge", place: int, total: int, keys: str) -> None:
        from treering.interfaces.cli import review_views

        emit(None, lambda: review_views.question(record, place, total, keys), as_json=False)

    def result(self, text: str) -> None:
        from rich.text import Text

        from treering.interfaces.cli import views as show

        emit(None, lambda: Text(f"  {show.safe(text)}"), as_json=False)

    def help(self, keys: Sequence[tuple[str, str]]) -> None:
        from treering.interfaces.cli import review_views

        emit(None, lambda: review_views.help_lines(keys), as_json=False)
