"""Every verb of the library and every command is reachable over HTTP, or its absence has a reason."""

import inspect
import json
from collections.abc import Mapping

from tests.golden import openapi
from treering.code.api import Code
from treering.context.api import ContextBuilder
from treering.context.injection.api import InjectionEngine
from treering.context.trust import Trust
from treering.conversation.api import Conversation
from treering.entities.api import Entities
from treering.episodes.api import Episodes
from treering.interfaces.cli.app import COMMANDS
from treering.interfaces.rest.nouns.task_schemas import STEP_FIELDS
from treering.knowledge.api import KnowledgeBase
from treering.maintenance.api import Maintenance
from treering.maintenance.vectors import Vectors
from treering.memory import Memory
from treering.observe.sessions import Sessions
from treering.observe.watch import Watch
from treering.patterns.api import Patterns
from treering.task.api import Task

OPERATIONS: Mapping[type, Mapping[str, str]] = {
    Memory: {
        "audit": "list_audit",
        "backup": "backup",
        "code": "get_code_status",
        "confirm": "confirm",
        "context": "build_context",
        "conversation": "add_messages",
        "correct": "correct",
        "count": "list_records",
        "doctor": "get_doctor",
        "entities": "list_entities",
        "episode": "store_episode",
        "episodes": "list_episodes",
        "export": "export",
        "export_lines": "export",
        "export_rules": "export_rules",
        "flag": "flag",
        "forget": "forget",
        "get": "get_record",
        "history": "get_history",
        "import_": "import_",
        "import_rules": "import_rules",
        "injections": "offer_injection",
        "knowledge": "list_records",
        "maintenance": "list_stages",
        "observe": "observe_session",
        "page": "list_records",
        "patterns": "list_patterns",
        "pin": "pin",
        "projects": "list_projects",
        "remember": "remember",
        "remember_many": "remember_many",
        "search": "search",
        "sessions": "list_sessions",
        "settle": "settle",
        "stats": "get_stats",
        "task": "start_task",
        "trust": "get_trust",
        "turn": "store_turn",
        "undo": "undo",
        "used": "used",
        "vectors": "get_vectors",
        "work_state": "store_work_state",
    },
    KnowledgeBase: {
        "complete": "get_record",
        "confirm": "confirm",
        "correct": "correct",
        "flag": "flag",
        "forget": "forget",
        "get": "get_record",
        "history": "get_history",
        "mute": "mute",
        "pin": "pin",
        "remember": "remember",
        "remember_many": "remember_many",
        "resolve": "get_record",
        "undo": "undo",
        "used": "used",
    },
    Sessions: {
        "forget": "forget_session",
        "get": "get_session",
        "given_counts": "count_given",
        "list": "list_sessions",
        "on_completed": "stream_events",
        "replay": "replay",
        "replay_recorded": "replay",
        "review": "review_session",
        "timeline": "get_timeline",
        "why": "get_session",
    },
    ContextBuilder: {
        "answer": "ask",
        "briefing": "get_briefing",
        "build": "build_context",
        "calibration": "get_calibration",
        "for_planner": "context_for_planner",
        "for_qa": "context_for_qa",
        "hand_over": "hand_over",
        "prefetch": "prefetch",
        "relay": "get_relay",
        "to_review": "list_to_review",
        "write_answer": "stream_answer",
    },
    Trust: {
        "evidence": "get_trust",
        "level": "get_trust",
        "offered": "get_trust",
        "set": "set_trust",
        "since": "get_trust",
    },
    InjectionEngine: {"given": "list_injected", "offer": "offer_injection", "paused": "get_pauses"},
    Episodes: {
        "add": "store_episode",
        "archive_old": "archive_episodes",
        "around": "episodes_around",
        "artifact": "get_artifact",
        "consolidate_similar": "consolidate_episodes",
        "dissolve": "dissolve_episode",
        "during": "episodes_during",
        "get": "get_episode",
        "purge_deleted": "run_stages",
        "recent": "recent_episodes",
        "search": "search_episodes",
        "search_semantic": "search_episodes",
        "search_structured": "search_episodes",
        "similar_failures": "similar_failures",
        "trend": "episode_trend",
    },
    Patterns: {
        "add": "add_pattern",
        "after_failure": "after_failure",
        "applications": "list_applications",
        "context_for_task": "context_for_task",
        "deprecate": "deprecate_pattern",
        "explain": "explain_condition",
        "export": "export_patterns",
        "find_applicable": "find_applicable",
        "get": "get_pattern",
        "history": "get_history",
        "import_": "import_patterns",
        "instantiate": "instantiate_pattern",
        "learn_from_episode": "learn_from_episode",
        "list": "list_patterns",
        "merge": "merge_patterns",
        "mine": "mine_patterns",
        "next_steps": "next_steps",
        "prune": "prune_patterns",
        "record_application": "record_application",
        "refine": "refine_pattern",
        "review": "review_pattern",
        "sessions": "pattern_sessions",
        "similar": "similar_patterns",
        "update": "update_pattern",
        "validate": "validate_patterns",
        "versions": "pattern_versions",
    },
    Code: {
        "annotate": "annotate_code",
        "cycles": "list_cycles",
        "data_flow": "get_data_flow",
        "dependencies": "get_dependencies",
        "entry_points": "list_entry_points",
        "file_map": "get_file_map",
        "find": "find_code",
        "forget": "forget_code",
        "impact": "get_impact",
        "index": "index_code",
        "map_svg": "draw_module_map",
        "module_map": "get_module_map",
        "path": "get_path",
        "related": "list_related_files",
        "root": "get_code_status",
        "status": "get_code_status",
        "unresolved": "list_unresolved",
        "where": "search_code",
    },
    Entities: {
        "about": "get_entity",
        "alias": "add_aliases",
        "delete": "delete_entity",
        "extract": "extract_entities",
        "facts": "list_entity_facts",
        "find": "list_entities",
        "link": "link_entity",
        "merge": "merge_entity",
        "rename": "rename_entity",
        "undo": "undo_entity",
    },
    Maintenance: {
        "check": "get_doctor",
        "due": "list_stages",
        "overview": "get_overview",
        "plan": "list_stages",
        "report": "get_health",
        "run": "run_stages",
        "runs": "list_runs",
        "stages": "list_stages",
    },
    Vectors: {"coverage": "get_vectors", "update": "update_vectors"},
    Conversation: {
        "add": "add_messages",
        "build": "build_window",
        "clear": "clear_window",
        "explain": "explain_window",
        "extend": "add_messages",
        "messages": "list_messages",
        "pin": "pin_message",
        "prune": "prune_window",
        "search": "search_removed",
        "stats": "get_window_stats",
        "unimportant": "mark_message",
    },
    Task: {
        **dict.fromkeys(STEP_FIELDS, "run_task_steps"),
        "description": "get_task",
        "finish": "finish_task",
        "get": "get_task_variable",
        "id": "get_task",
        "pruned": "run_task_steps",
        "references": "list_task_references",
        "render": "render_task",
        "resolve": "resolve_task_item",
        "restore": "restore_task",
        "result": "get_task_result",
        "save": "save_task",
        "stack": "get_task",
        "stats": "get_task",
        "subtasks": "get_task",
    },
    Watch: {
        "alerts": "observe_session",
        "checkpoint": "observe_session",
        "event": "observe_session",
        "events": "observe_session",
        "finish": "observe_session",
        "restore": "observe_session",
    },
}
"""The operation that reaches each verb, by class."""

REASONS: Mapping[type, Mapping[str, str]] = {
    Memory: {
        "close": "the server closes its memories",
        "conditional": "headers of every change: If-Match and Idempotency-Key",
        "injected": "the operations that hand records to a model note it themselves",
        "run_small_jobs": "the server runs jobs in the background; settle waits for them",
    },
    KnowledgeBase: {"mark_from_outside": "MCP calls it for the records of its own session"},
    Trust: {"advance": "the end of a session does it"},
    InjectionEngine: {
        "close": "the server closes its memories",
        "flush": "the server writes what is in memory",
        "note": "hooks on this machine hand over what they gave",
        "prepare": "the server prepares itself",
    },
    Episodes: {"touch": "reading an episode counts the access"},
    Code: {
        "map_html": "the panel draws the map",
        "name_from": "turns a path that was typed in a folder into a name; requests have no folder",
        "remember": "the fields node and files of remember say what a record is about",
        "store_vectors": "the server writes what is in memory",
        "watch": "calls back in the process that owns the files; the server indexes on request",
    },
    Maintenance: dict.fromkeys(
        ("queue_due", "schedule_seconds", "stop", "try_queue_due", "work"), "the server schedules its own maintenance"
    ),
    Conversation: {
        "reported": "tells a conversation in memory what a model counted",
        "revision": "tells two copies in one process apart",
    },
    Task: {
        "add_passages": "a request cannot bring passages; retrieve_from_episodic does",
        "snapshot": "a value in the memory of a process; saves are its stored form",
    },
    Watch: dict.fromkeys(
        ("abandon", "goes_on", "joined", "merged", "new_events", "news", "notes", "step", "taint", "validated"),
        "state of a watch in the memory of a process, which reports it in its answers",
    ),
}
"""Why a verb has no operation."""

COMMAND_OPERATIONS: Mapping[str, str] = {
    "remember": "remember",
    "turn": "store_turn",
    "episode": "store_episode",
    "observe": "replay",
    "search": "search",
    "context": "build_context",
    "episodes": "search_episodes",
    "sessions": "list_sessions",
    "session": "get_session",
    "patterns": "list_patterns",
    "about": "get_entity",
    "entities": "list_entities",
    "get": "get_record",
    "history": "get_history",
    "audit": "list_audit",
    "projects": "list_projects",
    "stats": "get_stats",
    "conversation": "explain_window",
    "index": "index_code",
    "where": "search_code",
    "impact": "get_impact",
    "deps": "get_dependencies",
    "related": "list_related_files",
    "map": "get_module_map",
    "annotate": "annotate_code",
    "confirm": "confirm",
    "correct": "correct",
    "flag": "flag",
    "review": "review_session",
    "trust": "set_trust",
    "pin": "pin",
    "mute": "mute",
    "used": "used",
    "forget": "forget",
    "undo": "undo",
    "pause": "pause",
    "resume": "resume",
    "export": "export",
    "import": "import_",
    "backup": "backup",
    "doctor": "get_doctor",
    "config": "get_settings",
    "report": "get_health",
    "maintain": "run_stages",
    "settle": "settle",
    "embed": "update_vectors",
}
COMMAND_REASONS: Mapping[str, str] = {
    "init": "writes configuration files of agents on the user's machine",
    "mcp": "is a server itself",
    "serve": "is the server itself",
    "work": "the server runs jobs in the background",
    "demo": "shows a temporary project",
}


def verbs(owner: type) -> set[str]:
    return {
        name
        for name in dir(owner)
        if not name.startswith("_")
        and (inspect.isfunction(found := inspect.getattr_static(owner, name)) or isinstance(found, property))
    }


def known_operations() -> set[str]:
    paths = json.loads(openapi.GOLDEN.read_text(encoding="utf-8"))["paths"]
    return {operation["operationId"] for methods in paths.values() for operation in methods.values()}


def test_every_verb_has_an_operation_or_a_reason() -> None:
    for owner, reached in OPERATIONS.items():
        reasons = REASONS.get(owner, {})
        assert verbs(owner) == reached.keys() | reasons.keys(), owner.__name__
        assert not reached.keys() & reasons.keys(), owner.__name__


def test_every_command_has_an_operation_or_a_reason() -> None:
    assert {command.name for command in COMMANDS} == COMMAND_OPERATIONS.keys() | COMMAND_REASONS.keys()


def test_the_named_operations_exist() -> None:
    named = {name for reached in OPERATIONS.values() for name in reached.values()} | set(COMMAND_OPERATIONS.values())
    assert named <= known_operations()
