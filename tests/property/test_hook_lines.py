"""Lines of the spool that no agent would write: whatever they contain, nothing is raised and the log stays short."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import treering
from tests.hook_payloads import ROOT, claude
from treering.compose import now
from treering.interfaces.hooks.live_sessions import LiveSessions
from treering.interfaces.hooks.payloads.table import READERS
from treering.location.hook_files import SPOOL, ensure_private_folder
from treering.location.hook_spool import spool_bytes
from treering.memory import Memory

TEXTS = st.text(max_size=40) | st.sampled_from(
    ["/remember x", "/memory off", "\0", "\ud800", "a" * 300, "<command-name>"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
NAMES = sorted(
    {*claude("x"), "tool_name", "tool_input", "tool_response", "tool_use_id", "error", "source", "prompt", "agent_id"}
    | {"agent_type", "last_assistant_message", "tool_calls", "tool_output", "command", "output", "edits", "duration"}
)
PAYLOADS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=8) | VALUES
HOOKS = sorted({hook for reader in READERS.values() for hook in reader.hooks})
LINES = st.fixed_dictionaries(
    {},
    optional={
        "id": TEXTS | VALUES,
        "at": TEXTS | VALUES | st.just("2026-11-15T01:24:51.788Z"),
        "agent": st.sampled_from([*READERS, "other"]) | VALUES,
        "hook": st.sampled_from(HOOKS) | VALUES,
        "payload": PAYLOADS,
        "session": TEXTS | VALUES,
        "injected": VALUES | st.lists(st.dictionaries(st.sampled_from(["point", "kind", "item", "tokens"]), VALUES)),
    },
)
LIKELY = st.builds(
    lambda agent, hook, payload, id: {
        "id": id,
        "agent": agent,
        "hook": hook,
        "payload": {"session_id": "s", "conversation_id": "s", "sessionId": "s", **payload},
    },
    st.sampled_from([*READERS]),
    st.sampled_from(HOOKS),
    st.dictionaries(st.sampled_from(NAMES[1:]), VALUES, max_size=8),
    st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=5),
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with treering.open(tmp_path_factory.mktemp("hooks") / "memory.db", project="p") as opened:
        yield opened


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(lines=st.lists(LINES | LIKELY | VALUES, max_size=6))
def test_no_line_is_raised_or_floods_the_log(
    memory: Memory, tmp_path: Path, caplog: pytest.LogCaptureFixture, lines: list[Any]
) -> None:
    folder = str(tmp_path / "hooks")
    ensure_private_folder(folder)
    written = "\n".join(json.dumps(line) for line in lines)
    (Path(folder) / SPOOL).write_text(f"{written}\n{{torn\n", encoding="utf-8")
    (Path(folder) / SPOOL).chmod(0o600)
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        assert LiveSessions(memory, memory.injections, folder, ROOT, now).drain()
    assert spool_bytes(folder) == 0
    assert len(caplog.records) <= 2
