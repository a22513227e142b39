"""Resolution of import specifiers to files of the project, as the compiler does it."""

import posixpath

from treering.code.facts import SymbolLookup
from treering.code.languages.paths import joined
from treering.code.languages.typescript.terms import Config, Package

SUFFIXES = (".ts", ".tsx", ".d.ts", ".mts", ".d.mts", ".cts", ".d.cts", ".js", ".jsx", ".mjs", ".cjs")
"""In the compiler's order of preference."""

SOURCE_SUFFIXES = {
    ".js": (".ts", ".tsx", ".d.ts", ".js", ".jsx"),
    ".jsx": (".tsx", ".d.ts", ".jsx"),
    ".mjs": (".mts", ".d.mts", ".mjs"),
    ".cjs": (".cts", ".d.cts", ".cjs"),
    ".ts": (".ts",),
    ".tsx": (".tsx",),
    ".mts": (".mts",),
    ".cts": (".cts",),
    ".d.ts": (".d.ts",),
    ".d.mts": (".d.mts",),
    ".d.cts": (".d.cts",),
}
"""Files that an import with a suffix may refer to; the source that compiles to it comes first."""

BUILD_DIRECTORIES = frozenset(("dist", "build", "lib", "out", "esm", "cjs", "types", "output", "es", "umd", "mjs"))
"""Build output directories that packages point to and that may not exist; their sources are in `src`."""

MAX_CONFIGS = 16


def split_suffix(path: str) -> tuple[str, str]:
    """Split a path into stem and suffix."""
    for ending in (".d.ts", ".d.mts", ".d.cts"):
        if path.endswith(ending):
            return path[: -len(ending)], ending
    stem, dot, last = path.rpartition(".")
    ending = dot + last
    return (stem, ending) if ending in SOURCE_SUFFIXES else (path, "")


class ModuleLocator:
    """Finds files for specifiers; caches results during the resolution of one file."""

    def __init__(self, lookup: SymbolLookup) -> None:
        self._lookup = lookup
        self._found: dict[tuple[str, str], str | None] = {}
        self._found_from: dict[tuple[str, str], str | None] = {}
        self._configs: dict[str, tuple[tuple[str, Config], ...]] = {}

    def find(self, origin: str, specifier: str) -> str | None:
        """Return the project's file that `specifier` refers to in the file `origin`; None if it is external."""
        request = (origin, specifier)
        if request not in self._found_from:
            directory = origin.rpartition("/")[0]
            key = (directory, specifier)
            if key not in self._found:
                self._found[key] = self._find(directory, specifier)
            self._found_from[request] = self._found[key]
        return self._found_from[request]

    def _find(self, directory: str, specifier: str) -> str | None:
        specifier = specifier.partition("?")[0]
        if specifier.startswith(".") or specifier == "":
            return self._file(_joined(directory, specifier))
        if specifier.startswith("/") or ":" in specifier:
            return None
        if specifier.startswith("#"):
            return self._package_import(directory, specifier) or self._by_config(directory, specifier)
        return self._by_config(directory, specifier) or self._by_package(specifier)

    def _file(self, path: str | None) -> str | None:
        """Return the file of this path, with or without suffix, or the index file of the directory."""
        if path is None:
            return None
        stem, ending = split_suffix(path)
        if ending:
            found = self._among(stem, SOURCE_SUFFIXES[ending])
            if found is not None:
                return found
        return self._among(path, SUFFIXES) or self._main(path) or self._among(posixpath.join(path, "index"), SUFFIXES)

    def _among(self, stem: str, endings: tuple[str, ...]) -> str | None:
        there = {ending: path for path, ending in self._lookup("ts.stem", stem)}
        return next((there[ending] for ending in endings if ending in there), None)

    def _main(self, directory: str) -> str | None:
        """Return the entry point in a directory's package.json."""
        for _, package in self._lookup("ts.manifest", directory):
            return self._entry(directory, package)
        return None

    def _by_config(self, directory: str, specifier: str) -> str | None:
        for home, config in self._configurations(directory):
            base = _joined(home, config.base_url or ".")
            for target in _matches(config.paths, specifier):
                found = self._file(_joined(base or "", target))
                if found is not None:
                    return found
            if config.base_url is not None:
                found = self._file(_joined(base or "", specifier))
                if found is not None:
                    return found
        return None

    def _configurations(self, directory: str) -> tuple[tuple[str, Config], ...]:
        """Return the nearest configuration and those it extends, each with its directory, in order of precedence."""
        if directory not in self._configs:
            self._configs[directory] = self._nearest(directory)
        return self._configs[directory]

    def _nearest(self, directory: str) -> tuple[tuple[str, Config], ...]:
        for name in ("tsconfig.json", "jsconfig.json"):
            chain = self._chain(posixpath.join(directory, name))
            if chain:
                return chain
        return self._configurations(posixpath.dirname(directory)) if directory else ()

    def _chain(self, path: str) -> tuple[tuple[str, Config], ...]:
        chain: list[tuple[str, Config]] = []
        pending, seen = [path], set[str]()
        while pending and len(chain) < MAX_CONFIGS:
            current = pending.pop(0)
            if current in seen:
                continue
            seen.add(current)
            for _, config in self._lookup("ts.config", current):
                home = posixpath.dirname(current)
                chain.append((home, config))
                pending += [config_path for name in config.extends for config_path in self._extended(home, name)]
                pending += [config_path for name in config.references for config_path in _referenced(home, name)]
        return tuple(chain)

    def _extended(self, home: str, name: str) -> list[str]:
        config_path = _joined(home, name) if name.startswith(".") else self._inside_package(name)
        if config_path is None:
            return []
        return (
            [config_path]
            if config_path.endswith(".json")
            else [config_path + ".json", posixpath.join(config_path, "tsconfig.json")]
        )

    def _inside_package(self, specifier: str) -> str | None:
        name, rest = _package_name(specifier)
        for manifest, _ in self._lookup("ts.package", name):
            return _joined(posixpath.dirname(manifest), rest or "tsconfig.json")
        return None

    def _package_import(self, directory: str, specifier: str) -> str | None:
        """`#name`: resolved by the nearest package.json."""
        while True:
            for _, package in self._lookup("ts.manifest", directory):
                for target in _matches(package.imports, specifier):
                    found = (
                        self._source_of_build(directory, target) if target.startswith(".") else self._by_package(target)
                    )
                    if found is not None:
                        return found
                return None
            if not directory:
                return None
            directory = posixpath.dirname(directory)

    def _by_package(self, specifier: str) -> str | None:
        """Resolve a package of the same project by name, through the exports of its manifest."""
        name, rest = _package_name(specifier)
        for manifest, package in self._lookup("ts.package", name):
            directory = posixpath.dirname(manifest)
            for target in _matches(package.exports, "./" + rest if rest else "."):
                found = self._source_of_build(directory, target)
                if found is not None:
                    return found
            found = self._entry(directory, package) if not rest else self._package_file(directory, rest)
            if found is not None:
                return found
        return None

    def _entry(self, directory: str, package: Package) -> str | None:
        for target in package.entries:
            found = self._source_of_build(directory, target)
            if found is not None:
                return found
        return self._package_file(directory, "index")

    def _package_file(self, directory: str, rest: str) -> str | None:
        return self._file(_joined(directory, rest)) or self._file(_joined(directory, "src/" + rest))

    def _source_of_build(self, directory: str, target: str) -> str | None:
        """Return a file that a manifest points to, or the source it is built from."""
        found = self._file(_joined(directory, target))
        if found is not None:
            return found
        parts = [part for part in target.split("/") if part not in (".", "")]
        built = 0
        while built < len(parts) - 1 and parts[built] in BUILD_DIRECTORIES:
            built += 1
            for candidate in (["src", *parts[built:]], parts[built:]):
                stem, _ = split_suffix("/".join(candidate))
                found = self._file(_joined(directory, stem))
                if found is not None:
                    return found
        return None


def _joined(directory: str, relative: str) -> str | None:
    """Return a path in the project, or None if it is outside."""
    path = joined(directory, relative.removeprefix("${configDir}/"))
    if path == ".." or path.startswith(("../", "/")):
        return None
    return path


def _package_name(specifier: str) -> tuple[str, str]:
    parts = specifier.split("/")
    count = 2 if specifier.startswith("@") else 1
    return "/".join(parts[:count]), "/".join(parts[count:])


def _referenced(home: str, name: str) -> list[str]:
    config_path = _joined(home, name)
    if config_path is None:
        return []
    return [config_path] if config_path.endswith(".json") else [posixpath.join(config_path, "tsconfig.json")]


def _matches(patterns: tuple[tuple[str, tuple[str, ...]], ...], specifier: str) -> list[str]:
    """Return the targets of the best pattern: an exact match, else the longest prefix before `*`."""
    best: tuple[int, str, tuple[str, ...]] | None = None
    for pattern, targets in patterns:
        if pattern == specifier:
            return list(targets)
        before, star, after = pattern.partition("*")
        if star and specifier.startswith(before) and specifier.endswith(after):
            middle = specifier[len(before) : len(specifier) - len(after)]
            if len(before) + len(after) <= len(specifier) and (best is None or len(before) > best[0]):
                best = (len(before), middle, targets)
    return [target.replace("*", best[1]) for target in best[2]] if best is not None else []
