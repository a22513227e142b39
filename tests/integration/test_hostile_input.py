"""Whatever comes in: it is stored as it is and found again, or refused with a clear error and nothing is stored."""

from contextlib import suppress
from itertools import count
from pathlib import Path
from posixpath import normpath
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import OpenMemory
from tests.examples import examples
from tests.integration.hostile import NAMES, NASTY, TEXTS, THINGS
from tests.integration.written import assert_healthy
from tests.lengths import at_length
from treering.compose import now
from treering.core.errors import InvalidInput, TreeringError
from treering.core.queries import KnowledgeFilter, TurnFilter
from treering.memory import Memory

_numbers = count()


def _word() -> str:
    """A word that no other example has."""
    return f"needle{next(_numbers)}x"


def _stored(memory: Memory) -> int:
    with memory.store.reading(memory.scope, now()) as tx:
        return tx.knowledge.count() + tx.turns.count() + tx.sessions.count()


@given(text=TEXTS)
def test_any_text_is_remembered_as_it_is_or_refused(memory: Memory, text: str) -> None:
    word, before = _word(), _stored(memory)
    try:
        record = memory.remember(f"{word} {text}")
    except InvalidInput:
        assert _stored(memory) == before
        assert "\x00" in text or any("\ud800" <= char <= "\udfff" for char in text)
        return
    assert record.content == f"{word} {text}"
    assert memory.get(record.id) == record
    assert memory.search(word)[0].id == record.id


@given(text=TEXTS)
def test_any_turn_is_kept_as_it_is_or_refused(memory: Memory, text: str) -> None:
    word, before = _word(), _stored(memory)
    try:
        turn = memory.turn(session="s", role="user", text=f"{text} {word}")
    except InvalidInput:
        assert _stored(memory) == before
        assert "\x00" in text or any("\ud800" <= char <= "\udfff" for char in text)
        return
    assert turn.text == f"{text} {word}"
    assert memory.get(turn.id) == turn
    assert memory.search(word)[0].id == turn.id


@given(query=TEXTS)
def test_any_query_is_answered(memory: Memory, query: str) -> None:
    memory.remember("one record is here")
    assert len(memory.search(query)) <= 10


def _without_detours(path: str) -> str:
    plain = normpath(path)
    return f"{plain}/" if path.endswith("/") and plain != "." else plain


@given(name=NAMES, tags=st.lists(NAMES, max_size=3), files=st.lists(NAMES, max_size=3))
def test_any_name_is_kept_as_it_is_or_refused(memory: Memory, name: str, tags: list[str], files: list[str]) -> None:
    word, before = _word(), _stored(memory)
    try:
        record = memory.remember(word, tags=tags, files=files, session=name, modules=tags)
    except InvalidInput:
        assert _stored(memory) == before
        return
    assert memory.get(record.id) == record
    assert (record.session, record.tags, record.files) == (
        name,
        tuple(dict.fromkeys(tags)),
        tuple(dict.fromkeys(map(_without_detours, files))),
    )
    assert not any(file.startswith(("/", "~")) or ".." in file.split("/") for file in record.files)
    with memory.store.reading(memory.scope, now()) as tx:
        for wanted in (
            *(KnowledgeFilter(tags=(tag,)) for tag in tags),
            *(KnowledgeFilter(files=(file,)) for file in files),
            KnowledgeFilter(sessions=(name,)),
        ):
            assert record.id in {found.id for found in tx.knowledge.stream(wanted)}


@given(session=NAMES, id=NAMES, speaker=NAMES)
def test_any_session_and_id_is_kept_as_it_is_or_refused(memory: Memory, session: str, id: str, speaker: str) -> None:
    word, before = _word(), _stored(memory)
    try:
        turn = memory.turn(session=session, role="user", text=word, id=f"{id}{word}", speaker=speaker)
    except InvalidInput:
        assert _stored(memory) == before
        return
    assert memory.get(f"{id}{word}") == turn
    with memory.store.reading(memory.scope, now()) as tx:
        assert turn in list(tx.turns.stream(TurnFilter(sessions=(session,))))


@examples(15)
@given(project=NAMES, tenant=NAMES)
def test_any_project_is_apart_from_the_others_or_refused(
    open_memory: OpenMemory, tmp_path: Path, project: str, tenant: str
) -> None:
    word = _word()
    try:
        memory = open_memory(project=project, tenant=f"t{tenant}", blobs=tmp_path / "b")
    except InvalidInput:
        return
    with memory:
        long = f"{word} " * 60_000
        memory.remember(long, id=word)
        assert memory.get(word).content == long
        assert memory.search(word)[0].id == word
    with open_memory(project="another", tenant=f"t{tenant}", blobs=tmp_path / "b") as other:
        assert other.search(word).hits == ()
    assert {path.name for path in tmp_path.iterdir()} <= {"b", "memory.db", "memory.db-wal", "memory.db-shm"}


REMEMBER = (
    "text",
    "type",
    "id",
    "tags",
    "files",
    "modules",
    "confidence",
    "payload",
    "session",
    "relations",
    "visibility",
)
REMEMBER_MORE = ("created_at", "half_life_days", "valid_from", "pinned", "version", "unknown", "work_unit", "owner")
TURN = ("session", "role", "text", "id", "at", "speaker", "metadata", "tool_calls", "visibility", "seq", "tainted")


@examples(100)
@given(field=st.sampled_from((*REMEMBER, *REMEMBER_MORE)), thing=THINGS)
def test_anything_for_any_field_of_a_record_is_kept_or_refused(memory: Memory, field: str, thing: Any) -> None:
    before = _stored(memory)
    try:
        record = memory.remember(**{"text": _word(), field: thing})
    except InvalidInput:
        assert _stored(memory) == before
        return
    assert memory.get(record.id) == record


@examples(75)
@given(field=st.sampled_from(TURN), thing=THINGS)
def test_anything_for_any_field_of_a_turn_is_kept_or_refused(memory: Memory, field: str, thing: Any) -> None:
    before = _stored(memory)
    try:
        turn = memory.turn(**{"session": "s", "role": "user", "text": _word(), "id": _word(), field: thing})
    except InvalidInput:
        assert _stored(memory) == before
        return
    assert memory.get(turn.id) == turn


VERBS = ("get", "confirm", "flag", "pin", "forget", "undo", "history", "search")


@examples(75)
@given(verb=st.sampled_from(VERBS), thing=st.one_of(THINGS, NAMES))
def test_anything_for_an_id_is_refused_with_an_error_of_ours(memory: Memory, verb: str, thing: Any) -> None:
    kept = memory.remember("stays as it is", id="kept")
    with suppress(TreeringError):
        getattr(memory, verb)(thing)
    assert memory.get("kept") == kept


@pytest.mark.parametrize("limit", [0, -1, -(10**30), 10**30, 1.5, "many", float("nan")])
def test_a_limit_that_is_no_number_of_results_is_refused(memory: Memory, limit: Any) -> None:
    memory.remember("one record is here")
    with pytest.raises(InvalidInput, match="limit"):
        memory.search("record", limit=limit)


@pytest.mark.parametrize("confidence", [float("nan"), float("inf"), -0.1, 1.1, "high", None, [0.5]])
def test_a_confidence_that_is_no_share_is_refused(memory: Memory, confidence: Any) -> None:
    with pytest.raises(InvalidInput, match="confidence"):
        memory.remember("how sure?", confidence=confidence)
    assert _stored(memory) == 0


def test_megabytes_come_back_whole(memory: Memory) -> None:
    size = at_length(2, full=10) * 1_000_000
    text = "needle " + "".join(f"{line} {NASTY[line % 19]}\n" for line in range(size // 60))[:size]
    assert len(text) > 0.9 * size
    record = memory.remember(text)
    turn = memory.turn(session="s", role="tool", text=text)
    assert memory.get(record.id).content == text
    assert memory.get(turn.id).text == text
    assert {hit.id for hit in memory.search("needle")} == {record.id, turn.id}
    assert_healthy(memory)


def test_ten_thousand_tags_are_refused_and_a_thousand_are_kept(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="tags"):
        memory.remember("too many", tags=[f"tag {number}" for number in range(10_000)])
    assert _stored(memory) == 0
    record = memory.remember("many", tags=[f"tag {number}" for number in range(1_000)])
    assert memory.get(record.id) == record


@pytest.mark.parametrize(
    "path",
    [
        "../secret",
        "a/../../b",
        "/etc/passwd",
        "~/x",
        "./~/x",
        "a/..",
        "..",
        "..\\..\\x",
        "a\\..\\..\\x",
        "C:\\y",
        "c:/y",
        "./C:/y",
        "\\\\server\\share",
        "x" * 1_025,
    ],
)
def test_a_path_that_leaves_the_project_is_refused(memory: Memory, path: str) -> None:
    with pytest.raises(InvalidInput, match="files"):
        memory.remember("about a file", files=[path])
    assert _stored(memory) == 0
