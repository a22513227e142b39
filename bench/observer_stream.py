"""A made-up but realistic stream of session events: an agent works on one task after the other in a project."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from random import Random

ROOT = "/home/dev/harbour"
_PARTS = ("berths", "tides", "cranes", "pilots", "customs", "billing", "weather", "radio")
_NAMES = ("schedule", "handler", "store", "client", "model", "parser", "report", "config", "queue", "routes")
_TEXT = (
    "the berth planner reads each arrival before the tide window closes and the handler stores it so that billing sees"
    " one row per vessel while customs keeps its own list of goods and the crane queue is sorted by draught and time"
)
_WORDS = _TEXT.split()
_THOUGHTS = (
    "Let me look at how the store is used here.",
    "Now I'll update the handler and run the tests.",
    "The test still fails because the fixture has no tide table.",
    "The handler already covers that case.",
    "Next come the routes.",
    "All tests of this package pass.",
    "The report is written after the queue is empty.",
)
_CORRECTIONS = (
    "I was wrong about the queue: it is sorted by draught, not by arrival.",
    "This approach won't work because the client is created before the settings are read.",
)
_CORRECTED = 0.08  # share of the reasoning
_GO = """--- FAIL: Test{name} (0.00s)
    {part}/{name}_test.go:{line}: got {line}, want 7
FAIL
FAIL\tharbour/{part}\t0.012s
"""
_PYTEST = """F.
=== FAILURES ===
____ test_{name} ____

    def test_{name}():
>       assert plan() == 7
E       assert {line} == 7

tests/{part}/test_{name}.py:{line}: AssertionError
=== short test summary info ===
FAILED tests/{part}/test_{name}.py::test_{name} - assert {line} == 7
1 failed, 3 passed in 0.41s
"""
_TYPESCRIPT = "src/{part}/{name}.ts({line},7): error TS2345: Argument of type 'string' is not assignable.\n"
_FAILURES = (("go test ./{part}/...", _GO), ("pytest tests/{part} -q", _PYTEST), ("npm run build", _TYPESCRIPT))


def events(count: int, seed: int = 7) -> Iterator[dict[str, object]]:
    """This many events. Outside content enters after about two thirds of the stream."""
    source = _session(Random(seed), count)
    return (event for event, _ in zip(source, range(count), strict=False))


def _session(random: Random, count: int) -> Iterator[dict[str, object]]:
    at, number = datetime(2026, 3, 2, 9, tzinfo=UTC), 0
    outside = 2 * count // 3
    while True:
        for kind, fields in _task(random, number >= outside):
            at += timedelta(seconds=random.uniform(0.5, 20))
            number += 1
            yield {"kind": kind, "id": f"event-{number}", "at": at.isoformat(), **fields}


def _task(random: Random, with_outside: bool) -> Iterator[tuple[str, dict[str, object]]]:
    part, name = random.choice(_PARTS), random.choice(_NAMES)
    yield "prompt", {"text": f"Please change the {name} of {part}: {_prose(random, 40)}"}
    yield from _call(random, "Grep", {"pattern": f"{name}{random.randrange(60)}", "path": ROOT}, _listing(random, 12))
    yield from _call(random, "Glob", {"pattern": f"{part}/**/*.go"}, _listing(random, 40))
    if with_outside and random.random() < 0.2:
        address = {"url": "https://docs.example.com/tides", "prompt": "how are tides computed"}
        yield from _call(random, "WebFetch", address, _prose(random, 300))
    for _ in range(random.randint(3, 8)):
        thought = random.choice(_CORRECTIONS if random.random() < _CORRECTED else _THOUGHTS)
        yield "reasoning", {"text": f"{_prose(random, 60)} {thought} {_prose(random, 30)}"}
        yield from _call(random, "Read", {"file_path": _path(random, part)}, _code(random))
        if random.random() < 0.7:
            change = {"old_string": _code(random, 5), "new_string": _code(random, 7)}
            yield from _call(random, "Edit", {"file_path": _path(random, part), **change}, "The file has been updated.")
        if random.random() < 0.5:
            yield from _run(random, part, name)
    yield from _call(random, "Bash", {"command": f"git commit -am 'Change {name} of {part}'"}, "1 file changed")


def _run(random: Random, part: str, name: str) -> Iterator[tuple[str, dict[str, object]]]:
    command, failure = random.choice(_FAILURES)
    failed = random.random() < 0.35
    output = failure.format(part=part, name=name, line=random.randrange(200)) if failed else "ok\n" * 20
    yield from _call(random, "Bash", {"command": command.format(part=part)}, output, failed)


def _call(
    random: Random, tool: str, arguments: Mapping[str, object], text: str, is_error: bool = False
) -> Iterator[tuple[str, dict[str, object]]]:
    call_id = f"toolu_{random.getrandbits(64):x}"
    yield "tool_call", {"tool": tool, "call_id": call_id, "arguments": arguments}
    yield "tool_result", {"tool": tool, "call_id": call_id, "text": text, "is_error": is_error}


def _path(random: Random, part: str) -> str:
    number = int(random.paretovariate(1.2)) % 40
    return f"{ROOT}/{part}/{random.choice(_NAMES)}{number or ''}.go"


def _prose(random: Random, words: int) -> str:
    return " ".join(random.choices(_WORDS, k=words)) + "."


def _code(random: Random, lines: int = 90) -> str:
    head = 'import (\n\t"harbour/tides"\n\t"harbour/store"\n)\n' if lines > 20 else ""
    return head + "\n".join(f"\tif plan{random.randrange(999)}.Ready() {{ return nil }}" for _ in range(lines))


def _listing(random: Random, lines: int) -> str:
    return "\n".join(_path(random, random.choice(_PARTS)) for _ in range(lines))
