"""Symbol lookups of one file's resolution: modules, packages, names and methods, each looked up once."""

from typing import Any, NamedTuple

from treering.code.facts import SymbolLookup
from treering.code.languages.go.body import GoDeclaration, GoModule, directory_of, package_id
from treering.code.languages.go.standard_library import is_standard, package_of, standard_name
from treering.code.languages.go.surface import METHOD, METHODS, MODULES, NAME, PACKAGE, interface_methods
from treering.code.languages.paths import joined

Answer = tuple[tuple[str, Any], ...]


class FoundDeclaration(NamedTuple):
    """A declaration, its file, and the declarations of the same name in other builds."""

    path: str
    declared: GoDeclaration
    variants: tuple[tuple[str, GoDeclaration], ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """Return one id per build; empty for a declaration outside the project."""
        each = self.declared
        if not self.path:
            return ()
        name = f"{each.owner}.{each.name}" if each.owner else each.name
        return tuple(f"{path}::{name}" for path in (self.path, *(path for path, _ in self.variants)))

    def method_ids(self, method: str) -> tuple[str, ...]:
        """Return the ids of an interface's method, in each build whose interface has it."""
        builds = ((self.path, self.declared), *self.variants)
        return tuple(f"{path}::{each.name}.{method}" for path, each in builds if method in interface_methods(each))


class GoProject:
    """The project as seen from one file: its module's import paths, with variants of its own build first."""

    def __init__(self, path: str, tags: str, lookup: SymbolLookup) -> None:
        self._path = path
        self._tags = tags
        self._lookup = lookup
        self._directories: dict[str, str | None] = {}
        self._packages: dict[str, str | None] = {}
        self._names: dict[tuple[str, str], FoundDeclaration | None] = {}
        self._methods: dict[tuple[str, str, str], FoundDeclaration | None] = {}
        self._roots: list[tuple[str, str]] | None = None

    def name(self, package: str, name: str) -> FoundDeclaration | None:
        key = (package, name)
        if key not in self._names:
            if is_standard(package):
                self._names[key] = _standard(package, name)
            else:
                self._names[key] = self._choose(self._lookup(NAME, package, name))
        return self._names[key]

    def method(self, package: str, owner: str, name: str) -> FoundDeclaration | None:
        key = (package, owner, name)
        if key not in self._methods:
            if is_standard(package):
                self._methods[key] = _standard(package, name, owner)
            else:
                self._methods[key] = self._choose(self._lookup(METHOD, package, owner, name))
        return self._methods[key]

    def method_names(self, package: str, owner: str) -> list[str]:
        """Return the names from all files of the package."""
        return sorted({name for _, names in self._lookup(METHODS, package, owner) for name in names})

    def _choose(self, answer: Answer) -> FoundDeclaration | None:
        if len(answer) <= 1:
            return FoundDeclaration(*answer[0]) if answer else None
        first, *rest = sorted(answer, key=lambda each: (self._rank(*each), each[0]))
        return FoundDeclaration(*first, tuple((path, other) for path, other in rest if other.kind == first[1].kind))

    def _rank(self, path: str, declared: GoDeclaration) -> int:
        """Rank: the same file, then the same build, then linux/amd64, then others."""
        if path == self._path:
            return 0
        if declared.tags:
            return 1 if declared.tags == self._tags else 3
        return 2

    def package_of_import(self, path: str) -> str | None:
        """Return the package of an import path, or None if it is unknown."""
        if path not in self._packages:
            directory = self.directory_of_import(path)
            name = self.package_name(directory) if directory is not None else None
            known = package_id(directory, name) if directory is not None and name else None
            self._packages[path] = known or package_of(path)
        return self._packages[path]

    def package_name(self, directory: str) -> str | None:
        """Return the package name of the importable files of the directory."""
        files = [(tags != "", name) for _, (name, tags, test) in self._lookup(PACKAGE, directory) if not test]
        return min(files, key=lambda each: each[0])[1] if files else None

    def files_of_import(self, path: str) -> list[str]:
        """Return the files that an import brings in, without tests; of several builds, linux/amd64 or its own."""
        directory = self.directory_of_import(path)
        if directory is None:
            return []
        name = self.package_name(directory)
        files = [
            (each, tags)
            for each, (package, tags, test) in self._lookup(PACKAGE, directory)
            if package == name and not test
        ]
        usual = [each for each, tags in files if not tags or tags == self._tags]
        return usual or [each for each, _ in files]

    def directory_of_import(self, path: str) -> str | None:
        if path not in self._directories:
            self._directories[path] = self._find_directory(path)
        return self._directories[path]

    def _find_directory(self, path: str) -> str | None:
        if path.startswith(("./", "../")):
            return joined(directory_of(self._path), path)
        for module, directory in self._module_roots():
            if path == module:
                return directory
            if path.startswith(module) and path[len(module) :][:1] == "/":
                below = path[len(module) + 1 :]
                return f"{directory}/{below}" if directory else below
        return None

    def _module_roots(self) -> list[tuple[str, str]]:
        """Return (module path, directory) pairs, the longest path first.

        Order for equal paths: replacements, the file's own module, the workspace, then any other module.
        """
        if self._roots is None:
            modules: list[tuple[str, GoModule]] = [
                (directory_of(path), module) for path, module in self._lookup(MODULES)
            ]
            home = directory_of(self._path)
            own = max((at for at, module in modules if module.path and _within(home, at)), key=len, default=None)
            used = {at for _, module in modules for at in module.used}
            ranked: list[tuple[int, str, str]] = []
            for at, module in modules:
                decides = at == own or not module.path
                ranked += [(0 if decides else 3, name, target) for name, target in module.replaced]
                if module.path:
                    ranked.append((1 if at == own else 2 if at in used else 4, module.path, at))
            best: dict[str, str] = {}
            for _, name, directory in sorted(ranked):
                best.setdefault(name, directory)
            self._roots = sorted(best.items(), key=lambda each: -len(each[0]))
        return self._roots


def _standard(package: str, name: str, owner: str = "") -> FoundDeclaration | None:
    declared = standard_name(package, name, owner)
    return FoundDeclaration("", declared) if declared is not None else None


def _within(directory: str, parent: str) -> bool:
    return not parent or directory == parent or directory.startswith(f"{parent}/")
