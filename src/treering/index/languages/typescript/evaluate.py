"""Terms become values: names are looked up, types followed, across files by asking the project."""

from collections.abc import Callable

from treering.index.facts import Ask
from treering.index.languages.typescript import members
from treering.index.languages.typescript.locate import Locator
from treering.index.languages.typescript.operations import OPERATIONS, given
from treering.index.languages.typescript.signatures import constructed, returned, signatures
from treering.index.languages.typescript.terms import TYPE, Body, Term, unfold
from treering.index.languages.typescript.values import OUTSIDE, UNKNOWN, Env, Value, any_of, known

DEEPEST = 60
"""Steps from one question to the next, in Python frames about five times as many."""

MOST_STEPS = 1200
"""Terms looked at for one question: past that a type is more of a program than of an answer."""

NO_ENV: Env = {}


class Evaluator:
    """Evaluates terms of one file and of those it reaches. Remembers answers; what is being worked out is not known."""

    def __init__(self, path: str, body: Body, ask: Ask) -> None:
        self.path = path
        self.ask = ask
        self.terms = unfold(body.cells)
        self.body = body
        self.locator = Locator(ask)
        self.depth = 0
        self.steps = 0
        self._known: dict[tuple[int, str], Value | None] = {}
        self._names: dict[tuple[str, str], Value | None] = {}
        self.fields: dict[int, dict[str, list[Term]]] = {}
        self._kept: list[Term] = []
        self.following: list[int] = []

    def ask_anew(self) -> None:
        """A new question begins: it has all steps before it."""
        self.steps = 0

    def value(self, term: Term, path: str, env: Env = NO_ENV) -> Value | None:
        """What a term of the file `path` is, none if that is not known."""
        handler = OPERATIONS.get(term.op)
        self.steps += 1
        if handler is None or self.depth > DEEPEST or self.steps > MOST_STEPS:
            return None
        if env:
            self.depth += 1
            found = handler(self, term, path, env)
            self.depth -= 1
            return known(found)
        key = (id(term), path)
        if key in self._known:
            return self._known[key]
        self._known[key] = None
        self._kept.append(term)
        self.depth += 1
        found = known(handler(self, term, path, env))
        self.depth -= 1
        if found is None and self.depth > DEEPEST // 2:
            del self._known[key]
        else:
            self._known[key] = found
        return found

    def local(self, term: Term, key: str) -> tuple[Term | None, bool]:
        """What a name of this file is bound to inside a function; whether the search ended there."""
        scope = term.n
        scopes = self.body.scopes
        while scope:
            number = scopes[scope].names.get(key)
            if number is not None:
                return self.terms[number], True
            scope = scopes[scope].parent
        return None, False

    def top(self, path: str, name: str) -> Value | None:
        """What a name on the level of a file is."""
        key = (path, name)
        if key not in self._names:
            self._names[key] = None
            self._names[key] = self._top(path, name)
        return self._names[key]

    def _top(self, path: str, name: str) -> Value | None:
        bound = self.top_term(path, name)
        if bound is not None:
            return self.value(bound, path)
        ambient = self.ask("ts.ambient", name)
        if ambient:
            return any_of([self.value(term, place) for place, term in ambient[:4]])
        return OUTSIDE

    def top_term(self, path: str, name: str) -> Term | None:
        if path == self.path:
            number = self.body.scopes[0].names.get(name) if self.body.scopes else None
            return self.terms[number] if number is not None else None
        return next((term for _, term in self.ask("ts.top", path, name)), None)

    def exported(self, path: str, name: str, seen: frozenset[str] = frozenset()) -> Value | None:
        """What a file exports under a name, through re-exports; none if it does not."""
        term = self.export_term(path, name)
        if term is not None:
            return self.value(term, path) or UNKNOWN
        plain = name.removeprefix(TYPE)
        if plain != name:
            term = self.export_term(path, plain)
            if term is not None:
                return self.value(term, path) or UNKNOWN
        whole = self.export_term(path, TYPE + "=" if plain != name else "=")
        if whole is not None:
            value = self.value(whole, path)
            return value if plain in ("default", "=") else members.member(self, value, plain)
        if plain == "default":
            return None
        for specifier in self._stars(path):
            target = self.locator.find(path, specifier)
            if target is not None and target not in seen and target != path:
                found = self.exported(target, name, seen | {path})
                if found is not None:
                    return found
        return None

    def export_term(self, path: str, name: str) -> Term | None:
        if path == self.path:
            number = self.body.exports.get(name)
            return self.terms[number] if number is not None else None
        return next((term for _, term in self.ask("ts.export", path, name)), None)

    def _stars(self, path: str) -> tuple[str, ...]:
        if path == self.path:
            return self.body.stars
        return next((specifiers for _, specifiers in self.ask("ts.stars", path)), ())

    def instance(self, value: Value | None) -> Value | None:
        """What a class makes."""
        if value is None:
            return None
        if value.kind == "class":
            return Value("thing", value.term, value.path, {**value.env, **given(self, value, ())})
        if value.kind == "any of":
            return any_of([self.instance(part) for part in value.parts])
        if value.kind == "all of":
            return self._instance_of_all(value)
        if value.kind in ("function", "thing"):
            return constructed(self, value)
        return OUTSIDE if value.kind == "outside" else None

    def _instance_of_all(self, value: Value) -> Value | None:
        made = [self.instance(part) for part in value.parts]
        if any(part.kind == "function" for part in value.parts):
            made += [part for part in value.parts if part.kind == "thing"]
        found = tuple(one for one in made if one is not None)
        return Value("all of", parts=found) if found else None

    def signatures(self, value: Value | None) -> tuple[Value, ...]:
        return signatures(self, value)

    def returned(self, value: Value | None) -> Value | None:
        return returned(self, value)

    def keep(self, term: Term) -> None:
        """Hold a term for as long as its identity is used as a key."""
        self._kept.append(term)

    def later(self, term: Term, path: str, env: Env) -> Callable[[], Value | None]:
        return lambda: self.value(term, path, env)
