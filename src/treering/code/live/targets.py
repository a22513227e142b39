"""Resolution of names to nodes of the graph."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from treering.code.facts import Unresolved
from treering.code.graph import (
    CodeAnswers,
    CodeEntries,
    CodeGraph,
    DataFlow,
    Dependencies,
    DependencyPath,
    Impact,
    IndexStatus,
    MatchReason,
    NameGuess,
    NameMatch,
    NameMatches,
)
from treering.code.graph.folders import is_folder
from treering.code.graph.nodes import file_of
from treering.code.language_choice import is_in_graph, partly_read
from treering.code.live.path_names import NodeName, file_part
from treering.core.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from treering.code.history.relatives import Relations

_MAX_LISTED = 8
"""Maximum number of candidates listed in a message."""
_MAX_SUGGESTED = 3
_MAX_CANDIDATES = 50
_MAX_MATCHES = 10_000
_SURE = frozenset({MatchReason.EXACT, MatchReason.LINE, MatchReason.END})

A = TypeVar("A", Impact, Dependencies, DataFlow, DependencyPath, CodeEntries, "Relations", CodeAnswers[Unresolved])


@dataclass(frozen=True, slots=True)
class ResolvedName:
    """The node that a name refers to, and the guess that was needed."""

    id: str
    guess: NameGuess | None = None
    definitions_only: tuple[str, ...] = ()
    """Languages of the node's files in which only definitions are read."""

    def annotate(self, answer: A) -> A:
        """The answer, with the guess and the partly read languages recorded in its status."""
        if self.guess is None and not self.definitions_only:
            return answer
        before: IndexStatus = answer.status
        guessed = before.guessed if self.guess is None else (*before.guessed, self.guess)
        partial = tuple(sorted({*before.definitions_only, *self.definitions_only}))
        status = dataclasses.replace(before, guessed=guessed, definitions_only=partial)
        return dataclasses.replace(answer, status=status)


def find_name(graph: CodeGraph, name: NodeName, limit: int) -> NameMatches:
    """Nodes that a name may refer to; for a full path, only nodes at that path."""
    if not name.placed:
        return graph.find(name.asked, limit=limit)
    folder = f"{name.asked}/"
    found = graph.find(folder if graph.below(folder) else name.asked, limit=_MAX_MATCHES)
    there = [match for match in found.matches if _is_at(match, name.asked)]
    return dataclasses.replace(
        found, asked=name.asked, matches=tuple(there[:limit]), left_out=max(0, len(there) - limit)
    )


def _is_at(match: NameMatch, asked: str) -> bool:
    return match.id in (asked, f"{asked}/") or file_of(match.id) in (asked, file_part(asked))


def resolve_name(graph: CodeGraph, name: NodeName) -> ResolvedName:
    """The node that a name refers to. Raises `NotFound` if there is none, `InvalidInput` if there are several."""
    found = find_name(graph, name, _MAX_CANDIDATES)
    if found.only is not None:
        guess = NameGuess(name.asked, found.only) if found.guessed else None
        files = graph.below(found.only) if is_folder(found.only) else (file_of(found.only),)
        return ResolvedName(found.only, guess, partly_read(files))
    if not is_in_graph(name.asked):
        raise NotFound(
            f"{name.asked!r} is text without definitions, so it is not part of the graph; search it with "
            "`treering where`, list the files that change with it with `treering related`, or store what holds for it "
            "with `treering remember … --file`"
        )
    if found.preferred and found.preferred[0].why is not MatchReason.INSIDE:
        raise InvalidInput(f"{name.asked!r} is ambiguous: {_listed(found)}; name one of them")
    if found.status.incomplete:
        raise NotFound(
            f"no file or definition is called {name.asked!r} so far, but the index is not complete; try again when "
            "indexing is done, or run `treering index` if it is not running"
        )
    like = found if found.matches else graph.find(name.asked)
    advice = (
        f"did you mean {_listed(like)}?"
        if like.matches
        else "try a part of the name, or run `treering index` if it is new"
    )
    raise NotFound(f"no indexed file or definition is called {name.asked!r}; {advice}")


def _listed(found: NameMatches) -> str:
    target = found.preferred
    more = len(target) + (found.left_out if len(target) == len(found.matches) else 0) - _MAX_LISTED
    return ", ".join(match.id for match in target[:_MAX_LISTED]) + (f" and {more} more" if more > 0 else "")


def resolve_file_name(graph: CodeGraph, name: NodeName) -> ResolvedName:
    """The file that a name refers to or is in; a path that does not exist yet is returned unchanged."""
    found = find_name(graph, name, _MAX_CANDIDATES)
    if not found.matches or (found.matches[0].why not in _SURE and _is_file_name(graph, name)):
        return ResolvedName(name.asked)
    files = {file_of(match.id) for match in found.preferred}
    if len(found.preferred) > len(files) == 1 and not found.left_out and not found.guessed:
        return ResolvedName(files.pop())
    target = resolve_name(graph, name)
    if is_folder(target.id):
        raise InvalidInput(f"{target.id} is a folder with {len(graph.below(target.id)):,} files; name one of them")
    return dataclasses.replace(target, id=file_of(target.id))


def nearest_files(paths: Sequence[str], path: str) -> tuple[str, ...]:
    """Files whose names are like that of a file that does not exist; the first of several with the same name."""
    name = PurePosixPath(path).name
    files = {PurePosixPath(each).name: each for each in reversed(paths)}
    return tuple(files[each] for each in get_close_matches(name, files, _MAX_SUGGESTED))


def _is_file_name(graph: CodeGraph, name: NodeName) -> bool:
    """Whether the name can only be a file, existing or not."""
    suffix = PurePosixPath(name.asked).suffix
    return name.placed or "/" in name.asked or (bool(suffix) and any(path.endswith(suffix) for path in graph.paths))
