"""The bundled embedder for peers: in process, or behind the embeddings call of the OpenAI API on this machine."""

import importlib.util
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

DIMENSIONS = 256
MAX_TOKENS = 2_048  # as in treering.adapters.models.bundled, which the peers' environments do not have
MOST_BYTES = 8 * MAX_TOKENS


def model_folder() -> Path:
    """Where the wordllama package lies; its own loader, which may ask the network, stays unused."""
    found = importlib.util.find_spec("wordllama")
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError("wordllama")
    return Path(found.submodule_search_locations[0])


class Embedder:
    """Mean of the token vectors, at length one."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
        weights = load_file(folder / "weights" / "l2_supercat_256.safetensors")
        self.vectors: NDArray[np.float32] = weights["embedding.weight"].astype(np.float32)

    def __call__(self, texts: list[str]) -> list[list[float]]:
        return [self.embed(text).tolist() for text in texts]

    def embed(self, text: str) -> NDArray[np.float32]:
        beginning = text.encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore")
        tokens = self.tokenizer.encode(beginning, add_special_tokens=False).ids[:MAX_TOKENS]
        if not tokens:
            return np.zeros(DIMENSIONS, dtype=np.float32)
        mean = self.vectors[tokens].mean(axis=0)
        return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), dtype=np.float32)


@contextmanager
def serving(embedder: Embedder) -> Iterator[str]:
    """The address of `/v1` on this machine, while the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
            data = [
                {"object": "embedding", "index": index, "embedding": vector}
                for index, vector in enumerate(embedder(texts))
            ]
            usage = {"prompt_tokens": 0, "total_tokens": 0}
            answer = {"object": "list", "data": data, "model": request["model"], "usage": usage}
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the peers' own output is what matters."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
