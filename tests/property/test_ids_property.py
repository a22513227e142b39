"""An id names one record of a project, whatever its kind, its owner and who sees it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations, product
from threading import Barrier
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import OpenMemory
from tests.examples import examples
from treering.core.errors import Conflict, NotFound
from treering.memory import Memory

Store = Callable[[Memory, str, str], object]


def _pattern(memory: Memory, id: str, visibility: str) -> object:
    strategy = {"form": "strategy", "approach": f"Try {id} as {memory.scope.principal}."}
    return memory.patterns.add(name=f"Try {id}", category="strategy", content=strategy, id=id, visibility=visibility)


KINDS: dict[str, Store] = {
    "knowledge": lambda memory, id, visibility: memory.remember(
        f"known as {id} by {memory.scope.principal}", id=id, visibility=visibility
    ),
    "turn": lambda memory, id, visibility: memory.turn(
        session=f"{id}-{visibility}-{memory.scope.principal}",
        role="user",
        text=f"said {id}",
        id=id,
        visibility=visibility,
    ),
    "episode": lambda memory, id, visibility: memory.episode(
        f"did {id} as {memory.scope.principal}", outcome="SUCCESS", id=id, visibility=visibility
    ),
    "pattern": _pattern,
}
STEPS = st.lists(
    st.tuples(
        st.sampled_from(sorted(KINDS)),
        st.sampled_from("abc"),
        st.sampled_from(("project", "personal")),
        st.sampled_from(("ada", "bob")),
    ),
    min_size=2,
    max_size=8,
)


def taken(id: str) -> str:
    return f"the id {id!r} is taken; choose another id, or correct or undo the record that has it"


def outcome(store: Callable[..., object], *given: object) -> str:
    try:
        store(*given)
    except Conflict as exc:
        return str(exc)
    return "stored"


@pytest.fixture
def both(open_memory: OpenMemory) -> dict[str, Memory]:
    return {name: open_memory(principal=name) for name in ("ada", "bob")}


@examples(10)
@given(steps=STEPS)
def test_an_id_names_one_record(both: dict[str, Memory], steps: list[tuple[str, str, str, str]]) -> None:
    """The first to use an id has it; every other record under it is refused in the same words and changes nothing."""
    run, first = uuid4().hex[:8], dict[str, tuple[str, str, str]]()
    for kind, letter, visibility, principal in steps:
        id = f"{run}-{letter}"
        new, record = (kind, visibility, principal), KINDS[kind]
        said = outcome(record, both[principal], id, visibility)
        if first.setdefault(id, new) != new:
            assert said == taken(id)
        elif kind != "pattern":
            assert said == "stored"
    for id, (kind, visibility, principal) in first.items():
        assert type(both[principal].get(id)).__name__.lower() == kind
        for other in set(both) - {principal}:
            if visibility == "personal":
                with pytest.raises(NotFound):
                    both[other].get(id)
            else:
                assert both[other].get(id) == both[principal].get(id)


@pytest.mark.parametrize(("theirs", "visibility"), tuple(product(KINDS, ("project", "personal"))))
def test_a_taken_id_says_nothing_about_the_record_that_has_it(
    theirs: str, visibility: str, both: dict[str, Memory]
) -> None:
    ada, bob = both["ada"], both["bob"]
    KINDS[theirs](ada, "taken", visibility)
    own = ada.get("taken")
    said = {outcome(mine, bob, "taken", "project") for mine in KINDS.values()}
    assert said == {taken("taken")}
    assert ada.get("taken") == own
    ada.forget("taken")
    assert {outcome(mine, bob, "taken", "project") for mine in KINDS.values()} == {taken("taken")}


def test_the_id_of_a_record_removed_for_good_can_be_used_again(both: dict[str, Memory]) -> None:
    for before, after in product(KINDS, KINDS):
        id = f"{before}-{after}"
        KINDS[before](both["ada"], id, "personal")
        both["ada"].forget(id, hard=True)
        assert outcome(KINDS[after], both["bob"], id, "project") == "stored"


def test_repairing_the_indexes_takes_the_ids_of_all_principals(both: dict[str, Memory]) -> None:
    ada, bob = both["ada"], both["bob"]
    KINDS["turn"](ada, "taken", "personal")
    with bob.store.upkeep(bob.scope, bob._parts.clock()) as context:  # type: ignore[attr-defined]
        context.connection.exec_driver_sql("DELETE FROM ids")
    bob.store.rebuild(bob.scope, bob._parts.clock())  # type: ignore[attr-defined]
    assert outcome(KINDS["knowledge"], bob, "taken", "project") == taken("taken")


def test_many_records_at_once_are_refused_together(both: dict[str, Memory]) -> None:
    from treering.core.records import Knowledge

    ada, bob = both["ada"], both["bob"]
    KINDS["turn"](ada, "b", "personal")
    made = [bob.remember(f"record {name}", id=f"old-{name}") for name in "abc"]
    copies: list[Knowledge] = [
        record.replace(id=record.id.removeprefix("old-"), content=f"another {record.content}") for record in made
    ]
    assert outcome(lambda: bob.remember_many(copies)) == (
        "the id of one among 3 records is taken; choose another id, or correct or undo the record that has it"
    )
    with pytest.raises(NotFound):
        bob.get("a")


@pytest.mark.parametrize(("one", "other"), tuple(combinations(KINDS, 2)))
def test_of_two_writers_at_once_one_gets_the_id(one: str, other: str, both: dict[str, Memory]) -> None:
    for attempt in range(3):
        id, start = f"{one}-{other}-{attempt}", Barrier(2)

        def write(kind: str, principal: str, id: str = id, start: Barrier = start) -> str:
            start.wait()
            return outcome(lambda: KINDS[kind](both[principal], id, "personal"))

        with ThreadPoolExecutor(2) as pool:
            said = list(pool.map(write, (one, other), ("ada", "bob")))
        assert sorted(said) == sorted(["stored", taken(id)])
        holder, loser = ("ada", "bob") if said[0] == "stored" else ("bob", "ada")
        assert both[holder].get(id).id == id
        with pytest.raises(NotFound):
            both[loser].get(id)
