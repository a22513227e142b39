"""Every bench: its name, the page of its results, the modules that it runs."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bench:
    """A bench that `make bench NAME=…` runs; each of `runs` is a module and its arguments."""

    name: str
    summary: str
    page: str
    runs: tuple[str, ...]


_BENCHES = (
    Bench("store", "SQLite up to 1,000,000 records", "storage", ("bench.store",)),
    Bench("writes", "processor time of a write, up to 1,000,000 records", "storage", ("bench.write_speed",)),
    Bench("postgres", "PostgreSQL at 100,000 records", "storage", ("bench.postgres",)),
    Bench("postgres-writes", "writes on PostgreSQL: statements, bytes, speed", "storage", ("bench.postgres_writes",)),
    Bench("secrets", "secret detection: found, false, speed", "secrets", ("bench.secrets",)),
    Bench("startup", "import and command start-up", "startup", ("bench.startup",)),
    Bench("mcp", "MCP server from start to first answer and first search", "startup", ("bench.mcp_startup",)),
    Bench("hook-process", "time of each hook of each agent", "hooks", ("bench.hook_process",)),
    Bench("mcp-load", "fifty MCP clients over HTTP for a minute", "mcp", ("bench.mcp_load",)),
    Bench("mcp-parts", "processor time of an MCP call, by part", "mcp", ("bench.mcp_parts",)),
    Bench("mcp-workers", "fifty MCP clients, 1, 2 and 4 server processes", "mcp", ("bench.mcp_workers",)),
    Bench("rest-load", "fifty clients of the REST API; searches on PostgreSQL", "rest", ("bench.rest_load",)),
    Bench("panel", "interaction to next paint at 100,000 records (--folder FOLDER)", "panel", ("bench.panel",)),
    Bench("tokens", "token counts (--vocabularies FOLDER)", "sessions", ("bench.tokens",)),
    Bench("conversation", "a conversation of 5,000 messages", "sessions", ("bench.conversation",)),
    Bench("replay", "recorded sessions through each strategy", "sessions", ("bench.replay",)),
    Bench("working", "working memory: variables, outputs, saves", "sessions", ("bench.working",)),
    Bench("cues", "cues in messages, topic changes", "sessions", ("bench.cues",)),
    Bench("observer-speed", "processor time and memory of observing a session", "observer", ("bench.observer_speed",)),
    Bench(
        *("observer", "recorded sessions: truth of what is promoted, costs (--show, --data FILE)", "observer"),
        ("bench.observer",),
    ),
    Bench(
        "observer-cues", "cues in agents' text and prompts (--record NAME)", "observer_cues", ("bench.observer_cues",)
    ),
    Bench("search", "search up to 1,000,000 records", "search", ("bench.search_speed", "bench.search_postgres")),
    Bench("search-stages", "processor time of one search by stage", "search_stages", ("bench.search_stages",)),
    Bench("beside-writers", "search beside continuous writers", "search", ("bench.beside_writers",)),
    Bench("query-kinds", "query kinds and time words", "search", ("bench.query_kinds",)),
    Bench("precision", "precise search on PrecisionMemBench (--show)", "precision", ("bench.precision",)),
    Bench("retrieval", "retrieval on public sets", "retrieval", ("bench.retrieval", "bench.retrieval --engines")),
    Bench("rankings", "same results in the same order as recorded", "retrieval", ("bench.rankings",)),
    Bench("changing-facts", "facts that change: now, before, on a day", "changing", ("bench.changing_facts",)),
    Bench("state-weights", "learn the weights of the order of states", "changing", ("bench.state_weights",)),
    Bench("weights", "learn the weights of the fusion", "retrieval", ("bench.weights",)),
    Bench("peers", "other memory libraries on the same sets", "retrieval", ("bench.peers",)),
    Bench("facts", "fact extraction in five languages", "learning", ("bench.facts",)),
    Bench("duplicates", "repeated facts become one record", "learning", ("bench.duplicates",)),
    Bench("ingest", "durable turns up to 1,000,000", "learning", ("bench.ingest",)),
    Bench("consolidation", "consolidation of 100,000 episodes", "learning", ("bench.consolidation",)),
    Bench("episodes", "vectors of task and outcome, cache of episodes", "learning", ("bench.episodes",)),
    Bench("night", "a night of maintenance on 100,000 records", "learning", ("bench.night",)),
    Bench("year", "a simulated year of a team", "learning", ("bench.year",)),
    Bench("patterns", "patterns in simulated worlds", "patterns", ("bench.pattern_worlds",)),
    Bench("pattern-replay", "patterns mined from recorded sessions", "patterns", ("bench.pattern_replay",)),
    Bench("pattern-matching", "patterns that apply, among 20,000", "patterns", ("bench.pattern_matching",)),
    Bench("pattern-mining", "mining 10,000 episodes", "patterns", ("bench.pattern_mining",)),
    Bench("pattern-store", "5,000 patterns, 1,000,000 applications", "patterns", ("bench.pattern_store",)),
    Bench("prefetch", "files that a session will edit (--data FILE)", "prefetch", ("bench.prefetch",)),
    Bench("injections", "what agents are given unasked: use, tokens, latency", "injections", ("bench.injections",)),
    Bench("graph", "the code graph in memory, 50,000 nodes", "code", ("bench.graph",)),
    Bench(
        *("references-compiled", "TypeScript, Go, Rust (--repositories FOLDER, or FOLDER… --show N)", "code"),
        ("bench.codegraph_compiled",),
    ),
    Bench(
        *("codegraph", "the code graph against compilers (--repositories FOLDER --cache FOLDER)", "code"),
        ("bench.codegraph",),
    ),
    Bench("code-index", "the code index (--repositories FOLDER --cache FOLDER)", "code", ("bench.code_index",)),
    Bench(
        *("impact-commits", "tests of commits that changed one function (--mirror FOLDER)", "code"),
        ("bench.impact_commits",),
    ),
    Bench(
        *("references", "references of Python against basedpyright (FOLDER… --cache FOLDER --write)", "code"),
        ("bench.codegraph_references",),
    ),
    Bench("languages", "definitions beside universal-ctags (FOLDER...)", "languages", ("bench.languages",)),
    Bench("code-where", "questions for places in code (--cache FOLDER)", "code", ("bench.code_where",)),
    Bench("code-issues", "the file for an issue (--mirror FOLDER)", "code", ("bench.code_issues",)),
    Bench(
        *("code-embedder", "the same with a configured embedder (--mirror FOLDER --cases FILE)", "code"),
        ("bench.code_embedder",),
    ),
    Bench(
        *("cochange", "files that change together (--mirror FOLDER)", "code"),
        ("bench.cochange --timed --write",),
    ),
    Bench(
        *("calibrate", "fit token estimates (VOCABULARIES --texts FOLDER --write)", "sessions"),
        ("bench.calibration",),
    ),
)
BENCHES: Mapping[str, Bench] = {bench.name: bench for bench in _BENCHES}


def command_of(name: str) -> str:
    """The command that measures a bench."""
    return f"make bench NAME={name}"
