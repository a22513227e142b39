"""A model server on this machine that answers as a test tells it to, and remembers what it was asked."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import AF_INET, SOCK_DGRAM, socket
from threading import Event, Lock, Thread
from time import monotonic, sleep
from typing import Any

from treering.adapters.models.http import RequestTimeouts

KEY = "sk-of-the-test-1234567890"
QUICK = RequestTimeouts(connect=0.5, silence=0.3, total=1.0, attempts=3, first_wait=0.01, longest_wait=0.05)


@dataclass(frozen=True)
class Reply:
    """One answer. `body` is JSON, or bytes as they are."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    hang_seconds: float = 0.0
    drip_seconds: float = 0.0
    """Between each two bytes of the body."""

    def data(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


Answer = Reply | Callable[[Any], Reply]
"""What to answer, or how to make it of the request's body."""


@dataclass
class ModelServer:
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    connections: int = 0
    """How many are open."""
    _scripts: dict[str, list[Answer]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _closing: Event = field(default_factory=Event)

    def answer(self, path: str, *answers: Answer) -> None:
        """What to answer at `path`, one after the other; the last again and again."""
        self._scripts[path] = list(answers)

    def bodies(self) -> list[Any]:
        return [each.body for each in self.asked]

    def soon_without_connections(self) -> bool:
        give_up = monotonic() + 1
        while self.connections and monotonic() < give_up:
            sleep(0.005)
        return not self.connections

    def _next(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            script = self._scripts.get(asked.path, [Reply({"error": "no such path"}, 404)])
            answer = script.pop(0) if len(script) > 1 else script[0]
        return answer if isinstance(answer, Reply) else answer(asked.body)

    def _count(self, change: int) -> None:
        with self._lock:
            self.connections += change


def another_address() -> str:
    """An address of this machine that is not loopback; without a network, 0.0.0.0, which reaches it as well."""
    with socket(AF_INET, SOCK_DGRAM) as found:
        try:
            found.connect(("192.0.2.1", 9))
        except OSError:
            return "0.0.0.0"
        return str(found.getsockname()[0])


@contextmanager
def model_server(host: str = "127.0.0.1") -> Iterator[ModelServer]:
    told = ModelServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            super().setup()
            told._count(+1)

        def finish(self) -> None:
            told._count(-1)
            super().finish()

        def do_GET(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = told._next(Asked(self.command, self.path, headers, json.loads(sent) if sent else None))
            told._closing.wait(reply.hang_seconds)
            data = reply.data()
            try:
                self.send_response(reply.status)
                self.send_header("Content-Length", str(len(data)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self._send(data, reply.drip_seconds)
            except ConnectionError:
                self.close_connection = True

        def _send(self, data: bytes, drip_seconds: float) -> None:
            if not drip_seconds:
                self.wfile.write(data)
                return
            for byte in data:
                self.wfile.write(bytes([byte]))
                if told._closing.wait(drip_seconds):
                    return

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer((host, 0), Handler) as server:
        told.url = f"http://{host}:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield told
        finally:
            told._closing.set()
            server.shutdown()
            thread.join()


def vector_of(text: str, dimension: int) -> list[float]:
    """Differs between texts; not of length 1."""
    return [float(len(text) + 1)] + [float(ord(text[-1]) % (at + 2)) for at in range(dimension - 1)]


def ollama_embeddings(dimension: int = 4) -> Callable[[Any], Reply]:
    return lambda body: Reply({"embeddings": [vector_of(text, dimension) for text in body["input"]]})


def openai_embeddings(dimension: int = 4) -> Callable[[Any], Reply]:
    """In no useful order, as the API allows."""

    def made(body: Any) -> Reply:
        length = body.get("dimensions", dimension)
        entries = [{"index": at, "embedding": vector_of(text, length)} for at, text in enumerate(body["input"])]
        return Reply({"data": entries[::-1]})

    return made


def rerank_results(*scores: float) -> Reply:
    """Best first."""
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    return Reply({"results": [{"index": at, "relevance_score": scores[at]} for at in order]})


def chat(content: object, *, ended: str = "stop", **beside: object) -> Reply:
    """One message: a text as it is, anything else as JSON; `beside` stands in the message as well."""
    text = content if content is None or isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    message = {"role": "assistant", "content": text, **beside}
    return Reply({"choices": [{"index": 0, "message": message, "finish_reason": ended}]})


def chat_stream(*pieces: str, tokens: tuple[int, int] = (0, 0), drip_seconds: float = 0.0) -> Reply:
    """A message in pieces, as OpenAI's API streams it."""
    events: list[object] = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    events.append({"choices": [], "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}})
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events]
    return _event_stream([": comment\n\n", *lines, "data: [DONE]\n\n"], drip_seconds)


def message_stream(*pieces: str, tokens: tuple[int, int] = (0, 0), ended: str = "end_turn") -> Reply:
    """A message in pieces, as Anthropic's API streams it."""
    events: list[dict[str, object]] = [
        {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": tokens[0], "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
    ]
    for piece in pieces:
        events.append({"type": "content_block_delta", "delta": {"type": "text_delta", "text": piece}})
    events.append({"type": "message_delta", "delta": {"stop_reason": ended}, "usage": {"output_tokens": tokens[1]}})
    events.append({"type": "message_stop"})
    return _event_stream([f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events], 0.0)


def _event_stream(events: list[str], drip_seconds: float) -> Reply:
    headers = {"Content-Type": "text/event-stream"}
    return Reply("".join(events).encode(), headers=headers, drip_seconds=drip_seconds)


def message(content: object, *, ended: str = "tool_use", tokens: tuple[int, int] = (0, 0)) -> Reply:
    """One message of Anthropic's API: a text as it is, anything else as the input of a tool."""
    block = {"type": "text", "text": content} if isinstance(content, str) else {"type": "tool_use", "input": content}
    usage = {"input_tokens": tokens[0], "output_tokens": tokens[1]}
    return Reply({"content": [block], "stop_reason": ended, "usage": usage})


def without_schemas(*replies: Reply, status: int = 400) -> Callable[[Any], Reply]:
    """A server that refuses to hold its answers to a schema; what it is asked plainly, it answers in turn."""
    left = list(replies)

    def made(body: Any) -> Reply:
        if "response_format" in body:
            return Reply({"error": {"message": "response_format is not supported"}}, status)
        return left.pop(0) if len(left) > 1 else left[0]

    return made
