"""What holds of entities whatever is said: spelling, overlaps, merging and taking apart, and who sees what."""

from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from uuid import uuid4

from hypothesis import example, given
from hypothesis import strategies as st

import treering
from tests.samples import NOW
from treering.compose import new_id
from treering.core.entities import Entity, EntityKind
from treering.core.errors import InvalidInput, TreeringError
from treering.core.queries import EntityFilter
from treering.core.scope import Visibility
from treering.core.statements import same_name
from treering.entities.extraction.mentions import EntityMention, without_overlaps
from treering.entities.extraction.rules import extract
from treering.entities.links import RecordMentions, link_records
from treering.memory import Memory

NAMES = ("Ada Lovelace", "API team", "Kubernetes", "k8s", "Bob", "Lyon", "Zoë", "C++")
PEOPLE = ("ada", "bob")

texts = st.text(max_size=300) | st.lists(
    st.sampled_from(
        (*NAMES, "Mr", "at", "in", "the", ".", "said", "@x_y", "https://a.b/c", "2026-05-08", "İ", "ǅ", "'s")
    ),
    max_size=20,
).map(" ".join)


@given(texts)
def test_a_mention_stands_where_it_says_and_can_be_kept(text: str) -> None:
    found = extract(text)
    assert found == extract(text)
    for mention in found:
        assert 0 <= mention.start < mention.end <= len(text)
        assert same_name(mention.name)
        assert mention.kind is EntityKind.DATE or text[mention.start : mention.end] == mention.name
        assert 0 < mention.confidence <= 1
        Entity(id="e", kind=mention.kind, name=mention.name, created_at=NOW, updated_at=NOW)
    assert all(one.end <= other.start for one, other in pairwise(found))


spans = st.tuples(st.integers(0, 30), st.integers(1, 10), st.sampled_from((0.1, 0.5, 0.9))).map(
    lambda span: EntityMention("x", EntityKind.OTHER, span[0], span[0] + span[1], span[2], "t")
)


@given(st.lists(spans, max_size=12))
def test_whatever_gives_way_gives_way_to_what_is_surer_or_longer(mentions: list[EntityMention]) -> None:
    kept = without_overlaps(mentions)
    assert set(kept) <= set(mentions)
    assert kept == without_overlaps(reversed(mentions))
    for lost in set(mentions) - set(kept):
        winners = [k for k in kept if k.start < lost.end and lost.start < k.end]
        assert any((k.confidence, k.length, -k.start) >= (lost.confidence, lost.length, -lost.start) for k in winners)


@given(st.sampled_from(NAMES), st.sampled_from(("the {}", "our {}", "{}", " {} ", "{}.")), st.booleans(), st.booleans())
def test_spelling_does_not_make_another_name(name: str, around: str, upper: bool, hyphens: bool) -> None:
    written = around.format(name.upper() if upper else name.lower())
    written = written.replace(" ", "-") if hyphens and not written.startswith(" ") else written
    assert same_name(written) == same_name(name)
    assert same_name(same_name(written)) == same_name(written)


steps = st.lists(
    st.one_of(
        st.tuples(st.just("merge"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
        st.tuples(st.just("alias"), st.sampled_from(NAMES), st.sampled_from((*NAMES, "other name"))),
        st.tuples(st.just("rename"), st.sampled_from(NAMES), st.sampled_from((*NAMES, "new name"))),
        st.tuples(st.just("delete"), st.sampled_from(NAMES), st.none()),
        st.tuples(st.just("speak"), st.sampled_from(NAMES), st.none()),
    ),
    max_size=6,
)


def speak(memory: Memory, record: str, name: str, **seen: Any) -> None:
    mention = EntityMention(name, EntityKind.OTHER, 0, len(name), 0.9, "test")
    audience = {"owner": memory.scope.principal, "visibility": Visibility.PROJECT} | seen
    with memory.store.transaction(memory.scope, NOW) as tx:
        link_records(tx, [RecordMentions("knowledge", record, **audience, at=NOW, mentions=(mention,))], new_id)


def change(memory: Memory, verb: str, name: str, other: str | None) -> tuple[str, ...]:
    """The ids to undo it by; none where it was refused."""
    try:
        if verb == "merge":
            before = memory.entities.find(name)
            memory.entities.merge(name, into=str(other))
            return (before[0].id,) if before else ()
        if verb == "delete":
            return (memory.entities.delete(name).id,)
        return (getattr(memory.entities, verb)(name, other).id,)
    except (InvalidInput, TreeringError):
        return ()


def state(memory: Memory) -> dict[str, Entity]:
    with memory.store.reading(memory.scope, NOW) as tx:
        found = tx.entities.stream(EntityFilter(deleted=None))
        return {each.id: each.replace(version=1, updated_at=NOW) for each in found}


def opened(folder: Path, project: str | None = None, **options: Any) -> Memory:
    """Another project of the same file for each example."""
    return treering.open(folder / "m.db", project=project or uuid4().hex, background=False, **options)


@given(steps, st.sampled_from(NAMES), st.sampled_from(NAMES))
def test_merging_and_taking_apart_is_as_if_nothing_was(tmp_path: Path, before: list[Any], one: str, other: str) -> None:
    with opened(tmp_path) as memory:
        for number, name in enumerate(NAMES):
            speak(memory, f"k{number}", name)
        for number, (verb, *names) in enumerate(before):
            if verb == "speak":
                speak(memory, f"s{number}", names[0])
            else:
                change(memory, verb, *names)
        was = state(memory)
        for changed in change(memory, "merge", one, other):
            merged = state(memory)
            speak(memory, "between", one)
            memory.entities.undo(changed)
            assert merged != was
        now = state(memory)
        assert {id: each.replace(mentions=0) for id, each in now.items()} == {
            id: each.replace(mentions=0) for id, each in was.items()
        }


@given(steps)
def test_no_order_of_changes_makes_a_circle_or_loses_a_record(tmp_path: Path, changes: list[Any]) -> None:
    with opened(tmp_path) as memory:
        for number, name in enumerate(NAMES):
            memory.remember(f"something {number}", id=f"k{number}")
            speak(memory, f"k{number}", name)
            memory.entities.link(f"k{number}", name)
        for verb, *names in changes:
            if verb not in ("speak", "delete"):
                change(memory, verb, *names)
        told = {name: {each.id for each in memory.entities.about(name).records} for name in NAMES}
        assert all(f"k{number}" in told[name] for number, name in enumerate(NAMES))
        counted = sum(each.mentions for each in memory.entities.find(limit=100))
        assert counted == len(NAMES)


said = st.lists(
    st.tuples(st.sampled_from(PEOPLE), st.booleans(), st.sampled_from(NAMES), st.integers(0, 3)), max_size=10
)


@example([("ada", False, "Ada Lovelace", 0), ("ada", True, "Ada Lovelace", 0), ("ada", True, "Ada Lovelace", 0)])
@given(said)
def test_nobody_sees_an_entity_that_only_others_keep_to_themselves(
    tmp_path: Path, records: list[tuple[str, bool, str, int]]
) -> None:
    project = uuid4().hex
    memories = {person: opened(tmp_path, project, principal=person) for person in PEOPLE}
    last: dict[str, tuple[str, bool, str]] = {}
    for person, personal, name, place in records:
        id = f"{person}{place}"
        last[id] = (person, personal, name)
        visibility = Visibility.PERSONAL if personal else Visibility.PROJECT
        speak(memories[person], id, name, visibility=visibility)
    for person, memory in memories.items():
        with memory.store.reading(memory.scope, NOW + timedelta(days=1)) as tx:
            seen = {same_name(each.name): each for each in tx.entities.stream()}
            links = {(link.record, link.entity) for link in tx.entity_links.stream()}
        mine = {same_name(name) for who, hidden, name in last.values() if who == person or not hidden}
        shared = [same_name(name) for _, hidden, name in last.values() if not hidden]
        assert set(seen) == mine
        assert {record for record, _ in links} == {
            id for id, (who, hidden, _) in last.items() if who == person or not hidden
        }
        for name, entity in seen.items():
            if entity.visibility is not Visibility.PERSONAL:
                assert entity.mentions == shared.count(name)
    for memory in memories.values():
        memory.close()
