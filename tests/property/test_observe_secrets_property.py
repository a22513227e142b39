"""Secrets in events never reach the database, in whatever field of whatever event they are."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import OpenMemory
from tests.examples import examples
from tests.observed import records, stored_text, turns
from tests.session_events import ROOT
from treering.core.events import EventKind
from treering.observe.watch import Watch

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]
SPLIT = f'"{TOKEN}'  # a mark in place of it must not break JSON
words = st.sampled_from(
    (
        TOKEN,
        f"Always use the token {TOKEN} for this.",
        f"I was wrong: the token is {TOKEN}, not the other one.",
        f"I tried {TOKEN}. That approach does not work because {TOKEN} expired. Let me use {TOKEN} instead.",
        f"curl -H 'Authorization: token {TOKEN}' https://api.example.com && make test TOKEN={TOKEN}",
        f"{ROOT}/{TOKEN}/tide.go",
        f"error: bad credentials {TOKEN}\n--- FAIL: Test{TOKEN} (0.00s)\nFAIL",
        f"{'long ' * 190}{TOKEN} {'long ' * 700}{SPLIT}",
        SPLIT,
        "tides/tide.go",
        "2026-03-02T09:00:00",
    )
)
trees = st.recursive(words, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2))
ARGUMENTS = (
    "file_path",
    "command",
    "pattern",
    "path",
    "url",
    "old_string",
    "new_string",
    "todos",
    "description",
    "query",
)
events = st.fixed_dictionaries(
    {"kind": st.sampled_from([each.value for each in EventKind])},
    optional={
        **dict.fromkeys(("id", "call_id", "agent", "text", "at", "taint", "step", "session"), words),
        "tool": st.sampled_from(("Bash", "Edit", "Read", "Grep", "WebFetch", "TodoWrite", f"mcp__{TOKEN}__get", TOKEN)),
        "arguments": st.dictionaries(st.sampled_from(ARGUMENTS), trees, max_size=3),
        "metadata": st.dictionaries(st.sampled_from(("subtask", "title", "agent_id", "validated")), trees, max_size=3),
        "files": st.lists(words, max_size=2),
        "is_error": st.booleans(),
    },
)


@examples(60)
@given(given=st.lists(events, min_size=1, max_size=12), agent=words, root=st.sampled_from((ROOT, f"/{TOKEN}/x")))
def test_no_secret_of_an_event_is_stored(
    open_engine: OpenMemory, tmp_path: Path, given: list[dict[str, Any]], agent: str, root: str
) -> None:
    session = str(uuid4())
    with open_engine("sqlite") as memory:
        watch: Watch = memory.observe(session, agent=agent[:100], root=root)
        for event in given:
            watch.event(event)
        watch.checkpoint()
        with memory.store.reading(memory.scope, memory._parts.clock()) as tx:
            saved = tx.scratchpads.get(session)
        assert saved is not None
        assert json.loads(saved.state)["pads"]
        again = memory.observe(session, agent=agent[:100], root=root)
        assert again.events == watch.events
        again.finish()
        memory.settle()
        assert TOKEN not in stored_text(memory)
        assert not [each for each in (*records(memory), *turns(memory)) if TOKEN in each.to_json()]
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or TOKEN.encode() not in file.read_bytes(), file
