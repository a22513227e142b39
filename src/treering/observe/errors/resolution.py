"""How a failure was resolved: what happened between the last failure and the first success of the same command.

A resolution is concrete (`edited a.go`, `make migrate`) or a way that holds for many files and commands.
"""

import re
from collections.abc import Collection, Sequence

from treering.observe.commands import Purpose, ShellCommand

_MAX_NAMED = 3
# Purposes of commands that may have changed something; checks did not, and edits are listed on their own.
_CHANGING = (Purpose.MIGRATE, Purpose.INSTALL, Purpose.FORMAT, Purpose.RUN, Purpose.BUILD)
_CHECKS = (Purpose.TEST, Purpose.LINT, Purpose.TYPECHECK)
UNCHANGED = "re-run without changes (flaky)"
READ_FIRST = "reading the file first with `Read`"
EDIT_NAMED = "editing the file that the message names"
SEARCH_FIRST = "searching for the file and using the path that was found"
OTHER_PATH = "using the path of a file with the same name"
_MAX_DIFFERENCE = 2  # words that another form of a command leaves out, or adds


def resolution_of(edits: Sequence[str], commands: Sequence[ShellCommand]) -> str | None:
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


def _changing(commands: Sequence[ShellCommand]) -> list[str]:
    """Commands that may have changed something, in order: not the checks themselves."""
    return list(
        dict.fromkeys(command.normal for command in commands if command.purpose in _CHANGING and command.normal)
    )


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MAX_NAMED:
        return f"{', '.join(names[:_MAX_NAMED])} and {len(names) - _MAX_NAMED} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""


def ways_of(
    path: str, named: Collection[str], edits: Collection[str], reads: Collection[str], *, is_tool: bool
) -> tuple[str, ...]:
    """Ways in which a call that failed came to succeed; `path` is the file that a tool was called with."""
    if is_tool:
        return (READ_FIRST,) if path and path in reads else ()
    return (EDIT_NAMED,) if not set(named).isdisjoint(edits) else ()


def changes_of(edits: Sequence[str], commands: Sequence[ShellCommand]) -> tuple[str, ...]:
    """A phrase for each file that was edited and each command that may have changed something.

    After many edits none of them explains the success.
    """
    edited = [f"editing `{path}`" for path in dict.fromkeys(edits)] if len(set(edits)) <= _MAX_NAMED else []
    ran = _changing(commands)
    return (*edited, *(f"`{normal}`" for normal in ran[:_MAX_NAMED]))


def other_path(path: str, found: str, *, searched: bool) -> str:
    """The way from a path that a tool could not use to the one that it could; empty if they are not related."""
    if not path or path == found:
        return ""
    if path.rpartition("/")[2] == found.rpartition("/")[2]:
        return SEARCH_FIRST if searched else OTHER_PATH
    return SEARCH_FIRST if searched else ""


_FORM = re.compile(r"running it with `([^`]+)` instead of `([^`]+)`")


def opposite_of(way: str) -> str | None:
    """The way that swaps both forms of a command; None if the way does not name two forms."""
    found = _FORM.fullmatch(way)
    return None if found is None else f"running it with `{found[2]}` instead of `{found[1]}`"


def other_form(failed: str, succeeded: str) -> str:
    """What the second command has otherwise: "running it without `rtk`"; empty if it is not a form of the first."""
    before, after = failed.split(), succeeded.split()
    removed = [word for word in before if word not in after]
    added = [word for word in after if word not in before]
    common = len(before) - len(removed)
    if not (removed or added) or max(len(removed), len(added)) > _MAX_DIFFERENCE or common < max(1, len(removed)):
        return ""
    if common == 1 and before[0] == after[0]:
        return ""  # two commands of one program
    if not added:
        return f"running it without {_listed([f'`{word}`' for word in removed])}"
    if not removed:
        return f"running it with {_listed([f'`{word}`' for word in added])}"
    return f"running it with `{' '.join(added)}` instead of `{' '.join(removed)}`"
