"""Entities on both engines: linked, told about, merged and taken apart, seen by whom they belong to, and forgotten."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.samples import NOW, sample
from treering.compose import new_id
from treering.core.entities import Entity, EntityKind
from treering.core.episodes import Episode
from treering.core.errors import Conflict, InvalidInput, ModelUnavailable, NotFound, NothingToUndo
from treering.core.queries import EntityFilter, EntityLinkFilter, RunFilter
from treering.core.scope import Scope, Visibility
from treering.learn.entities.enrichment import enrich_entities
from treering.learn.entities.extraction import extract
from treering.learn.entities.linking import link_entities
from treering.learn.entities.reading import queue_linking
from treering.learn.stages import StageRun
from treering.memory import Memory
from treering.retrieve.names import records_of, tied_entities

PERSONAL = Visibility.PERSONAL


def link(memory: Memory, id: str, text: str, kind: str = "knowledge", **fields: Any) -> int:
    seen = {"owner": memory.scope.principal, "visibility": Visibility.PROJECT} | fields
    with memory.store.transaction(memory.scope, NOW) as tx:
        return link_entities(tx, kind, id, **seen, mentions=extract(text), now=NOW, new_id=new_id)


def entities(memory: Memory, **where: Any) -> dict[str, Entity]:
    with memory.store.reading(memory.scope, NOW) as tx:
        return {each.name: each for each in tx.entities.stream(EntityFilter(**where))}


def records_about(memory: Memory, name: str) -> set[str]:
    return {each.id for each in memory.entities.about(name).records}


def test_what_is_stored_is_linked_when_somebody_asks(memory: Memory) -> None:
    fact = memory.remember("Ada Lovelace works at Acme")
    turn = memory.turn(session="s", role="user", text="yesterday I met Ada Lovelace in Lyon")
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.episodes.create(sample(Episode, "e", task={"input": "write to Ada Lovelace"}))
    assert records_about(memory, "ada lovelace") == {fact.id, turn.id, "e"}
    assert memory.entities.about("Lyon").entity.kind is EntityKind.LOCATION
    assert memory.entities.about("Ada Lovelace").entity.mentions == 3


def test_a_job_links_what_is_new_once(memory: Memory) -> None:
    memory.turn(session="s", role="user", text="Ask Mr Smith about it")
    with memory.store.transaction(memory.scope, NOW) as tx:
        assert queue_linking(tx, NOW, new_id)
    memory.settle()
    first = entities(memory)
    assert first["Smith"].mentions == 1
    with memory.store.transaction(memory.scope, NOW) as tx:
        queue_linking(tx, NOW, new_id)
    memory.settle()
    assert entities(memory) == first


def test_linking_twice_changes_nothing(memory: Memory) -> None:
    text = "Mr Smith and Mr Smith met Dr Strange at Acme"
    assert link(memory, "k", text) == 3
    before = entities(memory)
    assert link(memory, "k", text) == 3
    assert entities(memory) == before
    assert before["Smith"].mentions == 1


def test_a_record_that_says_something_else_is_linked_anew(memory: Memory) -> None:
    link(memory, "k", "Mr Smith met Dr Strange")
    link(memory, "k", "Dr Strange left")
    assert set(entities(memory)) == {"Strange"}


def test_many_ways_to_write_one_name_are_one_entity(memory: Memory) -> None:
    for number, text in enumerate(("ask the API team now", "our API team fails", "ask API-Team about it")):
        link(memory, f"k{number}", text)
    memory.remember("the api team is on holiday", id="by-hand")
    memory.entities.link("by-hand", "api team")
    assert entities(memory)["API team"].mentions >= 3
    assert len([name for name in entities(memory) if "team" in name.lower()]) == 1


def test_one_name_of_two_kinds_is_two_entities(memory: Memory) -> None:
    link(memory, "a", "we flew to Paris in Paris")
    link(memory, "b", "Mrs Paris called")
    with memory.store.reading(memory.scope, NOW) as tx:
        found = tx.entities.find(EntityFilter(same_names=("paris",))).items
    assert {each.kind for each in found} == {EntityKind.LOCATION, EntityKind.PERSON}


def test_an_entity_becomes_what_somebody_surer_says(memory: Memory) -> None:
    link(memory, "a", "lunch with Ada Lovelace")
    assert entities(memory)["Ada Lovelace"].kind is EntityKind.OTHER
    link(memory, "b", "Ada Lovelace said so")
    assert entities(memory)["Ada Lovelace"].kind is EntityKind.PERSON
    assert entities(memory)["Ada Lovelace"].version == 1


def test_an_unknown_name_proposes_the_nearest(memory: Memory) -> None:
    memory.remember("Ada Lovelace works at Acme")
    with pytest.raises(NotFound, match="Ada Lovelace"):
        memory.entities.about("Adda Lovelace")
    with pytest.raises(NotFound, match="nothing is known about 'zzz'"):
        memory.entities.about("zzz")


def test_a_profile_tells_what_holds_and_in_which_order(memory: Memory) -> None:
    old = memory.remember(
        "Mr Smith lives in Paris", payload={"subject": "Smith", "attribute": "lives_in", "value": "Paris"}
    )
    memory.correct(old.id, "outdated", text="Mr Smith lives in Lyon")
    sure = memory.remember("Mr Smith leads the API team", confidence=0.99, valid_from=NOW - timedelta(days=9))
    memory.remember("Mr Smith may like tea", confidence=0.3)
    told = memory.entities.about("smith")
    assert old.id not in {fact.id for fact in told.facts}
    assert "Mr Smith lives in Lyon" in told.summary
    assert "Mr Smith leads the API team." in told.summary
    assert told.timeline[0].record == sure.id
    assert [each.at for each in told.timeline] == sorted(each.at for each in told.timeline)
    assert "API team" in {each.entity.name for each in told.related}
    assert [each.at for each in told.records] == sorted((each.at for each in told.records), reverse=True)


def test_two_names_are_merged_found_under_both_and_taken_apart(memory: Memory) -> None:
    first = memory.remember("Mr Clark Kent works here", id="kent")
    second = memory.remember("Mr Kal El flies", id="el")
    before = {name: each.replace(version=1, updated_at=NOW) for name, each in entities_after(memory).items()}
    memory.entities.merge("Kal El", into="Clark Kent")
    for name in ("Kal El", "Clark Kent", "clark-kent"):
        told = memory.entities.about(name)
        assert told.entity.name == "Clark Kent"
        assert {each.id for each in told.records} == {first.id, second.id}
        assert told.aliases == ("Kal El",)
        assert told.mentions == 2
    assert [each.name for each in memory.entities.find()] == ["Clark Kent"]
    with memory.store.reading(memory.scope, NOW) as tx:
        (named,) = tied_entities(tx, "who is Clark-Kent?", memory.settings.graph)
        assert {record for _, record in records_of(tx, named, memory.settings.graph)} == {first.id, second.id}
    memory.remember("Mr Kal El eats", id="later")
    assert records_about(memory, "Clark Kent") == {"kent", "el", "later"}
    memory.forget("later", hard=True)
    memory.entities.undo("Kal El")
    after = {name: each.replace(version=1, updated_at=NOW) for name, each in entities(memory).items()}
    assert after == before
    assert records_about(memory, "Kal El") == {"el"}


def entities_after(memory: Memory) -> dict[str, Entity]:
    memory.entities.find()
    return entities(memory)


def test_merges_in_a_row_end_at_the_last_and_circles_are_refused(memory: Memory) -> None:
    for name in ("Alpha", "Beta", "Gamma"):
        memory.remember(f"Mr {name} speaks", id=name)
    memory.entities.merge("Alpha", into="Beta")
    memory.entities.merge("Beta", into="Gamma")
    assert records_about(memory, "Alpha") == {"Alpha", "Beta", "Gamma"}
    with pytest.raises(InvalidInput, match="one already"):
        memory.entities.merge("Gamma", into="Alpha")
    with pytest.raises(InvalidInput, match="one already"):
        memory.entities.merge("Gamma", into="gamma")
    with pytest.raises(Conflict):
        memory.entities.undo("Alpha")
    memory.entities.undo("Beta")
    assert records_about(memory, "Alpha") == {"Alpha", "Beta"}


def test_a_circle_that_came_from_elsewhere_does_no_harm(memory: Memory) -> None:
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.entities.create(sample(Entity, "a", name="Alpha", merged_into="b"))
        tx.entities.create(sample(Entity, "b", name="Beta", merged_into="a"))
    assert memory.entities.about("Alpha").entity.name in ("Alpha", "Beta")
    assert link(memory, "k", "Mr Alpha speaks") == 1


def test_an_alias_finds_it_and_draws_in_what_was_called_so(memory: Memory) -> None:
    memory.remember("the Kubernetes project is down", id="one")
    memory.remember("Mr K8s is down", id="two")
    memory.entities.about("K8s")
    entity = memory.entities.alias("Kubernetes", "k8s", "kube")
    assert "kube" in entity.aliases
    assert records_about(memory, "KUBE") == {"one", "two"}
    memory.entities.undo("Kubernetes")
    assert records_about(memory, "Kubernetes") == {"one"}
    with pytest.raises(InvalidInput, match="no name"):
        memory.entities.alias("Kubernetes", " -- ")


def test_a_new_name_keeps_the_old_one(memory: Memory) -> None:
    memory.remember("Mr Smith speaks", id="k")
    memory.remember("Mr Brown speaks")
    memory.entities.rename("Smith", "John Smith")
    assert memory.entities.about("smith").entity.name == "John Smith"
    with pytest.raises(InvalidInput, match="merge"):
        memory.entities.rename("John Smith", "brown")
    memory.entities.undo("John Smith")
    with pytest.raises(NotFound):
        memory.entities.about("John Smith")
    with pytest.raises(NothingToUndo):
        memory.entities.undo("Smith")


def test_what_somebody_deleted_stays_away(memory: Memory) -> None:
    memory.remember("Mr Smith speaks", id="k")
    memory.entities.delete("Smith")
    memory.remember("Mr Smith speaks again", id="again")
    with pytest.raises(NotFound):
        memory.entities.about("Smith")
    assert memory.entities.find() == ()
    memory.entities.undo("Smith")
    assert "k" in records_about(memory, "Smith")


def test_a_link_by_hand_stays_when_the_record_is_read_again(memory: Memory) -> None:
    record = memory.remember("she likes tea")
    entity = memory.entities.link(record.id, "Ada", kind="person", aliases=["Countess"])
    assert (entity.kind, entity.aliases, entity.explicit) == (EntityKind.PERSON, ("Countess",), True)
    link(memory, record.id, "she likes tea with Mr Smith")
    assert records_about(memory, "countess") == {record.id}
    with pytest.raises(NotFound):
        memory.entities.link("nothing", "Ada")
    with pytest.raises(InvalidInput, match="no kind"):
        memory.entities.link(record.id, "Ada", kind="dog")


def test_the_list_comes_by_mentions_and_by_kind(memory: Memory) -> None:
    for number in range(3):
        memory.remember(f"Mr Smith said {number}")
    memory.remember("Mr Brown lives in Lyon")
    assert memory.entities.find()[0].name == "Smith"
    assert [each.name for each in memory.entities.find(kind="location")] == ["Lyon"]
    assert [each.name for each in memory.entities.find("brown")] == ["Brown"]
    assert len(memory.entities.find(limit=1)) == 1
    with pytest.raises(InvalidInput):
        memory.entities.find(limit=0)


def test_what_one_person_keeps_is_no_entity_of_others(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    ada.remember("Mr Moriarty owes me money", visibility=PERSONAL, id="mine")
    assert ada.entities.about("Moriarty").entity.visibility is PERSONAL
    with pytest.raises(NotFound) as refused:
        bob.entities.about("Moriarti")
    assert "Moriarty" not in str(refused.value)
    bob.remember("Mr Moriarty speaks", id="shared")
    assert records_about(bob, "Moriarty") == {"shared"}
    assert records_about(ada, "Moriarty") == {"mine", "shared"}
    assert bob.entities.about("Moriarty").mentions == 1


def test_a_personal_record_adds_nothing_to_what_others_see(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    bob.remember("Mr Holmes plays the violin", id="shared")
    before = bob.entities.about("Holmes")
    ada.remember("Mr Holmes takes cocaine", visibility=PERSONAL, id="mine")
    ada.entities.link("mine", "Holmes", aliases=["Sherlock"])
    assert records_about(ada, "holmes") == {"mine", "shared"}
    assert ada.entities.about("Sherlock").entity.name == "Holmes"
    assert bob.entities.about("Holmes") == before
    with pytest.raises(NotFound):
        bob.entities.about("Sherlock")


def test_what_all_see_is_not_merged_into_what_one_sees(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    bob.remember("Mr Watson writes", id="shared")
    ada.remember("Mr Johnny sleeps", visibility=PERSONAL, id="mine")
    with pytest.raises(InvalidInput, match="instead"):
        ada.entities.merge("Watson", into="Johnny")
    ada.entities.merge("Johnny", into="Watson")
    assert records_about(ada, "Johnny") == {"mine", "shared"}
    assert bob.entities.about("Watson").aliases == ()
    with pytest.raises(NotFound):
        bob.entities.about("Johnny")


@pytest.fixture
def raw_text(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> Callable[[], str]:
    """Every row of every table as one text, past the store and past row-level security."""

    def sqlite_rows() -> str:
        with closing(sqlite3.connect(tmp_path / "memory.db")) as raw:
            names = [name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return "\n".join(repr(row) for name in names for row in raw.execute(f'SELECT * FROM "{name}"'))

    def postgres_rows() -> str:
        import psycopg
        from sqlalchemy import make_url

        url = request.getfixturevalue("postgres_url")
        admin = make_url(request.getfixturevalue("postgres_admin_url")).set(database=make_url(url).database)
        with psycopg.connect(admin.render_as_string(False)) as raw:
            names = [name for (name,) in raw.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
            return "\n".join(repr(row) for name in names for row in raw.execute(f'SELECT * FROM "{name}"'))

    return {"sqlite": sqlite_rows, "postgresql": postgres_rows}[engine]


def test_a_name_leaves_with_the_last_record_that_held_it(
    open_memory: OpenMemory, raw_text: Callable[[], str], tmp_path: Path
) -> None:
    memory = open_memory()
    memory.remember("Mr Xylophonist owes money", id="k")
    memory.turn(session="s", role="user", text="ask Mr Xylophonist", id="t")
    memory.remember("Mr Bystander stays", id="b")
    assert records_about(memory, "Xylophonist") == {"k", "t"}
    memory.forget("k", hard=True)
    assert memory.entities.about("Xylophonist").entity.mentions == 1
    memory.forget("t", hard=True)
    assert "ylophonist" not in raw_text()
    with pytest.raises(NotFound):
        memory.entities.about("Xylophonist")
    assert records_about(memory, "Bystander") == {"b"}
    memory.close()
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or b"ylophonist" not in file.read_bytes(), file


def test_what_somebody_named_stays_without_records(memory: Memory) -> None:
    record = memory.remember("she likes tea")
    memory.entities.link(record.id, "Ada")
    memory.forget(record.id, hard=True)
    assert memory.entities.about("Ada").records == ()


def test_what_only_personal_records_still_speak_of_is_no_longer_seen_by_others(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    bob.remember("Mr Xylophonist plays", id="shared")
    bob.entities.about("Xylophonist")
    ada.remember("Mr Xylophonist owes me money", visibility=PERSONAL, id="mine")
    assert records_about(ada, "Xylophonist") == {"mine", "shared"}
    bob.forget("shared", hard=True)
    with pytest.raises(NotFound):
        bob.entities.about("Xylophonist")
    assert records_about(ada, "Xylophonist") == {"mine"}
    assert ada.entities.about("Xylophonist").entity.visibility is PERSONAL


def test_a_record_that_becomes_personal_takes_its_names_along(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    record = ada.remember("Mr Xylophonist plays")
    assert bob.entities.about("Xylophonist")
    with ada.store.transaction(ada.scope, NOW) as tx:
        tx.knowledge.update(record.replace(visibility=PERSONAL, content="Mr Xylophonist plays well"))
    assert records_about(ada, "Xylophonist") == {record.id}
    with pytest.raises(NotFound):
        bob.entities.about("Xylophonist")


class Told:
    """Progress that adds up what it is told."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def expect(self, total: int) -> None: ...

    def advance(self, cursor: str | None, steps: int = 1, **counts: int) -> None:
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count


class Answering:
    """Models with a writer that says the same of each text, or that is down."""

    def __init__(self, answer: str | None) -> None:
        self.answer, self.asked, self.model = answer, 0, "test-writer"
        self.failures: list[str] = []

    def writer(self, *, hurried: bool = False) -> Any:
        return self

    def write(self, prompt: str, *, most_tokens: int, schema: Any = None) -> str:
        self.asked += 1
        if self.answer is None:
            raise ModelUnavailable("down")
        return self.answer

    def failed(self, part: str, error: ModelUnavailable) -> None:
        self.failures.append(part)


def enrich(memory: Memory, models: Any, **changes: Any) -> dict[str, int]:
    progress = Told()
    settings = memory.settings.replace(entities=memory.settings.entities.replace(**changes))
    enrich_entities(StageRun(memory.scope, memory.store, NOW, settings, models, new_id, progress))
    return progress.counts


def test_a_night_reads_again_what_has_few_names_some_at_a_time(memory: Memory) -> None:
    for number in range(3):
        memory.remember(f"zoë likes tea number {number}", id=f"k{number}")
    memory.remember("Mr Smith and Dr Strange met Mrs Brown", id="enough")
    models = Answering('{"entities": [{"name": "zoë", "kind": "person"}]}')
    assert enrich(memory, models, nightly_llm=2)["enriched"] == 2
    assert records_about(memory, "Zoë") == {"k0", "k1"}
    assert enrich(memory, models, nightly_llm=2)["enriched"] == 1
    assert records_about(memory, "Zoë") == {"k0", "k1", "k2"}
    assert enrich(memory, models).get("enriched") is None
    assert models.asked == 3


def test_a_night_without_a_model_only_counts(memory: Memory) -> None:
    memory.remember("zoë likes tea", id="k")
    assert enrich(memory, memory.models) == {"skipped": 1}
    models = Answering('{"entities": [{"name": "zoë", "kind": "person"}]}')
    assert enrich(memory, models)["enriched"] == 1


def test_a_model_that_fails_leaves_the_rest_for_the_next_night(memory: Memory) -> None:
    memory.remember("zoë likes tea", id="k")
    down = Answering(None)
    assert enrich(memory, down) == {"failed": 1}
    assert down.failures == ["writer"]
    assert enrich(memory, Answering("no JSON at all")) == {"links": 0, "unusable": 1}


def test_how_far_was_read_holds_also_where_the_last_document_is_gone(memory: Memory) -> None:
    memory.remember("Mr Smith speaks", id="a")
    memory.remember("Mr Brown speaks", id="b")
    memory.entities.find()
    memory.forget("b", hard=True)
    memory.remember("Mr Green speaks", id="c")
    assert {each.name for each in memory.entities.find()} == {"Smith", "Green"}
    with memory.store.reading(memory.scope, NOW) as tx:
        assert tx.runs.find(RunFilter(stages=("entities linked",))).items
        assert tx.entity_links.count(EntityLinkFilter(records=("a",))) == 1


def test_another_project_knows_nothing_of_it(open_memory: OpenMemory) -> None:
    memory, other = open_memory(), open_memory(project="q")
    memory.remember("Mr Smith speaks")
    memory.entities.about("Smith")
    with pytest.raises(NotFound):
        other.entities.about("Smith")
    assert Scope(project="q").project == other.scope.project
