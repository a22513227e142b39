"""The rows of the peers: an environment for each, a process for each, one after the other.

What cannot be installed or fails becomes a row that says why.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bench.data import DATA
from bench.peers.embeddings import Embedder, model_folder, serving
from bench.peers.trial import SETS, Row
from bench.results import table, write_section

ROOT = Path(__file__).parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "treering-bench"
LONGEST = 600  # seconds a peer may take for all sets
INSTALL = 600
QUICK = ["--groups", "1", "--questions", "20"]
ALL_AT_10 = "longmemeval"
LOADS_EXTENSIONS = "import sqlite3, sys; sys.exit(not hasattr(sqlite3.Connection, 'enable_load_extension'))"
RECENT = "import sys, venv; sys.exit(sys.version_info < (3, 11))"
QUIET = {
    "MEM0_TELEMETRY": "False",
    "ANONYMIZED_TELEMETRY": "False",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "MCP_QUALITY_SYSTEM_ENABLED": "false",
    "MCP_MDNS_ENABLED": "false",
    "OTEL_SDK_DISABLED": "true",
}


class Unavailable(Exception):
    """Why a peer cannot run here."""


@dataclass(frozen=True)
class Candidate:
    """A peer's script, what it installs, and what must be known to read its row; nothing to install: our own."""

    name: str
    script: str
    note: str
    requirements: tuple[str, ...] = ()


CANDIDATES = (
    Candidate(
        "exact cosine",
        "run_exact",
        "no library, the same vectors in memory, exact order: the baseline for every peer.",
    ),
    Candidate(
        "mem0ai",
        "run_mem0",
        "`infer=False`, default local Qdrant, one collection a set, one user a group, threshold 0; embedder over local "
        "HTTP (its `openai` provider, which turns line breaks into spaces: exact cosine moves as much when that is "
        "done). Vectors only: its keyword and entity scores need fastembed's `Qdrant/bm25` and spaCy's "
        "`en_core_web_sm`, which are downloaded from elsewhere and not part of `pip install mem0ai`.",
        ("mem0ai==2.2.1",),
    ),
    Candidate(
        "LangGraph SqliteStore",
        "run_langgraph",
        "one `put` a document, one namespace a group, embedder in process. It has no keyword search. "
        '`index=["text"]` is given with each `put`, as 3.1.2 ignores the `fields` of its index.',
        ("langgraph-checkpoint-sqlite==3.1.2", "numpy", "tokenizers", "safetensors"),
    ),
    Candidate(
        "mcp-memory-service",
        "run_mcp_memory_service",
        "sqlite-vec backend, one database a group, embedder over local HTTP (`MCP_EXTERNAL_EMBEDDING_URL`); `hybrid` "
        "is its own search mode with FTS5, default weights (a Chinese question is one word to it). It refuses repeated "
        "texts: a memory counts for every id that has its text, cut at ten ids. Its similarity-based refusal is off "
        "(`conversation_id`).",
        ("mcp-memory-service==12.2.0",),
    ),
)


def interpreter() -> str:
    """A Python whose SQLite loads extensions, which two of the peers need."""
    names = ("python3.11", "python3.12", "python3.13", "python3.14", "python3")
    for python in (sys.executable, "/usr/bin/python3", *filter(None, map(shutil.which, names))):
        checks = (
            subprocess.run([python, "-c", code], capture_output=True, check=False)
            for code in (RECENT, LOADS_EXTENSIONS)
        )
        if Path(python).exists() and all(check.returncode == 0 for check in checks):
            return python
    raise Unavailable("no Python >= 3.11 here whose sqlite3 loads extensions")


def environment(candidate: Candidate) -> str:
    """The Python of the peer's virtual environment, created on first use."""
    if not candidate.requirements:
        return sys.executable
    base = interpreter()
    folder = CACHE / candidate.script
    python, stamp, wanted = folder / "bin" / "python", folder / "installed", "\n".join((base, *candidate.requirements))
    if stamp.exists() and stamp.read_text() == wanted:
        return str(python)
    for command in (
        [base, "-m", "venv", "--clear", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", *candidate.requirements],
    ):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL, check=False)
        except subprocess.TimeoutExpired:
            raise Unavailable(f"not installed after {INSTALL} s") from None
        if done.returncode:
            raise Unavailable(f"cannot be installed: {_last(done.stderr or done.stdout)}")
    stamp.write_text(wanted)
    return str(python)


def measure(candidate: Candidate, address: str, options: list[str]) -> list[Row]:
    """Run one peer; whatever sets it did not reach say why."""
    try:
        python = environment(candidate)
    except Unavailable as problem:
        return [Row(candidate.name, dataset, failure=str(problem)) for dataset in SETS]
    log = CACHE / f"{candidate.script}.log"
    with tempfile.TemporaryDirectory() as home, log.open("w+") as errors:
        surroundings = {
            **QUIET,
            "PATH": os.environ["PATH"],
            "HOME": home,
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TREERING_BENCH_DATA": str(DATA),
            "BENCH_MODEL": str(model_folder()),
            "BENCH_EMBEDDINGS": address,
            "MCP_EXTERNAL_EMBEDDING_URL": f"{address}/embeddings",
            "MCP_EXTERNAL_EMBEDDING_MODEL": "bundled",
            "MCP_MEMORY_STORAGE_BACKEND": "sqlite_vec",
            "MCP_MEMORY_BASE_DIR": home,
            "MEM0_DIR": home,
        }
        command = [python, "-m", f"bench.peers.{candidate.script}", *options]
        with subprocess.Popen(
            command, cwd=home, env=surroundings, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process:
            try:
                output, _ = process.communicate(timeout=LONGEST)
                ended = f"ended with code {process.returncode}: "
            except subprocess.TimeoutExpired:
                process.kill()
                output, _ = process.communicate()
                ended = f"stopped after {LONGEST} s: "
        errors.seek(0)
        reason = ended + _last(errors.read())
    rows = [Row(**json.loads(line)) for line in output.splitlines() if line.startswith('{"peer"')]
    rows = [replace(row, peer=candidate.name) if row.failure else row for row in rows]
    missing = [dataset for dataset in SETS if dataset not in {row.dataset for row in rows}]
    return rows + [Row(candidate.name, dataset, failure=reason) for dataset in missing]


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if "rror" in line), lines[-1] if lines else "nothing said")[:300]


def rows(*, quick: bool = False, fresh: bool = False) -> list[Row]:
    """Every peer on every set; the last figures again, unless these scripts or the data have changed."""
    CACHE.mkdir(parents=True, exist_ok=True)
    kept, key = CACHE / ("peers-quick.json" if quick else "peers.json"), _key()
    if not fresh and kept.exists() and (known := json.loads(kept.read_text()))["key"] == key:
        return [Row(**row) for row in known["rows"]]
    measured: list[Row] = []
    with serving(Embedder(model_folder())) as address:
        for candidate in CANDIDATES:
            measured += measure(candidate, address, QUICK if quick else [])
            print(f"{candidate.name}: done", file=sys.stderr, flush=True)
    kept.write_text(json.dumps({"key": key, "rows": [asdict(row) for row in measured]}, indent=1))
    return measured


def _key() -> str:
    scripts = sorted(file for file in Path(__file__).parent.glob("*.py") if file != Path(__file__))
    data = (DATA / name / f"{part}.jsonl.gz" for name in SETS for part in ("corpus", "tasks"))
    versions = repr([candidate.requirements for candidate in CANDIDATES]).encode()
    return hashlib.sha256(versions + b"".join(file.read_bytes() for file in (*scripts, *data))).hexdigest()


def report(measured: list[Row]) -> str:
    """Two tables, what was found and what it cost, and what to know about each peer."""
    found: list[tuple[object, ...]] = []
    cost: list[tuple[object, ...]] = []
    for name in dict.fromkeys(row.peer for row in measured):
        mine = {row.dataset: row for row in measured if row.peer == name}
        version = next((row.version for row in mine.values() if row.version), "")
        title = f"{name} ({version})" if version and name != CANDIDATES[0].name else name
        found.append((title, *(_found(mine.get(dataset)) for dataset in SETS)))
        cost.append((title, *(_cost(mine.get(dataset)) for dataset in SETS)))
    heads = (f"{name}, {'all' if name == ALL_AT_10 else 'R'}@10" for name in SETS)
    failures = dict.fromkeys(f"- {row.peer}, {row.dataset}: {row.failure}" for row in measured if row.failure)
    refused = dict.fromkeys(
        f"- {row.peer} refused {row.refused} of {row.documents} documents of {row.dataset} as repeated."
        for row in measured
        if row.refused and "," not in row.peer
    )
    sampled = [
        f"- {row.peer}, {row.dataset}: {row.asked} of {row.questions} questions."
        for row in measured
        if row.asked < row.questions
    ]
    notes = [f"- {candidate.name}: {candidate.note}" for candidate in CANDIDATES]
    return "\n\n".join(
        (
            "One memory per document, stored whole; ten results per question, asked in its own group only. Every peer "
            "uses the embedder bundled with Treering: 256 dimensions, mean of the first 2,048 token vectors.",
            table(("peer", *heads), found),
            "Records stored per second · search p50 / p95, and the query's embedding within it, p50, in ms:",
            table(("peer", *SETS), cost),
            "\n".join([*notes, *refused, *sampled, *failures]),
        )
    )


def _found(row: Row | None) -> str:
    if row is None or row.failure:
        return "not run"
    return f"{row.every if row.dataset == ALL_AT_10 else row.recall:.3f}"


def _cost(row: Row | None) -> str:
    if row is None or row.failure:
        return "not run"
    return f"{row.records_per_second:,.0f}/s · {row.search_p50:.1f} / {row.search_p95:.1f} ({row.embed_p50:.1f})"


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m bench.peers")
    options.add_argument("--quick", action="store_true", help="one group and twenty questions a set; writes nothing")
    options.add_argument("--dry", action="store_true", help="everything, but print the section instead of writing it")
    chosen = options.parse_args()
    body = report(rows(quick=chosen.quick, fresh=True))
    if chosen.quick or chosen.dry:
        print(body)
    else:
        write_section("peers", "Peers", body)


if __name__ == "__main__":
    main()
