"""Whatever a file contains, reading it raises nothing, gives valid events, and gives the same ids again."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from treering.core.events import Event, EventKind
from treering.observe.readers import READERS, AgentTranscript, ReadReport, find_transcripts, read_events

_WORDS = (
    "type kind message content role text id uuid parentUuid sessionId session_id session timestamp at ts seq payload"
    " user assistant tool_use tool_result response_item event_msg session_meta function_call function_call_output"
    " output arguments input name call_id tool_use_id gemini toolCalls thoughts result functionResponse response"
    " messages projectHash startTime $set items agentId isSidechain attachment queued_command prompt usage tokens"
    " toolUseResult summary token_count info last_token_usage item_completed item plan metadata source subagent"
    " thread_spawn parent_thread_id reasoning action taint tainted files step duration_ms agent side"
)
WORDS = _WORDS.split()
KINDS = [*(kind.value for kind in EventKind), "user_text", "tool_use"]
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from([*WORDS, *KINDS, "2026-03-01T10:00:00Z", "s1", "<command-name>/x</command-name>", "\0", "\ud800"])
)
names = st.sampled_from(WORDS) | st.text(max_size=5)
values = st.recursive(
    scalars, lambda each: st.lists(each, max_size=4) | st.dictionaries(names, each, max_size=6), max_leaves=25
)
# Beginnings that make each format recognise the file.
HEADS: list[dict[str, Any]] = [
    {"type": "user", "sessionId": "s1", "uuid": "u", "message": {"content": "Hello"}},
    {"type": "user", "sessionId": "s1", "isSidechain": True, "agentId": "a", "message": {"content": "Hello"}},
    {"type": "session_meta", "payload": {"id": "s1", "cwd": "/x"}},
    {"id": "s1", "timestamp": "2026-03-01T10:00:00Z", "instructions": None},
    {"sessionId": "s1", "projectHash": "h"},
    {"kind": "prompt", "session": "s1", "text": "Hello"},
]
kinds_of_lines: list[dict[str, Any]] = [
    {"type": "user", "sessionId": "s1", "message": {"content": []}},
    {"type": "assistant", "sessionId": "s1", "message": {"content": []}},
    {"type": "attachment", "attachment": {"type": "queued_command"}},
    {"type": "response_item", "payload": {}},
    {"type": "event_msg", "payload": {}},
    {"id": "m1", "type": "gemini"},
    {"id": "m1", "type": "user"},
]


@st.composite
def lines(draw: st.DrawFn) -> dict[str, Any]:
    """A line of some format with anything in any of its fields."""
    fields = draw(st.dictionaries(names, values, max_size=6))
    base = draw(st.sampled_from(kinds_of_lines))
    payload = {**base["payload"], **fields} if "payload" in base else None
    content = draw(st.lists(st.dictionaries(names, values, max_size=6) | values, max_size=3))
    if "message" in base:
        return {**fields, **base, "message": {**draw(st.dictionaries(names, values, max_size=3)), "content": content}}
    return {**base, "payload": payload} if payload is not None else {**base, **fields}


def check(content: bytes, name: str = "file.jsonl") -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        forced = [AgentTranscript(path, "x", "s1", format=each) for each in READERS]
        for transcript in (*find_transcripts([path]), *forced):
            report = ReadReport()
            first = list(accepted(transcript, report))
            second = list(accepted(transcript, ReadReport()))
            assert [each.id for each in first] == [each.id for each in second]
            assert len(first) == report.events


def accepted(transcript: AgentTranscript, report: ReadReport) -> Iterator[Event]:
    for fields in read_events(transcript, report):
        assert None not in fields.values()
        yield Event.make(**fields, session=transcript.session)


@given(st.binary(max_size=400) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(b"\x1f\x8b")
@example(b'{"sessionId":"a","projectHash":"b","messages":[')
@example(b"[{")
def test_any_bytes(content: bytes) -> None:
    check(content)


@given(st.sampled_from(HEADS), st.lists(lines() | values, max_size=6), st.binary(max_size=20), st.booleans())
def test_any_lines_of_any_format(head: Any, rest: list[Any], end: bytes, is_compressed: bool) -> None:
    content = "\n".join(json.dumps(each) for each in [head, *rest]).encode() + b"\n" + end
    check(gzip.compress(content) if is_compressed else content)


@given(st.lists(lines() | values, max_size=5), st.sampled_from(["messages", "items", ""]), st.integers(0, 60))
def test_any_document(messages: list[Any], name: str, cut: int) -> None:
    head = {"sessionId": "s1", "projectHash": "h"} if name == "messages" else {"session": {"id": "s1"}}
    text = json.dumps({**head, name: messages} if name else messages, indent=2)
    check(text[: len(text) - cut].encode(), "file.json")


@given(st.sampled_from(HEADS), st.lists(st.sampled_from(kinds_of_lines), max_size=8), st.integers(1, 60))
def test_what_was_read_keeps_its_ids_when_the_file_grows(head: Any, rest: list[Any], cut: int) -> None:
    written = [{**each, "uuid": f"u{n}", "content": "Hello"} for n, each in enumerate(rest)]
    content = "".join(f"{json.dumps(each)}\n" for each in [head, head, *written]).encode()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "file.jsonl"
        read = []
        for length in (len(content) - cut, len(content)):
            path.write_bytes(content[: max(length, 0)])
            found = find_transcripts([path])
            read.append({each.session: [event["id"] for event in read_events(each, ReadReport())] for each in found})
        before, after = read
        for session, ids in before.items():
            assert after[session][: len(ids)] == ids
