"""A memory that every tool has something to say about, and one call of each tool, resource and prompt."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.code_projects import written
from tests.repositories import Work
from tests.sample_patterns import keep
from tests.served import Agent, json_of, text_of
from treering.core.tokens import estimate_tokens
from treering.memory import Memory

CODE = {
    "shop/__init__.py": "",
    "shop/db.py": "def save(order):\n    return order\n",
    "shop/api.py": "from shop.db import save\n\n\ndef checkout(order):\n    kept = save(order)\n    return kept\n",
    "tests/test_api.py": "from shop.api import checkout\n\n\ndef test_checkout():\n    assert checkout(1) == 1\n",
}
ERROR = "sqlite3.OperationalError: database is locked"
TEXTS = {
    "decision": ("decision", "The shop keeps its orders in PostgreSQL because of row-level security."),
    "wrong": ("fact", "The staging server listens on port 5433."),
    "useless": ("gotcha", "The coffee machine is on the second floor."),
    "true": ("gotcha", "Run migrations before the seed script."),
    "rule": ("preference", "Answer in British English."),
    "work": ("work_state", "The checkout refactoring stopped after the first of three steps."),
}
BUDGET = 2_000


def repository(folder: Path) -> Path:
    """A small project with a history."""
    work = Work(folder)
    written(folder, CODE)
    work.commit()
    return folder


def filled(memory: Memory) -> dict[str, str]:
    """Store something of every kind; the ids by name are returned."""
    ids = {name: memory.remember(text, type=type, files=["shop/db.py"]).id for name, (type, text) in TEXTS.items()}
    ids["turn"] = memory.turn(session="earlier", role="user", text="Ada told me that the shop sells tea to Redis.").id
    ids["task"] = memory.episode(
        "Make the import of orders faster", outcome="FAILURE", output=ERROR, failures=[ERROR], session="earlier"
    ).id
    ids["pattern"] = keep(memory, id="small-steps").id
    memory.settle()
    return ids


@dataclass(frozen=True)
class Row:
    """A call, and what its text has to say."""

    tool: str
    arguments: Callable[[Mapping[str, str]], Mapping[str, Any]]
    says: tuple[str, ...] = ()


def _row(tool: str, *says: str, **arguments: Any) -> Row:
    return Row(tool, lambda ids: {name: _meant(each, ids) for name, each in arguments.items()}, says)


def _meant(argument: Any, ids: Mapping[str, str]) -> Any:
    """An argument in which `@name` stands for an id."""
    if isinstance(argument, list):
        return [_meant(each, ids) for each in argument]
    return ids[argument[1:]] if isinstance(argument, str) and argument.startswith("@") else argument


ROWS = (
    _row("search_memory", "PostgreSQL", "decision", query="where are orders kept", files=["shop/db.py"]),
    _row("search_memory", "PostgreSQL", query="PostgreSQL", types=["decision"], phase="implement", limit=1, budget=400),
    _row("search_memory", "No record about this", query="zebra crossings in Lisbon", precise=True),
    _row("record_memory", "Stored as", text="Freeze the clock in checkout tests.", type="gotcha", tags=["tests"]),
    _row("record_memory", "from outside", text="A web page says that tea cools down.", from_outside=True),
    _row("remember_fact", "Stored as", fact="Ada owns billing.", subject="billing", attribute="owner", value="Ada"),
    _row("correct_fact", "retired", "5434", id="@wrong", text="The staging server listens on port 5434."),
    _row("confirm_fact", "evidence", id="@true"),
    _row("confirm_fact", "Confirmed by the user", id="@true", basis="user_said"),
    _row("forget", "Forgotten", "undo", id="@useless"),
    _row("get_session_context", "British English", "refactoring", "import of orders"),
    _row("get_entity_info", "Redis", name="Redis"),
    _row("memory_stats", "Project", "knowledge"),
    _row("similar_failures", "locked", error=ERROR),
    _row("find_patterns", "small-steps", task="fix the login", unproven=True),
    _row(
        "report_outcome",
        "success",
        "Counted",
        "unheard-of",
        task="Make the checkout test stable",
        outcome="success",
        summary="Froze the clock.",
        lessons=["Freeze the clock in tests"],
        errors=["AssertionError: 1 != 2"],
        used=["@decision", "@pattern", "unheard-of"],
        misled=["@true"],
        tools=["pytest"],
    ),
    _row("analyze_impact", "checkout", "test_checkout", "PostgreSQL", node="save"),
    _row("get_dependencies", "shop/db.py", node="shop/api.py"),
    _row("get_dependencies", "→", node="checkout", to="save"),
    _row("related_files", "shop/api.py", path="shop/db.py"),
    _row("trace_data_flow", "save", node="save"),
)  # fmt: skip

PROMPTS: Mapping[str, tuple[dict[str, str], str]] = {
    "remember": ({"what": "tests need a frozen clock"}, "tests need a frozen clock"),
    "search": ({"about": "where are orders kept"}, "PostgreSQL"),
    "review": ({}, "web page"),
}


def go_through(agent: Agent, ids: Mapping[str, str]) -> None:
    """Every tool, resource and prompt, as the official client gets it."""
    tools = agent.ask("list_tools").tools
    assert {row.tool for row in ROWS} == {tool.name for tool in tools}
    for row in ROWS:
        answer = agent.try_call(row.tool, dict(row.arguments(ids)))
        text = text_of(answer)
        assert not answer.is_error, (row.tool, text)
        for said in row.says:
            assert said in text, (row.tool, said, text)
        for id in ids_in(answer.structured_content):
            assert id in text, (row.tool, id, text)
        for told in (text, json_of(answer)):
            assert estimate_tokens(told) <= BUDGET, row.tool
    _resources(agent, ids)
    assert {prompt.name for prompt in agent.ask("list_prompts").prompts} == set(PROMPTS)
    for name, (arguments, said) in PROMPTS.items():
        assert said in agent.prompt(name, **arguments), name


def _resources(agent: Agent, ids: Mapping[str, str]) -> None:
    plain = {resource.uri for resource in agent.ask("list_resources").resources}
    assert {str(uri) for uri in plain} == {"treering://code/modules", "treering://health"}
    (template,) = agent.ask("list_resource_templates").resource_templates
    for name in ("decision", "turn", "task", "pattern"):
        assert ids[name] in agent.read(template.uri_template.replace("{id}", ids[name]))
    assert "shop" in agent.read("treering://code/modules")
    assert '"healthy": true' in agent.read("treering://health")


def ids_in(told: Any) -> list[str]:
    """The ids that a structured result has."""
    if isinstance(told, dict):
        own = [told["id"]] if isinstance(told.get("id"), str) else []
        return own + [id for each in told.values() for id in ids_in(each)]
    return [id for each in told for id in ids_in(each)] if isinstance(told, list) else []
