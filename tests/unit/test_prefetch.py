"""Ranking of the files that a session will touch."""

from datetime import UTC, datetime, timedelta
from time import process_time

import pytest

from treering.context.prefetch.ranking import PrefetchedFile, rank_files
from treering.context.prefetch.words import read_prompt, subject_of
from treering.core.past_sessions import PastFile, PastSession, SessionWords
from treering.core.prompt_words import prompt_text, session_words

START = datetime(2026, 1, 1, tzinfo=UTC)


def session(number: int, prompt: str, *edited: str, read: tuple[str, ...] = ()) -> PastSession:
    files = [PastFile(path, edits=1) for path in edited] + [PastFile(path, reads=1) for path in read]
    at = START + timedelta(hours=number)
    return PastSession(f"s{number}", at, prompts=(prompt,), files=tuple(files), words=session_words((prompt,)))


def sessions(*rows: tuple[str, tuple[str, ...]]) -> list[PastSession]:
    return [session(number, prompt, *edited) for number, (prompt, edited) in enumerate(rows)]


def paths(ranked: tuple[PrefetchedFile, ...]) -> list[str]:
    return [file.path for file in ranked]


PAST = sessions(
    ("add the clean command", ("cmd/clean.go", "cmd/clean_test.go")),
    ("translate the welcome page", ("web/welcome.tsx",)),
    ("rotate log files every night", ("log/rotation.go",)),
    ("show the status of hooks", ("cmd/status.go",)),
    ("rotate log files by size", ("log/rotation.go", "log/size.go")),
)


def test_files_of_sessions_with_similar_prompts_come_first() -> None:
    ranked = rank_files("log files should rotate on sundays", (), PAST)
    assert set(paths(ranked)[:2]) == {"log/rotation.go", "log/size.go"}
    assert "similar prompt" in ranked[0].reason


def test_words_of_the_prompt_match_file_names() -> None:
    ranked = rank_files("what does the clean command do?", (), PAST)
    assert set(paths(ranked)[:2]) == {"cmd/clean.go", "cmd/clean_test.go"}


def test_path_in_the_prompt_is_first() -> None:
    ranked = rank_files("look at `web/welcome.tsx:12` please", (), PAST)
    assert ranked[0].path == "web/welcome.tsx"
    assert ranked[0].reason.startswith("named in the prompt")


@pytest.mark.parametrize("named", ["/home/me/repo/web/welcome.tsx", "D:\\repo\\web\\welcome.tsx", "./web/welcome.tsx"])
def test_absolute_path_in_the_prompt_is_recognised(named: str) -> None:
    assert rank_files(f"see {named}.", (), PAST)[0].path == "web/welcome.tsx"


def test_identifier_in_the_prompt_names_a_file() -> None:
    past = [session(0, "one", "web/LoginForm.tsx"), *(session(n, "x", f"b/{n}.go") for n in (1, 2, 3))]
    assert rank_files("why does LoginForm render twice?", (), past)[0].path == "web/LoginForm.tsx"


def test_vague_prompt_gives_the_last_sessions_files() -> None:
    assert set(paths(rank_files("continue", (), PAST, limit=2))) == {"log/rotation.go", "log/size.go"}


def test_reason_counts_the_last_sessions() -> None:
    past = [session(number, "polish", "app/main_window.py") for number in range(4)]
    assert rank_files("something else", (), past)[0].reason == "edited in 4 of the last 4 sessions"


def test_file_edited_together_with_one_at_hand() -> None:
    past = sessions(*((f"task {n}", ("a/parser.go", "b/grammar.txt")) for n in range(3)), ("other", ("c/other.go",)))
    ranked = rank_files("improve it", ["a/parser.go"], past)
    assert ranked[0].path == "b/grammar.txt"
    assert "edited with `parser.go` in 3 sessions" in ranked[0].reason
    assert "a/parser.go" not in paths(ranked)


def test_companions_by_commits_code_and_records_are_offered() -> None:
    ranked = rank_files(
        *("improve it", ["cmd/status.go"], PAST),
        co_change={"cmd/status.go": {"docs/status.md": 0.9}},
        code={"cmd/status.go": {"hooks/list.go": 0.8}},
        records={"ops/runbook.md": 0.9},
    )
    reasons = {file.path: file.reason for file in ranked}
    assert reasons["docs/status.md"].startswith("committed together with `status.go`")
    assert reasons["hooks/list.go"] == "shares code with `status.go`"
    assert reasons["ops/runbook.md"] == "named by a record that matches the prompt"


def test_known_file_that_no_session_touched_is_offered_if_named() -> None:
    ranked = rank_files("fix lib/new.py", (), PAST, known_files=["lib/new.py", "lib/other.py"])
    assert ranked[0].path == "lib/new.py"
    assert "lib/other.py" not in paths(ranked)


def test_shares_fall_with_the_rank_and_are_chances() -> None:
    shares = [file.share for file in rank_files("rotate log files", (), PAST)]
    assert shares == sorted(shares, reverse=True)
    assert all(0 < share < 1 for share in shares)


def test_paths_outside_the_root_are_left_out() -> None:
    past = [session(0, "x", "/etc/passwd", "../up.go", "C:/up.go", "~/up.go", "in/side.go")]
    assert paths(rank_files("x", ["/etc/hosts", "../a"], past)) == ["in/side.go"]


@pytest.mark.parametrize(
    "prompt",
    ["", "\0", "\ud800", "a" * 100_000, "a/" * 50_000, "." * 100_000, "<system-reminder>" * 5_000, "🙂 日本語"],
)
def test_odd_prompts_do_no_harm(prompt: str) -> None:
    begun = process_time()
    assert len(rank_files(prompt, (), PAST)) == 6
    assert session_words((prompt,)).length >= 0
    assert process_time() - begun < 1


def test_nothing_is_known() -> None:
    assert rank_files("fix the clean command", (), []) == ()
    assert rank_files("fix the clean command", (), [PastSession("s", START)]) == ()


def test_sessions_without_stored_words_rank_alike() -> None:
    bare = [PastSession(each.session, each.at, prompts=each.prompts, files=each.files) for each in PAST]
    assert rank_files("rotate log files", (), bare) == rank_files("rotate log files", (), PAST)


def test_packed_words_are_read_back() -> None:
    words = session_words(("rotate log files, and log again",))
    assert words.length == 4
    assert SessionWords.unpacked(words.packed()) == words
    assert SessionWords.unpacked(session_words(()).packed()) == session_words(())


@pytest.mark.parametrize("text", ["", "x", "1 !", "3 AAAA", "x AAAAAAA=", "\0 \ud800"])
def test_damaged_words_are_none(text: str) -> None:
    assert SessionWords.unpacked(text) is None


def test_inserted_text_is_not_part_of_a_prompt() -> None:
    assert prompt_text("<system-reminder>use tools</system-reminder>Fix <b-tag>it</b-tag>").split() == ["Fix", "it"]
    assert "welcome.tsx" in read_prompt("<ide_opened_file>opened web/welcome.tsx</ide_opened_file> hi").bases


def test_test_and_code_share_a_subject() -> None:
    names = ("a/clean.go", "a/clean_test.go", "tests/test_clean.py", "web/clean.spec.ts", "x/CleanTest.java")
    assert {subject_of(name) for name in names} == {"clean"}


def test_a_thousand_sessions_are_ranked_in_time() -> None:
    past = [
        session(
            number,
            f"task {number} about topic{number % 97}",
            *(f"src/p{(number * 7 + k) % 2000}.go" for k in range(10)),
        )
        for number in range(1_000)
    ]
    rank_files("warm up", (), past)
    begun = process_time()
    rank_files("topic5 and topic9 of p12.go", (), past)
    assert process_time() - begun < 0.3  # ten times the goal: the machine may be busy


def test_words_of_a_session_are_those_of_its_first_prompt_with_text() -> None:
    first = "rotate the log files"
    added = "<system-reminder>never mind</system-reminder>"
    assert session_words((added, first, "and now the invoices")) == session_words((first,))
