"""The interface of a file format that is edited as text, and edits that are verified to change nothing else."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

BOM = "\ufeff"
Place = tuple[str, ...]
"""Path of our entry: the table of servers, and our name in it."""
Entry = Mapping[str, Any]


class ConfigUnreadable(ValueError):
    """The text is not valid for the client; the message completes a sentence that begins with the path."""


class ConfigFormat(Protocol):
    """A file format. Texts are whole files; everything that is not our entry stays unchanged."""

    def content(self, text: str) -> dict[str, Any]:
        """The parsed file, empty for an empty file. Raises ConfigUnreadable."""

    def put(self, text: str, place: Place, entry: Entry) -> str:
        """The text with the entry: in place of an existing one, else after all others."""

    def put_back(self, text: str, place: Place, written: str) -> str:
        """The text with an entry that `part` once returned, in place of the existing one."""

    def take(self, text: str, place: Place) -> str:
        """The text without the entry."""

    def part(self, text: str, path: tuple[str, ...]) -> str:
        """The text below a path, and nothing around it."""


def entry_in(content: Mapping[str, Any], place: Place) -> Any:
    """Our entry, or None. Raises ConfigUnreadable if the table of servers is not a table."""
    servers = content.get(place[0], {})
    if not isinstance(servers, dict):
        raise ConfigUnreadable(f"has a `{place[0]}` that is not a table of servers")
    return servers.get(place[1])


def with_entry(format: ConfigFormat, text: str, place: Place, entry: Entry) -> str:
    """The text with our entry; verified to have the same content otherwise."""
    if entry_in(format.content(text), place) == entry:
        return text
    after = format.put(text, place, entry)
    return _verified(format, text, after, place, lambda: entry_in(format.content(after), place) == entry)


def with_foreign_entry(format: ConfigFormat, text: str, place: Place, written: str) -> str:
    """The text with a foreign entry restored in place of ours; verified in the same way."""
    after = format.put_back(text, place, written)
    return _verified(format, text, after, place, lambda: format.part(after, place).split() == written.split())


def without_entry(format: ConfigFormat, text: str, place: Place) -> str:
    """The text without our entry; verified to have the same content otherwise."""
    entry_in(format.content(text), place)
    after = format.take(text, place)
    return _verified(format, text, after, place, lambda: entry_in(format.content(after), place) is None)


def same_otherwise(format: ConfigFormat, text: str, other: str, place: Place) -> bool:
    """Whether two texts have the same content, except for our entry."""
    return _others(format.content(text), place) == _others(format.content(other), place)


def _verified(format: ConfigFormat, before: str, after: str, place: Place, is_right: Callable[[], bool]) -> str:
    try:
        is_safe = same_otherwise(format, before, after, place) and is_right()
    except ConfigUnreadable:
        is_safe = False
    if not is_safe:
        raise ConfigUnreadable(f"is written in a way in which `{'.'.join(place)}` cannot be edited safely")
    return after


def _others(content: Mapping[str, Any], place: Place) -> dict[str, Any]:
    """The content without our entry, and without the table of servers if that becomes empty."""
    servers = {name: entry for name, entry in content.get(place[0], {}).items() if name != place[1]}
    rest = {name: value for name, value in content.items() if name != place[0]}
    return rest | ({place[0]: servers} if servers else {})
