"""Time of the hook process for each hook of each agent, with the MCP server of its session and without it."""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import treering
from bench.prose import questions, records
from bench.results import percentile, table, write_section
from tests.mcp_messages import greeting, line
from treering.core.injections import SessionGroup, session_group
from treering.core.records import Knowledge, Source
from treering.core.settings import EmbedderSettings, Settings
from treering.interfaces.hooks.agents import AGENTS, Agent, Hook
from treering.interfaces.hooks.command import hook_command
from treering.location.hook_files import SPOOL, TARGET, hook_folder, read_json, write_json

RECORDS = 100_000
RUNS = 30
PROJECT = "bench"
COMMAND = str(Path(sys.executable).with_name("treering"))
GOALS = {True: 90, False: 60}  # wall p95 in ms: hooks that inject, and those that only record
PROCESSOR_GOAL = 60
TYPES = ("gotcha", "error_pattern", "dead_end", "preference", "requirement", "decision", "fact", "module_insight")
SETTINGS = Settings(embedder=EmbedderSettings(provider="bundled", batch=2_000))
QUESTIONS = questions(RUNS + 1)
_START_SECONDS = 120


class Took(NamedTuple):
    """Seconds of one process, and whether it injected."""

    wall: float
    processor: float
    injected: bool


def fill(file: Path) -> None:
    """A memory of many records in English prose, each about a file, with vectors; a few are rules of people."""
    pick, now = random.Random(22), datetime.now(UTC)
    texts = enumerate(records(RECORDS))
    with treering.open(file, project=PROJECT, settings=SETTINGS) as memory:
        memory.remember_many(_record(number, text, pick, now) for number, text in texts)
        memory.settle(timeout=3_600)


def _record(number: int, text: str, pick: random.Random, now: datetime) -> Knowledge:
    at = now - timedelta(minutes=RECORDS - number)
    return Knowledge.make(
        id=f"record-{number:06}",
        type=TYPES[number % len(TYPES)] if number % 50 else "preference",
        content=text,
        confidence=pick.choice((0.5, 0.7, 0.9)),
        files=(f"src/module{number % 2_000}.py",),
        source=Source.USER_TAUGHT if number % 50 == 0 else Source.OBSERVER_INFERRED,
        created_at=at,
        updated_at=at,
        last_accessed_at=at,
    )


def payload(agent: Agent, hook: Hook, root: Path, session: str, number: int) -> dict[str, Any]:
    """A payload of usual size, with the fields of this agent."""
    output = "\n".join(f"{place}\tline {place} of the output" for place in range(60))
    file = str(root / "src" / f"module{number % 2_000}.py")
    fields = {
        "session_id": session,
        "cwd": str(root),
        "hook_event_name": hook.name,
        "transcript_path": str(root / "transcript.jsonl"),
        "source": "startup",
        "prompt": f"Please fix src/module{number % 2_000}.py: {QUESTIONS[number]}",
        "tool_name": "Edit",
        "tool_use_id": f"call-{number}",
        "tool_input": {"file_path": file, "old_string": "a" * 400, "new_string": "b" * 400},
        "tool_response": {"stdout": output, "stderr": "", "interrupted": False},
        "tool_calls": [{"tool_name": "Edit", "tool_input": {"file_path": file}, "tool_response": output}],
    }
    return {**fields, "conversation_id": session, "workspace_roots": [str(root)]} if agent.name == "cursor" else fields


def took(command: list[str], event: Mapping[str, Any], env: Mapping[str, str]) -> Took:
    text = json.dumps(event).encode()
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(text)
    process.stdin.close()
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    assert process.returncode == 0
    return Took(wall, used.ru_utime + used.ru_stime, bool(printed))


def full_sessions() -> Iterator[str]:
    """Ids of sessions that are given everything."""
    for number in range(10**9):
        if session_group(PROJECT, f"session-{number}") is SessionGroup.FULL:
            yield f"session-{number}"


@contextmanager
def serving(file: Path, root: Path, folder: str, env: Mapping[str, str]) -> Iterator[None]:
    """An MCP server of the repository, once it listens and has answered a search."""
    command = [COMMAND, "mcp", "--db", str(file), "--project", PROJECT]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root, env=env)
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        call = {"name": "search_memory", "arguments": {"query": "retry of the cache"}}
        started = greeting("2025-11-25") + line("notifications/initialized") + line("tools/call", call, 2)
        server.stdin.write(started)
        server.stdin.flush()
        for _ in range(2):
            server.stdout.readline()
        deadline = time.monotonic() + _START_SECONDS
        while not os.path.exists(str(read_json(folder, TARGET).get("socket") or "")):
            assert time.monotonic() < deadline, "the MCP server does not listen"
            time.sleep(0.1)
        yield
    finally:
        server.stdin.close()
        server.wait()
        server.stdout.close()


def measured(root: Path, folder: str, file: Path, env: Mapping[str, str]) -> dict[tuple[str, str], list[Took]]:
    sessions, rows = full_sessions(), dict[tuple[str, str], list[Took]]()
    for agent in AGENTS.values():
        command = hook_command(agent.name, str(file), PROJECT)
        for hook in agent.hooks.values():
            events = (payload(agent, hook, root, next(sessions), number) for number in range(RUNS + 1))
            runs = [took(command, event, env) for event in events][1:]
            rows[agent.name, hook.name] = runs
            if os.path.exists(os.path.join(folder, SPOOL)):
                os.unlink(os.path.join(folder, SPOOL))
    return rows


def rows_of(found: Mapping[tuple[str, str], list[Took]]) -> list[tuple[object, ...]]:
    rows = list[tuple[object, ...]]()
    for (agent, name), runs in found.items():
        point = AGENTS[agent].hooks[name].point
        walls, processors = [run.wall for run in runs], [run.processor for run in runs]
        figures = (percentile(each, share) for each in (walls, processors) for share in (0.5, 0.95))
        shown = [f"{figure:.0f} ms" for figure in figures]
        rows.append((agent, name, point or "–", *shown, f"{sum(run.injected for run in runs)} of {len(runs)}"))
    return rows


def summary(found: Mapping[tuple[str, str], list[Took]]) -> str:
    """All events together, against the goals."""
    parts = list[str]()
    for injects, goal in GOALS.items():
        runs = [
            run for (agent, name), each in found.items() for run in each
            if (AGENTS[agent].hooks[name].point is not None) is injects
        ]  # fmt: skip
        wall, processor = (
            percentile(list(each), 0.95) for each in zip(*((r.wall, r.processor) for r in runs), strict=True)
        )
        what = "Hooks that can inject" if injects else "hooks that only record"
        parts.append(
            f"{what}: {wall:.0f} ms wall (goal {goal} ms) and {processor:.0f} ms processor time "
            f"(goal {PROCESSOR_GOAL} ms) at p95 of {len(runs)} runs"
        )
    return "; ".join(parts) + "."


def main() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    loads = [os.getloadavg()[0]]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(os.path.realpath(folder)) / "repository"
        (root / ".git").mkdir(parents=True)
        file = root.parent / "memory.db"
        fill(file)
        env = {"PATH": os.environ["PATH"], "HOME": folder, "TREERING_DATA_DIR": str(root.parent / "data")}
        hooks = hook_folder(env["TREERING_DATA_DIR"], str(root), str(file), PROJECT)
        scope = {"tenant": "local", "project": PROJECT, "principal": "local"}
        write_json(hooks, TARGET, {"file": str(file), **scope})
        alone = measured(root, hooks, file, env)
        with serving(file, root, hooks, env):
            served = measured(root, hooks, file, env)
    loads.append(os.getloadavg()[0])
    headers = ("agent", "hook", "point", "wall p50", "wall p95", "processor p50", "processor p95", "injected")
    body = (
        f"Whole process from start to exit, {RUNS} runs of each hook, one after the other, each in a new session; a "
        f"memory of {RECORDS:,} records of English prose, with vectors; each prompt names a file and has some words of "
        "a sentence. "
        f"Load average of the machine: {loads[0]:.1f} before, {loads[1]:.1f} after; wall times depend on it. "
        "Peer: the hooks of claude-mem take 366–467 ms of wall time.\n\n"
        f"With the session's MCP server (`treering mcp`), which answers over its socket. {summary(served)}\n\n"
        f"{table(headers, rows_of(served))}\n\n"
        f"Without a server: the direct look-up. {summary(alone)}\n\n{table(headers, rows_of(alone))}"
    )
    write_section("hook-process", "The hook process", body)


if __name__ == "__main__":
    main()
