"""Path resolution as in rustc: crates, modules, use trees and globs."""

from collections.abc import Callable
from functools import partial

import msgspec
from msgspec.structs import replace

from treering.code.facts import Facts, SymbolLookup
from treering.code.languages.rust.body import FUNCTION_MARK, MACRO_USE, Declaration, RustNode, outer_scope
from treering.code.languages.rust.crates import Crates
from treering.code.languages.rust.modules import MAX_CHAIN, RustModule, RustModules

TYPES = frozenset({"struct", "enum", "trait", "type", "mod"})
VALUES = frozenset({"fn", "const", "struct"})
MACROS = frozenset({"macro"})

_Question = tuple[RustModule, str, frozenset[str]]
_HERE = frozenset({"", "crate", "self", "super"})


class PathTarget(msgspec.Struct, frozen=True, gc=False):
    """The target of a path: a declaration or a module; `rest` holds the segments after it.

    Outside the project `path` is empty, and `rest` is the whole path.
    """

    path: str
    scope: str = ""
    decl: Declaration | None = None
    variant: RustNode | None = None
    rest: tuple[str, ...] = ()

    @property
    def outside(self) -> bool:
        return not self.path


def found_module(module: RustModule) -> PathTarget:
    return PathTarget(module.path, module.scope)


class RustNames:
    """Name lookup for the resolution of one file."""

    def __init__(self, facts: Facts, lookup: SymbolLookup) -> None:
        self._path = facts.path
        self._lookup = lookup
        self._crates = Crates(lookup)
        self._modules = RustModules(facts, lookup, self._crates)
        self._looking: set[_Question] = set()
        self._answers: dict[_Question, PathTarget | None] = {}
        self._passing: dict[_Question, PathTarget | None] = {}
        self._around: dict[RustModule, frozenset[RustModule]] = {}
        self._paths: dict[tuple[RustModule, tuple[str, ...], frozenset[str]], PathTarget | None] = {}
        self._uses: dict[_Question, PathTarget | None] = {}
        self._macros: dict[tuple[RustModule, str], PathTarget | None] = {}
        self._cut = 0

    def sees(self, path: str) -> bool:
        """Whether implementations in another file may apply here: of the same crate or a transitive dependency."""
        return self._crates.reaches(self._path, path)

    def programs(self, name: str) -> list[str]:
        """Return the root file of the package's binary of this name; without a name, those it certainly tests."""
        tested = bool(name) or self._crates.is_test_of_programs(self._path)
        return self._crates.programs(self._path, name) if tested else []

    def resolve(self, module: RustModule, segments: tuple[str, ...], wanted: frozenset[str]) -> PathTarget | None:
        """Resolve a path in a module; return `None` if the target is unknown."""
        key = (module, segments, wanted)
        if key in self._paths:
            return self._paths[key]
        found = self._resolve(module, segments, wanted)
        if not self._looking:
            self._paths[key] = found
        return found

    def _resolve(self, module: RustModule, segments: tuple[str, ...], wanted: frozenset[str]) -> PathTarget | None:
        first, rest = segments[0], segments[1:]
        if first == "" and rest:
            crate = self._crate(module.path, rest[0])
            if crate is not None:
                return self._down(crate, rest[1:], wanted)
            return self._first_down(self._modules.roots(module.path), rest, wanted)
        if first in {"crate", "$crate"}:
            return self._first_down(self._modules.roots(module.path), rest, wanted)
        if first == "self":
            return self._down(found_module(module.real), rest, wanted)
        if first == "super":
            above = list(self._modules.above(module.real))
            while rest[:1] == ("super",):
                above = [higher for one in above for higher in self._modules.above(one)]
                rest = rest[1:]
            return self._first_down(above, rest, wanted)
        return self._down(self._lexical(module, first, wanted if not rest else TYPES), rest, wanted)

    def _first_down(
        self, modules: list[RustModule] | tuple[RustModule, ...], segments: tuple[str, ...], wanted: frozenset[str]
    ) -> PathTarget | None:
        every = (self._down(found_module(module), segments, wanted) for module in modules)
        return next((found for found in every if found is not None), None)

    def _down(self, found: PathTarget | None, segments: tuple[str, ...], wanted: frozenset[str]) -> PathTarget | None:
        for place, name in enumerate(segments):
            if found is None:
                return None
            if found.outside:
                return PathTarget("", rest=found.rest + segments[place:])
            if found.decl is None:
                last = place == len(segments) - 1
                found = self.find(RustModule(found.path, found.scope), name, wanted if last else TYPES)
            elif found.decl.kind == "enum" and found.variant is None:
                variant = next((node for node in found.decl.types if node.name == name), None)
                if variant is None:
                    return replace(found, rest=segments[place:])
                found = replace(found, variant=variant)
            else:
                return replace(found, rest=segments[place:])
        return found

    def _lexical(self, module: RustModule, name: str, wanted: frozenset[str]) -> PathTarget | None:
        """Look up a single name: in the enclosing functions and the module, then among crates."""
        while True:
            found = self.find(module, name, wanted)
            if found is not None:
                return found
            if not module.scope.endswith(FUNCTION_MARK):
                break
            module = RustModule(module.path, outer_scope(module.scope))
        return self._crate(module.path, name) if wanted is TYPES else None

    def _crate(self, path: str, name: str) -> PathTarget | None:
        root = self._crates.library(path, name)
        if root is None:
            return None
        return PathTarget(root) if root else PathTarget("", rest=(name,))

    def find(self, module: RustModule, name: str, wanted: frozenset[str]) -> PathTarget | None:
        """Look up a name in a module: declared or used there, else through its globs."""
        question = (module, name, wanted)
        if question in self._answers:
            return self._answers[question]
        return self._cached(question, lambda: self._find(module, name, wanted))

    def _cached(self, question: _Question, look: Callable[[], PathTarget | None]) -> PathTarget | None:
        """Cache the answer; one found within a cycle is kept only until the outermost lookup is complete."""
        if question in self._answers:
            return self._answers[question]
        if question in self._looking or question in self._passing or len(self._looking) > MAX_CHAIN:
            self._cut += 1
            return self._passing.get(question)
        self._looking.add(question)
        cut = self._cut
        found = look()
        self._looking.discard(question)
        (self._answers if cut == self._cut else self._passing)[question] = found
        if not self._looking:
            self._passing.clear()
        return found

    def _find(self, module: RustModule, name: str, wanted: frozenset[str]) -> PathTarget | None:
        outside = None
        pending, seen = [found_module(module)], set()
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            if place.decl is not None:
                found = self._down(place, (name,), wanted)
            else:
                one = RustModule(place.path, place.scope)
                found = self._named(one, name, wanted) or self._beside(one, name, wanted)
                if found is None:
                    pending += reversed(self._globbed(one, module))
            if found is not None and found.outside:
                outside = outside or found
            elif found is not None and not found.rest:
                return found
        return outside

    def _named(self, module: RustModule, name: str, wanted: frozenset[str]) -> PathTarget | None:
        outside = None
        for decl in self._modules.declared(module, name):
            if decl.kind == "use":
                found = self.resolve_use(module, decl.text, wanted)
                if found is not None and found.outside:
                    outside = outside or found
                elif found is not None and not found.rest:
                    return found
            elif decl.kind not in wanted or (decl.kind == "struct" and wanted is VALUES and decl.flag == "named"):
                continue
            elif decl.kind == "mod":
                child = self._modules.child(module, decl)
                if child is not None:
                    return found_module(child)
            else:
                return PathTarget(module.path, module.scope, decl)
        if wanted is MACROS and not module.scope:
            return self._exported_macro(module, name) or outside
        return outside

    def resolve_use(self, module: RustModule, text: str, wanted: frozenset[str]) -> PathTarget | None:
        """Resolve the path of a use: like any path, else from the crate root, as in the 2015 edition."""
        key = (module, text, wanted)
        if key in self._uses:
            return self._uses[key]
        found = self._used(module, text, wanted)
        if not self._looking:
            self._uses[key] = found
        return found

    def _used(self, module: RustModule, text: str, wanted: frozenset[str]) -> PathTarget | None:
        segments = tuple(text.split("::"))
        found = self._resolve(module, segments, wanted)
        if (found is None or found.outside) and segments[0] not in _HERE:
            older = self._first_down(self._modules.roots(module.path), segments, wanted)
            return older if older is not None and not older.outside else found
        return found

    def _globbed(self, module: RustModule, seen_from: RustModule) -> list[PathTarget]:
        """Return the modules and enums that a module's globs import; a private glob applies only inside its module."""
        targets = []
        for glob in self._modules.globs(module):
            if glob.flag == "directory" or not (
                glob.public or module == seen_from or module in self._inside(seen_from)
            ):
                continue
            target = self._cached(
                (module, f"{glob.text}::*", TYPES), partial(self.resolve_use, module, glob.text, TYPES)
            )
            if target is not None and not target.rest:
                targets.append(target)
        return targets

    def _inside(self, module: RustModule) -> frozenset[RustModule]:
        """Return a module with all its enclosing modules."""
        if module not in self._around:
            self._around[module] = frozenset(self._modules.around(module))
        return self._around[module]

    def _beside(self, module: RustModule, name: str, wanted: frozenset[str]) -> PathTarget | None:
        if wanted is not TYPES or all(glob.flag != "directory" for glob in self._modules.globs(module)):
            return None
        beside = self._modules.beside(module, name)
        return found_module(beside) if beside is not None else None

    def _exported_macro(self, module: RustModule, name: str) -> PathTarget | None:
        """A macro with `#[macro_export]` belongs to the root of its crate, wherever it is defined."""
        for path, decls in self._lookup("rs.macro", name):
            for decl in decls:
                if decl.flag == "export" and module in self._modules.roots(path):
                    return PathTarget(path, decl.scope, decl)
        return None

    def macro(self, module: RustModule, name: str) -> PathTarget | None:
        """Look up a macro by its bare name: used, defined in an enclosing module, or visible through `#[macro_use]`."""
        key = (module, name)
        if key not in self._macros:
            self._macros[key] = self._macro(module, name)
        return self._macros[key]

    def _macro(self, module: RustModule, name: str) -> PathTarget | None:
        around = self._modules.around(module)
        for one in around:
            found = self.find(one, name, MACROS)
            if found is not None:
                return found
            if not one.scope.endswith(FUNCTION_MARK):
                break
        written = [(path, decl) for path, decls in self._lookup("rs.macro", name) for decl in decls]
        for path, decl in written:
            if any(one in around for one in self._modules.modules_with_macros_of(RustModule(path, decl.scope))):
                return PathTarget(path, decl.scope, decl)
        exported = ((path, decl) for path, decl in written if decl.flag == "export")
        return next(
            (PathTarget(path, decl.scope, decl) for path, decl in exported if self._imports_macros(path, around)), None
        )

    def _imports_macros(self, path: str, around: list[RustModule]) -> bool:
        """Whether `#[macro_use] extern crate` imports the macros of a file's crate."""
        for root in self._modules.roots(path):
            name = self._crates.library_name(root.path)
            for one in around if name else ():
                if any(
                    decl.flag.endswith(MACRO_USE) for decl in self._modules.declared(one, name) if decl.kind == "use"
                ):
                    return True
        return False
