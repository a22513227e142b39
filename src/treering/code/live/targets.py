"""Which node a question is about."""

import dataclasses
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeVar

from treering.code.facts import Unresolved
from treering.code.graph import (
    Answers,
    CodeGraph,
    DataFlow,
    Dependencies,
    Entries,
    Found,
    Guess,
    Impact,
    Match,
    Route,
    Why,
)
from treering.code.graph.folders import is_folder
from treering.code.graph.nodes import file_of
from treering.code.live.path_names import Named, file_part
from treering.core.errors import InvalidInput, NotFound

if TYPE_CHECKING:
    from treering.code.history.relatives import Relations

_NAMED = 8
"""What a name may mean that means too much: more are not listed."""
_LOOKED_AT = 50
_EVERY = 10_000
_SURE = frozenset({Why.EXACT, Why.LINE, Why.END})

A = TypeVar("A", Impact, Dependencies, DataFlow, Route, Entries, "Relations", Answers[Unresolved])


@dataclass(frozen=True, slots=True)
class Meant:
    """A node, and whether its name had to be guessed."""

    id: str
    guess: Guess | None = None

    def told(self, answer: A) -> A:
        """The answer, which says so."""
        if self.guess is None:
            return answer
        standing = dataclasses.replace(answer.standing, guessed=(*answer.standing.guessed, self.guess))
        return dataclasses.replace(answer, standing=standing)


def found_by(graph: CodeGraph, name: Named, limit: int) -> Found:
    """What a name may mean; where it is a path, only what stands there."""
    if not name.placed:
        return graph.find(name.asked, limit=limit)
    folder = f"{name.asked}/"
    found = graph.find(folder if graph.below(folder) else name.asked, limit=_EVERY)
    there = [match for match in found.matches if _stands_at(match, name.asked)]
    return dataclasses.replace(
        found, asked=name.asked, matches=tuple(there[:limit]), left_out=max(0, len(there) - limit)
    )


def _stands_at(match: Match, asked: str) -> bool:
    return match.id in (asked, f"{asked}/") or file_of(match.id) in (asked, file_part(asked))


def meant_by(graph: CodeGraph, name: Named) -> Meant:
    """The node that a name means. `NotFound` where there is none, `InvalidInput` where there are several."""
    found = found_by(graph, name, _LOOKED_AT)
    if found.only is not None:
        return Meant(found.only, Guess(name.asked, found.only) if found.guessed else None)
    if found.meant and found.meant[0].why is not Why.INSIDE:
        raise InvalidInput(f"{name.asked!r} may be {_listed(found)}; name one of them")
    if found.standing.incomplete:
        raise NotFound(
            f"the index is still being made, and nothing read so far is called {name.asked!r}; ask again when it is "
            "done, or run `treering index` if nobody is at it"
        )
    like = found if found.matches else graph.find(name.asked)
    advice = f"is it {_listed(like)}?" if like.matches else "try a part of the name, or `treering index` if it is new"
    raise NotFound(f"nothing that is indexed is called {name.asked!r}; {advice}")


def _listed(found: Found) -> str:
    meant = found.meant
    more = len(meant) + (found.left_out if len(meant) == len(found.matches) else 0) - _NAMED
    return ", ".join(match.id for match in meant[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def file_meant_by(graph: CodeGraph, name: Named) -> Meant:
    """The file that a name means or is in, or the one that is to come to be where it says."""
    found = found_by(graph, name, _LOOKED_AT)
    if not found.matches or (found.matches[0].why not in _SURE and _names_a_file(graph, name)):
        return Meant(name.asked)
    files = {file_of(match.id) for match in found.meant}
    if len(found.meant) > len(files) == 1 and not found.left_out and not found.guessed:
        return Meant(files.pop())
    meant = meant_by(graph, name)
    if is_folder(meant.id):
        raise InvalidInput(f"{meant.id} is a folder with {len(graph.below(meant.id)):,} files; name one of them")
    return dataclasses.replace(meant, id=file_of(meant.id))


def _names_a_file(graph: CodeGraph, name: Named) -> bool:
    """Whether it can be nothing but a file, be it there or not."""
    suffix = PurePosixPath(name.asked).suffix
    return name.placed or "/" in name.asked or (bool(suffix) and any(path.endswith(suffix) for path in graph.paths))
