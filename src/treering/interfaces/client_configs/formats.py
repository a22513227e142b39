"""What it takes to edit one kind of file as text, and the check that an edit did nothing else."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

BOM = "\ufeff"
Place = tuple[str, str]
"""Where our entry stands: the table of servers, and our name in it."""
Entry = Mapping[str, Any]


class NotUnderstood(ValueError):
    """The text is not what the client would read; says what is wrong with it, as the end of a sentence."""


class Format(Protocol):
    """A kind of file. Texts are whole files; what is not ours in them is never written anew."""

    def content(self, text: str) -> dict[str, Any]:
        """What the file says. A file without any is empty; raises NotUnderstood."""

    def put(self, text: str, place: Place, entry: Entry) -> str:
        """The text with the entry: in the place of the one that is there, else after all others."""

    def put_back(self, text: str, place: Place, written: str) -> str:
        """The text with what `part` once gave of another entry, in the place of the one that is there."""

    def take(self, text: str, place: Place) -> str:
        """The text without the entry."""

    def part(self, text: str, path: tuple[str, ...]) -> str:
        """The text of what stands under a path, and nothing around it."""


def entry_in(content: Mapping[str, Any], place: Place) -> Any:
    """Our entry, or None; raises NotUnderstood where the table of servers is something else."""
    servers = content.get(place[0], {})
    if not isinstance(servers, dict):
        raise NotUnderstood(f"has a `{place[0]}` that holds no servers")
    return servers.get(place[1])


def with_entry(format: Format, text: str, place: Place, entry: Entry) -> str:
    """The text with our entry, proven to say what it said before and nothing else."""
    if entry_in(format.content(text), place) == entry:
        return text
    after = format.put(text, place, entry)
    return _proven(format, text, after, place, lambda: entry_in(format.content(after), place) == entry)


def with_theirs(format: Format, text: str, place: Place, written: str) -> str:
    """The text with an entry as its owner had written it in the place of ours, proven in the same way."""
    after = format.put_back(text, place, written)
    return _proven(format, text, after, place, lambda: format.part(after, place).split() == written.split())


def without_entry(format: Format, text: str, place: Place) -> str:
    """The text without our entry, proven to say all else that it said."""
    entry_in(format.content(text), place)
    after = format.take(text, place)
    return _proven(format, text, after, place, lambda: entry_in(format.content(after), place) is None)


def same_otherwise(format: Format, text: str, other: str, place: Place) -> bool:
    """Whether two texts differ in our entry at most."""
    return _others(format.content(text), place) == _others(format.content(other), place)


def _proven(format: Format, before: str, after: str, place: Place, is_right: Callable[[], bool]) -> str:
    try:
        fine = same_otherwise(format, before, after, place) and is_right()
    except NotUnderstood:
        fine = False
    if not fine:
        raise NotUnderstood(f"is written in a way in which `{'.'.join(place)}` cannot be edited safely")
    return after


def _others(content: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """Everything but our entry, and but the table of servers where it holds no other."""
    servers = {name: entry for name, entry in content.get(place[0], {}).items() if name != place[1]}
    rest = {name: value for name, value in content.items() if name != place[0]}
    return rest | ({place[0]: servers} if servers else {})
