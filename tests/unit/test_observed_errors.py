"""Failures in tool results are recognised, told apart, and worded as a colleague would quote them."""

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import LINEAR, growth
from treering.observe.commands import parse_command
from treering.observe.errors import Failure, failure_of, resolution_of
from treering.observe.tools import tool_use

ROOT = "/home/ada/shop"


@dataclass(frozen=True)
class FailingOutput:
    """One output of a labelled group; all outputs of a group show the same error."""

    group: str
    number: int
    command: str
    dialect: str
    summary: str
    text: str


def _labelled() -> list[FailingOutput]:
    outputs = []
    for block in Path(__file__).with_name("failing_outputs.txt").read_text().split("#### ")[1:]:
        head, _, body = block.partition("\n")
        group, command, dialect, summary = head.split(" | ")
        for number, text in enumerate(body.split("%%%%\n")):
            outputs.append(FailingOutput(group, number, command, dialect, summary, text))
    return outputs


OUTPUTS = _labelled()


def failed(command: str, text: str, *, is_error: bool = True, root: str = ROOT) -> Failure | None:
    use = tool_use("Bash", {"command": command}, root)
    return failure_of("Bash", use, text, is_error=is_error, root=root)


def test_there_are_enough_labelled_outputs() -> None:
    assert len(OUTPUTS) >= 120


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda output: f"{output.group} {output.number}")
def test_an_output_is_named_by_its_decisive_line(output: FailingOutput) -> None:
    failure = failed(output.command, f"Exit code 1\n{output.text}")
    assert failure is not None
    assert output.summary in failure.summary
    assert len(failure.fingerprint) == 32
    assert failure.dialect in output.dialect


def test_same_errors_share_a_fingerprint_and_different_ones_do_not() -> None:
    groups: dict[str, set[str]] = defaultdict(set)
    fingerprints: dict[str, set[str]] = defaultdict(set)
    for output in OUTPUTS:
        found = failed(output.command, output.text)
        assert found is not None
        groups[output.group].add(found.fingerprint)
        fingerprints[found.fingerprint].add(output.group)
    assert {group: found for group, found in groups.items() if len(found) > 1} == {}
    assert [found for found in fingerprints.values() if len(found) > 1] == []


def _varied(text: str, line: int, folder: str, seconds: str) -> str:
    """The output of another run: other positions, another checkout, other durations, in colour."""
    text = re.sub(r"(?<=\.(?:py|go|rs|ts|js|rb|cs)):\d+", f":{line}", text)
    text = re.sub(r"line \d+", f"line {line}", text)
    text = text.replace("/home/ada", folder)
    text = re.sub(r"\b\d+\.\d+ ?s\b", f"{seconds}s", text)
    return re.sub(r"\b(FAILED|FAIL|error)(?=[ :])", "\x1b[31m\\1\x1b[0m", text)


@given(
    output=st.sampled_from(OUTPUTS),
    line=st.integers(1, 99_999),
    folder=st.sampled_from(["/srv/ci/build-17", "/tmp/pytest-of-bob/x1", "/Users/bob.b/src", "/mnt/c/Users/Bob"]),
    seconds=st.sampled_from(["0.01", "3.2", "1234.5"]),
)
def test_another_run_of_the_same_error_has_the_same_fingerprint(
    output: FailingOutput, line: int, folder: str, seconds: str
) -> None:
    first = failed(output.command, output.text, root="/home/ada")
    second = failed(output.command, _varied(output.text, line, folder, seconds), root=folder)
    assert first is not None
    assert second is not None
    assert first.fingerprint == second.fingerprint, (first, second)


NO_FAILURES = [
    ("pytest -q", "............ [100%]\n12 passed in 0.34s\n"),
    ("pytest", "===== 12 passed, 2 warnings in 0.34s =====\n"),
    ("pytest tests/test_errors.py", "tests/test_errors.py ....  [100%]\n\n==== 4 passed in 0.1s ====\n"),
    ("go test ./...", "ok  \texample.com/shop/errors\t0.003s\nok  \texample.com/shop/failures\t(cached)\n"),
    ("go test -v ./...", "=== RUN   TestFails\n--- PASS: TestFails (0.00s)\nPASS\nok  \texample.com/x\t0.1s\n"),
    (
        "cargo test",
        "running 1 test\ntest tests::error_is_shown ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n",
    ),
    ("npx jest", "PASS src/error.test.js\nTests:       3 passed, 3 total\n"),
    ("npx vitest run", " ✓ src/error.test.ts (3)\n Test Files  1 passed (1)\n      Tests  3 passed (3)\n"),
    ("npx eslint .", ""),
    ("mypy src", "Success: no issues found in 12 source files\n"),
    ("ruff check .", "All checks passed!\n"),
    ("npx tsc --noEmit", ""),
    ("make build", "gcc -Werror -o error error.c\n"),
    ("npm install", "added 12 packages in 3s\n\n0 vulnerabilities\n"),
    ("git log -3 --oneline", "1a2b3c4 Fix the error: parse failed\n5d6e7f8 fatal: handle it\n"),
    ("git status", "On branch main\nnothing to commit, working tree clean\n"),
    ("cat server.log", "ERROR: connection failed\nTraceback (most recent call last):\nKeyError: 'x'\n"),
    ("grep -rn error src", "src/a.py:3: error: x\n"),
    ("docker compose up -d", "Container web  Started\n"),
    ("npx eslint src", "/a/b.js\n  1:1  warning  Unexpected  no-console\n\n✖ 1 problem (0 errors, 1 warning)\n"),
    ("python train.py", "epoch 1 error: 0.234\nepoch 2 error: 0.200\n"),
    ("cargo build", "warning: unused variable: `error`\n --> src/a.rs:3:5\n    Finished dev target(s) in 2.3s\n"),
    ("npx jest src", "  console.error\n    Warning: x\n\nPASS a.test.js\nTests:       3 passed, 3 total\n"),
    ("pytest --collect-only -q", "tests/test_errors.py::test_failed\n\n1 test collected in 0.01s\n"),
    ("kubectl logs x", "panic: foo\ngoroutine 1 [running]:\n"),
    ("git commit -m x", "[main 1a2b3c4] Handle fatal: error\n 1 file changed\n"),
    ("npm run build", "dist/assets/error-page-a1b2.js  12 kB\n✓ built in 1.2s\n"),
]


@pytest.mark.parametrize(("command", "text"), NO_FAILURES)
def test_a_successful_output_is_not_a_failure(command: str, text: str) -> None:
    assert failed(command, text, is_error=False) is None
    assert failed(f"{command} 2>&1 | tail -20", text, is_error=False) is None


HIDDEN = [
    o for o in OUTPUTS if o.dialect in ("pytest", "go test", "cargo test", "jest", "vitest", "go", "rust", "typescript")
]


@pytest.mark.parametrize("output", HIDDEN, ids=lambda output: f"{output.group} {output.number}")
def test_a_failure_is_recognised_although_a_pipe_hides_the_exit_code(output: FailingOutput) -> None:
    hidden = failed(f"{output.command} 2>&1 | tail -40", output.text, is_error=False)
    known = failed(output.command, output.text)
    assert hidden is not None
    assert known is not None
    assert hidden.fingerprint == known.fingerprint


NOT_MADE = [
    "The user doesn't want to proceed with this tool use. The tool use was rejected.",
    "[Request interrupted by user for tool use]",
    "Permission to use Bash with command rm -rf x has been denied.",
    "Claude requested permissions to use Bash, but you haven't granted it yet.",
    "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
    "File has been modified since read, either by the user or by a linter. Read it again before writing it.",
    "<tool_use_error>Error: No such tool available: Foo</tool_use_error>".replace("Error: ", ""),
    "This command requires approval",
]


@pytest.mark.parametrize("text", NOT_MADE)
def test_a_call_that_was_not_made_is_not_a_failure(text: str) -> None:
    assert failed("make test", text) is None
    use = tool_use("Edit", {"file_path": f"{ROOT}/a.py"}, ROOT)
    assert failure_of("Edit", use, text, is_error=True, root=ROOT) is None


@pytest.mark.parametrize("command", ["grep -rn foo src", "rg foo", "git grep foo", "diff a.txt b.txt", "which foo"])
def test_a_search_without_matches_is_not_a_failure(command: str) -> None:
    assert failed(command, "Exit code 1") is None
    assert failed(command, "") is None


def test_a_failed_edit_is_a_minor_failure_of_the_tool() -> None:
    use = tool_use("Edit", {"file_path": f"{ROOT}/a.py"}, ROOT)
    texts = [
        f"<tool_use_error>String to replace not found in file.\nString: {code}</tool_use_error>"
        for code in ("x", "y = 1")
    ]
    found = [failure_of("Edit", use, text, is_error=True, root=ROOT) for text in texts]
    assert {(f.dialect, f.minor, f.summary) for f in found if f} == {
        ("tool", True, "String to replace not found in file.")
    }
    assert len({f.fingerprint for f in found if f}) == 1
    other = failure_of("Read", use, "File does not exist.", is_error=True, root=ROOT)
    assert other is not None
    assert other.minor
    assert other.fingerprint != found[0].fingerprint


def test_what_an_exploring_command_did_not_find_is_minor() -> None:
    missing = failed("ls src/nope", "Exit code 2\nls: cannot access 'src/nope': No such file or directory")
    assert missing is not None
    assert missing.minor
    compile_error = failed("go build ./...", "a.go:1:2: undefined: x")
    assert compile_error is not None
    assert not compile_error.minor


@pytest.mark.parametrize(
    ("text", "minor"),
    [
        ("[test] ERROR task failed", True),
        ("Error: Command failed with exit code 1", True),
        ("ok  \tshop/tides\t0.1s\nok  \tshop/reefs", True),
        ("build failed: no such package", False),
        ("ERROR: the table is missing", False),
    ],
)
def test_a_message_that_says_nothing_about_the_cause_is_minor(text: str, minor: bool) -> None:
    failure = failed("mise run test", text)
    assert failure is not None
    assert failure.minor is minor


def test_a_command_without_output_is_named_with_its_exit_code() -> None:
    failure = failed("cd /home/ada/shop && make deploy", "Exit code 3")
    assert failure is not None
    assert failure.summary == "`make deploy` exited with code 3"
    assert failure.minor


@pytest.mark.parametrize(
    "text",
    [
        "Exit code 1\nbash: foo: command not found",
        "<untrusted_context>\nOutput: bash: foo: command not found\nExit Code: 127\n</untrusted_context>",
        '{"output":"bash: foo: command not found\\n","metadata":{"exit_code":127,"duration_seconds":0.1}}',
        "Exit code: 127\nWall time: 0.1 seconds\nOutput:\nbash: foo: command not found\n",
        "Chunk ID: 1a2b\nWall time: 0 seconds\nProcess exited with code 127\nOutput:\nbash: foo: command not found\n",
    ],
)
def test_envelopes_of_agents_are_understood(text: str) -> None:
    use = tool_use("shell", {"command": ["bash", "-lc", "foo build"]}, ROOT)
    failure = failure_of("shell", use, text, is_error=False, root=ROOT)
    assert failure is not None
    assert failure.summary.endswith("foo: command not found")


def test_files_are_relative_to_the_project_and_inside_it() -> None:
    text = (
        "Traceback (most recent call last):\n"
        f'  File "{ROOT}/src/app.py", line 3, in <module>\n'
        f'  File "{ROOT}/.venv/lib/python3.11/site-packages/x/y.py", line 3, in f\n'
        '  File "/etc/other/z.py", line 3, in f\n'
        f"ValueError: cannot read {ROOT}/data/in.csv\n"
    )
    failure = failed("python src/app.py", text)
    assert failure is not None
    assert set(failure.files) == {"src/app.py", "data/in.csv"}
    assert failure.summary == "ValueError: cannot read data/in.csv"


@given(st.text(max_size=3000), st.booleans(), st.sampled_from(["pytest", "go test ./...", "cat x", "git push", "\x00"]))
def test_no_text_makes_it_raise(text: str, is_error: bool, command: str) -> None:
    failure = failed(command, text, is_error=is_error)
    if failure is not None:
        assert failure.summary
        assert len(failure.summary) <= 200
        assert "\x1b" not in failure.summary
        assert len(failure.tests) <= 5


@given(
    st.lists(
        st.sampled_from(
            [
                *"E \t\n:()[]'\"-_.=●✖×<>/\\|\x1b\x00\ud800", "error", "FAILED ", "FAIL", "--- FAIL: ",
    "panic: ", "a.py",
                "a.go:1:2: ", "Traceback (most recent call last)", "___ ", "thread 'x' panicked at ", "at ",
    " › ", "1) ",
                "npm ERR! ", "error[E0308]: ", "ERROR", "fatal: ", "[", "1" * 40, "x" * 40, "../" * 9, "not found",
            ]
        ),
        max_size=60,
    ),
    st.booleans(),
)  # fmt: skip
def test_no_mixture_of_markers_makes_it_raise(parts: list[str], is_error: bool) -> None:
    failure = failed("make test | tail", "".join(parts), is_error=is_error)
    assert failure is None or failure.summary


HOSTILE = [
    "--- FAIL: a\n", "E   ", "FAILED ", "_ ", "___ ", "a.", "a.a", "/a", "a:1:", "a/b.py:1: ", "(", "[",
    "--- FAIL: a", " ", "\t", "at ",
    "error: ", "thread 'a' panicked at '", "1) ", "● ", " › ", "[ERROR] ", "a: ", "error ", "\x1b[",
    "make: *** [", "'", '"',
    "<tool_use_error>", "npm ERR! ", "a.b.C: ", "Exit code ", "\n", "\n\n ", "E\n", "x.go:1:1: a\n",
    "FAIL  a\n", "a > b\n",
    "    at a (b:1:1)\n", "Error: a\n", "  1) a\n", "1 failing\n", "a FAILED\n", "error TS1: a\n", "_ a _\n",
    "=== RUN   a\n",
    "---- a stdout ----\n", "warning: a\n  --> a.rs:1:1\n", "| ", "| A: b\n", "a...Failed\n",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_repeated_markers_take_linear_time(piece: str) -> None:
    use = tool_use("Bash", {"command": "make test | tail"}, ROOT)

    def work(size: int) -> None:
        text = f"error FAILED {piece * (size // len(piece))}"
        failure_of("Bash", use, text, is_error=True, root=ROOT)

    assert growth(work, 8_000, 32_000) < LINEAR


def test_only_the_beginning_and_the_end_of_a_large_result_are_read() -> None:
    text = "x\n" * 4_000_000 + "KeyError: 'a'\n" + "y\n" * 20_000
    failure = failed("python a.py", text)
    assert failure is not None
    assert "KeyError" not in failure.summary
    end = failed("go build ./...", "x\n" * 4_000_000 + "a.go:1:2: undefined: foo\n")
    assert end is not None
    assert end.summary == "undefined: foo"


def test_a_resolution_names_edits_and_changing_commands() -> None:
    run = parse_command("go test ./...")
    migrate = parse_command("make migrate")
    assert resolution_of(["a.go", "b.go", "a.go"], [run]) == "edited `a.go` and `b.go`"
    assert resolution_of([], [migrate, run]) == "`make migrate`"
    assert resolution_of(["a.go"], [migrate]) == "edited `a.go`, then `make migrate`"
    assert resolution_of([f"{n}.go" for n in "abcdef"], []) == "edited `a.go`, `b.go`, `c.go` and 3 more"


def test_a_success_without_changes_is_flaky() -> None:
    assert resolution_of([], [parse_command("go test ./...")]) == "re-run without changes (flaky)"
    assert (
        resolution_of([], [parse_command("cat a.go"), parse_command("go test ./...")])
        == "re-run without changes (flaky)"
    )
    assert resolution_of([], []) is None
    assert resolution_of([], [parse_command("cat a.go")]) is None
