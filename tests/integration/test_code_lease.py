"""What a run puts down beside the files: that it is at work, and what was left out."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.code_projects import code_of, written
from treering.code.files.skip_reasons import TOO_LARGE
from treering.code.index.indexer import Indexer
from treering.code.index.project import IndexedProject
from treering.code.index.report import IndexProgress
from treering.core.settings import CodeSettings
from treering.memory import Memory

PROJECT = {f"f{number}.py": f"from f{number + 1} import g\n\n\ndef g():\n    g()\n" for number in range(12)}


def test_a_long_run_keeps_its_lease(tmp_path: Path, memory: Memory) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    seen = []

    def some_time_later(_progress: IndexProgress) -> None:
        with memory.store.reading(memory.scope, now[0]) as tx:
            state = tx.code.state()
        seen.append(None if state is None or state.lease is None else (state.lease.owner, state.lease.until > now[0]))
        now[0] += timedelta(seconds=25)

    root = written(tmp_path / "project", PROJECT).resolve()
    settings = CodeSettings()
    desk = IndexedProject(memory.scope, memory.store, lambda: now[0], settings, root, "me", ended=lambda _writer: False)
    assert Indexer(desk).run(some_time_later).complete
    looking, *working = seen
    assert looking is None
    assert working == [("me", True)] * (2 * len(PROJECT))


def test_the_status_lists_files_skipped_in_the_last_full_scan(tmp_path: Path, memory: Memory) -> None:
    root = written(tmp_path / "project", PROJECT)
    code = code_of(memory, largest_file=1_000)
    assert code.index(root).skipped == {}
    for content, told in (("#" * 1_001, {TOO_LARGE: 1}), (None, {})):
        if content is None:
            (root / "large.py").unlink()
        else:
            written(root, {"large.py": content})
        assert code.index(root).skipped == told
        assert code.status().skipped == told
        assert code_of(memory).status().skipped == told
