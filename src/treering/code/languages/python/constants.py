"""The constant that a name refers to: of the same file, or of another file through imports."""

from treering.code.facts import Facts
from treering.code.languages.python import surface
from treering.code.languages.python.body import Expression, ExpressionKind
from treering.code.languages.python.project import PythonProject
from treering.code.languages.python.values import identity

_MAX_STEPS = 8
"""Maximum length of an import chain; longer ones are cyclic."""


class Constants:
    """The constants visible in one file; its own names are not looked up in the project."""

    def __init__(self, project: PythonProject, facts: Facts) -> None:
        self._project, self._path = project, facts.path
        self._own = {one.qualname for one in facts.definitions if one.kind in surface.CONSTANTS}
        self._table = dict(next((table.names for table in facts.body.tables if not table.scope), ()))
        self._stars = any("*" in statement.names for statement in facts.body.imports)
        self._known: dict[Expression, str | None] = {}

    def of(self, read: Expression) -> str | None:
        """Return the id of the constant that a name or an import refers to."""
        if read not in self._known:
            self._known[read] = (
                self._imported(self._path, (read,), 0) if read.kind is ExpressionKind.FROM else self._named(read)
            )
        return self._known[read]

    def _named(self, read: Expression) -> str | None:
        if read.name in self._own:
            return identity(self._path, read.name)
        if read.name in self._table:
            return self._imported(self._path, self._table[read.name], 0)
        return self._starred(self._path, read.name, 0) if self._stars else None

    def in_module(self, path: str, name: str, steps: int = 0) -> str | None:
        """Return the constant that a module provides under a name, its own or an imported one."""
        if steps > _MAX_STEPS:
            return None
        if self._project.lookup(surface.CONSTANT, path, name):
            return identity(path, name)
        given = self._project.lookup(surface.NAME, path, "", name)
        return self._imported(path, given[0][1], steps) if given else self._starred(path, name, steps)

    def _imported(self, path: str, values: tuple[Expression, ...], steps: int) -> str | None:
        for value in values:
            module = (
                self._project.modules.locate(path, value.parts[0].name) if value.kind is ExpressionKind.FROM else None
            )
            if module is not None and module != path:
                return self.in_module(module, value.name, steps + 1)
        return None

    def _starred(self, path: str, name: str, steps: int) -> str | None:
        for _, modules in self._project.lookup(surface.STARS, path):
            for module in modules:
                target = self._project.modules.locate(path, module)
                exports = self._project.lookup(surface.EXPORTS, target) if target is not None else ()
                if target is None or target == path or (exports and name not in exports[0][1]):
                    continue
                found = self.in_module(target, name, steps + 1)
                if found is not None:
                    return found
        return None
