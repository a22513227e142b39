"""Links of the OpenAPI document: which operations take the id that an answer names."""

from collections.abc import Iterator, Mapping
from typing import Any

_OF_RECORDS = ("get_record", "get_history", "confirm", "correct", "flag", "pin", "mute", "forget", "undo")
_OF_TASKS = ("get_task", "run_task_steps", "render_task", "list_task_references", "finish_task")
_OF_WINDOWS = ("list_messages", "build_window", "get_window_stats", "explain_window", "prune_window")
_ID = "$response.body#/id"
LINKS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "remember": (_ID, _OF_RECORDS),
    "correct": (_ID, _OF_RECORDS),
    "store_work_state": (_ID, _OF_RECORDS),
    "store_turn": (_ID, ("get_record", "get_history", "forget", "undo")),
    "store_episode": (_ID, ("get_episode", "get_record", "learn_from_episode", "forget")),
    "add_pattern": (_ID, ("get_pattern", "update_pattern", "record_application", "review_pattern", "pattern_versions")),
    "search": ("$response.body#/hits/0/id", ("get_record", "confirm", "forget")),
    "ask": ("$response.body#/citations/0/id", ("get_record",)),
    "list_records": ("$response.body#/items/0/id", _OF_RECORDS),
    "list_episodes": ("$response.body#/items/0/id", ("get_episode",)),
    "forget": ("$request.path.id", ("undo", "get_record")),
    "start_task": (_ID, _OF_TASKS),
    "finish_task": (_ID, ("get_episode",)),
    "add_messages": ("$request.path.id", _OF_WINDOWS),
    "observe_session": ("$request.path.id", ("get_session", "get_timeline", "review_session", "forget_session")),
}
"""By operation: where its answer has an id, and the operations that take it as `id`."""


def add_links(operations: Iterator[dict[str, Any]]) -> None:
    """Add the links to the successful answer of each operation."""
    for operation in operations:
        expression, targets = LINKS.get(operation["operationId"], ("", ()))
        answers = (answer for status, answer in operation["responses"].items() if status.startswith("2"))
        for answer in answers if targets else ():
            parameters = {"project": "$request.path.project", "id": expression}
            answer["links"] = {name: {"operationId": name, "parameters": parameters} for name in targets}
