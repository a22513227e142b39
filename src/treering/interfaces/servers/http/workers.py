"""Serves one address with several processes: accepts connections, passes them to the workers, and replaces workers.

This process opens no memory and starts no thread. Connections are passed on instead of shared by a listening socket,
because a worker whose event loop wakes first would accept all connections that arrive at once, and keep them.
"""

import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field

from treering.core.errors import InvalidInput, StoreUnavailable
from treering.interfaces.servers.http.address import accepted_hosts, check_exposure, listen, resolve
from treering.interfaces.servers.http.limits import HttpLimits
from treering.interfaces.servers.http.options import Announce, HttpOptions
from treering.interfaces.servers.http.token import token_for
from treering.interfaces.servers.http.worker_protocol import CLOSED, READY, WorkerConfig
from treering.interfaces.servers.shutdown import CLOSE_SECONDS, handled_signals

MAX_RESTARTS = 5
RESTART_SECONDS = 60.0
"""A worker that ended is replaced, unless more than `MAX_RESTARTS` ended within this period."""
_INTERRUPTED = 130
_START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from {module} import serve; serve()"


@dataclass(eq=False, slots=True)
class _Worker:
    process: "subprocess.Popen[bytes]"
    channel: socket.socket
    connections: int = 0
    is_ready: bool = False


@dataclass(eq=False)
class Supervisor:
    """The workers of one listening socket."""

    listener: socket.socket
    count: int
    config_for: Callable[[int], WorkerConfig]
    """Configuration of the worker whose channel has this descriptor."""
    ready: Callable[[], None]
    """Called once, when all workers are ready."""
    module: str
    """Module whose function `serve` a worker runs."""
    _workers: list[_Worker] = field(default_factory=list)
    _ended: deque[float] = field(default_factory=lambda: deque(maxlen=MAX_RESTARTS + 1))
    _signals: int = 0
    _is_announced: bool = False

    def run(self) -> None:
        """Serve until a signal; `StoreUnavailable` if workers end again and again."""
        self.listener.setblocking(False)
        with selectors.DefaultSelector() as selector, self._woken_by_signals(selector):
            try:
                for _ in range(self.count):
                    self._start(selector)
                while not self._signals:
                    self._listen_if_ready(selector)
                    for key, _ in selector.select():
                        if key.fileobj is self.listener:
                            self._pass_on()
                        elif isinstance(key.data, _Worker):
                            self._receive(selector, key.data)
            finally:
                self._stop()

    def _start(self, selector: selectors.BaseSelector) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            process = _started(self.module, self.config_for(theirs.fileno()))
        ours.setblocking(False)
        worker = _Worker(process, ours)
        self._workers.append(worker)
        selector.register(ours, selectors.EVENT_READ, worker)

    def _listen_if_ready(self, selector: selectors.BaseSelector) -> None:
        """Accept nothing while no worker is ready: the system keeps clients waiting."""
        wanted = any(worker.is_ready for worker in self._workers)
        registered = self.listener in selector.get_map()
        if wanted and not registered:
            selector.register(self.listener, selectors.EVENT_READ)
        elif registered and not wanted:
            selector.unregister(self.listener)

    def _pass_on(self) -> None:
        """Pass one connection to the worker that has the fewest."""
        try:
            connection = self.listener.accept()[0]
        except OSError:
            return  # the client has gone, or there are too many open files
        with connection:
            for worker in sorted((each for each in self._workers if each.is_ready), key=lambda each: each.connections):
                try:
                    socket.send_fds(worker.channel, [b"+"], [connection.fileno()])
                except OSError:
                    continue  # it is ending, or does not read
                worker.connections += 1
                # Among equals, the one that has waited longest is next.
                self._workers.remove(worker)
                self._workers.append(worker)
                return

    def _receive(self, selector: selectors.BaseSelector, worker: _Worker) -> None:
        try:
            received = worker.channel.recv(4_096)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        if not received:
            self._replace(selector, worker)
            return
        worker.is_ready = worker.is_ready or READY in received
        worker.connections -= received.count(CLOSED)
        if not self._is_announced and all(each.is_ready for each in self._workers):
            self._is_announced = True
            self.ready()

    def _replace(self, selector: selectors.BaseSelector, worker: _Worker) -> None:
        selector.unregister(worker.channel)
        worker.channel.close()
        worker.process.kill()  # it has ended, or is about to
        code = worker.process.wait()
        self._workers.remove(worker)
        self._ended.append(time.monotonic())
        if len(self._ended) > MAX_RESTARTS and self._ended[-1] - self._ended[0] < RESTART_SECONDS:
            raise StoreUnavailable(
                f"{len(self._ended)} server processes ended within {RESTART_SECONDS:.0f} seconds, the last one with "
                f"{_reason(code)}; see the messages above, or start the server without --workers"
            )
        _warn(f"server process {worker.process.pid} ended with {_reason(code)}; starting another")
        self._start(selector)

    def _stop(self) -> None:
        """End the workers as a signal to a single server would."""
        self.listener.close()
        for worker in self._workers:
            worker.process.terminate()
        limit = time.monotonic() + HttpLimits().shutdown_seconds + 2 * CLOSE_SECONDS
        while any(worker.process.poll() is None for worker in self._workers) and time.monotonic() < limit:
            if self._signals > 1:
                break
            time.sleep(0.01)
        for worker in self._workers:
            worker.process.kill()
            worker.process.wait()
        if self._signals > 1:
            os._exit(_INTERRUPTED)

    @contextmanager
    def _woken_by_signals(self, selector: selectors.BaseSelector) -> Iterator[None]:
        def count(*_: object) -> None:
            self._signals += 1

        woken, wake = socket.socketpair()
        with woken, wake:
            woken.setblocking(False)
            wake.setblocking(False)
            before = signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
            handlers = {each: signal.signal(each, count) for each in handled_signals()}
            selector.register(woken, selectors.EVENT_READ)
            try:
                yield
            finally:
                signal.set_wakeup_fd(before)
                for each, handler in handlers.items():
                    signal.signal(each, handler)


def serve_workers(
    db: str | None, options: HttpOptions, count: int, *, module: str, session: str, announce: Announce
) -> None:
    """Serve the database with `count` processes, which run `module`, until this one is asked to end."""
    if not hasattr(socket, "send_fds"):
        raise InvalidInput("--workers needs a system that passes connections between processes, which Windows does not")
    address = resolve(options.host, options.port)
    check_exposure(address, options.allowed, has_token=options.has_token, variable=options.variable)
    with listen(address) as listener:
        port = listener.getsockname()[1]
        token = token_for(options.project, file=options.token_file, given=options.token, variable=options.variable)
        hosts = tuple(sorted(accepted_hosts(address, port, options.allowed)))
        Supervisor(
            listener,
            count,
            lambda channel: WorkerConfig(channel, db, options.project, session, hosts, token.text),
            lambda: announce(address, port, token),
            module,
        ).run()


def _started(module: str, config: WorkerConfig) -> "subprocess.Popen[bytes]":
    # As for the workers of the code index: isolated mode, because otherwise a `json.py` in the current folder would be
    # run. A session of its own, because Ctrl-C is for the supervisor, which ends its workers.
    entries = [entry for entry in sys.path if os.path.isabs(entry)]
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", _START.format(module=module), json.dumps(entries)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        pass_fds=(config.channel,),
        start_new_session=True,
    )
    assert process.stdin is not None
    with suppress(OSError), process.stdin as stdin:
        stdin.write(json.dumps(asdict(config)).encode())
    return process


def _reason(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}"


def _warn(message: str) -> None:
    with suppress(OSError, ValueError, AttributeError):
        print(f"treering: {message}", file=sys.stderr, flush=True)
