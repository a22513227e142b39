"""How well edges agree with what a compiler or a language server says of the same code.

The measures are those of the shared scorer (`shared/bench/codegraph/score.py --fold`): nested functions count as the
function around them, a constructor as its class, and code calling itself is left out.
"""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

Pair = tuple[str, str]

CONSTRUCTORS = frozenset(("__init__", "constructor", "__new__", "__post_init__"))
CALLABLE = ("function", "method")
KNOWN = {"in", "ext"}
"""What is said of a call that was resolved: to this code, or to somebody else's."""
UNKNOWN = "none"


class Site(NamedTuple):
    """One call as it is written, and whether the oracle resolved it."""

    caller: str
    name: str
    status: str


@dataclass(frozen=True, slots=True)
class Truth:
    files: frozenset[str]
    kinds: Mapping[str, str]
    """Definitions by id."""
    imports: frozenset[Pair]
    calls: frozenset[Pair]
    optional: frozenset[Pair] = frozenset()
    """Calls that are right to find and no fault to miss: decorators, what was seen at run time only."""
    sites: tuple[Site, ...] = ()
    """Empty where the oracle does not tell them: then nothing can be judged."""
    commit: str = ""
    language: str = ""


class Rate(NamedTuple):
    expected: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.expected if self.expected else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.expected + self.found) if self.expected + self.found else 0.0


class CallScore(NamedTuple):
    all: Rate
    across: Rate
    """Between files only: what impact needs."""
    judged: float | None
    """Precision where a false edge counts if the oracle itself resolved a call of that name in that caller."""


def rate(truth: set[Pair], found: set[Pair]) -> Rate:
    return Rate(len(truth), len(found), len(truth & found))


def score_imports(truth: Truth, found: Iterable[Pair]) -> Rate:
    return rate(_within(truth, truth.imports), _within(truth, found))


def score_calls(truth: Truth, found: Iterable[Pair]) -> CallScore:
    right = _within(truth, _normal(truth.calls, truth.kinds))
    ours = _within(truth, _normal(found, truth.kinds)) - (_normal(truth.optional, truth.kinds) - right)
    wrong = _judged_wrong(truth, ours - right)
    agreed = len(ours & right)
    judged = agreed / (agreed + wrong) if truth.sites and agreed + wrong else None
    return CallScore(rate(right, ours), rate(_across(right), _across(ours)), judged)


def _judged_wrong(truth: Truth, wrong: set[Pair]) -> int:
    said: defaultdict[Pair, set[str]] = defaultdict(set)
    for site in truth.sites:
        said[folded(site.caller, truth.kinds), site.name].add(site.status)
    about = (said.get((origin, last_name(target)), set()) for origin, target in wrong)
    return sum(bool(statuses & KNOWN) and UNKNOWN not in statuses for statuses in about)


def last_name(id: str) -> str:
    return id.partition("::")[2].rpartition(".")[2]


def folded(id: str, kinds: Mapping[str, str], *, constructor: bool = False) -> str:
    """The outermost function or method that holds it; the class, where it is the constructor that is called."""
    path, separator, qualname = id.partition("::")
    if not separator:
        return id
    parts = qualname.split(".")
    if constructor and len(parts) > 1 and parts[-1] in CONSTRUCTORS:
        parts.pop()
    steps = (f"{path}::{'.'.join(parts[:length])}" for length in range(1, len(parts)))
    return next((step for step in steps if kinds.get(step) in CALLABLE), f"{path}::{'.'.join(parts)}")


def _normal(pairs: Iterable[Pair], kinds: Mapping[str, str]) -> set[Pair]:
    normal = ((folded(origin, kinds), folded(target, kinds, constructor=True)) for origin, target in pairs)
    return {(origin, target) for origin, target in normal if origin != target}


def _within(truth: Truth, pairs: Iterable[Pair]) -> set[Pair]:
    """Between the files that the oracle looked at, and never to oneself."""
    return {
        (origin, target)
        for origin, target in pairs
        if origin != target and file_of(origin) in truth.files and file_of(target) in truth.files
    }


def _across(pairs: set[Pair]) -> set[Pair]:
    return {pair for pair in pairs if file_of(pair[0]) != file_of(pair[1])}


def file_of(id: str) -> str:
    return id.partition("::")[0]


def read_shared(path: Path) -> Truth:
    """One repository of the shared set."""
    with gzip.open(path) as file:
        told = json.load(file)
    return Truth(
        files=frozenset(told["files"]),
        kinds={each["id"]: each["kind"] for each in told["defs"]},
        imports=_pairs(told["import_edges"]),
        calls=_pairs(told["call_edges"]) | _pairs(told.get("call_edges_dyn", ())),
        optional=_pairs(told.get("optional_call_edges", ())),
        sites=tuple(Site(*each[3:6]) for each in told.get("call_sites", ())),
        commit=told["commit"],
        language=told["language"],
    )


def read_truth(text: str, language: str) -> Truth:
    """What an oracle of this bench wrote."""
    told = json.loads(text)
    return Truth(
        files=frozenset(told["files"]),
        kinds=told["kinds"],
        imports=_pairs(told["imports"]),
        calls=_pairs(told["calls"]),
        optional=_pairs(told.get("optional", ())),
        sites=tuple(Site(*each) for each in told["sites"]),
        language=language,
    )


def _pairs(listed: Iterable[Iterable[str]]) -> frozenset[Pair]:
    return frozenset((origin, target) for origin, target in listed)
