"""The hook process: records the event of an agent's hook and, where the hook can inject, prints what memory offers.

It runs while the agent waits: it imports almost nothing, ends itself after a few seconds, does not retry, and leaves
nothing running. Whatever fails, it prints nothing and exits with code 0.
"""

import os
import time

from treering.core.light_json import dumps, loads
from treering.interfaces.hooks.agents import AGENTS, MAX_CHARACTERS, SECONDS, HookEvent, folder_of, is_low_value
from treering.interfaces.hooks.trimming import trimmed
from treering.location.hook_files import (
    PAUSE,
    TARGET,
    NotOurs,
    data_folder,
    ensure_private_folder,
    hook_folder,
    is_paused,
    is_private_folder,
    note_error,
    note_lost,
    read_json,
    repository_root,
    socket_path,
)
from treering.location.hook_spool import (
    LOOK_UP,
    VERSION,
    FolderLock,
    append_line,
    event_line,
    injected_line,
    new_event_id,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from treering.interfaces.hooks.lookup import ReadMemory

INPUT_SECONDS = 2.0  # for the payload to arrive
SPARE_SECONDS = 1.0  # beyond the time budget of an answer, for everything else
MAX_INPUT_BYTES = 16 * 1024 * 1024
MAX_LOG_LINES = 2
LOCK_STEP = 0.002
_OFF = frozenset(("off", "0", "false", "no"))


def run(arguments: "Sequence[str]", read_memory: "ReadMemory") -> None:
    """The whole process, with a timer that ends it."""
    _end_after(INPUT_SECONDS)
    main(HookProcess(arguments, os.environ, read_memory), 0, 1, _end_after)


_ends_at = [0.0]


def _end_after(seconds: float) -> None:
    """End the process with code 0 after this time, whatever it is waiting for; a later call moves the end."""
    is_watched, _ends_at[0] = _ends_at[0] > 0, time.monotonic() + seconds
    if is_watched:
        return
    from _thread import start_new_thread

    try:
        start_new_thread(_watch, ())
    except RuntimeError:  # no more threads: a signal ends most waits, though not those inside SQLite
        from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]

        signal(SIGALRM, lambda *_: os._exit(0))
        setitimer(ITIMER_REAL, INPUT_SECONDS + SPARE_SECONDS + max(SECONDS.values()))


def _watch() -> None:
    while (left := _ends_at[0] - time.monotonic()) > 0:
        time.sleep(left)
    os._exit(0)


def main(
    process: "HookProcess", stdin: int, stdout: int, end_after: "Callable[[float], None]" = lambda seconds: None
) -> None:
    """Handle one hook event: read it from `stdin`, record it, print the answer to `stdout`. Never raises."""
    try:
        text = read_input(stdin)
        end_after(SPARE_SECONDS + max(SECONDS.values()))
        _write(stdout, process.answer(text))
    except Exception as exc:  # noqa: BLE001 - the door of the process: an agent takes an error for a refusal
        process.note(exc)


def read_input(stdin: int) -> bytes | None:
    """Everything on stdin, None if it is too long. All of it is read in any case: the agent is writing it."""
    parts, size = list[bytes](), 0
    try:
        while not os.isatty(stdin) and (part := os.read(stdin, 1024 * 1024)):
            size += len(part)
            if size <= MAX_INPUT_BYTES:
                parts.append(part)
    except OSError:  # closed
        return b""
    return b"".join(parts) if size <= MAX_INPUT_BYTES else None


def _write(stdout: int, answer: bytes) -> None:
    try:
        while answer:
            answer = answer[os.write(stdout, answer) :]
    except OSError:  # the agent has closed the pipe
        return


class HookProcess:
    """One run of the hook command."""

    def __init__(self, arguments: "Sequence[str]", env: "Mapping[str, str]", read_memory: "ReadMemory") -> None:
        self._env, self._read_memory = env, read_memory
        self._agent = AGENTS.get(arguments[0]) if arguments else None
        options = dict(zip(arguments[1::2], arguments[2::2], strict=False))
        self._db = options.get("--db") or env.get("TREERING_DB", "")
        self._project = options.get("--project") or env.get("TREERING_PROJECT", "")
        self._folder = self._root = ""
        self._log_lines = 0
        self._begun = time.monotonic()

    def note(self, problem: object) -> None:
        """Write a line into the log of the hook folder, at most two per process. Never raises."""
        self._log_lines += 1
        if self._log_lines > MAX_LOG_LINES or not self._folder or self._agent is None:
            return
        try:
            if is_private_folder(self._folder):
                name = f"{type(problem).__name__}: " if isinstance(problem, Exception) else ""
                note_error(self._folder, f"{self._agent.name}: {name}{problem}", time.time())
        except Exception:  # noqa: BLE001 - the log is on the disk that may have caused the problem
            return

    def answer(self, text: bytes | None) -> bytes:
        """What to print for this payload; empty for nothing."""
        if self._agent is None or text == b"" or self._is_off("TREERING_HOOKS"):
            return b""
        payload = _payload(text)
        self._root = repository_root(folder_of(self._agent, payload or {}, self._env) or os.getcwd())
        self._folder = hook_folder(data_folder(self._env), self._root, self._db, self._project)
        if payload is None:
            self._note_unreadable()
            return b""
        event, now = HookEvent(self._agent, payload), time.time()
        pause = self._pause()
        if is_paused(pause, "observe", now, event.session) and not event.is_command:
            return b""
        id = new_event_id(now)
        if not self._record(event, id, now) or not self._may_inject(event, pause, now):
            return b""
        given = self._offer(event, id)
        return dumps(event.output(given), ascii=False).encode("utf-8", "replace") if given else b""

    def _is_off(self, variable: str) -> bool:
        return self._env.get(variable, "").strip().lower() in _OFF

    def _note_unreadable(self) -> None:
        # Without a folder there was never an event here, so there is nothing to explain.
        if is_private_folder(self._folder):
            self.note("the payload is not a JSON object, or it is too long")
            note_lost(self._folder, "unreadable")

    def _pause(self) -> "Mapping[str, Any]":
        """The pauses of the folder; a damaged file pauses everything, because the user wanted some pause."""
        try:
            return read_json(self._folder, PAUSE)
        except (OSError, ValueError) as exc:
            self.note(exc)
            return {"observe": "forever"}

    def _may_inject(self, event: HookEvent, pause: "Mapping[str, Any]", now: float) -> bool:
        if event.point is None or not event.session or self._is_off("TREERING_INJECT"):
            return False
        return event.is_command or not is_paused(pause, "inject", now, event.session, event.point)

    def _record(self, event: HookEvent, id: str, now: float) -> bool:
        """Append the event to the spool. If that fails, nothing is injected either: it could not be recorded."""
        line = event_line(event.agent.name, event.hook, trimmed(event.kept), id, now)
        try:
            if not is_private_folder(self._folder):
                ensure_private_folder(self._folder)
            return append_line(self._folder, line, low_value=is_low_value(event))
        except NotOurs as exc:
            self.note(exc)
        except OSError as exc:
            self.note(exc)
            note_lost(self._folder, "unwritten")
        return False

    def _offer(self, event: HookEvent, id: str) -> str:
        """The text from the listener, else from the direct look-up, within the time budget of the point."""
        deadline = self._begun + SECONDS[event.point or ""]
        try:
            target = read_json(self._folder, TARGET)
        except ValueError as exc:
            self.note(exc)
            return ""
        from treering.interfaces.hooks.listener_request import ask_listener

        path = target.get("socket")
        request = {"v": VERSION, "agent": event.agent.name, "hook": event.hook, "id": id}
        text = ask_listener(path if isinstance(path, str) else socket_path(self._folder, self._env), request, deadline)
        if text is None:
            text = "" if event.is_command else self._look_up(target, event, deadline)
        if len(text) > MAX_CHARACTERS:
            self.note(f"{event.hook}: the text has {len(text)} characters, more than {MAX_CHARACTERS}")
            return ""
        return text

    def _look_up(self, target: "Mapping[str, Any]", event: HookEvent, deadline: float) -> str:
        """The text of the direct look-up. One at a time: tool calls in parallel would all be given the same."""
        lock = FolderLock(self._folder, LOOK_UP)
        while not lock.acquire():
            if time.monotonic() > deadline:
                return ""
            time.sleep(LOCK_STEP)
        try:
            return self._looked_up(target, event, deadline)
        finally:
            lock.release()

    def _looked_up(self, target: "Mapping[str, Any]", event: HookEvent, deadline: float) -> str:
        from treering.interfaces.hooks.lookup import look_up

        where = {"folder": self._folder, "root": self._root}
        text, items = look_up(event, target, **where, read_memory=self._read_memory, deadline=deadline)
        if not text or len(text) > MAX_CHARACTERS or time.monotonic() > deadline:
            return ""
        now = time.time()
        # Recorded before it is printed, so that it is not given again in this session.
        line = injected_line(event.agent.name, event.session, items, new_event_id(now), now)
        return text if append_line(self._folder, line) else ""


def _payload(text: bytes | None) -> "dict[str, Any] | None":
    try:
        payload = None if text is None else loads(text)
    except (ValueError, RecursionError, MemoryError):
        return None
    return payload if isinstance(payload, dict) else None
