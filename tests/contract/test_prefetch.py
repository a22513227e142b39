"""`memory.context.prefetch` with observed sessions."""

from pathlib import Path

import pytest

from tests.conftest import OpenMemory
from treering.compose import now
from treering.core.errors import InvalidInput
from treering.core.past_sessions import SessionWords
from treering.core.prompt_words import session_words
from treering.memory import Memory

ROOT = "/home/dev/harbour"


def observe(memory: Memory, session: str, day: int, prompt: str, *edited: str, root: str = ROOT) -> None:
    watch = memory.observe(session=session, type="build", root=root)
    watch.event({"kind": "prompt", "at": f"2026-01-{day:02}T09:00:00Z", "text": prompt})
    for number, path in enumerate(edited, 1):
        at = f"2026-01-{day:02}T09:{number:02}"
        call = {"tool": "Edit", "call_id": f"{session}-{number}"}
        change = {"file_path": f"{root}/{path}", "old_string": "a", "new_string": "b"}
        watch.event({"kind": "tool_call", "at": f"{at}:00Z", **call, "arguments": change})
        watch.event({"kind": "tool_result", "at": f"{at}:01Z", **call, "text": "The file has been updated."})
    watch.finish(outcome="success")


def test_files_of_earlier_sessions_are_offered(memory: Memory) -> None:
    observe(memory, "one", 1, "plan the berths by tide", "berths/plan.go", "berths/plan_test.go")
    observe(memory, "two", 2, "send invoices every month", "billing/invoices.go")
    memory.settle()
    ranked = memory.context.prefetch("the berths overlap at high tide", limit=2)
    assert {file.path for file in ranked} == {"berths/plan.go", "berths/plan_test.go"}
    assert all(0 < file.share < 1 and file.reason for file in ranked)


def test_a_running_session_is_not_counted(memory: Memory) -> None:
    watch = memory.observe(session="one", type="build", root=ROOT)
    watch.event({"kind": "prompt", "at": "2026-01-01T09:00:00Z", "text": "plan the berths"})
    assert memory.context.prefetch("plan the berths") == ()


def test_files_at_hand_lead_to_companions(memory: Memory) -> None:
    for day in (1, 2, 3):
        observe(memory, f"s{day}", day, f"task {day}", "berths/plan.go", "docs/berths.md")
    observe(memory, "other", 4, "other", "radio/client.go")
    ranked = memory.context.prefetch("go on", ["berths/plan.go"])
    assert ranked[0].path == "docs/berths.md"
    assert "berths/plan.go" not in [file.path for file in ranked]


@pytest.mark.parametrize("limit", [0, 101])
def test_limit_is_checked(memory: Memory, limit: int) -> None:
    with pytest.raises(InvalidInput, match="limit must be from 1 to 100"):
        memory.context.prefetch("x", limit=limit)


@pytest.mark.parametrize("budget", [0, 200_001])
def test_budget_is_checked(memory: Memory, budget: int) -> None:
    with pytest.raises(InvalidInput, match="budget must be from 1 to 200,000 tokens"):
        memory.context.prefetch("x", contents=True, budget=budget)


def test_words_of_prompts_are_stored_and_read_with_the_files(memory: Memory) -> None:
    observe(memory, "one", 1, "plan the berths by tide", "berths/plan.go")
    observe(memory, "two", 2, "send invoices", "billing/invoices.go")
    with memory.store.reading(memory.scope, now()) as tx:
        first, second = tx.observed_sessions.newest_finished(limit=2)
        [newest] = tx.observed_sessions.newest_finished(limit=1)
        stored = tx.observed_sessions.get("one")
    assert (first.session, second.session, newest.session) == ("one", "two", "two")
    assert first.words == session_words(("plan the berths by tide",))
    assert [(file.path, file.edits) for file in first.files] == [("berths/plan.go", 1)]
    assert first.root == ROOT
    assert stored is not None
    assert SessionWords.unpacked(stored.words) == first.words


def test_session_without_stored_words_is_ranked_alike(memory: Memory) -> None:
    observe(memory, "one", 1, "plan the berths by tide", "berths/plan.go")
    observe(memory, "two", 2, "send invoices every month", "billing/invoices.go")
    before = memory.context.prefetch("the berths overlap at high tide")
    with memory.store.reading(memory.scope, now()) as tx:
        bare = [session.replace(words="") for session in tx.observed_sessions.stream()]
    memory.store.write(memory.scope, now(), lambda tx: tx.observed_sessions.put_many(bare))
    assert memory.context.prefetch("the berths overlap at high tide") == before


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "harbour"
    for path in ("berths/plan.go", "berths/plan_test.go", "private/notes.md"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"// {path}\n")
    (folder / ".git").mkdir()
    (folder / ".gitignore").write_text("private/\n")
    (folder / ".env").write_text("A=1\n")
    return folder


def test_contents_come_from_the_folder_of_the_newest_sessions(memory: Memory, root: Path) -> None:
    touched = ("berths/plan.go", "berths/gone.go", "private/notes.md", ".env")
    observe(memory, "one", 1, "plan the berths", *touched, root=str(root))
    observe(memory, "two", 2, "other", "berths/plan_test.go", root=str(root.parent / "removed-worktree"))
    ranked = memory.context.prefetch("plan the berths", contents=True)
    assert {file.path: file.content for file in ranked} == {
        "berths/plan.go": "// berths/plan.go\n",
        "berths/plan_test.go": "// berths/plan_test.go\n",
    }
    assert all(file.tokens > 0 for file in ranked)


def test_deleted_and_ignored_files_are_not_offered_without_contents_either(memory: Memory, root: Path) -> None:
    touched = ("berths/plan.go", "berths/gone.go", "private/notes.md")
    observe(memory, "one", 1, "plan the berths", *touched, root=str(root))
    [file] = memory.context.prefetch("plan the berths")
    assert (file.path, file.content) == ("berths/plan.go", None)


@pytest.mark.parametrize("contents", [False, True])
@pytest.mark.parametrize("given", [False, True])
def test_links_that_lead_outside_are_never_offered(memory: Memory, root: Path, contents: bool, given: bool) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "passwd").write_text("ann:x:0")
    (root / "evil").symlink_to(outside)
    (root / "berths" / "passwd").symlink_to(outside / "passwd")
    (root / "near").symlink_to(root / "berths")
    links = ("evil/passwd", "berths/passwd", "near/../../outside/passwd", "near/passwd")
    for number in range(3):
        observe(memory, f"s{number}", number + 1, "read evil/passwd", *links, root=str(root))
    chosen = root if given else None
    assert memory.context.prefetch("read evil/passwd", contents=contents, root=chosen) == ()
    observe(memory, "last", 5, "read evil/passwd", "berths/plan.go", root=str(root))
    for files in ([], ["berths/plan.go"], ["evil/passwd"]):
        ranked = memory.context.prefetch("read evil/passwd", files, contents=contents, root=chosen)
        assert {file.path for file in ranked} <= {"berths/plan.go"}


def test_files_of_a_folder_that_is_elsewhere_are_offered_without_contents(memory: Memory, tmp_path: Path) -> None:
    observe(memory, "one", 1, "plan the berths", "berths/plan.go", ".env")
    observe(memory, "two", 2, "plan the berths", "berths/plan.go", root=str(tmp_path))
    [file] = memory.context.prefetch("plan the berths", contents=True)
    assert (file.path, file.content) == ("berths/plan.go", None)
    assert file.omitted == "the project's folder is not on this machine"


def test_root_can_be_given(memory: Memory, root: Path) -> None:
    observe(memory, "one", 1, "plan the berths", "berths/plan.go", "berths/gone.go")
    [file] = memory.context.prefetch("plan the berths", contents=True, root=root)
    assert file.content == "// berths/plan.go\n"


def test_folder_of_another_principals_session_is_not_read(open_memory: OpenMemory, root: Path) -> None:
    observe(open_memory(principal="mallory"), "one", 1, "plan the berths", "berths/plan.go", root=str(root))
    [file] = open_memory(principal="ann").context.prefetch("plan the berths", contents=True)
    assert file.content is None
    assert file.omitted == "the project's folder is not on this machine"
