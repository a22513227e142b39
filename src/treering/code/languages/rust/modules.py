"""The module tree: declarations of a module, the file of a `mod`, the enclosing modules of a file."""

import posixpath
from collections.abc import Iterator, Sequence

import msgspec

from treering.code.facts import Facts, SymbolLookup
from treering.code.languages.paths import joined
from treering.code.languages.rust.body import FUNCTION_MARK, MACRO_USE, Declaration, inner_scope, outer_scope
from treering.code.languages.rust.crates import Crates
from treering.code.languages.rust.surface import module_files

MAX_CHAIN = 40
"""Maximum length of a chain of re-exports or enclosing modules."""


class RustModule(msgspec.Struct, frozen=True, gc=False):
    """A module: its file and the path of inline modules there; a function is a module as well."""

    path: str
    scope: str = ""

    @property
    def real(self) -> "RustModule":
        """Return the module that contains a function."""
        scope = self.scope
        while scope.endswith(FUNCTION_MARK):
            scope = outer_scope(scope)
        return RustModule(self.path, scope)


class RustModules:
    """The modules of the project for the resolution of one file; only other files' declarations are looked up."""

    def __init__(self, facts: Facts, lookup: SymbolLookup, crates: Crates) -> None:
        self._path = facts.path
        self._lookup = lookup
        self._crates = crates
        self._own: dict[tuple[str, str], list[Declaration]] = {}
        self._own_globs: dict[str, list[Declaration]] = {}
        for item in facts.body.items:
            decl = item.decl
            if decl.kind == "glob":
                self._own_globs.setdefault(decl.scope, []).append(decl)
            elif decl.header is None and decl.kind not in {"impl", "code"}:
                self._own.setdefault((decl.scope, decl.name), []).append(decl)
        self._elsewhere: dict[tuple[RustModule, str], Sequence[Declaration]] = {}
        self._parents: dict[str, tuple[RustModule, ...]] = {}
        self._roots: dict[str, tuple[RustModule, ...]] = {}
        self._children: dict[tuple[RustModule, Declaration], RustModule | None] = {}

    def declared(self, module: RustModule, name: str) -> Sequence[Declaration]:
        if module.path == self._path:
            return self._own.get((module.scope, name), ())
        key = (module, name)
        known = self._elsewhere.get(key)
        if known is None:
            given = self._lookup("rs.item", module.path, module.scope, name)
            known = self._elsewhere[key] = given[0][1] if given else ()
        return known

    def globs(self, module: RustModule) -> Sequence[Declaration]:
        if module.path == self._path:
            return self._own_globs.get(module.scope, ())
        return [decl for _, decls in self._lookup("rs.globs", module.path, module.scope) for decl in decls]

    def child(self, module: RustModule, decl: Declaration) -> RustModule | None:
        """Return the module that a `mod` declares: inline, or its file if it exists."""
        if decl.flag.startswith("inline"):
            return RustModule(module.path, inner_scope(module.scope, decl.name))
        key = (module, decl)
        if key not in self._children:
            files = module_files(module.path, decl, as_root=self._crates.is_root(module.path))
            self._children[key] = next((RustModule(file) for file in files if self._lookup("rs.file", file)), None)
        return self._children[key]

    def beside(self, module: RustModule, name: str) -> RustModule | None:
        """Return a module that a macro declares for every file of the directory."""
        file = joined(posixpath.dirname(module.path), f"{name}.rs")
        return RustModule(file) if self._lookup("rs.file", file) else None

    def above(self, module: RustModule) -> Sequence[RustModule]:
        """Return the enclosing module; for a file, those that declare it."""
        if module.scope:
            return (RustModule(module.path, outer_scope(module.scope)),)
        path = module.path
        if path not in self._parents:
            declaring = tuple(
                RustModule(parent, scope)
                for parent, declared in self._lookup("rs.mod", path)
                for scope, name in declared
                if parent != path and self._declares(RustModule(parent, scope), name, path)
            )
            self._parents[path] = declaring or tuple(
                RustModule(parent)
                for parent, _ in self._lookup("rs.directory", posixpath.dirname(path))
                if parent != path
            )
        return self._parents[path]

    def _declares(self, module: RustModule, name: str, path: str) -> bool:
        return any(
            decl.kind == "mod" and decl.flag.startswith("file") and self.child(module, decl) == RustModule(path)
            for decl in self.declared(module, name)
        )

    def around(self, module: RustModule) -> list[RustModule]:
        """Return a module and all enclosing modules, up to the crate roots."""
        around = [module]
        for one in around:
            if len(around) < MAX_CHAIN:
                around.extend(above for above in self.above(one) if above not in around)
        return around

    def roots(self, path: str) -> tuple[RustModule, ...]:
        """Return the roots of the crates that contain a file, a library's first: several if crates share the file."""
        if path not in self._roots:
            around = self.around(RustModule(path))
            roots = [module for module in around if not module.scope and not self.above(module)]
            self._roots[path] = tuple(sorted(roots, key=lambda root: (not root.path.endswith("lib.rs"), root.path)))
        return self._roots[path]

    def modules_with_macros_of(self, module: RustModule) -> Iterator[RustModule]:
        """Yield the modules in which a macro is visible: its own, and those above as far as `#[macro_use]` extends."""
        pending = [(module, 0)]
        for one, height in pending:
            yield one
            for above in self.above(one) if height < MAX_CHAIN else ():
                name = one.scope.rpartition("/")[2] or _name_of(one.path)
                if any(decl.flag.endswith(MACRO_USE) for decl in self.declared(above, name) if decl.kind == "mod"):
                    pending.append((above, height + 1))


def _name_of(path: str) -> str:
    place, file = posixpath.split(path)
    return posixpath.basename(place) if file == "mod.rs" else file.removesuffix(".rs")
