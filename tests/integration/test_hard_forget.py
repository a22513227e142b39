"""Removed for good, and shown to be: whatever copies there were, the words are in no file; what remains is named."""

import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

import treering
from tests.conftest import OpenMemory
from tests.contract.test_forgetting import Counted, run_of
from tests.samples import NOW, SMALL_BLOBS, sample
from treering.adapters.sql import sqlite
from treering.core.entities import EntityLink
from treering.core.episodes import Episode
from treering.core.jobs import Job, JobState
from treering.core.runs import Run
from treering.knowledge.reflection.stage import reflect
from treering.knowledge.removal.proof import Proof, pieces_of
from treering.knowledge.removal.stage import forget_expired
from treering.memory import Memory

SECRET = "the ocelot sleeps behind the seventh vault"
LONG = f"{SECRET}, and nobody must know. " * 100


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(settings=SMALL_BLOBS, clock=lambda: NOW, background=False)


def proven(memory: Memory, id: str) -> Proof:
    gone = memory.forget(id, hard=True)
    assert gone is not None
    return gone.prove()


def assert_nowhere(memory: Memory, tmp_path: Path) -> None:
    """Past the store: no file that this test has made holds the words."""
    memory.close()
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or SECRET.encode() not in file.read_bytes(), file


def machinery(memory: Memory, id: str) -> None:
    """Jobs and runs that speak of the record, waiting and over."""
    with memory.store.transaction(memory.scope, NOW) as tx:
        jobs = (
            ("a", JobState.DEAD, f"cannot read {SECRET}"),
            ("b", JobState.DONE, None),
            ("c", JobState.QUEUED, SECRET),
        )
        tx.jobs.create_many(
            [
                sample(Job, name, kind="tidy", state=state, error=error, payload={"record": id})
                for name, state, error in jobs
            ]
        )
        tx.runs.put_many([sample(Run, "run", error=f"stopped at {SECRET}"), sample(Run, "other", error="no disk")])


def everywhere(memory: Memory) -> str:
    """A record with every kind of copy there is."""
    record = memory.remember(LONG, type="fact", tags=["ocelot"], files=["vault.py"], payload={"value": SECRET})
    for text in ("the moon is far away", "water is wet"):
        memory.remember(text, type="fact")
    with memory.store.transaction(memory.scope, NOW) as tx:
        tx.knowledge.update(tx.knowledge.get(record.id).replace(content=f"Remember that {SECRET}"))
        tx.entity_links.put_many([sample(EntityLink, "link", record=record.id, mention=SECRET)])
    reflect(run_of(memory, NOW))
    memory.flag(record.id, f"I doubt that {SECRET}")
    memory.confirm(record.id)
    machinery(memory, record.id)
    task = memory.task("Find the ocelot")
    task.retrieve_from_episodic("where does the ocelot sleep")
    task.save()
    memory.settle()
    memory.search("ocelot")
    memory.forget(record.id)
    return record.id


def a_turn(memory: Memory) -> str:
    talk = memory.conversation("long", model="gpt-4o", limit=1_200, keep_recent=2, strategy="rolling_window")
    told = talk.add("user", f"Never forget that {SECRET}.")
    talk.add("assistant", "Noted.")
    for number in range(40):
        talk.add("user", f"What does part {number} do, and how does it hang together with the others?")
        talk.add("assistant", f"Part {number} holds one step of the work and calls the next one when it is done.")
    talk.build()
    return str(told.id)


def a_cold_episode(memory: Memory) -> str:
    with memory.store.transaction(memory.scope, NOW) as tx:
        outcome = {"status": "FAILURE", "output": LONG}
        episode = tx.episodes.create(sample(Episode, "cold", task={"input": SECRET}, outcome=outcome))
        tx.episodes.move_to_blobs(episode.replace(outcome={"status": "FAILURE", "output": "short"}))
    memory.search("short")
    return "cold"


MAKERS: dict[str, Callable[[Memory], str]] = {"knowledge": everywhere, "turn": a_turn, "episode": a_cold_episode}


@pytest.mark.parametrize("kind", MAKERS)
def test_no_copy_of_any_kind_is_left(kind: str, memory: Memory, tmp_path: Path) -> None:
    id = MAKERS[kind](memory)
    proof = proven(memory, id)
    assert proof.remains == ()
    assert str(proof) == f"searched {proof.files:,} files, {proof.size:,} bytes: no trace"
    assert proof.files > 0
    assert proof.size > 100_000
    assert proof.pieces > 0
    if kind == "knowledge":
        with memory.store.reading(memory.scope, NOW) as tx:
            assert {job.id for job in tx.jobs.find().items if job.kind == "tidy"} == {"c"}
            errors = {run.id: run.error for run in tx.runs.find().items if run.error}
            assert errors == {"run": "stopped at …", "other": "no disk"}
    assert_nowhere(memory, tmp_path)


def test_the_search_finds_what_is_there(memory: Memory) -> None:
    """A proof is worth what the search can find: in rows, in earlier states, in blobs, inside JSON."""
    needle = 'says "ü" and\ta tab'
    short = memory.remember(f"short, {needle}", payload={"value": needle}).id
    long = memory.remember(f"long, {needle} " * 100).id
    memory.pin(short)
    found = memory.store.find_traces(memory.scope, NOW, [needle, "stands nowhere at all"]).found
    assert {trace.needle for trace in found} == {needle}
    assert {trace.place.split(" ")[0] for trace in found} >= {"knowledge.content", "knowledge.rest", "revisions.before"}
    assert any(trace.place.startswith("blob ") for trace in found)
    assert {trace.record for trace in found} >= {short}
    memory.forget(long, hard=True)
    found = memory.store.find_traces(memory.scope, NOW, [needle]).found
    assert not any(trace.place.startswith("blob ") for trace in found)


def test_another_record_with_the_same_words_is_named_as_such(memory: Memory) -> None:
    other = memory.remember(f"He said that {SECRET}", type="decision")
    record = memory.remember(SECRET, type="fact")
    proof = proven(memory, record.id)
    assert not proof.clean
    assert {(each.place, each.record) for each in proof.remains} == {("knowledge.content", other.id)}
    assert "another record with the same words" in proof.remains[0].meaning
    assert other.id in str(proof)
    assert proven(memory, other.id).clean


def test_another_projects_record_is_not_told_apart(open_memory: OpenMemory, engine: str) -> None:
    mine, theirs = open_memory(project="mine"), open_memory(project="theirs")
    theirs.remember(SECRET, type="fact", id="their-secret-id")
    proof = proven(mine, mine.remember(SECRET, type="fact").id)
    assert "their-secret-id" not in str(proof)
    assert proof.clean is (engine == "postgresql")


def test_somebody_elses_own_record_is_not_told_apart(open_memory: OpenMemory) -> None:
    ada, bob = open_memory(principal="ada"), open_memory(principal="bob")
    ada.remember(SECRET, type="decision", id="adas-own-id", visibility="personal")
    proof = proven(bob, bob.remember(SECRET, type="fact").id)
    assert "adas-own-id" not in str(proof)
    assert {each.record for each in proof.remains} == {"another principal's personal record"}


def test_a_note_in_the_log_repeats_nothing(memory: Memory) -> None:
    record = memory.remember(SECRET, type="fact")
    memory.flag(record.id, f"Surely “{SECRET.upper()}” is wrong, or is it?")
    note = memory.history(record.id)[0].detail["note"]
    assert note == "Surely … is wrong, or is it?"
    assert proven(memory, record.id).clean


def test_what_says_too_little_is_not_looked_for(memory: Memory) -> None:
    proof = proven(memory, memory.remember("wet", type="fact").id)
    assert (proof.pieces, proof.clean) == (0, True)
    assert str(proof).startswith("not searched")


def test_what_faded_and_is_past_its_grace_leaves_no_trace(memory: Memory, tmp_path: Path) -> None:
    memory.remember(LONG, type="fact", source="qa_auto", half_life_days=7)
    for days in (60, 91):
        progress = Counted()
        forget_expired(run_of(memory, NOW + timedelta(days=days), progress))
    assert progress.counts["removed"] == 1
    assert memory.store.find_traces(memory.scope, NOW, [SECRET[:24], SECRET[-24:]]).found == ()
    assert_nowhere(memory, tmp_path)


@pytest.mark.parametrize(
    "texts", [(), ("x",), ("short text",), (LONG,), (LONG, "another text that is not so long", "y" * 9)]
)
def test_pieces_are_few_and_stand_in_the_text(texts: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treering.knowledge.removal.proof.PROOF_PIECES", 10)
    pieces = pieces_of(texts)
    assert len(pieces) <= 10
    assert all(any(piece in text for text in texts) for piece in pieces)
    assert bool(pieces) is any(len(text) >= 8 for text in texts)


@pytest.mark.parametrize("id", ["session", "tidy", "ada", "payload"])
def test_a_job_that_is_over_leaves_only_with_what_it_works_on(memory: Memory, id: str) -> None:
    payloads = {"names": {"session": "s", "tidy": {"ada": 1}}, "works on": {"of": [{"record": id}]}}
    with memory.store.transaction(memory.scope, NOW) as tx:
        for name, payload in payloads.items():
            job = Job(id=name, kind="tidy", payload=payload, state=JobState.DONE, run_at=NOW, created_at=NOW)
            tx.jobs.create_many([job])
    memory.remember("something that is to be removed", id=id)
    memory.forget(id, hard=True)
    with memory.store.reading(memory.scope, NOW) as tx:
        assert [job.id for job in tx.jobs.find().items if job.kind == "tidy"] == ["names"]


def test_at_night_nobody_waits_for_a_reader_and_the_next_run_finishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does a writer wait for the stage: it writes between two attempts to empty the log."""
    memory = treering.open(tmp_path / "m.db", clock=lambda: NOW, background=False)
    memory.forget(memory.remember(SECRET, type="decision").id)
    reading, done, steps, emptied_log = threading.Event(), threading.Event(), list[str](), sqlite._emptied_log

    def attempted(engine: Engine) -> bool:
        steps.append("attempt")
        return emptied_log(engine)

    monkeypatch.setattr(sqlite, "_emptied_log", attempted)

    def read() -> None:
        with memory.store.reading(memory.scope, NOW) as tx:
            tx.knowledge.count()
            reading.set()
            done.wait(60)

    reader = threading.Thread(target=read)
    reader.start()
    reading.wait(60)
    first, second = Counted(), Counted()
    stage = threading.Thread(target=forget_expired, args=(run_of(memory, NOW + timedelta(days=60), first),))
    stage.start()
    while stage.is_alive():
        memory.remember(f"written as number {len(steps)}")
        steps.append("write")
    assert (first.counts["removed"], first.counts["traces_left"]) == (1, 1)
    attempts = [place for place, step in enumerate(steps) if step == "attempt"]
    assert "write" in steps[attempts[0] : attempts[-1]]
    done.set()
    reader.join()
    forget_expired(run_of(memory, NOW + timedelta(days=61), second))
    assert second.counts["traces_forgotten"] == 1
    assert SECRET.encode() not in b"".join(each.read_bytes() for each in tmp_path.glob("m.db*") if each.is_file())
    memory.close()


def test_code_that_says_the_same_words_is_named_as_such(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "x.py").write_text("def she_lives_behind_the_old_mill_in_tromso():\n    pass\n")
    memory.code.index(tmp_path / "code", history=False)
    proof = proven(memory, memory.remember("she_lives_behind_the_old_mill_in_tromso", type="fact").id)
    assert {each.place.partition(".")[0] for each in proof.remains} >= {"code_files"}
    assert all("your code contains the same words" in each.meaning for each in proof.remains)
