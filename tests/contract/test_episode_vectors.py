"""Episodes have vectors of the task, the outcome and the whole: each is stored, searched and forgotten."""

from typing import Any

import numpy as np
import pytest
from sqlalchemy import ColumnElement, delete, select

from tests.conftest import OpenMemory
from tests.sample_episodes import ids
from tests.samples import NOW
from treering.adapters.sql.tables import vectors
from treering.core.embedded_text import part_of, space_of, spaces_of
from treering.core.errors import InvalidInput
from treering.memory import Memory

LOG = "The pipeline printed many lines about containers, layers, caches, mirrors, images and tags of the registry. " * 8


@pytest.fixture
def busy(open_memory: OpenMemory) -> Memory:
    """Two episodes: one asked for what the other brought about, beside long output about something else."""
    memory = open_memory()
    memory.remember("The registry mirror is in Frankfurt")
    memory.episode("Rotate the signing keys of the payment service", id="asked", output=LOG)
    memory.episode(f"Look into the build. {LOG}", id="did", output="Rotated the signing keys of the payment service")
    memory.settle()
    return memory


def stored(memory: Memory) -> dict[str, set[str]]:
    """The spaces in which each record has a vector."""
    with memory.store.reading(memory.scope, NOW) as tx:
        numbers = {number: id for id, number in tx.documents.numbers("episode", ["asked", "did"]).items()}
        rows = tx.index._context.connection.execute(select(vectors.c.number, vectors.c.model)).all()  # type: ignore[attr-defined]
    found: dict[str, set[str]] = {}
    for number, model in rows:
        found.setdefault(numbers.get(number, "other"), set()).add(model)
    return found


def remove(memory: Memory, *spaces: str, numbers: list[int] | None = None) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        chosen: ColumnElement[bool] = vectors.c.model.in_(spaces)
        if numbers is not None:
            chosen &= vectors.c.number.in_(numbers)
        tx.index._context.connection.execute(delete(vectors).where(chosen))  # type: ignore[attr-defined]


def model_of(memory: Memory) -> str:
    with memory.store.reading(memory.scope, NOW) as tx:
        (model,) = tx.index.models()
    return model


def test_an_episode_has_three_vectors_and_other_records_one(busy: Memory) -> None:
    model = model_of(busy)
    assert stored(busy) == {"asked": set(spaces_of(model)), "did": set(spaces_of(model)), "other": {model}}
    assert [part_of(space) for space in spaces_of(model)] == ["", "task", "outcome"]
    assert busy.doctor().healthy


def test_the_nearest_of_the_three_counts_and_is_named(busy: Memory) -> None:
    found = busy.episodes.search_semantic("rotate the signing keys")
    assert {hit.id: hit.compared for hit in found} == {"asked": "task", "did": "outcome"}


@pytest.mark.parametrize(("compare", "best"), [("task", "asked"), ("outcome", "did")])
@pytest.mark.parametrize("verb", ["search", "search_semantic"])
def test_a_query_can_be_compared_with_one_part(busy: Memory, verb: str, compare: Any, best: str) -> None:
    found = getattr(busy.episodes, verb)("rotate the signing keys", compare=compare)
    assert (found[0].id, {hit.compared for hit in found}) == (best, {compare})
    cosine = {hit.id: hit.parts[0].value for hit in found}
    assert cosine[best] > 0.7
    assert all(value < cosine[best] / 2 for id, value in cosine.items() if id != best)


def test_an_unknown_part_is_refused(busy: Memory) -> None:
    with pytest.raises(InvalidInput, match="by 'plan'; use whole, task, outcome"):
        busy.episodes.search("keys", compare="plan")  # type: ignore[arg-type]


def test_an_episode_without_output_has_no_likeness_by_outcome(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.episode("Rotate the signing keys", id="silent")
    memory.settle()
    found = memory.episodes.search_semantic("rotate the signing keys", compare="outcome")
    assert [hit for hit in found if hit.parts[0].value > 0] == []


def test_forgetting_for_good_takes_all_vectors(busy: Memory) -> None:
    model = model_of(busy)
    busy.forget("asked", hard=True)
    assert stored(busy) == {"did": set(spaces_of(model)), "other": {model}}
    assert "asked" not in ids(busy.episodes.search_semantic("rotate the signing keys"))


def test_episodes_of_older_versions_get_the_vectors_they_lack(busy: Memory) -> None:
    before = stored(busy)
    remove(busy, *(space_of(model_of(busy), part) for part in ("task", "outcome")))
    assert busy.episodes.search_semantic("rotate the signing keys")[0].compared in ("task", "outcome")
    busy.settle()
    assert stored(busy) == before


@pytest.mark.parametrize("part", ["task", "outcome"])
def test_a_vector_of_a_part_that_was_lost_is_made_again(busy: Memory, part: str) -> None:
    before = stored(busy)
    with busy.store.reading(busy.scope, NOW) as tx:
        numbers = list(tx.documents.numbers("episode", ["asked"]).values())
    remove(busy, space_of(model_of(busy), part), numbers=numbers)
    busy.doctor(repair=True)
    busy.settle()
    assert stored(busy) == before


def test_vectors_of_parts_stay_with_those_of_their_model(busy: Memory) -> None:
    from treering.search.embedding import drop_other_models

    model = model_of(busy)
    with busy.store.transaction(busy.scope, NOW) as tx:
        (number,) = tx.documents.numbers("episode", ["asked"]).values()
        made = [(number, "digest", np.ones(4, np.float32))]
        tx.index.hold_vectors("other", [])
        tx.index._insert_vectors("other", made)  # type: ignore[attr-defined]
        tx.index._insert_vectors(space_of("other", "task"), made)  # type: ignore[attr-defined]
    assert drop_other_models(busy.scope, busy.store, NOW, model) == 2
    assert stored(busy)["asked"] == set(spaces_of(model))
