"""The target of an import: a file of the project, the directory of a namespace package, or external."""

import sys

from treering.code.facts import SymbolLookup
from treering.code.languages.python.surface import FILE, MODULE

_PACKAGE_FILES = ("__init__.py", "__init__.pyi")
_PROJECT_FILES = ("pyproject.toml", "setup.py")
_SOURCE_DIRECTORIES = frozenset({"src", "lib", "python"})
_STANDARD = frozenset(sys.stdlib_module_names)


def directory_of(path: str) -> str:
    return path.rpartition("/")[0]


def is_package(path: str) -> bool:
    return path.rpartition("/")[2].startswith("__init__.")


def join(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory else name


class PythonModules:
    """The modules of a project as seen from one file."""

    def __init__(self, lookup: SymbolLookup) -> None:
        self._lookup = lookup
        self._found: dict[tuple[str, str], str | None] = {}

    def exists(self, path: str) -> bool:
        return bool(self._lookup(FILE, path))

    def package_file(self, directory: str) -> str | None:
        """Return the `__init__` file of a directory."""
        return next((file for name in _PACKAGE_FILES if self.exists(file := join(directory, name))), None)

    def submodule(self, directory: str, name: str) -> str | None:
        """Return the file of module `name` in a directory."""
        inside = join(directory, name)
        package = self.package_file(inside)
        if package is not None:
            return package
        return next((file for suffix in (".py", ".pyi") if self.exists(file := inside + suffix)), None)

    def locate(self, importer: str, module: str) -> str | None:
        """Return the file of a module as `importer` writes it, with leading dots if relative; None if external."""
        key = (importer, module)
        if key not in self._found:
            dots = len(module) - len(module.lstrip("."))
            self._found[key] = self._relative(importer, module, dots) if dots else self._absolute(importer, module)
        return self._found[key]

    def directory(self, importer: str, module: str) -> str | None:
        """Return the directory of a relative package, or of a namespace package without a file."""
        dots = len(module) - len(module.lstrip("."))
        if not dots:
            return None
        return self._climb(importer, dots, module.lstrip("."))

    @staticmethod
    def _climb(importer: str, dots: int, rest: str) -> str | None:
        directory = directory_of(importer)
        for _ in range(dots - 1):
            if not directory:
                return None
            directory = directory_of(directory)
        return join(directory, rest.replace(".", "/")) if rest else directory

    def _relative(self, importer: str, module: str, dots: int) -> str | None:
        directory = self._climb(importer, dots, "")
        if directory is None:
            return None
        names = [name for name in module[dots:].split(".") if name]
        if not names:
            return self.package_file(directory)
        return self.submodule("/".join([*([directory] if directory else []), *names[:-1]]), names[-1])

    def _absolute(self, importer: str, module: str) -> str | None:
        candidates = []
        for path, _ in self._lookup(MODULE, module):
            root = _root(path, module)
            rank = self._rank(importer, root, module)
            if rank is not None:
                candidates.append((rank, path.endswith(".pyi"), path))
        return min(candidates)[2] if candidates else None

    def _rank(self, importer: str, root: str, module: str) -> tuple[int, int, int] | None:
        """Rank a root by proximity: around the importer, then `src`, then other projects; None if it is not a root."""
        depth = root.count("/") + 1 if root else 0
        source = root.rpartition("/")[2] in _SOURCE_DIRECTORIES
        above = directory_of(root) if source else root
        if above and module.partition(".")[0] in _STANDARD:
            return None
        if self.package_file(root) is not None:
            return None
        if _around(root, importer):
            return (0, -depth, 0)
        if source and _around(above, importer):
            return (0, 1 - depth, 1)
        if source:
            return (1, depth, 0)
        return (2, depth, 0) if any(self.exists(join(root, name)) for name in _PROJECT_FILES) else None


def _root(path: str, module: str) -> str:
    """Return the directory in which the file has this dotted name."""
    parts = path.split("/")
    length = module.count(".") + (2 if is_package(path) else 1)
    return "/".join(parts[: len(parts) - length])


def _around(directory: str, path: str) -> bool:
    return not directory or path.startswith(directory + "/")
