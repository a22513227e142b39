"""Whatever an agent sends to its hook, the hook prints valid output or nothing, and writes at most two lines of log."""

import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hook_calls import HookedRepository
from treering.interfaces.hooks.agents import AGENTS, MAX_CHARACTERS
from treering.interfaces.hooks.trimming import MAX_BYTES, trimmed

TEXTS = st.one_of(
    st.text(max_size=40),
    st.text(st.characters(), max_size=40),
    st.text(st.characters(categories=["Cs", "Cc", "Cf"]), max_size=20),
    st.sampled_from(["", "\0", "\ud800", "/", "../../etc/passwd", "src/a.py", "x" * 70_000, "<memory>"]),
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), TEXTS, st.just(10**400), st.just(float("inf"))
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4))
)
HOOKS = st.sampled_from([name for agent in AGENTS.values() for name in agent.hooks])
FIELDS = st.fixed_dictionaries(
    {},
    optional={
        **{name: st.one_of(HOOKS, VALUES) for name in ("hook_event_name", "hookEventName")},
        **{name: st.one_of(st.just("session-0"), VALUES) for name in ("session_id", "sessionId", "conversation_id")},
        **dict.fromkeys(("cwd", "workspace_roots", "source", "prompt", "tool_name", "tool_response"), VALUES),
        "tool_input": st.one_of(VALUES, st.dictionaries(st.sampled_from(["file_path", "path", "files"]), VALUES)),
        "tool_calls": VALUES,
    },
)
PAYLOADS = st.one_of(
    st.builds(lambda fields, more: {**more, **fields}, FIELDS, st.dictionaries(TEXTS, VALUES, max_size=3)), VALUES
)
INPUTS = st.one_of(
    PAYLOADS.map(lambda value: json.dumps(value).encode()),
    PAYLOADS.map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")),
    st.binary(max_size=200),
    st.builds(lambda value, end: json.dumps(value).encode()[:end], PAYLOADS, st.integers(0, 300)),
    st.sampled_from([b"[" * 200_000, b'{"a":' * 50_000, b'"\\ud800"', b"{}" * 3, b"\0" * 1_000]),
)


def is_valid(agent: str, printed: bytes) -> bool:
    """Whether the agent understands what was printed."""
    if not printed:
        return True
    output = json.loads(printed.decode("utf-8"))
    if agent == "cursor":
        return set(output) == {"additional_context"} and len(output["additional_context"]) <= MAX_CHARACTERS
    inner = output["hookSpecificOutput"]
    known = set(output) == {"hookSpecificOutput"} and set(inner) == {"hookEventName", "additionalContext"}
    return known and inner["hookEventName"] in AGENTS[agent].hooks and len(inner["additionalContext"]) > 0


@settings(max_examples=150, deadline=None)
@given(agent=st.sampled_from(sorted(AGENTS)), text=INPUTS)
def test_any_input_gives_valid_output_and_at_most_two_lines_of_log(agent: str, text: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repo = HookedRepository(Path(folder), agent)
        # Every event of the example goes into this repository, whatever its payload names.
        variable = AGENTS[agent].root_variables
        repo.env.update(dict.fromkeys(variable, str(repo.root)))
        repo.point_at(Path(folder, "missing.db"))
        assert is_valid(agent, repo.print_raw(text))
        assert len(repo.log()) <= 2
        for line in repo.spooled():
            json.dumps(line).encode()


@settings(max_examples=150, deadline=None)
@given(payload=st.dictionaries(TEXTS, VALUES, max_size=6), limit=st.sampled_from([2_000, 20_000, MAX_BYTES]))
def test_a_trimmed_payload_fits_and_can_be_stored(payload: dict[str, Any], limit: int) -> None:
    clean = json.loads(json.dumps(payload), parse_constant=lambda _: None)
    text = json.dumps(trimmed(clean, limit), ensure_ascii=False)
    assert "\\u0000" not in text
    text.encode("utf-8")
    if limit == MAX_BYTES:
        assert len(json.dumps(json.loads(text), separators=(",", ":"))) <= limit
