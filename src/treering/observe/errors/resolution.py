"""How a failure was resolved: what happened between the last failure and the first success of the same command."""

from collections.abc import Sequence

from treering.observe.commands import Command, Purpose

_MAX_NAMED = 3
# Purposes of commands that may have changed something; checks did not, and edits are listed on their own.
_CHANGING = (Purpose.MIGRATE, Purpose.INSTALL, Purpose.FORMAT, Purpose.RUN, Purpose.BUILD)
_CHECKS = (Purpose.TEST, Purpose.LINT, Purpose.TYPECHECK)
UNCHANGED = "re-run without changes (flaky)"


def resolution_of(edits: Sequence[str], commands: Sequence[Command]) -> str | None:
    """A short phrase for people; None if neither an edit nor a command explains the success.

    `edits` are the paths that were edited, `commands` the ones that ran in between; the last one is the successful run
    itself if it is among them. With no edit and only that run, the failure was flaky.
    """
    edited = _listed([f"`{path}`" for path in dict.fromkeys(edits) if path])
    ran = _listed([f"`{normal}`" for normal in _changing(commands)])
    if edited and ran:
        return f"edited {edited}, then {ran}"
    if edited:
        return f"edited {edited}"
    if ran:
        return ran
    return UNCHANGED if any(command.purpose in _CHECKS for command in commands) else None


def _changing(commands: Sequence[Command]) -> list[str]:
    """Commands that may have changed something, in order: not the checks themselves."""
    return list(
        dict.fromkeys(command.normal for command in commands if command.purpose in _CHANGING and command.normal)
    )


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MAX_NAMED:
        return f"{', '.join(names[:_MAX_NAMED])} and {len(names) - _MAX_NAMED} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""
