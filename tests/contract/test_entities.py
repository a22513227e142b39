"""Entities on both engines: linked, told about, merged and taken apart, seen by whom they belong to, and forgotten."""

import json
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
from treering.core.privacy import ModelLocation
from treering.core.queries import EntityFilter, EntityLinkFilter, RunFilter
from treering.core.scope import Scope, Visibility
from treering.entities.enrichment import enrich_entities
from treering.entities.extraction.rules import extract
from treering.entities.link_jobs import queue_linking
from treering.entities.links import RecordMentions, link_records
from treering.interfaces.cli.app import app
from treering.interfaces.cli.exit_codes import run
from treering.jobs.stage import StageRun
from treering.memory import Memory
from treering.search.entity_names import entities_in_query, mentions_of

PERSONAL = Visibility.PERSONAL


def link(memory: Memory, id: str, text: str, kind: str = "knowledge", **fields: Any) -> int:
    seen = {"owner": memory.scope.principal, "visibility": Visibility.PROJECT} | fields
    with memory.store.transaction(memory.scope, NOW) as tx:
        return link_records(tx, [RecordMentions(kind, id, **seen, at=NOW, mentions=extract(text))], new_id)


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
    with pytest.raises(NotFound, match="no entity 'zzz'"):
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
        (named,) = entities_in_query(tx, "who is Clark-Kent?")
        assert {record for _, record in mentions_of(tx, named)} == {first.id, second.id}
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
    with pytest.raises(InvalidInput, match="the same entity already"):
        memory.entities.merge("Gamma", into="Alpha")
    with pytest.raises(InvalidInput, match="the same entity already"):
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
    with pytest.raises(InvalidInput, match="not a name"):
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
    with pytest.raises(InvalidInput, match="not a kind"):
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

    location = ModelLocation.HERE

    def __init__(self, answer: str | None) -> None:
        self.answer, self.asked, self.model = answer, 0, "test-writer"
        self.failures: list[str] = []

    def writer(self, *, hurried: bool = False) -> Any:
        return self

    spent = 0

    def write(self, prompt: str, *, max_tokens: int, schema: Any = None) -> str:
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


def test_no_language_model_reads_what_is_personal(memory: Memory) -> None:
    memory.remember("zoë likes tea", id="mine", visibility="personal")
    models = Answering('{"entities": [{"name": "zoë", "kind": "person"}]}')
    assert enrich(memory, models).get("enriched") is None
    assert models.asked == 0
    memory.remember("zoë likes cake", id="ours")
    assert enrich(memory, models)["enriched"] == 1
    assert models.asked == 1
    assert records_about(memory, "zoë") == {"ours"}


def test_no_language_model_reads_where_learning_is_to_go_without(memory: Memory) -> None:
    memory.remember("zoë likes tea", id="k")
    models: Any = Answering('{"entities": [{"name": "zoë", "kind": "person"}]}')
    progress = Told()
    settings = memory.settings.replace(learn=memory.settings.learn.replace(model="off"))
    enrich_entities(StageRun(memory.scope, memory.store, NOW, settings, models, new_id, progress))
    assert (models.asked, progress.counts) == (0, {"skipped": 1})


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


def test_the_night_stage_runs_by_its_name(memory: Memory) -> None:
    memory.remember("Mr Smith speaks", id="k")
    (done,) = memory.maintenance.run("enrich")
    assert (done.state, done.counts.get("skipped")) == ("done", 1)
    assert "Smith" in entities(memory)


def test_an_episode_that_was_moved_away_keeps_its_links(memory: Memory) -> None:
    outcome = {"status": "SUCCESS", "output": "Mr Smith signed"}
    with memory.store.transaction(memory.scope, NOW) as tx:
        whole = tx.episodes.create(sample(Episode, "e", task={"input": "ask Mr Brown"}, outcome=outcome))
    assert records_about(memory, "Smith") == {"e"}
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.episodes.move_to_blobs(whole.replace(outcome={"status": "SUCCESS"}))
    assert records_about(memory, "Smith") == {"e"}


def test_the_command_line_tells_lists_and_puts_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--db", str(tmp_path / "cli.db"), "--project", "p"]

    def treering_says(*arguments: str) -> Any:
        code = run(app, [*arguments, *where, "--json"])
        said = capsys.readouterr()
        return json.loads(said.out) if code == 0 else json.loads(said.err)["error"]

    for name in ("Smith", "Brown"):
        treering_says("remember", f"Mr {name} lives in Lyon")
    told = treering_says("about", "smith")
    assert (told["entity"]["name"], told["related"][0]["entity"]["name"]) == ("Smith", "Lyon")
    listed = treering_says("entities", "--kind", "person")["entities"]
    assert {each["name"] for each in listed} == {"Smith", "Brown"}
    assert treering_says("entities", "--merge", "Brown", "--into", "Smith")["entities"][0]["aliases"] == ["Brown"]
    assert len(treering_says("entities", "--undo", "Brown")["entities"]) == 2
    assert treering_says("entities", "--alias", "Brown", "--as", "Bo")["entities"][0]["aliases"] == ["Bo"]
    assert treering_says("entities", "--rename", "Brown", "--as", "Bob Brown")["entities"][0]["name"] == "Bob Brown"
    assert treering_says("entities", "--delete", "Smith")["entities"][0]["name"] == "Smith"
    assert "Bob Brown" in treering_says("about", "Bob Browne")
    assert "needs --into" in treering_says("entities", "--merge", "Brown")
    assert "use one of them" in treering_says("entities", "--delete", "Brown", "--undo", "Brown")
    assert run(app, ["about", "Bo", *where]) == 0
    assert "Bob Brown  person, 1 mention, also Bo, Brown" in capsys.readouterr().out
