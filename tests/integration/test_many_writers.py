"""Eight processes on one file: busy is waited out."""

from pathlib import Path
from typing import Any

from tests.integration.crew import Crew
from tests.integration.crew_members import open_place, write_singles
from tests.integration.written import assert_healthy, assert_without_gaps
from tests.lengths import at_length
from treering.compose import now

WRITERS = 8
WRITES = at_length(40, full=1_000)


def test_eight_processes_lose_none_of_their_writes(tmp_path: Path, crew: Crew) -> None:
    place: dict[str, Any] = {"place": str(tmp_path / "memory.db"), "tenant": "t", "blobs": str(tmp_path / "blobs")}
    pids = [crew.start(write_singles, worker=f"w{number}", writes=WRITES, **place) for number in range(WRITERS)]
    for pid in pids:
        crew.join(pid)
    with open_place(**place) as memory:
        with memory.store.reading(memory.scope, now()) as tx:
            known = {record.id: record.content for record in tx.knowledge.stream()}
            turns = list(tx.turns.stream())
            audited = tx.audit.count()
        assert_healthy(memory)
    numbers = [(f"w{writer}", number) for writer in range(WRITERS) for number in range(WRITES)]
    assert known == {f"{who}-{number}": f"fact {who} {number}" for who, number in numbers if number % 2 == 0}
    assert sorted(turn.text for turn in turns) == sorted(
        f"turn {who} {number}" for who, number in numbers if number % 2
    )
    assert audited == len(numbers)
    assert_without_gaps((turn.session, turn.seq) for turn in turns)
    assert len(crew.told("wrote")) == WRITERS
