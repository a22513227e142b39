"""A project with some of everything that the panel shows: `python -m tests.panel.sample_data FOLDER` writes it."""

import itertools
import json
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import treering
from treering.core.injections import InjectedItem, InjectionPoint, ItemKind, ItemOutcome, injected_item_id
from treering.memory import Memory

PROJECT = "atlas"
OTHER_PROJECT = "web-shop"

HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
"""Text that runs in a page that shows stored text as HTML."""

_DATA = json.loads(Path(__file__).with_suffix(".json").read_text())
RECORDS: list[Mapping[str, Any]] = _DATA["records"]
"""Arguments of `remember`, and how many days ago it happened."""
FILES: Mapping[str, str] = _DATA["files"]
"""Sources of the sample repository."""
COMMITS: list[tuple[int, list[str]]] = _DATA["commits"]
"""How many days ago which files changed, after a first commit of them all."""


class MovedClock:
    """A clock that is set by hand."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def fill(folder: Path, *, records: int = 0) -> Path:
    """Write the database of the sample project, with this many short records more, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / "memory.db"
    today = datetime.now(UTC).replace(microsecond=0)
    clock = MovedClock(today)
    repository = _repository(folder / "atlas", today)
    with treering.open(place, project=PROJECT, clock=clock, background=False, repository=repository) as memory:
        stored = _remember(memory, clock, today)
        _change(memory, clock, today, stored)
        _observe(memory, clock, today, stored)
        _episodes(memory, clock, today)
        _patterns(memory, clock, today)
        _talk(memory, clock, today)
        clock.now = today
        memory.code.index(repository)
        if records:
            memory.remember_many(
                [f"Tile {number:06d} was rendered at zoom level {number % 19}." for number in range(records)]
            )
        memory.settle(30.0)
    with treering.open(place, project=OTHER_PROJECT, background=False) as memory:
        memory.remember("The shop runs on PostgreSQL 18 since the May upgrade.", type="decision", tags=["database"])
    return place


def _repository(root: Path, today: datetime) -> Path:
    """A git repository with the sources and the commits that changed them."""
    root.mkdir(exist_ok=True)
    commits = [(today - timedelta(days=60), FILES)]
    for days, names in COMMITS:
        commits.append((today - timedelta(days=days), {name: f"{FILES[name]}# {days}\n" for name in names}))
    commits.append((today, {name: FILES[name] for _, names in COMMITS for name in names}))
    history = "".join(_commit(at, files) for at, files in commits)
    for command, given in (("init -q -b main", ""), ("fast-import --quiet", history), ("reset -q --hard", "")):
        subprocess.run(["git", *command.split()], cwd=root, input=given, text=True, check=True)
    return root


def _commit(at: datetime, files: Mapping[str, str]) -> str:
    """A commit as `git fast-import` reads it."""
    changes = "".join(f"M 100644 inline {name}\ndata {len(text.encode())}\n{text}\n" for name, text in files.items())
    when = f"Maya <maya@example.com> {int(at.timestamp())} +0000"
    return f"commit refs/heads/main\ncommitter {when}\ndata 4\nwork\n{changes}\n"


def _remember(memory: Memory, clock: MovedClock, today: datetime) -> list[str]:
    ids = []
    for record in RECORDS:
        fields = dict(record)
        days = fields.pop("days")
        clock.now = today - timedelta(days=days, hours=days % 7)
        ids.append(memory.remember(fields.pop("text"), **fields).id)
    clock.now = today - timedelta(hours=20)
    hostile = memory.remember(
        f"A record with markup {HOSTILE} and [a link](javascript:alert(1))",
        tags=["<b>tag</b>"],
        files=["<svg onload=x>.py"],
    )
    return [*ids, hostile.id]


def _change(memory: Memory, clock: MovedClock, today: datetime, ids: list[str]) -> None:
    clock.now = today - timedelta(days=6)
    memory.correct(ids[7], "outdated", text="The staging database is PostgreSQL 18 on db-3.internal.")
    memory.confirm(ids[1])
    memory.pin(ids[3])
    clock.now = today - timedelta(days=2)
    memory.flag(ids[14], "measured on a debug build")
    memory.knowledge.mute(ids[9])
    for _ in range(4):
        memory.used([ids[0], ids[2], ids[10]])


def _observe(memory: Memory, clock: MovedClock, today: datetime, ids: list[str]) -> None:
    stories = (
        ("build-045", 7, "fix the login test", "tests/test_auth.py", "api/auth/session.py", "success"),
        ("build-046", 3, "limit the number of requests per key", "api/limits.py", "api/routes.py", "failure"),
        ("build-047", 0, "render tiles in batches", "worker/tiles.py", "worker/main.py", "success"),
    )
    for session, days, prompt, first, second, outcome in stories:
        begun = today - timedelta(days=days, minutes=55)
        clock.now = begun
        watch = memory.observe(session, agent="claude")
        number = itertools.count()

        def event(
            kind: str,
            *,
            watch: Any = watch,
            begun: datetime = begun,
            number: Any = number,
            session: str = session,
            **fields: Any,
        ) -> None:
            place = next(number)
            at = (begun + timedelta(seconds=40 * place)).isoformat()
            watch.event({"kind": kind, "id": f"{session}-{place}", "at": at, **fields})

        def call(tool: str, result: str, *, fails: bool = False, event: Any = event, **arguments: Any) -> None:
            id = f"{tool}-{len(result)}-{arguments}"
            event("tool_call", tool=tool, call_id=id, arguments=arguments)
            event("tool_result", tool=tool, call_id=id, text=result, is_error=fails)

        event("prompt", text=prompt)
        call("Grep", f"{first}:3", pattern=prompt.split()[-1])
        call("Read", "source", file_path=first)
        call("Read", "source", file_path=second)
        event("reasoning", text="Actually the fixture waits for Redis; without REDIS_URL it hangs.")
        call("Bash", "E  AssertionError: expected 200, got 500\n1 failed", fails=True, command="uv run pytest -q")
        call("Edit", "updated", file_path=first, old_string="a", new_string="b")
        call("Edit", "updated", file_path=second, old_string="a", new_string="b")
        if outcome == "success":
            call("Bash", "Running upgrade -> 3f2a", command="uv run alembic upgrade head")
        call(
            "Bash",
            "3 passed" if outcome == "success" else "1 failed",
            fails=outcome != "success",
            command="uv run pytest -q",
        )
        event("prompt", text="from now on, always run the linter before you commit")
        items = _injected(session, begun, ids)
        memory.injections.note(items)
        clock.now = begun + timedelta(minutes=50)
        watch.finish(outcome)


def _injected(session: str, begun: datetime, ids: list[str]) -> list[InjectedItem]:
    given = (
        (InjectionPoint.START, ids[2], "preference", "a rule of this project", ItemOutcome.USED, 48),
        (InjectionPoint.PROMPT, ids[1], "gotcha", "about api/auth/session.py", ItemOutcome.USED, 96),
        (InjectionPoint.TOOL, ids[15], "error_pattern", "the same error occurred before", ItemOutcome.USED, 210),
        (InjectionPoint.PROMPT, ids[5], "dead_end", "the prompt names tiles", ItemOutcome.IGNORED, 74),
    )
    return [
        InjectedItem.make(
            id=injected_item_id(f"{session}-{place}", 0),
            session=session,
            point=point,
            kind=ItemKind.KNOWLEDGE,
            item=item,
            injection=f"{session}-{place}",
            injected_at=begun + timedelta(minutes=place),
            type=type,
            text=RECORDS[ids.index(item)]["text"],
            reason=reason,
            tokens=tokens,
            score=0.8,
            outcome=outcome,
        )
        for place, (point, item, type, reason, outcome, tokens) in enumerate(given)
    ]


def _episodes(memory: Memory, clock: MovedClock, today: datetime) -> None:
    steps = (
        ("git status", "clean", False),
        ("uv run pytest -q", "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379", True),
        ("docker compose up -d redis", "started", False),
        ("uv run pytest -q", "3 passed", False),
    )
    trace = [{"action": "run", "tool": "Bash", "input": run, "output": out, "is_error": bad} for run, out, bad in steps]
    for number in range(8):
        clock.now = today - timedelta(days=30 - 3 * number)
        is_good = number % 3 != 1
        memory.episode(
            ("Fix the failing login test", "Speed up the tile worker", "Add rate limits")[number % 3],
            outcome="SUCCESS" if is_good else "FAILURE",
            output="tests pass" if is_good else "the worker was killed: out of memory",
            session=f"build-04{number}",
            trace=trace,
            task_type="fix",
            domain=("auth", "worker", "api")[number % 3],
            insights=["measure before optimising"] if is_good else [],
            duration_ms=60_000.0 * (number + 1),
            tags=["atlas"],
        )


def _patterns(memory: Memory, clock: MovedClock, today: datetime) -> None:
    """A pattern that was changed once and then used, one that fails in a domain, and one with markup."""
    clock.now = today - timedelta(days=26)
    pattern = memory.patterns.add(
        name="Reproduce, then fix",
        category="strategy",
        summary="Make the error happen in a test before you change the code.",
        content={"form": "strategy", "approach": "write a failing test first"},
        applicability={"problem_types": ["fix", "chore"]},
    )
    clock.now = today - timedelta(days=20)
    memory.patterns.update(
        pattern.id,
        content={
            "form": "strategy",
            "approach": "write a failing test first, then change the code",
            "principles": ["one test per error", "keep the test"],
        },
        applicability={"problem_types": ["fix"]},
    )
    outcomes = ("SUCCESS", "SUCCESS", "FAILURE", "SUCCESS", "SUCCESS", "PARTIAL", "SUCCESS", "SUCCESS")
    for number, outcome in enumerate(outcomes):
        clock.now = today - timedelta(days=18 - 2 * number)
        memory.patterns.record_application(pattern.id, outcome=outcome, session=f"build-04{number}", task_type="fix")
    clock.now = today - timedelta(days=19)
    retry = memory.patterns.add(
        name="Retry with a longer timeout",
        category="recovery",
        content={
            "form": "procedure",
            "steps": [{"name": "wait", "action": "sleep 5"}, {"name": "retry", "action": "run the command again"}],
        },
    )
    for number in range(16):
        clock.now = today - timedelta(days=17 - number)
        memory.patterns.record_application(
            retry.id,
            outcome="FAILURE" if number % 2 else "SUCCESS",
            session=f"retry-{number:02d}",
            features={"domain": "worker" if number % 2 else "api"},
        )
    clock.now = today - timedelta(days=1)
    memory.patterns.add(
        name=f"Markup {HOSTILE}",
        category="domain",
        content={"form": "strategy", "approach": f"never run {HOSTILE} or **this**"},
    )
    memory.episode(
        f"Escape {HOSTILE}",
        outcome="FAILURE",
        output=f"{HOSTILE} [a link](javascript:alert(1))",
        trace=[{"action": "run", "tool": "<b>Bash</b>", "input": HOSTILE, "output": HOSTILE, "is_error": True}],
        domain="<i>web</i>",
    )
    memory.patterns.validate()


def _talk(memory: Memory, clock: MovedClock, today: datetime) -> None:
    clock.now = today - timedelta(days=4)
    said = (
        ("user", "maya", "Acme Corp moved its headquarters from Lyon to Grenoble last month."),
        ("assistant", "agent", "Noted. Paul Durand stays their contact?"),
        ("user", "maya", "Yes, Paul Durand works for Acme Corp; he prefers to be called in the morning."),
    )
    for place, (role, speaker, text) in enumerate(said):
        memory.turn(session="call-acme", role=role, speaker=speaker, text=text, at=clock.now + timedelta(minutes=place))
    talk = memory.conversation("planning", model="gpt-4o", limit=300, keep_recent=2)
    for number in range(14):
        talk.add(
            "user" if number % 2 == 0 else "assistant",
            f"Step {number}: we compare two ways to store the tiles, and keep the numbers of each run for later.",
        )
    talk.build()


if __name__ == "__main__":
    print(fill(Path(sys.argv[1]), records=int(sys.argv[2]) if len(sys.argv) > 2 else 0))
