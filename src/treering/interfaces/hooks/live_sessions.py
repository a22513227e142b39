"""Sessions that agents report by hooks: drains the spool into watches, finishes sessions, and answers hooks."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from treering.core.errors import StoreError, TreeringError
from treering.core.events import SessionOutcome
from treering.core.injections import InjectedItem, Injection, InjectionPoint, Occasion
from treering.interfaces.hooks.injected_lines import injected_items
from treering.interfaces.hooks.payloads.reading import HookCall, HookReading
from treering.interfaces.hooks.payloads.table import READERS
from treering.interfaces.hooks.recorded_ids import recorded_ids
from treering.interfaces.hooks.spoken_words import READ_SECONDS, SpokenWords
from treering.interfaces.hooks.user_commands import REMEMBER, UserCommand, remember_taught, set_memory, user_command
from treering.location.hook_files import AGENTS, PAUSE, is_paused, note_lost, read_json, write_json
from treering.location.hook_spool import DRAIN, DrainedFile, FolderLock, drained_files, spool_bytes
from treering.location.pauses import observed_since
from treering.observe.readers.event_fields import RecentItems

if TYPE_CHECKING:
    from treering.memory import Memory
    from treering.observe.watch import Watch
    from treering.ports.clock import Clock

RECENT_CALLS = 5  # of tools, whose files are looked up between two steps
MAX_SESSIONS = 16  # watches in memory; others continue from their checkpoints
IDLE_SECONDS = 1_800.0  # after which a watch is dropped, and a session whose agent reports no end is finished
_WARM_UP = "words that nothing matches"
_RECORDING_SECONDS = timedelta(seconds=60)  # a call of a tool may take; older records were stored by other calls
_LAST_WORDS_SECONDS = 0.2  # for a transcript, in a process that has to end
_LOCK_STEP = 0.01
_LOCK_SECONDS = 0.05  # that an answer waits for another process to drain
_LOG = logging.getLogger(__name__)


class HookInjections(Protocol):
    """`memory.injections`: what may be given to an agent, and what was."""

    def offer(self, occasion: Occasion, *, seconds: float | None = None) -> Injection: ...
    def given(self, session: str) -> tuple[InjectedItem, ...]: ...
    def note(self, items: tuple[InjectedItem, ...]) -> object: ...
    def prepare(self) -> None: ...
    def flush(self) -> None: ...


@dataclass(slots=True)
class _LiveSession:
    """A session with its watch. `outcome` is set once it has ended and is not finished yet."""

    watch: Watch
    words: SpokenWords
    ends: bool
    used_at: float
    outcome: SessionOutcome | None = None
    has_failed: bool = False
    is_changed: bool = False
    touched: deque[tuple[str, ...]] = field(default_factory=lambda: deque(maxlen=RECENT_CALLS))
    """Files of the last calls of tools, the oldest first."""

    def at(self, occasion: Occasion) -> Occasion:
        """The occasion with the step, and between two steps with what the last calls showed."""
        if occasion.point is not InjectionPoint.STEP:
            return replace(occasion, step=self.watch.step)
        recent = (path for paths in reversed(self.touched) for path in paths)
        files = tuple(dict.fromkeys((*occasion.files, *recent)))
        return replace(occasion, step=self.watch.step, alerts=self.watch.alerts(), files=files)


class LiveSessions:
    """The sessions of one hook folder, which belongs to one memory. Safe to share between threads.

    `feed` only reads the spool, so that an answer does not wait for the store; `settle` stores what was read and then
    deletes it. A process that ends in between loses nothing: the next one reads the files again.
    """

    def __init__(self, memory: Memory, injections: HookInjections, folder: str, root: str, clock: Clock) -> None:
        self._memory = memory
        self._injections = injections
        self.folder = folder
        self._root = root
        self._clock = clock
        self._lock = threading.RLock()
        self._live: dict[str, _LiveSession] = {}
        self._files: dict[str, tuple[DrainedFile, Iterator[Mapping[str, Any]] | None]] = {}
        self._answers = RecentItems(256)  # by id of the line: an occasion, or the answer to a command
        self._off: set[str] = set()  # sessions that `/memory off` has paused in this process
        self._last: dict[str, dict[str, str]] = {}
        self._has_warned: set[str] = set()

    def drain(self, *, seconds: float | None = None) -> bool:
        """Read the spool and store what was read; False if time ran out or another process drains it.

        The time begins with the first event. `StoreError` if the memory cannot be written: the spool stays.
        """
        if seconds is not None:
            # Loaded first: on a busy machine, that takes longer than a command has for events.
            import treering.observe.finished  # noqa: F401
        deadline = None if seconds is None else time.monotonic() + seconds
        is_read = self.feed(deadline)
        return self.settle(READ_SECONDS if seconds is None else min(seconds, _LAST_WORDS_SECONDS)) and is_read

    def feed(self, deadline: float | None = None) -> bool:
        """Read what is in the spool into the watches; False if time ran out or another process drains it."""
        with self._lock, FolderLock(self.folder, DRAIN) as held:
            if not held:
                return not spool_bytes(self.folder)
            for file in drained_files(self.folder):
                self._files.setdefault(file.path, (file, file.lines()))
            return all(self._read(path, deadline) for path in list(self._files))

    def _read(self, path: str, deadline: float | None) -> bool:
        """Read one file to its end; False if time ran out. Reading goes on from there the next time."""
        file, lines = self._files[path]
        try:
            for line in lines or ():
                self._take(line)
                if deadline is not None and time.monotonic() > deadline:
                    return False
        except StoreError:
            del self._files[path]  # it is read again from its beginning; ids make that idempotent
            raise
        except OSError as exc:
            self._warn("read", f"{path} cannot be read: {exc}")
        self._files[path] = (file, None)
        return True

    def settle(self, seconds: float = READ_SECONDS) -> bool:
        """Store what the watches took in, finish sessions that ended, and delete the files that were read.

        Answers wait for the storing of one session at most, and never for a transcript, which takes `seconds` at most.
        """
        with self._lock:
            done = [path for path, (_, lines) in self._files.items() if lines is None]
            sessions = list(self._live)
        for session in sessions:
            words = self._words_of(session, seconds)
            with self._lock:
                if live := self._live.get(session):
                    for event in words:
                        live.watch.event(event)
                    self._store(session, live)
        with self._lock:
            for path in done:
                with suppress(FileNotFoundError):  # another process drained it as well
                    self._files[path][0].remove()
                del self._files[path]
            self._write_last()
            self._drop_idle()
            return not self._files

    def _words_of(self, session: str, seconds: float) -> tuple[dict[str, object], ...]:
        """What the agent said since the last time, from its transcript. Needs no lock: only this thread settles."""
        live = self._live.get(session)
        if live is None or not live.is_changed:
            return ()
        since = observed_since(self.folder, session, time.time())
        if since is None:
            return ()
        try:
            return live.words.new(is_end=live.outcome is not None, seconds=seconds, since=since)
        except Exception as exc:  # noqa: BLE001 - a transcript of another version must not keep a session from ending
            self._warn("transcript", f"the transcript of session {session} was not read: {type(exc).__name__}: {exc}")
            return ()

    def answer(self, id: str, seconds: float) -> str:
        """Text for the hook that wrote the line with this id; empty if there is nothing to say in this time."""
        deadline = time.monotonic() + seconds
        found = self._answer_of(id, deadline)
        if not isinstance(found, Occasion):
            return found or ""
        with suppress(OSError):
            pause = self._pause()
            if pause is None or is_paused(pause, "inject", time.time(), found.session, found.point.value):
                return ""
        left = deadline - time.monotonic()
        return self._injections.offer(found, seconds=left).text if left > 0 else ""

    def _answer_of(self, id: str, deadline: float) -> Occasion | str | None:
        waits_until = min(deadline, time.monotonic() + _LOCK_SECONDS)
        while True:
            with self._lock:
                is_read = self.feed(deadline)
                if (found := self._answers.pop(id, None)) is not None:
                    return found  # type: ignore[no-any-return]
            if is_read or time.monotonic() >= waits_until:
                return None
            time.sleep(_LOCK_STEP)

    @property
    def has_unsettled(self) -> bool:
        """Whether something was read that is not stored yet."""
        return bool(self._files) or self.has_ended

    @property
    def has_ended(self) -> bool:
        """Whether a session has ended that is not finished yet."""
        with self._lock:
            return any(each.outcome for each in self._live.values())

    def warm_up(self) -> None:
        """Import and read what the first answer needs, so that it comes within its time."""
        with suppress(TreeringError):
            self._memory.observe(_WARM_UP)
            self._injections.given(_WARM_UP)
            self._memory.search(_WARM_UP, limit=1, precise=True, thorough=False, private=True)
            self._memory.context.prefetch(_WARM_UP, limit=1)
            self._injections.prepare()

    def finish_idle(self) -> None:
        """Finish sessions of agents that report no end, once they are idle."""
        with self._lock:
            now = time.monotonic()
            for live in self._live.values():
                if not live.ends and now - live.used_at > IDLE_SECONDS:
                    live.outcome = _outcome(SessionOutcome.SUCCESS, live)
        if self.has_ended:
            self.settle()

    def _take(self, line: Mapping[str, Any]) -> None:
        """Take one line in. A line that says nothing understandable is counted in lost.json, never raised."""
        now = self._clock()
        try:
            if "injected" in line:
                self._note_injected(line, now)
                return
            call = HookCall.from_line(line, now)
            reader = None if call is None else READERS.get(call.agent)
            if call is None or reader is None:
                self._lose("unreadable")
                return
            self._last[call.agent] = {
                "at": call.at.isoformat(timespec="seconds"),
                "hook": call.hook[:60],
                "session": (call.session or "")[:200],
            }
            reading = reader.read(call, self._root)
            if reading is not None:
                self._apply(call.id, reading, ends=reader.ends_sessions)
        except StoreError:
            raise
        except Exception as exc:  # noqa: BLE001 - a hostile line must not stop the others; doctor shows the count
            self._lose("unreadable")
            self._warn("line", f"a line of the spool was not understood: {type(exc).__name__}")

    def _apply(self, id: str, reading: HookReading, *, ends: bool) -> None:
        if command := user_command(reading.typed):
            self._answers[id] = self._carry_out(command, reading)
            return
        if self._is_off(reading.session):
            return
        live = self._session(reading, ends=ends)
        live.words.note(reading.events)
        for event in reading.events:
            live.watch.event(event)
        if (source := live.watch.taint) is not None:
            self._taint_recorded(reading, source)
        if reading.events:
            live.is_changed, live.outcome = True, None
            live.has_failed = live.has_failed and reading.end is not None
        if reading.transcript:
            live.words.path, live.is_changed = reading.transcript, True
        if reading.failed:
            live.has_failed = True
        if reading.end is not None:
            live.outcome = _outcome(reading.end, live)
        if reading.compacts:
            live.is_changed = True
        occasion = reading.occasion
        if any(event.get("kind") == "tool_result" for event in reading.events):
            live.touched.append(() if occasion is None else occasion.files)
        if occasion is not None:
            self._answers[id] = live.at(occasion)

    def _taint_recorded(self, reading: HookReading, source: str) -> None:
        """Taint what the agent has just stored through our tools, although it has read content from outside."""
        ids, first = recorded_ids(reading.events)
        if ids:
            self._memory.knowledge.mark_from_outside(ids, source, since=first - _RECORDING_SECONDS)

    def _session(self, reading: HookReading, *, ends: bool) -> _LiveSession:
        live = self._live.pop(reading.session, None)
        if live is None:
            watch = self._memory.observe(reading.session, agent=reading.agent, root=self._root)
            live = _LiveSession(watch, SpokenWords(reading.session, root=self._root), ends, 0.0)
            for oldest in list(self._live)[: max(0, len(self._live) - MAX_SESSIONS + 1)]:
                self._store(oldest, self._live[oldest])
                self._live.pop(oldest, None)
        live.used_at = time.monotonic()
        self._live[reading.session] = live  # the last used are last
        return live

    def _store(self, session: str, live: _LiveSession) -> None:
        """Save one session, and finish it if it has ended. One that cannot be saved is dropped with a warning."""
        try:
            if live.outcome is not None:
                self._injections.flush()  # what the session was given is judged when it ends
                live.watch.finish(live.outcome, validated=live.watch.validated)
                self._live.pop(session, None)
            elif live.is_changed:
                live.watch.checkpoint()
            live.is_changed = False
        except StoreError:
            raise
        except Exception as exc:  # noqa: BLE001 - one session must not keep the others from being stored
            self._live.pop(session, None)
            self._lose("sessions")
            self._warn("session", f"session {session} was not stored: {type(exc).__name__}: {exc}")

    def _drop_idle(self) -> None:
        now = time.monotonic()
        for session, live in list(self._live.items()):
            if live.ends and now - live.used_at > IDLE_SECONDS:
                del self._live[session]

    def _carry_out(self, command: UserCommand, reading: HookReading) -> str:
        if command.name == REMEMBER:
            return remember_taught(self._memory, command.text, reading)
        items = self._injections.given(reading.session)
        counts = len(items), sum(each.tokens for each in items)
        try:
            text = set_memory(self.folder, command.text, reading.session, counts)
            paused = is_paused(read_json(self.folder, PAUSE), "observe", time.time(), reading.session)
        except (OSError, ValueError) as exc:
            return f"pause.json of the hooks cannot be changed ({exc}); see `treering doctor`."
        (self._off.add if paused else self._off.discard)(reading.session)
        return text

    def _is_off(self, session: str) -> bool:
        """Whether the session was paused by a line before this one. Later, the hook process writes no lines."""
        if session not in self._off:
            return False
        pause = self._pause()
        if pause is None or is_paused(pause, "observe", time.time(), session):
            return True
        self._off.discard(session)
        return False

    def _pause(self) -> Mapping[str, Any] | None:
        """The pauses; None if the file is damaged, which counts as a pause."""
        try:
            return read_json(self.folder, PAUSE)
        except ValueError:
            return None

    def _note_injected(self, line: Mapping[str, Any], now: datetime) -> None:
        items = injected_items(line, now, self._memory.scope.principal)
        if items:
            self._injections.note(items)
        else:
            self._lose("unreadable")

    def _write_last(self) -> None:
        if not self._last:
            return
        with suppress(OSError):
            try:
                known = read_json(self.folder, AGENTS)
            except ValueError:
                known = {}
            write_json(self.folder, AGENTS, {**known, **self._last})
            self._last.clear()

    def _lose(self, what: str) -> None:
        with suppress(OSError):
            note_lost(self.folder, what)

    def _warn(self, kind: str, message: str) -> None:
        """Log each kind of problem once: a hostile spool must not fill the log."""
        if kind not in self._has_warned:
            self._has_warned.add(kind)
            _LOG.warning("hooks: %s", message)


def _outcome(outcome: SessionOutcome, live: _LiveSession) -> SessionOutcome:
    return SessionOutcome.FAILURE if live.has_failed else outcome
