"""The parts of a configuration file that are ours: an entry in a table, a hook in an array, or a whole file."""

import json
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Protocol

from treering.core.secrets import redact
from treering.interfaces.client_configs import json_text
from treering.interfaces.client_configs.formats import (
    ConfigFormat,
    ConfigUnreadable,
    Entry,
    Place,
    entry_in,
    same_otherwise,
    with_entry,
    with_foreign_entry,
    without_entry,
)

HOOKS = "hooks"
_OUR_HOOK = re.compile(r"treering[./\\](?:hook_process|interfaces[./\\]hooks)")
"""The program of our hooks, by its path or by the name of its module."""
_GROUP_HOOKS = 4
"""Length of the path of a group's hooks: `hooks`, event, position of the group, `hooks`."""


class ConfigPart(Protocol):
    """A part of a file. Texts are whole files; methods raise ConfigUnreadable if the client could not read them."""

    @property
    def name(self) -> str:
        """Unique in its file."""

    @property
    def wanted(self) -> Any:
        """The value that the file should have; None for no such part."""

    def found(self, text: str) -> Any:
        """The value that the file has; None if there is none."""

    def put(self, text: str) -> str:
        """The text with the wanted value in place of the present one; verified to have the same content otherwise."""

    def written(self, text: str) -> str:
        """The text of the present value, which `without` can restore."""

    def without(self, text: str, theirs: str | None) -> str:
        """The text without the part, or with what had its place before; verified in the same way."""

    def same_otherwise(self, text: str, other: str) -> bool:
        """Whether two texts have the same content, except for this part."""

    def shown(self, text: str, other: str) -> list[str]:
        """The lines of this part, to be compared with those of the other text."""


@dataclass(frozen=True, slots=True)
class ServerPart:
    """The entry of our server in the table of servers."""

    format: ConfigFormat
    place: Place
    wanted: Entry | None

    @property
    def name(self) -> str:
        return ".".join(self.place)

    def found(self, text: str) -> Any:
        return entry_in(self.format.content(text), self.place)

    def put(self, text: str) -> str:
        return with_entry(self.format, text, self.place, self.wanted or {})

    def written(self, text: str) -> str:
        return self.format.part(text, self.place)

    def without(self, text: str, theirs: str | None) -> str:
        if theirs is None:
            return without_entry(self.format, text, self.place)
        return with_foreign_entry(self.format, text, self.place, theirs)

    def same_otherwise(self, text: str, other: str) -> bool:
        return same_otherwise(self.format, text, other, self.place)

    def shown(self, text: str, other: str) -> list[str]:
        table_is_new = self.place[0] not in self.format.content(other)
        return redact(self.format.part(text, self.place[:1] if table_is_new else self.place)).text.splitlines()


@dataclass(frozen=True, slots=True)
class HookPart:
    """Our hook of one event. Hooks of others, in the same array or in the same group, stay."""

    event: str
    wanted: Mapping[str, Any] | None
    grouped: bool = True
    """Whether the elements of the array are groups of hooks, or the hooks themselves."""

    @property
    def name(self) -> str:
        return f"{HOOKS}.{self.event}"

    def found(self, text: str) -> Any:
        ours = [hook for _, hook in self._ours(json_text.content(text))]
        return None if not ours else ours[0] if len(ours) == 1 else ours

    def put(self, text: str) -> str:
        group = {HOOKS: [dict(self.wanted or {})]} if self.grouped else dict(self.wanted or {})
        after = json_text.append(self._removed(text), (HOOKS, self.event), group)
        return self._verified(text, after, self.found(after) == self.wanted)

    def written(self, text: str) -> str:
        return json.dumps(self._groups(text), ensure_ascii=False)

    def without(self, text: str, theirs: str | None) -> str:
        after = self._removed(text)
        for group in json.loads(theirs or "[]"):
            after = json_text.append(after, (HOOKS, self.event), group)
        return self._verified(text, after, theirs is not None or self.found(after) is None)

    def same_otherwise(self, text: str, other: str) -> bool:
        return self._others(text) == self._others(other)

    def shown(self, text: str, other: str) -> list[str]:
        groups = (json.dumps(group, ensure_ascii=False) for group in self._groups(text))
        return [redact(f'"{self.event}": {group}').text for group in groups]

    def _elements(self, content: Mapping[str, Any]) -> list[Any]:
        events = content.get(HOOKS, {})
        elements = events.get(self.event, []) if isinstance(events, dict) else None
        if not isinstance(elements, list):
            raise ConfigUnreadable(f"has `{HOOKS}` that are not lists of hooks by event")
        return elements

    def _ours(self, content: Mapping[str, Any]) -> Iterator[tuple[Place, Any]]:
        """Our hooks with their paths in the array."""
        for at, element in enumerate(self._elements(content)):
            if not self.grouped:
                if _is_our_hook(element):
                    yield (str(at),), element
            elif isinstance(element, dict) and isinstance(element.get(HOOKS), list):
                for inner, hook in enumerate(element[HOOKS]):
                    if _is_our_hook(hook):
                        yield (str(at), HOOKS, str(inner)), hook

    def _groups(self, text: str) -> list[Any]:
        """The elements of the array, with only our hooks in them."""
        content = json_text.content(text)
        elements = self._elements(content)
        ours = self._ours(content)
        return [elements[int(path[0])] | ({HOOKS: [hook]} if self.grouped else {}) for path, hook in ours]

    def _removed(self, text: str) -> str:
        """The text without our hooks, and without the groups, arrays and objects that this leaves empty."""
        content = json_text.content(text)
        while found := next(self._ours(content), None):
            text = json_text.take(text, _emptied(content, (HOOKS, self.event, *found[0])))
            content = json_text.content(text)
        return text

    def _others(self, text: str) -> dict[str, Any]:
        """The content without our hooks, and without what is empty then."""
        content = deepcopy(json_text.content(text))
        while found := next(self._ours(content), None):
            array = self._elements(content)
            at, *inner = found[0]
            if inner and len(array[int(at)][HOOKS]) > 1:
                del array[int(at)][HOOKS][int(inner[-1])]
            else:
                del array[int(at)]
        if not self._elements(content):
            content.get(HOOKS, {}).pop(self.event, None)
        if not content.get(HOOKS):
            content.pop(HOOKS, None)
        return content

    def _verified(self, before: str, after: str, is_right: bool) -> str:
        if not is_right or not self.same_otherwise(before, after):
            raise ConfigUnreadable(f"is written in a way in which `{self.name}` cannot be edited safely")
        return after


@dataclass(frozen=True, slots=True)
class WholeFilePart:
    """A file that is ours as a whole."""

    wanted: str | None
    name: str = "file"

    def found(self, text: str) -> Any:
        return text or None

    def put(self, text: str) -> str:
        return self.wanted or ""

    def written(self, text: str) -> str:
        return text

    def without(self, text: str, theirs: str | None) -> str:
        return theirs or ""

    def same_otherwise(self, text: str, other: str) -> bool:
        return True

    def shown(self, text: str, other: str) -> list[str]:
        return redact(text).text.splitlines()


def _emptied(content: Any, path: Place) -> Place:
    """The highest path that holds nothing but the value at `path`, apart from the properties of its group."""
    # Array of groups, group, array of hooks: a group is removed with its last hook, whatever its matcher.
    holders = [content]
    for key in path[:-1]:
        holders.append(holders[-1][int(key) if isinstance(holders[-1], list) else key])
    while len(path) > 1 and (len(holders[-1]) == 1 or (len(path) == _GROUP_HOOKS and isinstance(holders[-1], dict))):
        path = path[:-1]
        holders.pop()
    return path


def _is_our_hook(hook: Any) -> bool:
    if not isinstance(hook, dict):
        return False
    arguments = hook.get("args")
    words = [hook.get("command"), *(arguments if isinstance(arguments, list) else ())]
    return any(isinstance(word, str) and _OUR_HOOK.search(word) for word in words)
