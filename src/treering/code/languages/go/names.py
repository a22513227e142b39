"""Name lookup inside a file: bindings by scope, and the names of imports."""

import re

from treering.code.languages.go.body import UNKNOWN, GoExpression, GoImport, WrittenType

_MAJOR = re.compile(r"v\d+$")
_GOPKG = re.compile(r"\.v\d+$")
_AFFIX = re.compile(r"^go[-.]|[-.]go$")


class GoNames:
    """The bindings of one file, numbered in order of declaration, and the currently visible ones."""

    def __init__(self) -> None:
        self.bindings: list[GoExpression] = []
        self._visible: dict[str, list[int]] = {}
        self._opened: list[list[str]] = []
        self._looked_up: list[int] = []
        self._needed: set[int] = set()
        self._uses: dict[int, tuple[int, ...]] = {}

    @property
    def depth(self) -> int:
        return len(self._opened)

    def open(self) -> None:
        self._opened.append([])

    def close(self) -> None:
        if self._opened:
            for name in self._opened.pop():
                self._visible[name].pop()

    def bind(self, name: str, value: GoExpression = UNKNOWN, uses: tuple[int, ...] = ()) -> int:
        number = len(self.bindings)
        self.bindings.append(value)
        if uses:
            self._uses[number] = uses
        if name != "_" and self._opened:
            self._visible.setdefault(name, []).append(number)
            self._opened[-1].append(name)
        return number

    def find(self, name: str) -> int:
        """Return the number of the innermost visible binding, or -1."""
        visible = self._visible.get(name)
        if not visible:
            return -1
        self._looked_up.append(visible[-1])
        return visible[-1]

    def is_bound(self, name: str) -> bool:
        return bool(self._visible.get(name))

    def take_uses(self) -> tuple[int, ...]:
        """Return the bindings looked up since the last call; the caller's value depends on them."""
        taken = tuple(self._looked_up)
        self._looked_up.clear()
        return taken

    def mark_needed(self) -> None:
        """Mark the bindings looked up since the last call as needed for the target of a call."""
        self._needed.update(self._looked_up)
        self._looked_up.clear()

    def needed_bindings(self) -> tuple[GoExpression, ...]:
        """Return all bindings, without the values of those that no call depends on."""
        needed = set(self._needed)
        for number in range(len(self.bindings) - 1, -1, -1):
            if number in needed:
                needed.update(self._uses.get(number, ()))
        return tuple(each if number in needed else UNKNOWN for number, each in enumerate(self.bindings))


LIKELY_NAMES = 4


def likely_names(path: str) -> tuple[str, ...]:
    """Return the likely names of the package at an import path that has no alias; the most likely first."""
    parts = path.split("/")
    last = parts[-2] if len(parts) > 1 and _MAJOR.match(parts[-1]) else parts[-1]
    last = _GOPKG.sub("", last)
    return (last, _AFFIX.sub("", last), last.replace("-", "_"), last.replace("-", ""))


class Qualifiers:
    """The imports of a file by qualifier."""

    def __init__(self, imports: tuple[GoImport, ...]) -> None:
        self.dots = tuple(WrittenType("import", each.path) for each in imports if each.name == ".")
        self._known = {
            each.name: WrittenType("imports", "", (WrittenType("import", each.path),)) for each in imports if each.name
        }
        self._unnamed = tuple(WrittenType("import", each.path) for each in imports if not each.name)
        likely = [(each, likely_names(each.name)) for each in self._unnamed]
        for rank in range(LIKELY_NAMES):
            for each, names in likely:
                self._known.setdefault(names[rank], WrittenType("imports", names[rank], (each,)))

    def likely_import(self, name: str) -> WrittenType | None:
        """Return the import with this name or likely name."""
        return self._known.get(name)

    def possible_imports(self, name: str) -> WrittenType:
        """Return the imports that may have this name: the qualifier of a type is always a package."""
        return self._known.get(name) or WrittenType("imports", name, self._unnamed)
