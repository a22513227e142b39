"""Precise recall on PrecisionMemBench (tenurehq, MIT): what is retrieved for a query, and what had better not be.

Evaluation only: nothing in Treering is written from its answers.
"""

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import treering
from bench.data import data_folder
from bench.results import table, write_section
from treering.core.queries import KnowledgeFilter
from treering.memory import Memory

SET = "precisionmembench"
USER = "test-user"
UNIVERSAL = "user:universal"
QUESTION = "open_question"
# An open question asks for something that is still to be decided; of this type are no other records here.
TYPES = {"preference": "preference", "decision": "decision", QUESTION: "requirement"}
BELIEFS = ("preference", "decision", "fact")
MOST = 1_000
SETTLE_SECONDS = 300
PEERS = (
    ("supermemory", 0.43, 0.55),
    ("agentmemory", 0.17, 0.97),
    ("Zep", 0.09, 0.95),
    ("Hindsight", 0.06, 1.0),
    ("mem0", 0.06, 0.99),
)
ABOUT = (
    "The records that a query retrieves (`relevantBeliefs`) compared with the expected ones (`shouldOnlyInclude`), on "
    "{cases} cases: {single} single queries and {turns} turns of {sessions} sessions, of which only the user's message "
    "is the query. {empty} of them expect nothing. The filters are those of the case (its scopes as tags); pinned "
    "records and open questions have separate sections and are not among the results. Micro: right / retrieved "
    "and right / expected over all cases. Macro: the mean over cases; if nothing is expected, an empty result has "
    "a precision of 1 and any other of 0; if something is expected, an empty result has 0; recall is over "
    "cases that expect something. The peers' figures are as published for this benchmark, with an evaluation that we "
    "did not run: they are printed for orientation. In a plain search an empty query lists the newest.\n\n"
    "A superseded belief is corrected, a resolved one has an end, canonical name and aliases are those of an "
    "entity that the record is linked to, a relation links its participants to each other and to itself. A belief or "
    "alias that was extracted from a turn is stored after its query. Background work is finished before each query. "
    "`topicRetrieval` is not scored: it asks for turns, not for records.\n\n"
    "Rules and numbers were chosen before the first run, which had a precision of .86 and a recall of .89. The "
    "lengths of the messages then showed that names after the first 60 words or so were not looked up; now "
    "whole messages are read, and 20 entities are followed instead of 8. Since then, names joined by slashes or "
    "hyphens are split, a compound counts as one word, and digits begin a part: these changed no figure."
)
Belief = Mapping[str, Any]
Search = Callable[[Memory, str, KnowledgeFilter, int], Iterable[str]]


@dataclass(frozen=True)
class Case:
    """A query with the records that it should retrieve; `after` is extracted from its turn and stored after it."""

    name: str
    category: str
    user: str
    scopes: tuple[str, ...]
    query: str
    limit: int
    expect: Mapping[str, Any]
    after: Mapping[str, Any]

    @property
    def wanted(self) -> frozenset[str] | None:
        only = self.expect.get("relevantBeliefs", {}).get("shouldOnlyInclude")
        return None if only is None else frozenset(only)


@dataclass(frozen=True)
class Outcome:
    """What a case retrieved."""

    case: Case
    found: frozenset[str]
    wanted: frozenset[str]

    @property
    def right(self) -> int:
        return len(self.found & self.wanted)

    @property
    def precision(self) -> float:
        return self.right / len(self.found) if self.found else float(not self.wanted)

    @property
    def recall(self) -> float | None:
        return self.right / len(self.wanted) if self.wanted else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the benchmark; else precisionmembench of the shared data")
    parser.add_argument("--show", action="store_true", help="print the names of the cases that are not exact")
    chosen = parser.parse_args()
    data = Data(chosen.data or data_folder(SET))
    precise, checks = measure(data, precisely)
    plain, _ = measure(data, plainly)
    if chosen.show:
        _show(precise)
    write_section("precision", "Precision", _written(data, precise, plain, checks))


def figures() -> dict[str, float]:
    """The figures of precise search."""
    outcomes, _ = measure(Data(data_folder(SET)), precisely)
    right = sum(each.right for each in outcomes)
    return {
        "precision.exact": sum(each.found == each.wanted for each in outcomes),
        "precision.precision": right / sum(len(each.found) for each in outcomes),
        "precision.recall": right / sum(len(each.wanted) for each in outcomes),
    }


class Data:
    """The files of the benchmark."""

    def __init__(self, folder: Path) -> None:
        self.beliefs: list[Belief] = json.loads((folder / "beliefs.seed.json").read_text("utf-8"))
        self._cases: list[Mapping[str, Any]] = json.loads((folder / "retrieval.cases.json").read_text("utf-8"))
        self.sessions = json.loads((folder / "session-retrieval.cases.json").read_text("utf-8"))

    def single(self) -> list[Case]:
        return [
            Case(
                name=case["caseId"],
                category=case["category"],
                user=case.get("userId", USER),
                scopes=tuple(case["scope"]),
                query=case["query"],
                limit=case.get("budget", {}).get("maxBeliefs", 10),
                expect=case["expect"],
                after={},
            )
            for case in self._cases
        ]

    def turns(self, session: Mapping[str, Any]) -> list[Case]:
        return [
            Case(
                name=f"{session['caseId']} {turn['turnIndex']}",
                category="Sessions",
                user=USER,
                scopes=tuple(turn["scope"]),
                query=turn["userMessage"],
                limit=10,
                expect=turn["expect"],
                after={key: turn[key] for key in ("createBeliefAtTurn", "updateBeliefAtTurn") if key in turn},
            )
            for turn in session["turns"]
        ]

    def names(self) -> Mapping[str, str]:
        """What each belief is called, by its id."""
        return {belief["_id"]: belief["canonical_name"] for belief in self.beliefs}

    def now(self) -> datetime:
        """A day after the last thing that is dated."""
        dated = [belief[key] for belief in self.beliefs for key in ("created_at", "updated_at", "resolved_at")]
        dated += [case.after["createBeliefAtTurn"]["created_at"] for case in self._later()]
        return max(datetime.fromisoformat(moment) for moment in dated if moment) + timedelta(days=1)

    def _later(self) -> Iterator[Case]:
        turns = (turn for session in self.sessions for turn in self.turns(session))
        return (turn for turn in turns if "createBeliefAtTurn" in turn.after)


class Users:
    """One memory a user, each with its own project and principal."""

    def __init__(self, data: Data, folder: Path) -> None:
        self._data, self._folder, self.now = data, folder, data.now()
        self._open: dict[str, Memory] = {}

    def of(self, user: str) -> Memory:
        if user not in self._open:
            place, now = str(self._folder / "memory.db"), self.now
            self._open[user] = treering.open(place, project=user, principal=user, clock=lambda: now)
            load(self._open[user], [belief for belief in self._data.beliefs if belief["user_id"] == user])
            _settle(self._open[user])
        return self._open[user]

    def close(self) -> None:
        for memory in self._open.values():
            memory.close()


def measure(data: Data, search: Search) -> tuple[list[Outcome], Counter[tuple[str, bool]]]:
    """All cases, each session on a memory of its own; and how many checks of the other sections held."""
    outcomes: list[Outcome] = []
    checks: Counter[tuple[str, bool]] = Counter()
    for cases in (data.single(), *map(data.turns, data.sessions)):
        with tempfile.TemporaryDirectory() as folder:
            users = Users(data, Path(folder))
            users.of("other-user")
            for case in cases:
                memory = users.of(case.user)
                found = frozenset(_relevant(memory, case, search))
                checks.update(_checked(memory, case, found, users.now))
                if case.wanted is not None:
                    outcomes.append(Outcome(case, found, case.wanted))
                _change(memory, case.after, data.names())
            users.close()
    return outcomes, checks


def precisely(memory: Memory, query: str, where: KnowledgeFilter, limit: int) -> Iterable[str]:
    return [hit.id for hit in memory.search(query, knowledge=where, turns=None, limit=limit, precise=True)]


def plainly(memory: Memory, query: str, where: KnowledgeFilter, limit: int) -> Iterable[str]:
    return [hit.id for hit in memory.search(query, knowledge=where, turns=None, limit=limit)]


def load(memory: Memory, beliefs: Sequence[Belief]) -> None:
    """Those that were superseded first, each corrected before what took its place is told."""
    by_id = {belief["_id"]: belief for belief in beliefs}

    def successors(belief: Belief) -> int:
        later = by_id.get(belief["superseded_by"] or "")
        return 0 if later is None else 1 + successors(later)

    tied = _tied(beliefs)
    for belief in sorted(beliefs, key=successors, reverse=True):
        _remember(memory, belief, tied.get(belief["_id"], ()))


def _tied(beliefs: Sequence[Belief]) -> Mapping[str, list[dict[str, str]]]:
    """The relations of each record, by its id."""
    tied: dict[str, list[dict[str, str]]] = {}
    for belief in beliefs:
        if belief["superseded_by"]:
            tied.setdefault(belief["superseded_by"], []).append({"kind": "supersedes", "record": belief["_id"]})
        ends = belief.get("participants", ())
        pairs = [(belief["_id"], end) for end in ends] + list(pairwise(ends))
        for origin, target in pairs:
            tied.setdefault(origin, []).append({"kind": "required_with", "record": target})
    return tied


def _remember(memory: Memory, belief: Belief, relations: Sequence[Mapping[str, str]] = ()) -> None:
    id = belief["_id"]
    memory.remember(
        belief["content"],
        id=id,
        type=TYPES.get(belief["type"], "fact"),
        tags=(*belief["scope"], *([QUESTION] if belief["type"] == QUESTION else ())),
        confidence=belief["confidence"],
        pinned=belief["pinned"],
        relations=tuple(relations),
        created_at=belief["created_at"],
        valid_until=belief["resolved_at"],
    )
    _name(memory, id, belief["canonical_name"], belief["aliases"])
    if belief["superseded_by"] or belief["epistemic_status"] == "superseded":
        memory.correct(id, "outdated")


def _name(memory: Memory, id: str, name: str, aliases: Sequence[str]) -> None:
    """What a record is about goes by the names of the belief."""
    memory.entities.link(id, name, aliases=aliases)


def _change(memory: Memory, added: Mapping[str, Any], named: Mapping[str, str]) -> None:
    if "createBeliefAtTurn" in added:
        _remember(memory, added["createBeliefAtTurn"])
    if "updateBeliefAtTurn" in added:
        update = added["updateBeliefAtTurn"]
        _name(memory, update["beliefId"], named[update["beliefId"]], update["addAliases"])
    if added:
        _settle(memory)


def _settle(memory: Memory) -> None:
    """Finish the background work, so that the figures do not depend on how far it has come."""
    if memory.settle(SETTLE_SECONDS).waiting:
        raise RuntimeError(f"background work was not done after {SETTLE_SECONDS} seconds; run it on a quieter machine")


def _relevant(memory: Memory, case: Case, search: Search) -> Iterable[str]:
    where = KnowledgeFilter(tags=case.scopes, types=BELIEFS, pinned=False)
    return search(memory, case.query, where, case.limit) if case.limit else ()


def _checked(memory: Memory, case: Case, found: frozenset[str], now: datetime) -> Iterator[tuple[str, bool]]:
    """Each check of the case: its section and rule, and whether it holds."""
    sections = {
        "relevantBeliefs": found,
        "pinnedFacts": _listed(memory, KnowledgeFilter(tags=case.scopes, pinned=True, valid_at=now)),
        "openQuestions": _listed(memory, KnowledgeFilter(tags=case.scopes, all_tags=(QUESTION,), valid_at=now)),
    }
    for section, ids in sections.items():
        rules = case.expect.get(section, {})
        yield from ((f"{section}: mustInclude", id in ids) for id in rules.get("mustInclude", ()))
        yield from ((f"{section}: mustExclude", id not in ids) for id in rules.get("mustExclude", ()))
    noise = case.expect.get("noiseCheck", {}).get("mustNotSurface", ())
    yield from (("relevantBeliefs: mustNotSurface", id not in found) for id in noise)
    yield from _prelude_checked(memory, case.expect.get("personaPrelude", {}), now)


def _prelude_checked(memory: Memory, rules: Mapping[str, Any], now: datetime) -> Iterator[tuple[str, bool]]:
    if not rules:
        return
    where = KnowledgeFilter(tags=(UNIVERSAL,), valid_at=now)
    prelude = "\n".join(hit.text for hit in memory.search("", knowledge=where, turns=None, limit=MOST)).casefold()
    if "nonEmpty" in rules:
        yield "personaPrelude: nonEmpty", bool(prelude) is rules["nonEmpty"]
    if "isNull" in rules:
        yield "personaPrelude: isNull", (not prelude) is rules["isNull"]
    yield from (("personaPrelude: contains", text.casefold() in prelude) for text in _texts(rules, "contains"))
    for text in _texts(rules, "mustNotContain"):
        yield "personaPrelude: mustNotContain", text.casefold() not in prelude


def _texts(rules: Mapping[str, Any], rule: str) -> Sequence[str]:
    given = rules.get(rule, ())
    return (given,) if isinstance(given, str) else given


def _listed(memory: Memory, where: KnowledgeFilter) -> frozenset[str]:
    return frozenset(hit.id for hit in memory.search("", knowledge=where, turns=None, limit=MOST))


def _written(data: Data, precise: list[Outcome], plain: list[Outcome], checks: Counter[tuple[str, bool]]) -> str:
    rows: list[tuple[object, ...]] = [
        ("Treering, precise", *_figures(precise)),
        ("Treering, plain top 10", *_figures(plain)),
    ]
    rows += [(f"{name}, as published", f"{p:.2f}", f"{r:.2f}", "", "", "") for name, p, r in PEERS]
    headers = ("what", "precision", "recall", "macro precision", "macro recall", "exact cases")
    turns = sum(len(session["turns"]) for session in data.sessions)
    about = ABOUT.format(
        cases=len(precise),
        single=sum(each.case.category != "Sessions" for each in precise),
        turns=turns,
        sessions=len(data.sessions),
        empty=sum(not each.wanted for each in precise),
    )
    return f"{about}\n\n{table(headers, rows)}\n\n{_by_category(precise)}\n\n{_held(checks)}"


def _by_category(outcomes: list[Outcome]) -> str:
    rows: list[tuple[object, ...]] = []
    for category in sorted({each.case.category for each in outcomes}):
        chosen = [each for each in outcomes if each.case.category == category]
        rows.append((category, len(chosen), *_figures(chosen)))
    headers = ("category", "cases", "precision", "recall", "macro precision", "macro recall", "exact cases")
    return f"Precise search by category:\n\n{table(headers, rows)}"


def _figures(outcomes: Sequence[Outcome]) -> tuple[str, ...]:
    right = sum(each.right for each in outcomes)
    found, wanted = sum(len(each.found) for each in outcomes), sum(len(each.wanted) for each in outcomes)
    recalls = [each.recall for each in outcomes if each.recall is not None]
    return (
        _share(right, found),
        _share(right, wanted),
        _share(sum(each.precision for each in outcomes), len(outcomes)),
        _share(sum(recalls), len(recalls)),
        f"{sum(each.found == each.wanted for each in outcomes)}/{len(outcomes)}",
    )


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.2f}" if whole else ""


def _held(checks: Counter[tuple[str, bool]]) -> str:
    names = sorted({name for name, _ in checks})
    rows: list[tuple[object, ...]] = [
        (name, f"{checks[name, True]}/{checks[name, True] + checks[name, False]}") for name in names
    ]
    return f"Checks of all sections, with precise search:\n\n{table(('check', 'held'), rows)}"


def _show(outcomes: Iterable[Outcome]) -> None:
    for each in outcomes:
        if each.found != each.wanted:
            extra, lost = sorted(each.found - each.wanted), sorted(each.wanted - each.found)
            print(f"{each.case.category}: {each.case.name}: wrong {extra}, lost {lost}")


if __name__ == "__main__":
    main()
