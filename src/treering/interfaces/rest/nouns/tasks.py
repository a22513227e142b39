"""Working memory of tasks. Each request resumes the latest save of a task, and saves what it changes.

So any process of the server can serve the next request. A request that would overwrite the save of another one that
ran at the same time is a conflict.
"""

from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Path, Query

from treering.core.episodes import Episode
from treering.core.errors import NotFound
from treering.core.values import Value, thaw
from treering.interfaces.rest.calls import Route
from treering.interfaces.rest.nouns.task_schemas import (
    FinishTaskRequest,
    SaveRequest,
    StepName,
    StepsAnswer,
    StepsRequest,
    TaskAnswer,
    TaskPrompt,
    TaskReferences,
    TaskRequest,
    TaskValue,
)
from treering.interfaces.servers.threads import CallQueue
from treering.memory import Memory

if TYPE_CHECKING:
    from treering.task.api import Task

TaskId = Annotated[str, Path(description="Id of the task, which is also its session.")]
TokenModel = Annotated[str | None, Query(description="Count tokens as this model does; estimated by default.")]


def start_task(memory: Memory, body: TaskRequest, model: TokenModel = None) -> Any:
    """Start a task and save it. Requests to the paths of its id continue it, also after a restart of the server."""
    given = body.given()
    task = memory.task(given.pop("description"), id=given.pop("id", None), model=model, **given)
    task.save()
    return _task(task)


def get_task(memory: Memory, id: TaskId, model: TokenModel = None) -> Any:
    """A task with its subtasks, its stack of states, and its tokens by section."""
    return _task(memory.task(id=id, model=model))


def run_task_steps(memory: Memory, id: TaskId, body: StepsRequest, model: TokenModel = None) -> Any:
    """Carry out verbs of working memory in their order, and save the task. A step that fails leaves the task as it was.

    What no longer fits into the budget is moved to the store, and `resolve` returns it.
    """
    task = memory.task(id=id, model=model)
    results = [_json(_VERBS[step.do](task)(**step.arguments())) for step in body.steps]
    task.save(if_unchanged=True)
    return {"results": results, "pruned": task.pruned, "task": _task(task)}


def render_task(
    memory: Memory,
    id: TaskId,
    budget: Annotated[int | None, Query(ge=1, description="Maximum number of tokens.")] = None,
    model: TokenModel = None,
) -> Any:
    """The task as text for a prompt: what matters most first."""
    return memory.task(id=id, model=model).render(budget)


def get_task_variable(
    memory: Memory,
    id: TaskId,
    key: Annotated[str, Path(description="Name of the variable.")],
    scope: Annotated[str | None, Query(description="Scope; by default the innermost that has the name.")] = None,
) -> TaskValue:
    """The value of a variable."""
    nothing = object()
    found = memory.task(id=id).get(key, scope, nothing)
    if found is nothing:
        raise NotFound(f"no variable {key!r} in task {id!r}")
    return TaskValue(value=found)


def get_task_result(
    memory: Memory, id: TaskId, subtask: Annotated[str, Path(description="Id of the subtask.")]
) -> TaskValue:
    """The last output of a subtask, whether it is in the task or was moved out."""
    return _value(memory.task(id=id).result(subtask))


def resolve_task_item(
    memory: Memory, id: TaskId, reference: Annotated[str, Path(description="Reference, or name in a prompt.")]
) -> TaskValue:
    """The original value of an item, also if it was moved out."""
    return _value(memory.task(id=id).resolve(reference))


def list_task_references(memory: Memory, id: TaskId) -> Any:
    """Items that the task moved out, oldest first."""
    return {"items": memory.task(id=id).references()}


def save_task(memory: Memory, id: TaskId, body: SaveRequest) -> Any:
    """Save the task under another name too. The newest five saves are kept."""
    task = memory.task(id=id)
    task.save(body.name)
    return _task(task)


def restore_task(memory: Memory, id: TaskId, body: SaveRequest) -> Any:
    """Return to the save of this name; requests continue from there."""
    task = memory.task(id=id)
    task.restore(body.name)
    task.save(if_unchanged=True)
    return _task(task)


def finish_task(memory: Memory, id: TaskId, body: FinishTaskRequest | None = None) -> Episode:
    """Store the task as an episode, learn from it, and clear it."""
    fields = (body or FinishTaskRequest()).given()
    return memory.task(id=id).finish(fields.pop("outcome", "SUCCESS"), **fields)


_VERBS: Mapping[StepName, "Callable[[Task], Callable[..., Any]]"] = {
    "load_task_context": lambda task: task.load_task_context,
    "start": lambda task: task.start,
    "complete": lambda task: task.complete,
    "add_intermediate": lambda task: task.add_intermediate,
    "fail": lambda task: task.fail,
    "trace": lambda task: task.trace,
    "set": lambda task: task.set,
    "accumulate": lambda task: task.accumulate,
    "record_model_call": lambda task: task.record_model_call,
    "push_state": lambda task: task.push_state,
    "pop_state": lambda task: task.pop_state,
    "retrieve_from_episodic": lambda task: task.retrieve_from_episodic,
    "read": lambda task: task.read,
    "prune": lambda task: task.prune,
    "bring_back": lambda task: task.bring_back,
    "clear": lambda task: task.clear,
}


def _task(task: "Task") -> dict[str, Any]:
    stack = [{**_json(frame), "at": frame.at} for frame in task.stack]
    described = {"id": task.id, "description": task.description, "usage": task.stats()}
    return {**described, "subtasks": [_json(each) for each in task.subtasks], "stack": stack}


def _json(result: Any) -> Any:
    if isinstance(result, Value):
        return result.model_dump(mode="json")
    return [_json(each) for each in result] if isinstance(result, tuple) else thaw(result)


def _value(found: Any) -> TaskValue:
    return TaskValue(base64=b64encode(found).decode()) if isinstance(found, bytes) else TaskValue(value=thaw(found))


_WRITE = CallQueue.WRITE
_T = "/tasks"
ROUTES = (
    Route("POST", _T, start_task, TaskAnswer, "Start a task", _WRITE, 201),
    Route("GET", f"{_T}/{{id}}", get_task, TaskAnswer, "Get a task"),
    Route("POST", f"{_T}/{{id}}/steps", run_task_steps, StepsAnswer, "Carry out steps of a task", _WRITE),
    Route("GET", f"{_T}/{{id}}/prompt", render_task, TaskPrompt, "Render a task for a prompt"),
    Route("GET", f"{_T}/{{id}}/variables/{{key}}", get_task_variable, TaskValue, "Get a variable"),
    Route("GET", f"{_T}/{{id}}/results/{{subtask}}", get_task_result, TaskValue, "Get the output of a subtask"),
    Route("GET", f"{_T}/{{id}}/items/{{reference}}", resolve_task_item, TaskValue, "Resolve a reference"),
    Route("GET", f"{_T}/{{id}}/references", list_task_references, TaskReferences, "List items moved out"),
    Route("POST", f"{_T}/{{id}}/saves", save_task, TaskAnswer, "Save a task under a name", _WRITE),
    Route("POST", f"{_T}/{{id}}/restore", restore_task, TaskAnswer, "Restore a save", _WRITE),
    Route("POST", f"{_T}/{{id}}/finish", finish_task, Episode, "Finish a task", _WRITE, 201),
)
