"""Evaluation of terms to values: names are looked up and types followed, across files by symbol lookups."""

from collections.abc import Callable

from treering.code.facts import SymbolLookup
from treering.code.languages.typescript import members
from treering.code.languages.typescript.module_locator import ModuleLocator
from treering.code.languages.typescript.operations import OPERATIONS, type_environment
from treering.code.languages.typescript.signatures import constructed, returned, signatures
from treering.code.languages.typescript.terms import TYPE, TsBody, TsTerm, unfold
from treering.code.languages.typescript.values import OUTSIDE, UNKNOWN, Env, TsValue, any_of, known

MAX_DEPTH = 60
"""Maximum recursion of one evaluation; each level takes about five Python frames."""

MAX_STEPS = 700
"""Maximum number of terms evaluated for one lookup; a type that needs more is not followed."""

NO_ENV: Env = {}
MISSING = TsValue("missing")

WRITTEN_TYPES = frozenset(("type", "union", "both", "list", "tuple", "shape", "applied", "lookup", "typeof"))
"""Terms that may contain a type variable; without one, their value is the same everywhere."""
VARIABLE_TERMS = frozenset(("variable", "this"))
BOUND = frozenset(("name", "type", "declared"))


class TsEvaluator:
    """Evaluates terms of one file and of those it reaches. Values are cached; a value being evaluated is unknown."""

    def __init__(self, path: str, body: TsBody, lookup: SymbolLookup) -> None:
        self.path = path
        self.lookup = lookup
        self.terms = unfold(body.cells)
        self.body = body
        self.locator = ModuleLocator(lookup)
        self.depth = 0
        self.steps = 0
        self._known: dict[int, TsValue | None] = {}
        self._settled: dict[int, bool] = {}
        self._names: dict[tuple[str, str], TsValue | None] = {}
        self.fields: dict[int, dict[str, list[TsTerm]]] = {}
        self.functions: dict[int, bool] = {}
        self._kept: list[TsTerm] = []
        self.following: list[int] = []
        self.circular: list[Env] = []
        """Caches whose values refer back to the evaluator."""

    def clear(self) -> None:
        """Clear all caches at the end: lazy values refer to the evaluator, which refers to them."""
        for env in self.circular:
            env.clear()
        for cached in (
            self.circular,
            self._known,
            self._names,
            self._settled,
            self.fields,
            self.functions,
            self._kept,
            self.terms,
        ):
            cached.clear()

    def reset_steps(self) -> None:
        """Reset the step limit for a new evaluation."""
        self.steps = 0

    def value(self, term: TsTerm, path: str, env: Env = NO_ENV) -> TsValue | None:
        """Return the value of a term in the file `path`, or None if it is unknown."""
        self.steps += 1
        if env and (term.op not in WRITTEN_TYPES or not self._is_context_free(term)):
            handler = OPERATIONS.get(term.op)
            if handler is None or self.depth > MAX_DEPTH or self.steps > MAX_STEPS:
                return None
            self.depth += 1
            found = handler(self, term, path, env)
            self.depth -= 1
            return None if found is UNKNOWN else found
        key = id(term)
        cached = self._known.get(key, MISSING)
        if cached is not MISSING:
            return cached
        handler = OPERATIONS.get(term.op)
        if handler is None or self.depth > MAX_DEPTH or self.steps > MAX_STEPS:
            return None
        self._known[key] = None
        self._kept.append(term)
        self.depth += 1
        found = known(handler(self, term, path, NO_ENV))
        self.depth -= 1
        if found is None and self.depth > MAX_DEPTH // 2:
            del self._known[key]
        else:
            self._known[key] = found
        return found

    def _is_context_free(self, term: TsTerm) -> bool:
        """Whether a term contains no type variable, no `this` and no local name, so that its value never varies."""
        key = id(term)
        settled = self._settled.get(key)
        if settled is None:
            op = term.op
            settled = (
                op not in VARIABLE_TERMS and not (term.n and op in BOUND) and all(map(self._is_context_free, term.kids))
            )
            self._settled[key] = settled
            self._kept.append(term)
        return settled

    def local(self, term: TsTerm, key: str) -> tuple[TsTerm | None, bool]:
        """Return the binding of a name inside a function of this file, and whether the search ended there."""
        scope = term.n
        scopes = self.body.scopes
        while scope:
            number = scopes[scope].names.get(key)
            if number is not None:
                return self.terms[number], True
            scope = scopes[scope].parent
        return None, False

    def top(self, path: str, name: str) -> TsValue | None:
        """Return the value of a file's top-level name."""
        key = (path, name)
        if key not in self._names:
            self._names[key] = None
            self._names[key] = self._top(path, name)
        return self._names[key]

    def _top(self, path: str, name: str) -> TsValue | None:
        bound = self.top_term(path, name)
        if bound is not None:
            return self.value(bound, path)
        ambient = self.lookup("ts.ambient", name)
        if ambient:
            return any_of([self.value(term, file) for file, term in ambient[:4]])
        return OUTSIDE

    def top_term(self, path: str, name: str) -> TsTerm | None:
        if path == self.path:
            number = self.body.scopes[0].names.get(name) if self.body.scopes else None
            return self.terms[number] if number is not None else None
        return next((term for _, term in self.lookup("ts.top", path, name)), None)

    def exported(self, path: str, name: str, seen: frozenset[str] = frozenset()) -> TsValue | None:
        """Return what a file exports under a name, through re-exports; None if it does not."""
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

    def export_term(self, path: str, name: str) -> TsTerm | None:
        if path == self.path:
            number = self.body.exports.get(name)
            return self.terms[number] if number is not None else None
        return next((term for _, term in self.lookup("ts.export", path, name)), None)

    def exports_more(self, path: str) -> bool:
        """Whether a file exports names besides its `module.exports`."""
        listed = next((names for _, names in self.lookup("ts.exports", path)), ())
        return any(name.removeprefix(TYPE) != "=" for name in listed)

    def _stars(self, path: str) -> tuple[str, ...]:
        if path == self.path:
            return self.body.stars
        return next((specifiers for _, specifiers in self.lookup("ts.stars", path)), ())

    def instance(self, value: TsValue | None) -> TsValue | None:
        """Return the instance type of a class."""
        if value is None:
            return None
        if value.kind == "class":
            return TsValue("thing", value.term, value.path, {**value.env, **type_environment(self, value, ())})
        if value.kind == "any of":
            return any_of([self.instance(part) for part in value.parts])
        if value.kind == "all of":
            return self._instance_of_all(value)
        if value.kind in ("function", "thing"):
            return constructed(self, value)
        return OUTSIDE if value.kind == "outside" else None

    def _instance_of_all(self, value: TsValue) -> TsValue | None:
        made = [self.instance(part) for part in value.parts]
        if any(part.kind == "function" for part in value.parts):
            made += [part for part in value.parts if part.kind == "thing"]
        found = tuple(one for one in made if one is not None)
        return TsValue("all of", parts=found) if found else None

    def signatures(self, value: TsValue | None) -> tuple[TsValue, ...]:
        return signatures(self, value)

    def returned(self, value: TsValue | None) -> TsValue | None:
        return returned(self, value)

    def keep_alive(self, term: TsTerm) -> None:
        """Keep a term alive while its identity is used as a key."""
        self._kept.append(term)

    def lazy(self, term: TsTerm, path: str, env: Env) -> Callable[[], TsValue | None]:
        return lambda: self.value(term, path, env)
