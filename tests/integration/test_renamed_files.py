"""Files that are renamed in a git repository, and what sessions showed about them. On both engines."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.contract.test_forgetting import Counted, run_of
from tests.integration.test_staleness_git import TEN, Work
from tests.observed import evidence
from tests.samples import NOW
from treering.compose import now
from treering.compose.workers import _mark_stale
from treering.core.co_access import CoAccessEdge
from treering.core.errors import Conflict
from treering.memory import Memory
from treering.observe.synthesis.renames import follow_renames
from treering.observe.synthesis.statistics import FILE_SESSIONS
from treering.search.graph_path import coupled_files

PLAN, BERTHS, DOCS = "plan.py", "harbour/berths.py", "docs.py"


@pytest.fixture
def work(tmp_path: Path) -> Work:
    work = Work(tmp_path / "work place")
    work.commit(-30, plan=TEN, docs=["text", *TEN])
    return work


@pytest.fixture
def memory(open_engine: Callable[..., Memory], engine: str) -> Memory:
    return open_engine(engine, background=False)


def observe(memory: Memory, work: Work, id: str, *edited: str, day: float = -20, prompt: str = "plan berths") -> None:
    """Edit the files in a session and count it; a known id continues that session."""
    watch = memory.observe(session=id, type="build", root=str(work.root))
    start = NOW + timedelta(days=day)
    watch.event({"kind": "prompt", "id": f"{id}-{day}", "at": start.isoformat(), "text": prompt})
    for number, path in enumerate(edited, 1):
        call = {"tool": "Edit", "call_id": f"{id}-{day}-{number}"}
        change = {"file_path": f"{work.root}/{path}", "old_string": "a", "new_string": "b"}
        for seconds, kind, fields in ((0, "tool_call", {"arguments": change}), (1, "tool_result", {"text": "updated"})):
            at = start + timedelta(minutes=number, seconds=seconds)
            watch.event({"kind": kind, "id": f"{id}-{day}-{number}-{kind}", "at": at.isoformat(), **call, **fields})
    watch.finish(outcome="success")
    memory.settle()


def rename(work: Work, old: str, new: str, day: float = -5) -> None:
    (work.root / new).parent.mkdir(exist_ok=True)
    work.git("mv", old, new)
    work.commit(day)


def follow(memory: Memory, work: Work, *, dry_run: bool = False) -> int:
    progress = Counted()
    follow_renames(run_of(memory, now(), progress, dry_run=dry_run), work.repository)
    return progress.counts.get("followed", 0)


def edges(memory: Memory) -> dict[tuple[str, str], CoAccessEdge]:
    with memory.store.reading(memory.scope, now()) as tx:
        return {(each.first, each.second): each for each in tx.co_access.stream()}


def sessions_of(memory: Memory) -> dict[str, int]:
    return {path: row.occurrences for (signal, path), row in evidence(memory).items() if signal == FILE_SESSIONS}


def everything(memory: Memory) -> list[str]:
    with memory.store.reading(memory.scope, now()) as tx:
        rows = [*tx.observed_sessions.stream(), *tx.co_access.stream(), *tx.evidence.stream()]
    return sorted(each.to_json() for each in rows)


def test_related_prefetch_and_search_offer_the_new_path(memory: Memory, work: Work) -> None:
    for number in range(3):
        observe(memory, work, f"s{number}", PLAN, DOCS, day=-20 + number)
    rename(work, PLAN, BERTHS)
    before = {path: each.weight for path, each in edges(memory).items()}
    assert follow(memory, work, dry_run=True) == 1
    assert {path: each.weight for path, each in edges(memory).items()} == before
    assert follow(memory, work) == 1
    [(pair, edge)] = edges(memory).items()
    assert set(pair) == {DOCS, BERTHS}
    assert [edge.weight] == [*before.values()]
    assert (edge.sessions, sessions_of(memory)) == (3, {DOCS: 3, BERTHS: 3})
    assert [file.path for file in memory.context.prefetch("go on", [DOCS])] == [BERTHS]
    assert {file.path for file in memory.context.prefetch("plan the berths")} == {DOCS, BERTHS}
    assert [each.path for each in memory.code.related(DOCS).related] == [BERTHS]
    with memory.store.reading(memory.scope, now()) as tx:
        assert [*coupled_files(tx, (DOCS,))] == [BERTHS]


def test_both_names_are_added_and_a_second_run_changes_nothing(memory: Memory, work: Work) -> None:
    for number in range(3):
        observe(memory, work, f"old{number}", PLAN, DOCS, day=-20 + number)
    rename(work, PLAN, BERTHS)
    observe(memory, work, "new", DOCS, BERTHS, day=-4)
    assert follow(memory, work) == 1
    [(pair, edge)] = edges(memory).items()
    assert set(pair) == {DOCS, BERTHS}
    assert (edge.sessions, edge.count, edge.by_task_type["build"]) == (4, 4, 4)
    assert sessions_of(memory) == {DOCS: 4, BERTHS: 4}
    stored = everything(memory)
    assert follow(memory, work) == 0
    assert everything(memory) == stored


def test_session_that_renames_the_file_counts_once(memory: Memory, work: Work) -> None:
    observe(memory, work, "before", PLAN, DOCS, day=-20)
    rename(work, PLAN, BERTHS)
    observe(memory, work, "both", PLAN, DOCS, BERTHS, day=-5.01)
    assert follow(memory, work) == 1
    assert sessions_of(memory) == {DOCS: 2, BERTHS: 2}
    [(pair, edge)] = edges(memory).items()
    assert (set(pair), edge.sessions) == ({DOCS, BERTHS}, 2)


@pytest.mark.parametrize("path", [PLAN, BERTHS])
def test_continued_session_is_not_counted_again(memory: Memory, work: Work, path: str) -> None:
    observe(memory, work, "one", PLAN, DOCS)
    rename(work, PLAN, BERTHS)
    follow(memory, work)
    observe(memory, work, "one", DOCS, path, day=-4)
    follow(memory, work)
    assert sessions_of(memory) == {DOCS: 1, BERTHS: 1}
    assert {frozenset(pair): each.sessions for pair, each in edges(memory).items()} == {frozenset((DOCS, BERTHS)): 1}
    with memory.store.reading(memory.scope, now()) as tx:
        session = tx.observed_sessions.get("one")
    assert session is not None
    assert {file.path for file in session.files} == {DOCS, BERTHS}


def test_path_with_a_file_is_kept(memory: Memory, work: Work) -> None:
    observe(memory, work, "one", PLAN, DOCS)
    rename(work, PLAN, BERTHS)
    work.write(PLAN, ["another file, not committed"])
    assert follow(memory, work) == 0
    work.commit(-3)
    assert follow(memory, work) == 0
    assert sessions_of(memory) == {PLAN: 1, DOCS: 1}


def test_file_that_took_over_a_path_is_not_the_renamed_one(work: Work) -> None:
    rename(work, PLAN, BERTHS, -20)
    work.commit(-15, plan=["another file"])
    work.git("rm", "-q", PLAN)
    head = work.commit(-10)
    assert work.repository.renamed(head, {PLAN: NOW - timedelta(days=12)}) == {}
    assert work.repository.renamed(head, {PLAN: NOW - timedelta(days=25)}) == {PLAN: BERTHS}


def test_renames_are_followed_over_several_commits_and_from_old_branches(memory: Memory, work: Work) -> None:
    rename(work, PLAN, "middle.py", -25)
    rename(work, "middle.py", BERTHS, -24)
    observe(memory, work, "old branch", PLAN, DOCS, day=-20)
    assert follow(memory, work) == 1
    assert sessions_of(memory) == {DOCS: 1, BERTHS: 1}


def test_maintenance_follows_renames(memory: Memory, work: Work) -> None:
    observe(memory, work, "one", PLAN, DOCS)
    rename(work, PLAN, BERTHS)
    progress = Counted()
    _mark_stale(work.root, run_of(memory, now(), progress))
    assert progress.counts["followed"] == 1
    assert sessions_of(memory) == {DOCS: 1, BERTHS: 1}


def test_nothing_is_followed_without_a_repository(memory: Memory, work: Work) -> None:
    observe(memory, work, "one", PLAN, DOCS)
    follow_renames(run_of(memory, now()), None)
    assert sessions_of(memory) == {PLAN: 1, DOCS: 1}


@pytest.mark.parametrize("commits", range(4))  # of the statistics, then of each session
def test_run_that_is_interrupted_anywhere_is_completed_by_the_next(
    memory: Memory, work: Work, commits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        observe(memory, work, f"s{number}", PLAN, DOCS, day=-20 + number)
    rename(work, PLAN, BERTHS)
    write, allowed = memory.store.write, iter(range(commits))

    def interrupted(*given: Any, **named: Any) -> Any:
        if next(allowed, None) is None:
            raise Conflict("another worker has taken over")
        return write(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(memory.store, "write", interrupted)
        with pytest.raises(Conflict):
            follow(memory, work)
    assert follow(memory, work) == 1
    assert follow(memory, work) == 0
    [(pair, edge)] = edges(memory).items()
    assert (set(pair), edge.sessions, sessions_of(memory)) == ({DOCS, BERTHS}, 3, {DOCS: 3, BERTHS: 3})
    assert {file.path for file in memory.context.prefetch("plan the berths")} == {DOCS, BERTHS}


def test_renames_are_followed_beside_sessions_that_end(
    open_engine: Callable[..., Memory], engine: str, work: Work
) -> None:
    memory = open_engine(engine, background=False)
    for number in range(3):
        observe(memory, work, f"s{number}", PLAN, DOCS, day=-20 + number)
    rename(work, PLAN, BERTHS)
    other = open_engine(engine, background=False)
    with ThreadPoolExecutor(2) as threads:
        for number in range(5):
            ending = threads.submit(observe, other, work, f"n{number}", DOCS, BERTHS, day=-4)
            following = threads.submit(follow, memory, work)
            ending.result()
            following.result()
    [(pair, edge)] = edges(memory).items()
    assert (set(pair), edge.sessions, sessions_of(memory)) == ({DOCS, BERTHS}, 8, {DOCS: 8, BERTHS: 8})
