"""Statistics over observed sessions, and the records made of them. On both engines."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.conftest import OpenMemory
from tests.contract.test_forgetting import Counted, run_of
from tests.contract.test_reflection import Written
from tests.session_events import ROOT, Session
from treering.adapters.sql.store import SqlTransaction
from treering.compose import now
from treering.compose.stores import new_id
from treering.core.co_access import CoAccessEdge
from treering.core.errors import ModelUnavailable, NotFound
from treering.core.jobs import after_session_job
from treering.core.observations import PROMOTION, SYNTHESIS, SignalEvidence, evidence_id
from treering.core.payloads import ContextCost, PrefetchPattern, TaskCalibration, WorkUnitOutcome
from treering.core.privacy import ModelLocation
from treering.core.queries import KnowledgeFilter
from treering.core.records import Knowledge
from treering.memory import Memory
from treering.observe.after_session import do_after_session
from treering.observe.co_access import ID_PREFIX, edge_id, weight_of
from treering.observe.synthesis import session_synthesis
from treering.observe.synthesis.model_synthesis import MODEL_TAG
from treering.observe.synthesis.records import DraftGroup, SynthesisDraft, SynthesisWriter
from treering.observe.synthesis.session_facts import session_facts
from treering.observe.synthesis.statistics import (
    FILE_SESSIONS,
    MODULE_SESSIONS,
    SESSION_COUNTS,
    ModuleStatistics,
)
from treering.observe.synthesis.weekly import correct_weights, write_chains
from treering.search.graph_path import coupled_files

TIDE, TABLE, MOON = "tides/tide.go", "tides/table.go", "moon/phase.go"


class NoWriter(Written):
    """Models without a language model; the others are those of the memory."""

    def __init__(self, memory: Memory, *answers: str | Exception) -> None:
        super().__init__(*answers)
        self.local_embedder = memory.models.local_embedder


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(background=False)


def observe(memory: Memory, id: str, session: Session, *, models: Any = None, **finish: Any) -> None:
    watch = memory.observe(id, root=ROOT)
    for event in session.events:
        watch.event(event)
    watch.finish(**finish)
    run_job(memory, id, models)


def run_job(memory: Memory, id: str, models: Any = None) -> None:
    moment = now()
    job = after_session_job(id, memory.scope.principal, moment, "job")
    options: dict[str, Any] = {"models": models or memory.models, "settings": memory.settings}
    do_after_session(memory.scope, memory.store, job, moment, new_id=memory._parts.new_id, **options)


def together(*paths: str) -> Session:
    session = Session()
    for path in paths:
        session.edit(path, "old line here", f"new line in {path}")
    return session


def edges(memory: Memory) -> dict[tuple[str, str], CoAccessEdge]:
    with memory.store.reading(memory.scope, now()) as tx:
        found = [each for each in tx.co_access.stream() if each.id.startswith(ID_PREFIX)]
    return {(min(each.first, each.second), max(each.first, each.second)): each for each in found}


def rows(memory: Memory, signal: str) -> dict[str, SignalEvidence]:
    with memory.store.reading(memory.scope, now()) as tx:
        return {each.subject: each for each in tx.evidence.stream() if each.signal == signal}


def records(memory: Memory, type: str) -> list[Knowledge]:
    with memory.store.reading(memory.scope, now()) as tx:
        found = tx.knowledge.find(KnowledgeFilter(types=(type,), all_tags=(SYNTHESIS,))).items
    return list(found)


def prefetch_patterns(memory: Memory, module: str = "tides") -> list[Knowledge]:
    found = records(memory, "prefetch_pattern")
    return [
        each for each in found if isinstance(each.payload, PrefetchPattern) and each.payload.module_trigger == module
    ]


def weekly(memory: Memory, days: float = 0) -> dict[str, int]:
    progress = Counted()
    run = run_of(memory, now() + timedelta(days=days), progress)
    correct_weights(run, PROMOTION)
    return dict(write_chains(run, PROMOTION))


def test_sessions_make_edges_that_search_uses(memory: Memory) -> None:
    for number in range(3):
        observe(memory, f"s{number}", together(TIDE, TABLE))
    observe(memory, "s3", together(TIDE, MOON))
    weekly(memory)
    edge = edges(memory)[TABLE, TIDE]
    assert (edge.sessions, edge.tainted_sessions, edge.by_task_type) == (3, 0, {"build": 3})
    assert edge.weight == weight_of(3, 3, 4)
    assert edge.mean_delta_ms == 2_000
    with memory.store.reading(memory.scope, now()) as tx:
        assert [*coupled_files(tx, (TIDE,))] == [TABLE, MOON]


def test_related_uses_sessions_with_and_without_an_index(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        memory.code.related(TIDE)
    for number in range(3):
        observe(memory, f"s{number}", together(TIDE, TABLE, MOON))
    found = memory.code.related(TIDE)
    assert [each.path for each in found.related] == [MOON, TABLE]
    assert found.related[0].reasons == ("used together in sessions",)
    assert "not indexed" in found.without_history
    for path in (TIDE, TABLE, MOON, "tides/other.go"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("package x\n")
    memory.code.index(tmp_path)
    ranked = memory.code.related(TIDE).related
    assert {each.path for each in ranked[:2]} == {TABLE, MOON}
    assert all("used together in sessions" in each.reasons for each in ranked[:2])


def test_a_repeated_job_and_a_continued_session_count_nothing_twice(memory: Memory) -> None:
    session = together(TIDE, TABLE)
    observe(memory, "s1", session)
    once = edges(memory), rows(memory, FILE_SESSIONS), rows(memory, MODULE_SESSIONS)
    run_job(memory, "s1")
    assert (edges(memory), rows(memory, FILE_SESSIONS), rows(memory, MODULE_SESSIONS)) == once
    before = edges(memory)[TABLE, TIDE]
    observe(memory, "s1", session.edit(TIDE).edit(MOON))
    edge = edges(memory)[TABLE, TIDE]
    assert (edge.sessions, edge.count) == (1, before.count + 1)
    assert {path: row.occurrences for path, row in rows(memory, FILE_SESSIONS).items()} == dict.fromkeys(
        (TIDE, TABLE, MOON), 1
    )
    assert {name: row.occurrences for name, row in rows(memory, MODULE_SESSIONS).items()} == {"tides": 1, "moon": 1}


def test_a_resumed_session_that_repeats_the_events_of_another_counts_once(memory: Memory) -> None:
    session = Session()
    for path in (TIDE, TABLE):
        session.event(
            "tool_call", tool="Edit", call_id=f"call-of-{path}-0123456789", arguments={"file_path": f"{ROOT}/{path}"}
        )
    observe(memory, "s1", session)
    observe(memory, "s2", session.edit(MOON))
    found = edges(memory)
    assert found[TABLE, TIDE].sessions == 1
    assert {path: row.occurrences for path, row in rows(memory, FILE_SESSIONS).items()} == {TIDE: 1, TABLE: 1, MOON: 1}
    assert rows(memory, MODULE_SESSIONS)["tides"].sessions == ("s2",)


@pytest.mark.parametrize("seed", range(3))
def test_counts_equal_a_recount_of_all_sessions(memory: Memory, seed: int) -> None:
    random = Random(seed)
    paths = [f"m{number % 3}/f{number}.go" for number in range(7)]
    sessions: dict[str, Session] = {}
    for _ in range(25):
        id = f"s{random.randrange(12)}"
        session = sessions.setdefault(id, Session())
        for _ in range(random.randrange(1, 6)):
            random.choice((session.edit, session.edit, session.read))(random.choice(paths))
        if random.random() < 0.2:
            session.fetch()
        observe(memory, id, session)
        if random.random() < 0.3:
            run_job(memory, id)
    correct_weights(run_of(memory, now()), PROMOTION)
    facts = {id: session_facts({"pads": {"": session.pad().state()}}) for id, session in sessions.items()}
    files = Counter(path for session in sessions.values() for path in session.pad().activity.files)
    assert {path: row.occurrences for path, row in rows(memory, FILE_SESSIONS).items()} == files
    modules = Counter(
        module for session in sessions.values() for module in {each[:2] for each in session.pad().activity.files}
    )
    assert {name: row.occurrences for name, row in rows(memory, MODULE_SESSIONS).items()} == modules
    expected = Counter(key for each in facts.values() for key in each.pairs)
    tainted = Counter(key for each in facts.values() for key, pair in each.pairs.items() if pair.tainted)
    accesses = Counter[tuple[str, str]]()
    for each in facts.values():
        accesses.update({key: pair.pair.count for key, pair in each.pairs.items()})
    found = edges(memory)
    assert {key: edge.sessions for key, edge in found.items()} == expected
    assert {key: edge.count for key, edge in found.items()} == accesses
    assert {key: edge.tainted_sessions for key, edge in found.items() if edge.tainted_sessions} == tainted
    for key, edge in found.items():
        assert edge.weight == weight_of(edge.sessions, files[key[0]], files[key[1]])


def test_five_sessions_of_a_module_make_its_prefetch_pattern_and_ten_renew_it(memory: Memory) -> None:
    for number in range(4):
        observe(memory, f"s{number}", together(TIDE, TABLE))
    assert records(memory, "prefetch_pattern") == []
    observe(memory, "s4", together(TIDE, TABLE, MOON))
    [record] = records(memory, "prefetch_pattern")
    assert isinstance(record.payload, PrefetchPattern)
    assert (record.payload.always_read, record.payload.often_read) == ((TABLE, TIDE), ())
    assert (record.payload.session_count, record.tainted, record.needs_review) == (5, False, False)
    assert record.provenance_sessions == tuple(f"s{number}" for number in range(5))
    for number in range(5, 10):
        observe(memory, f"s{number}", together(TIDE))
    [renewed] = records(memory, "prefetch_pattern")
    assert isinstance(renewed.payload, PrefetchPattern)
    assert (renewed.id, renewed.payload.session_count) == (record.id, 10)
    assert (renewed.payload.always_read, renewed.payload.often_read) == ((TIDE,), ())
    assert ModuleStatistics(rows(memory, MODULE_SESSIONS)["tides"]).triggers == (5, 10)


def test_a_pattern_that_a_person_rejected_does_not_come_back(memory: Memory) -> None:
    for number in range(5):
        observe(memory, f"s{number}", together(TIDE, TABLE))
    [record] = records(memory, "prefetch_pattern")
    memory.forget(record.id)
    for number in range(5, 10):
        observe(memory, f"s{number}", together(TIDE, TABLE))
    assert records(memory, "prefetch_pattern") == []


def test_records_of_tainted_sessions_are_tainted(memory: Memory) -> None:
    for number in range(5):
        session = Session().fetch().edit(TIDE).edit(TABLE)
        observe(memory, f"s{number}", session)
    [record] = records(memory, "prefetch_pattern")
    assert record.tainted
    assert record.needs_review
    assert all(each.tainted for each in records(memory, "causal_dependency"))
    assert edges(memory)[TABLE, TIDE].tainted_sessions == 5
    for number in range(5, 10):
        observe(memory, f"s{number}", together(TIDE, TABLE).fetch().edit(MOON))
    [still] = prefetch_patterns(memory)
    assert still.tainted  # only a person clears a taint


def test_what_comes_after_outside_content_does_not_enter_an_untainted_record(memory: Memory) -> None:
    for number in range(5):
        observe(memory, f"s{number}", together(TIDE, TABLE).fetch().edit(MOON))
    [record] = prefetch_patterns(memory)
    assert not record.tainted
    assert MOON not in record.files
    [tainted] = prefetch_patterns(memory, "moon")
    assert tainted.tainted
    [moon] = [each for each in rows(memory, MODULE_SESSIONS).values() if each.subject == "moon"]
    assert (len(moon.sessions), len(moon.tainted_sessions)) == (0, 5)


def test_an_unresolved_error_that_comes_back_becomes_a_record(memory: Memory) -> None:
    for number in range(5):
        session = together(TIDE, TABLE)
        for _ in range(2):
            session.run("make migrate", 'ERROR: relation "tides" does not exist\nexit code 1', fails=True)
        observe(memory, f"s{number}", session)
    [record] = records(memory, "error_pattern")
    assert record.content == (
        '`make migrate` fails with `relation "tides" does not exist` (in 5 sessions on `tides`; not resolved)'
    )
    resolved = together(TIDE).run("make migrate", 'ERROR: relation "tides" does not exist', fails=True)
    for number in range(5, 7):
        observe(memory, f"s{number}", resolved.edit(TABLE).run("make migrate"))
    [renewed] = records(memory, "error_pattern")
    assert renewed.id == record.id
    assert "resolved by" in renewed.content


def test_plans_tokens_and_subtasks_are_measured_and_renewed(memory: Memory) -> None:
    def planned(steps: int, tokens: int) -> Session:
        session = Session().event("plan", metadata={"planned_steps": 5})
        for _ in range(steps):
            session.read(TIDE, "x" * tokens)
        session.edit(TIDE)
        session.event("subtask", text="migrate the tides", metadata={"subtask": "t1", "status": "started"})
        session.edit(TABLE)
        outcome = {"subtask": "t1", "status": "completed" if steps > 10 else "failed"}
        return session.event("subtask", text="migrate the tides", metadata=outcome)

    for number in range(3):
        observe(memory, f"s{number}", planned(10, 8_000))
    [calibration] = records(memory, "task_calibration")
    assert isinstance(calibration.payload, TaskCalibration)
    assert (calibration.payload.mean_planned_steps, calibration.payload.mean_actual_steps) == (5, 12)
    assert (calibration.payload.samples, calibration.payload.module) == (3, "tides")
    [cost] = records(memory, "context_cost")
    assert isinstance(cost.payload, ContextCost)
    assert cost.payload.samples == 3
    assert (cost.payload.mean_tokens or 0) >= 20_000
    [unit] = records(memory, "work_unit_outcome")
    assert isinstance(unit.payload, WorkUnitOutcome)
    assert (unit.payload.succeeded, unit.payload.files_changed) == (False, (TABLE,))
    observe(memory, "s3", planned(20, 8_000))
    [again] = records(memory, "task_calibration")
    [dearer] = records(memory, "context_cost")
    [done] = records(memory, "work_unit_outcome")
    assert (again.id, dearer.id, done.id) == (calibration.id, cost.id, unit.id)
    assert isinstance(again.payload, TaskCalibration)
    assert again.payload.mean_actual_steps == 14.5
    assert isinstance(dearer.payload, ContextCost)
    assert dearer.payload.samples == 4
    assert isinstance(done.payload, WorkUnitOutcome)
    assert done.payload.succeeded


def test_a_job_killed_in_between_loses_and_repeats_nothing(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        observe(memory, f"s{number}", together(TIDE, TABLE))
    before = edges(memory)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(session_synthesis, "module_drafts", killed)
        with pytest.raises(KeyboardInterrupt):
            observe(memory, "s4", together(TIDE, TABLE))
    assert edges(memory) == before
    run_job(memory, "s4")
    run_job(memory, "s4")
    assert edges(memory)[TABLE, TIDE].sessions == 5
    assert len(records(memory, "prefetch_pattern")) == 1


def statements(*texts: str) -> str:
    found = [{"type": "module_insight", "text": text, "lines": [1], "files": [TIDE]} for text in texts]
    return json.dumps({"statements": found})


def test_a_language_model_is_asked_once_for_each_trigger_and_its_words_wait_for_review(memory: Memory) -> None:
    models = NoWriter(memory, statements("`tides/tide.go` computes the tides."))
    for number in range(7):
        observe(memory, f"s{number}", together(TIDE, TABLE), models=models)
    assert len(models.prompts) == 1
    assert TIDE in models.prompts[0]
    [record] = records(memory, "module_insight")
    assert (record.needs_review, record.tainted, record.files) == (True, False, (TIDE,))
    assert MODEL_TAG in record.tags


def test_a_model_elsewhere_reads_nothing_tainted(memory: Memory) -> None:
    models = NoWriter(memory, statements("`tides/tide.go` computes the tides."))
    models.location = ModelLocation.ELSEWHERE
    for number in range(5):
        observe(memory, f"s{number}", Session().fetch().edit(TIDE).edit(TABLE), models=models)
    assert models.prompts == []


def test_a_model_here_that_reads_tainted_statistics_writes_tainted_records(memory: Memory) -> None:
    models = NoWriter(memory, statements("`tides/tide.go` computes the tides."))
    for number in range(5):
        observe(memory, f"s{number}", Session().fetch().edit(TIDE).edit(TABLE), models=models)
    [record] = records(memory, "module_insight")
    assert record.tainted


def test_a_model_that_does_not_answer_is_asked_after_the_next_session(memory: Memory) -> None:
    models = NoWriter(memory, ModelUnavailable("gone"), statements("`tides/tide.go` computes the tides."))
    for number in range(7):
        observe(memory, f"s{number}", together(TIDE, TABLE), models=models)
    assert (len(models.prompts), models.lost) == (2, ["writer"])
    assert len(records(memory, "module_insight")) == 1


def test_statements_without_sources_are_left_out(memory: Memory) -> None:
    answer = {"statements": [{"type": "gotcha", "text": "Invented.", "lines": [99], "files": []}]}
    models = NoWriter(memory, json.dumps(answer))
    for number in range(5):
        observe(memory, f"s{number}", together(TIDE, TABLE), models=models)
    assert len(models.prompts) == 1
    assert records(memory, "gotcha") == []


def chain(*paths: str, sessions: int = 4, tainted: int = 0) -> list[CoAccessEdge]:
    return [
        CoAccessEdge.make(
            id=edge_id(first, second),
            first=first,
            second=second,
            weight=weight_of(sessions, sessions, sessions),
            count=2 * sessions,
            sessions=sessions,
            tainted_sessions=tainted,
            directional=True,
            last_seen_at=now(),
        )
        for first, second in pairwise(paths)
    ]


def put(memory: Memory, found: Sequence[CoAccessEdge]) -> None:
    with memory.store.transaction(memory.scope, now()) as tx:
        tx.co_access.put_many(found)


def test_weekly_chains_between_modules_become_dependencies_once(memory: Memory) -> None:
    put(memory, chain("api/route.go", "core/tide.go", "store/table.go"))
    put(memory, chain("docs/a.md", "docs/b.md"))  # in one module
    assert weekly(memory) == {"created": 1}
    [record] = records(memory, "causal_dependency")
    assert record.files == ("api/route.go", "core/tide.go", "store/table.go")
    assert not record.tainted
    assert weekly(memory) == {"unchanged": 1}
    assert weekly(memory, days=8) == {"unchanged": 1}


def test_at_most_five_chains_a_week(memory: Memory) -> None:
    for number in range(8):
        put(memory, chain(f"a{number}/x.go", f"b{number}/y.go"))
    assert weekly(memory)["created"] == 5
    assert "created" not in weekly(memory)
    assert weekly(memory, days=8)["created"] == 3


def test_a_chain_that_only_tainted_sessions_support_is_tainted(memory: Memory) -> None:
    put(memory, chain("api/route.go", "core/tide.go", tainted=2))
    assert weekly(memory) == {"created": 1}
    [record] = records(memory, "causal_dependency")
    assert record.tainted
    assert record.needs_review


def test_a_rehearsal_of_the_weekly_synthesis_writes_nothing(memory: Memory) -> None:
    put(memory, chain("api/route.go", "core/tide.go"))
    run = replace(run_of(memory, now()), dry_run=True)
    correct_weights(run, PROMOTION)
    assert write_chains(run, PROMOTION) == {"chains": 1}
    assert records(memory, "causal_dependency") == []


def test_a_forgotten_session_leaves_only_numbers_and_is_not_counted_again(memory: Memory) -> None:
    session = together(TIDE, TABLE)
    observe(memory, "s1", session)
    memory.sessions.forget("s1")
    with memory.store.reading(memory.scope, now()) as tx:
        counted = tx.evidence.get(evidence_id(SESSION_COUNTS, "s1"))
    assert counted is not None
    assert counted.files == ()
    assert TIDE not in counted.to_json()
    assert {row.occurrences for row in rows(memory, MODULE_SESSIONS).values()} == {0}
    observe(memory, "s1", session)
    assert edges(memory)[TABLE, TIDE].sessions == 1
    assert {row.occurrences for row in rows(memory, MODULE_SESSIONS).values()} == {1}
    assert {row.occurrences for row in rows(memory, FILE_SESSIONS).values()} == {1}


def test_a_purged_record_of_synthesis_is_not_written_again(memory: Memory) -> None:
    for number in range(5):
        observe(memory, f"s{number}", together(TIDE, TABLE))
    [record] = records(memory, "prefetch_pattern")
    assert memory.forget(record.id, hard=True) is not None
    for number in range(5, 10):
        observe(memory, f"s{number}", together(TIDE, TABLE))
    assert records(memory, "prefetch_pattern") == []
    texts = [row.text for row in rows(memory, SYNTHESIS).values()]
    assert record.content not in texts


@pytest.mark.parametrize("seed", range(4))
def test_a_poisoned_page_never_reaches_an_untainted_record(memory: Memory, seed: int) -> None:
    """Files, commands and subtasks that come only after outside content are in tainted records only."""
    random = Random(seed)
    clean = [TIDE, TABLE, MOON]
    for number in range(12):
        session = Session()
        for _ in range(random.randrange(1, 5)):
            session.edit(random.choice(clean))
        if random.random() < 0.8:
            session.fetch()
            for _ in range(random.randrange(2, 8)):
                random.choice((session.edit, session.read))(
                    random.choice([*clean, "evil/poison.go", "tides/poison.go"])
                )
            session.run("make poison", "ERROR: poison", fails=True)
            session.event("subtask", text="spread poison", metadata={"subtask": "p", "status": "started"})
            session.edit("evil/poison.go")
            session.event("subtask", text="spread poison", metadata={"subtask": "p", "status": "completed"})
        observe(memory, f"s{number}", session)
    weekly(memory)
    with memory.store.reading(memory.scope, now()) as tx:
        found = list(tx.knowledge.stream(KnowledgeFilter()))
    poisoned = [each for each in found if "poison" in each.to_json()]
    assert poisoned
    assert all(each.tainted and each.needs_review for each in poisoned)


def test_records_are_claimed_in_order_before_any_change(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(text: str, *subjects: str) -> None:
        drafts = [SynthesisDraft("module_insight", each, f"`{each}` {text}") for each in subjects]
        group = DraftGroup(drafts, limit=5)
        memory.store.write(memory.scope, now(), lambda tx: SynthesisWriter(tx, memory.models, new_id).write([group]))

    write("is new", "tides", "berths", "cranes")
    claimed: list[str] = []
    claim = SqlTransaction.claim

    def noted(tx: SqlTransaction, name: str) -> None:
        claimed.append(name)
        claim(tx, name)

    monkeypatch.setattr(SqlTransaction, "claim", noted)
    write("has changed", "cranes", "berths", "tides")
    assert (len(claimed), claimed) == (3, sorted(claimed))
