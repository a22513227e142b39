"""The verbs of a task's working memory. Thread-safe; a verb that fails changes nothing."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from threading import RLock
from typing import Any, TypeVar

from treering.core.episodes import Episode
from treering.core.errors import InvalidInput, NotFound
from treering.core.history import LogInjection
from treering.core.settings import TaskSettings
from treering.core.tokens import CountTokens, estimate_tokens
from treering.core.turns import TASK, Turn
from treering.core.values import EMPTY, FrozenMap, Value, brief, thaw
from treering.task import definition
from treering.task.content import content_of
from treering.task.definition import Constraint, PlannedSubtask
from treering.task.episode import STARTED_AT, episode_of
from treering.task.passages import FindPassages, RetrievedPassage, fill, fits, new_passages, passage
from treering.task.prompt import RenderedTask, render
from treering.task.pruning import OLD_AFTER_OUTPUTS, PruneReport, PruneStep, prune, prune_unread
from treering.task.references import Reference, TaskStore, content_in, id_of, latest_output
from treering.task.sections import budgets
from treering.task.snapshots import LATEST, Snapshot, is_saved, save, saved, snapshot_of, state_of
from treering.task.state import Frame, SubtaskStatus, TaskEntry, TaskState, TaskSubtask
from treering.task.usage import Usage, usage
from treering.task.variables import checked_key, checked_scope, frozen_value

EXTRACT_CHARACTERS = 160  # one line about what was moved out: a long sentence, or two halves of one
MAX_SAVES = 5  # named saves kept with a task, the newest; each is as large as the working memory
MAX_LOGGED_STEPS = 100  # pruning steps that a task keeps, the newest

T = TypeVar("T")


class RetainedVariables(Value):
    """The variables that survive `clear`."""

    accumulators: FrozenMap = EMPTY
    metadata: FrozenMap = EMPTY


class Task:
    """The state of one task while it runs, within a budget of tokens.

    A verb that would exceed the budget of a section prunes it. Items are stored before they leave the task, and
    `resolve` returns them. `on_event` is called with each pruning step that changed something.
    """

    def __init__(
        self,
        task_store: TaskStore,
        settings: TaskSettings,
        *,
        count: CountTokens,
        find: FindPassages,
        store_episode: Callable[..., Episode],
        injected: LogInjection,
        on_event: Callable[[PruneStep], None] | None = None,
    ) -> None:
        self._task_store = task_store
        self._store_episode = store_episode
        self._injected = injected
        self._recorded_injections = set[str]()
        self._settings = settings
        self._find = find
        self._on_event = on_event
        self._lock = RLock()
        self._log: deque[PruneStep] = deque(maxlen=MAX_LOGGED_STEPS)
        self._stored: dict[str, Snapshot] = {}
        self._state = TaskState(count, budgets(settings), EXTRACT_CHARACTERS)

    def __repr__(self) -> str:
        return f"Task(id={self.id!r}, description={brief(self.description)!r})"

    @property
    def id(self) -> str:
        """Also the id of the session that holds the saves and the items that were moved out."""
        return self._task_store.task

    @property
    def description(self) -> str:
        with self._lock:
            return "\n".join(entry.shown for entry in self._state.of_kind("description"))

    @property
    def pruned(self) -> tuple[PruneStep, ...]:
        """The pruning steps that changed something, oldest first."""
        with self._lock:
            return tuple(self._log)

    @property
    def subtasks(self) -> tuple[TaskSubtask, ...]:
        with self._lock:
            return tuple(self._state.subtasks.values())

    @property
    def stack(self) -> tuple[Frame, ...]:
        """The state frames that were pushed and not yet popped, innermost last."""
        with self._lock:
            return tuple(self._state.frames)

    def load_task_context(
        self,
        *,
        description: str | None = None,
        goals: Iterable[str] | None = None,
        constraints: Iterable[str | Constraint | Mapping[str, object]] | None = None,
        success_criteria: Iterable[str] | None = None,
        plan: Iterable[str | PlannedSubtask | Mapping[str, object]] | None = None,
        system: Iterable[str] | str | None = None,
    ) -> None:
        """Set the definition of the task. Each argument given replaces its former value.

        The first description also sets `started_at` in the metadata.
        """
        texts = {"description": description, "goal": goals, "criterion": success_criteria, "system": system}

        def load(state: TaskState) -> None:
            if description is not None and not state.of_kind("description"):
                state.set_variable(("metadata", "", STARTED_AT), self._task_store.clock().isoformat())
            for kind, given in texts.items():
                if given is not None:
                    definition.load_texts(state, kind, given)
            if constraints is not None:
                definition.load_constraints(state, constraints)
            if plan is not None:
                definition.load_plan(state, plan)

        self._change(load)

    def start(self, subtask: str, description: str = "") -> None:
        """Make a subtask the current one, until it ends or another is started."""
        self._change(lambda state: definition.start(state, subtask, description))

    def complete(self, subtask: str) -> None:
        """Complete a subtask that has no output."""
        self._change(lambda state: definition.finish(state, subtask, SubtaskStatus.COMPLETED))

    def add_intermediate(self, subtask: str, output: object) -> str:
        """Store the output of a subtask (text, bytes or JSON) and complete it. Returns the id of the output."""
        content = content_of(output)

        def keep(state: TaskState) -> TaskEntry:
            definition.finish(state, subtask, SubtaskStatus.COMPLETED)
            return state.add("result", content, subtask=subtask, label=subtask)

        return self._change(keep).id

    def fail(self, subtask: str, error: str) -> None:
        """Mark a subtask as failed. The error stays in the prompt, and the subtask may be started again."""
        content = content_of(error)

        def note(state: TaskState) -> None:
            definition.finish(state, subtask, SubtaskStatus.FAILED)
            state.add("failure", content, subtask=subtask, label=subtask)

        self._change(note)

    def trace(self, text: str) -> str:
        """Store a detail of the execution for the current subtask. Returns its id."""
        content = content_of(text)

        def note(state: TaskState) -> TaskEntry:
            return state.add("trace", content, subtask=state.current, label=state.current or "")

        return self._change(note).id

    def set(self, key: str, value: object, scope: str = "task", *, subtask: str | None = None) -> None:
        """Set a variable to a JSON value. An intermediate variable belongs to `subtask`, by default the current one."""
        frozen = frozen_value(key, value)
        with self._lock:
            address = self._state.address(key, scope, subtask)
            if self._state.set_if_it_fits(address, frozen):
                return
        self._change(lambda state: state.set_variable(state.address(key, scope, subtask), frozen))

    def get(self, key: str, scope: str | None = None, default: Any = None) -> Any:
        """A copy of a variable's value, by default from the innermost scope that has the name."""
        with self._lock:
            state = self._state
            where = None if scope is None else checked_scope(scope)
            address = state.variables.find(key, where, len(state.frames), state.current)
            return default if address is None else thaw(state.variables.values[address])

    def accumulate(self, key: str, value: object) -> None:
        """Add to an accumulator: numbers add up, maps are updated, lists take any other value. Survives `clear`."""
        (more,) = frozen_value(checked_key(key), [value])
        with self._lock:
            if self._state.accumulate_if_it_fits(key, more):
                return
        self._change(lambda state: state.accumulate(key, more))

    def record_model_call(self, tokens: int, cost: float = 0.0) -> None:
        """Add a model call to the metadata: `llm_calls`, `tokens_consumed` and `cost`."""
        if min(tokens, cost) < 0:
            raise InvalidInput(f"tokens={tokens} and cost={cost} must not be negative; pass what the call used")
        more = {"llm_calls": 1, "tokens_consumed": tokens, "cost": cost}

        def add(state: TaskState) -> None:
            spent = state.variables.of("metadata")
            for name, value in more.items():
                state.set_variable(("metadata", "", name), frozen_value(name, spent.get(name, 0) + value))

        self._change(add)

    def push_state(self, phase: str, subtask: str | None = None, **data: object) -> Frame:
        """Push a state frame; execution variables set from now on belong to it."""
        frozen = {name: frozen_value(name, value) for name, value in data.items()}
        frame = Frame.make(phase=phase, at=self._task_store.clock(), subtask=subtask, data=frozen)
        self._change(lambda state: state.push(frame))
        return frame

    def pop_state(self) -> Frame:
        """Pop the innermost state frame and remove its variables."""
        with self._lock:
            if not self._state.frames:
                raise InvalidInput("the state stack is empty; call `push_state` before `pop_state`")
            return self._state.pop()

    def retrieve_from_episodic(
        self, query: str, limit: int | None = None, *, tainted: bool = False
    ) -> tuple[RetrievedPassage, ...]:
        """Search memory and add the new passages that fit; unread passages of earlier queries are dropped for them.

        With `tainted`, the search includes unconfirmed records from outside.
        """
        wanted = self._settings.retrieve_limit if limit is None else limit
        if wanted < 1:
            raise InvalidInput(f"limit is {wanted}; pass 1 or more")
        return self.add_passages(self._find(query, wanted, tainted))

    def add_passages(self, found: Iterable[RetrievedPassage]) -> tuple[RetrievedPassage, ...]:
        """Add the new passages that fit and return them; unread passages of earlier queries are dropped for them."""
        with self._lock:
            trial = self._state.copy()
            fresh = new_passages(trial, found)
            steps = () if fits(trial, fresh) else prune_unread(trial, self._task_store)
            taken = fill(trial, fresh)
            self._replace_state(trial, steps)
        self._record_injection(taken)
        self._notify(steps)
        return taken

    def read(self, id: str) -> RetrievedPassage:
        """Return a retrieved passage and mark it as read: read passages are not dropped for new ones."""

        def mark(state: TaskState) -> TaskEntry:
            for entry in state.of_kind("retrieved"):
                if id in (entry.reference, entry.id):
                    state.put(entry.replace(read=True))
                    return entry
            raise NotFound(f"no passage {id!r} in this task; `retrieve_from_episodic` brings it, `memory.get` reads it")

        return passage(self._change(mark))

    def prune(self) -> PruneReport:
        """Move all cold items out, then shrink every section that is still over budget."""
        with self._lock:
            trial = self._state.copy()
            report = prune(trial, self._task_store, thorough=True)
            self._replace_state(trial, report.steps)
        self._notify(report.steps)
        return report

    def resolve(self, reference: Reference | str) -> Any:
        """The original value of an item, by its reference or by the name shown in the prompt, in any process."""
        id = id_of(reference)
        with self._lock:
            entry = self._state.entries.get(id)
        if entry is not None and entry.content is not None:
            return entry.content.value
        return content_in(self._moved_turn(id)).value

    def references(self) -> tuple[Reference, ...]:
        """References to all items that this task moved out, oldest first."""
        return self._task_store.references()

    def result(self, subtask: str) -> Any:
        """The last output of a subtask, in the task or in the store."""
        with self._lock:
            outputs = [entry.id for entry in self._state.of_kind("result") if entry.subtask == subtask]
            known = self._state.subtasks.get(subtask)
        if outputs:
            return self.resolve(outputs[-1])
        reference = known.output if known and known.output else latest_output(subtask, self.references())
        if reference is None:
            raise NotFound(f"subtask {subtask!r} has no output; `add_intermediate` stores one")
        return self.resolve(reference)

    def bring_back(self, reference: Reference | str) -> str:
        """Restore an item that was moved out, as the newest, with its subtask's variables. Returns its id."""
        turn = self._moved_turn(reference)
        about, content = turn.metadata[TASK], content_in(turn)

        def put(state: TaskState) -> TaskEntry:
            for entry in [each for each in state.entries.values() if each.reference == turn.id]:
                state.drop(entry.id)
            for key, value in about["variables"].items():
                state.set_variable(("intermediate", about["subtask"], key), value)
            return state.add(about["kind"], content, subtask=about["subtask"], label=about["label"])

        return self._change(put).id

    def snapshot(self) -> Snapshot:
        """The current state as one value."""
        with self._lock:
            self._prune_if_over()
            return snapshot_of(self._state, self.id, self._task_store.title, self._task_store.clock())

    def restore(self, snapshot: Snapshot | str = LATEST) -> None:
        """Replace the state by a snapshot, or by the save of that name."""
        known = saved(self._task_store, snapshot) if isinstance(snapshot, str) else snapshot
        if isinstance(snapshot, str):
            self._stored[snapshot] = known
        self._replace_with(lambda state: state_of(known, state.empty()))
        self._task_store = replace(self._task_store, title=known.title)

    def save(self, name: str = LATEST, *, if_unchanged: bool = False) -> Snapshot:
        """Store a snapshot that any process can restore; it replaces the former save of that name.

        With `if_unchanged`, it is `Conflict` if that is not the save which this task restored or made last.
        """
        taken = self.snapshot()
        replacing = self._stored.get(name) if if_unchanged else None
        self._stored[name] = save(self._task_store, taken, name, MAX_SAVES, replacing=replacing)
        return taken

    def render(self, budget: int | None = None) -> RenderedTask:
        """The task as text for a prompt: hot items, then warm ones as the budget allows, then a line per cold item."""
        with self._lock:
            self._prune_if_over()
            limit = self._settings.total if budget is None else budget
            shown = render(self._state, OLD_AFTER_OUTPUTS, limit)
            brought = [passage(entry) for entry in self._state.of_kind("retrieved")]
        self._record_injection(brought)
        return shown

    def stats(self) -> Usage:
        """Token usage by section."""
        with self._lock:
            self._prune_if_over()
            return usage(self._state, OLD_AFTER_OUTPUTS, self._settings.total)

    def clear(self) -> RetainedVariables:
        """Remove everything except accumulators and metadata, which are returned. Saves and moved items stay stored."""
        retained = self._replace_with(TaskState.cleared).variables
        gathered = {key: value for key, value in retained.of("task").items() if key in retained.accumulators}
        return RetainedVariables.make(accumulators=gathered, metadata=retained.of("metadata"))

    def finish(self, outcome: str | Mapping[str, Any] = "SUCCESS", **fields: Any) -> Episode:
        """Store the task as an episode, learn from it, and clear the task. Returns the episode.

        `outcome` and `fields` are those of `memory.episode` (output, insights, tools, patterns, domain…); the others
        are taken from the task. An existing save is cleared too. If this fails midway, call it again: the episode is
        stored once.
        """
        with self._lock:
            self._prune_if_over()
            moved, now = self.references(), self._task_store.clock()
            task_fields = episode_of(self._state, moved, lambda id: content_in(self._task_store.get(id)), outcome, now)
            identity = {"id": f"{self.id}-{self._state.order}", "session": self.id}
            with self._task_store.store.reading(self._task_store.scope, now) as tx:
                if (stored := tx.episodes.get(identity["id"])) is not None:
                    task_fields["duration_ms"] = stored.execution.duration_ms  # an earlier attempt
            episode = self._store_episode(**{**task_fields, **identity, **fields})
            self.clear()
            if is_saved(self._task_store):
                self.save()
        return episode

    def _change(self, act: Callable[[TaskState], T]) -> T:
        """Apply a change to a copy, prune the copy if it is over budget, and replace the state by it."""
        with self._lock:
            trial = self._state.copy()
            outcome = act(trial)
            steps = self._settle(trial)
        self._notify(steps)
        return outcome

    def _replace_with(self, make: Callable[[TaskState], TaskState]) -> TaskState:
        with self._lock:
            other = make(self._state)
            steps = self._settle(other)
        self._notify(steps)
        return other

    def _prune_if_over(self) -> None:
        """Prune before the state is read: variables that were not counted yet may exceed a budget."""
        if self._state.over():
            self._change(lambda state: None)

    def _settle(self, state: TaskState) -> tuple[PruneStep, ...]:
        over = bool(state.over())
        steps = prune(state, self._task_store, thorough=False).steps if over else ()
        self._replace_state(state, steps)
        return steps

    def _replace_state(self, state: TaskState, steps: tuple[PruneStep, ...]) -> None:
        self._state = state
        self._log.extend(step for step in steps if step.items)

    def _record_injection(self, brought: Iterable[RetrievedPassage]) -> None:
        """Record retrieved passages as injected, once per task and process."""
        with self._lock:
            new = {each.id: each.text for each in brought if each.id not in self._recorded_injections}
            self._recorded_injections.update(new)
        self._injected(list(new), via="task", tokens=sum(map(estimate_tokens, new.values())))

    def _notify(self, steps: tuple[PruneStep, ...]) -> None:
        """Called outside the lock, because the listener may use the task."""
        if self._on_event is not None:
            for step in steps:
                if step.items:
                    self._on_event(step)

    def _moved_turn(self, reference: Reference | str) -> Turn:
        """The turn of a moved item, by its reference or by a name that a prompt showed."""
        id = id_of(reference)
        with self._lock:
            entry = self._state.entries.get(id)
        if entry is not None and entry.reference is not None:
            return self._task_store.get(entry.reference)
        try:
            return self._task_store.get(id)
        except NotFound:
            named = [each.id for each in self.references() if each.entry == id]
            if not named:
                raise
        return self._task_store.get(named[-1])
