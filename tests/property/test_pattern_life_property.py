"""Whatever is done to patterns, in whatever order: what was deprecated is never in use again, no evidence is lost."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

import treering
from tests.examples import examples
from tests.sample_episodes import Clock
from tests.sample_patterns import ROUTINE, STRATEGY, did, keep, pattern_stages
from tests.samples import NOW
from treering.core.errors import Conflict, InvalidInput, NotFound, NothingToUndo
from treering.core.patterns import PatternStatus
from treering.core.queries import PatternFilter
from treering.memory import Memory
from treering.patterns.lifecycle import is_allowed

NAMES = st.sampled_from([f"p{number}" for number in range(5)])
LETTERS = st.text("SPF", min_size=1, max_size=12)
REFUSED = (InvalidInput, NotFound, NothingToUndo, Conflict)
ANY = tuple(PatternStatus)
_STATUS = {"S": "SUCCESS", "P": "PARTIAL", "F": "FAILURE"}


class Life(RuleBasedStateMachine):
    """All verbs on a few patterns. What was once deprecated is remembered beside the store."""

    open: Callable[[Clock], Memory]

    @initialize()
    def begin(self) -> None:
        self.clock = Clock(NOW)
        self.memory = type(self).open(self.clock)
        self.gone = set[str]()
        self.before = dict[str, PatternStatus]()
        self.sessions = 0
        self.files = list[str]()
        for place in range(6):
            did(self.memory, f"e{place}", *ROUTINE)

    def attempt(self, act: Callable[[], Any]) -> None:
        """Whatever is refused is refused; what was deprecated before must not be changed by it."""
        self.clock.now += timedelta(minutes=7)
        with suppress(*REFUSED):
            act()

    @property
    def known(self) -> dict[str, PatternStatus]:
        return {each.id: each.status for each in self.memory.patterns.list(PatternFilter(), limit=500)}

    @rule(name=NAMES)
    def add(self, name: str) -> None:
        self.attempt(lambda: keep(self.memory, name))

    @rule(name=NAMES, letters=LETTERS, own=st.booleans())
    def apply(self, name: str, letters: str, own: bool) -> None:
        for letter in letters:
            self.sessions += 1
            session = f"s{self.sessions}" if own else "shared"
            features = {"languages": ["python" if letter == "S" else "rust"]}
            told = {"outcome": _STATUS[letter], "session": session, "features": features, "task_type": "fix"}
            self.attempt(lambda told=told: self.memory.patterns.record_application(name, **told))  # type: ignore[misc]

    @rule(name=NAMES, count=st.integers(20, 30), letter=st.sampled_from("SF"))
    def apply_often(self, name: str, count: int, letter: str) -> None:
        self.apply(name, letter * count, own=True)

    @rule(dry_run=st.booleans())
    def validate(self, dry_run: bool) -> None:
        self.attempt(lambda: self.memory.patterns.validate(dry_run=dry_run))

    @rule(name=NAMES)
    def refine(self, name: str) -> None:
        self.attempt(lambda: self.memory.patterns.refine(name))

    @rule(name=NAMES, words=st.sampled_from(["one", "two"]), anew=st.booleans())
    def update(self, name: str, words: str, anew: bool) -> None:
        changes: dict[str, Any] = {"content": {**STRATEGY, "approach": words}} if anew else {"summary": words}
        self.attempt(lambda: self.memory.patterns.update(name, **changes))

    @rule(name=NAMES)
    def deprecate(self, name: str) -> None:
        self.attempt(lambda: self.memory.patterns.deprecate(name, "it is old"))

    @rule(names=st.lists(NAMES, min_size=2, max_size=3, unique=True))
    def merge(self, names: list[str]) -> None:
        self.attempt(lambda: self.memory.patterns.merge(names))

    @rule(place=st.integers(0, 99))
    def merge_any(self, place: int) -> None:
        ids = sorted(self.known)
        if len(ids) > 1:
            self.merge([ids[place % len(ids)], ids[(place + 1) % len(ids)]])

    @rule()
    def prune(self) -> None:
        self.attempt(self.memory.patterns.prune)

    @rule(days=st.integers(1, 100))
    def wait(self, days: int) -> None:
        self.clock.now += timedelta(days=days)

    @rule()
    def mine(self) -> None:
        self.attempt(self.memory.patterns.mine)

    @rule()
    def carry_out(self) -> None:
        self.files.append(self.memory.patterns.export())

    @rule(place=st.integers(0, 99))
    def carry_in(self, place: int) -> None:
        if self.files:
            self.attempt(lambda: self.memory.patterns.import_(self.files[place % len(self.files)]))

    @rule(place=st.integers(0, 99), verb=st.sampled_from(["undo", "undo", "forget"]))
    def take_back(self, place: int, verb: str) -> None:
        ids = sorted(self.before)
        if ids:
            self.attempt(lambda: getattr(self.memory, verb)(ids[place % len(ids)]))

    @rule()
    def night(self) -> None:
        self.clock.now += timedelta(hours=12)
        assert {run.error for run in pattern_stages(self.memory)} == {None}

    @invariant()
    def what_was_deprecated_is_never_in_use_again(self) -> None:
        now = self.known
        in_use = {each.pattern.id for each in self.memory.patterns.find_applicable("fix it", limit=500)}
        assert not self.gone & in_use
        assert all(now.get(id, PatternStatus.DEPRECATED) is PatternStatus.DEPRECATED for id in self.gone)
        self.gone |= {id for id, status in now.items() if status is PatternStatus.DEPRECATED}

    @invariant()
    def only_what_is_validated_is_in_use(self) -> None:
        now = self.known
        found = {each.pattern.id for each in self.memory.patterns.find_applicable("fix it", limit=500, statuses=ANY)}
        assert found <= now.keys()
        in_use = {each.pattern.id for each in self.memory.patterns.find_applicable("fix it", limit=500)}
        assert in_use == {id for id in found if now[id] is PatternStatus.VALIDATED}

    @invariant()
    def the_log_tells_every_move_and_each_is_allowed(self) -> None:
        for id in self.known:
            for entry in self.memory.patterns.history(id):
                told = entry.detail
                if "from" in told and told["from"] != told["to"]:
                    assert is_allowed(PatternStatus(told["from"]), PatternStatus(told["to"])), told
        self.before = self.known

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            self.memory.close()


def test_no_path_leads_from_deprecated_back_to_use() -> None:
    with TemporaryDirectory() as folder:
        numbers = iter(range(10**6))

        def opened(clock: Clock) -> Memory:
            return treering.open(f"{folder}/{next(numbers)}.db", project="p", clock=clock, background=False)

        Life.open = staticmethod(opened)
        run_state_machine_as_test(
            Life,
            settings=examples(12, stateful_step_count=15, suppress_health_check=list(HealthCheck)),
        )


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with (
        TemporaryDirectory() as folder,
        treering.open(f"{folder}/memory.db", project="p", clock=lambda: NOW, background=False) as opened,
    ):
        yield opened


_RUN = iter(range(10**6))
USES = st.lists(st.tuples(st.sampled_from("SPF"), st.none() | st.integers(0, 4)), max_size=8)


@given(crowd=st.lists(USES, min_size=2, max_size=4))
def test_a_merge_keeps_the_sum_of_the_evidence_in_the_store(memory: Memory, crowd: list[Any]) -> None:
    run = next(_RUN)
    ids = [keep(memory, f"{run}-{place}").id for place in range(len(crowd))]
    for id, uses in zip(ids, crowd, strict=True):
        for letter, session in uses:
            told = {"outcome": _STATUS[letter], "session": None if session is None else f"{run} s{session}"}
            memory.patterns.record_application(id, **told)  # type: ignore[arg-type]
    alone = [memory.patterns.sessions(id) for id in ids]
    made = memory.patterns.merge(ids)
    together = memory.patterns.sessions(made.id)
    for field in ("n", "successes", "partial"):
        assert sum(getattr(each, field) for each in together) == sum(
            getattr(each, field) for sessions in alone for each in sessions
        )
    named = {session for uses in crowd for _, session in uses if session is not None}
    nameless = sum(session is None for uses in crowd for _, session in uses)
    # A session in which two of them were used is one piece of evidence.
    assert len(together) == len(named) + nameless
    (verdict,) = (each for each in memory.patterns.validate(dry_run=True) if each.pattern == made.id)
    assert (verdict.judged.sessions, verdict.judged.applications) == (len(together), sum(map(len, crowd)))
