"""A task's working memory: the verbs. Safe to share between threads; a verb that fails leaves it as it was."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from threading import RLock
from typing import Any, TypeVar

from treering.core.episodes import Episode
from treering.core.errors import InvalidInput, NotFound
from treering.core.history import LogInjection
from treering.core.settings import WorkingSettings
from treering.core.tokens import CountTokens, estimate_tokens
from treering.core.turns import TASK, Turn
from treering.core.values import EMPTY, FrozenMap, Value, thaw
from treering.task import context
from treering.task.content import content_of
from treering.task.context import Constraint, Planned
from treering.task.episode import STARTED_AT, episode_of
from treering.task.prompt import Rendered, render
from treering.task.pruning import Report, Step, prune, prune_unread
from treering.task.references import Reference, Shelf, content_in, id_of, newest_of
from treering.task.retrieved import Find, Retrieved, fill, fits, new_among, passage
from treering.task.sections import budgets
from treering.task.snapshots import LATEST, Snapshot, is_saved, save, saved, snapshot_of, state_of
from treering.task.state import Entry, Frame, State, Status, Subtask
from treering.task.usage import Usage, usage
from treering.task.variables import checked_key, checked_scope, frozen_value

T = TypeVar("T")


class Kept(Value):
    """What survives clear."""

    accumulators: FrozenMap = EMPTY
    metadata: FrozenMap = EMPTY


class Task:
    """The state of one task while it runs, within a budget of tokens.

    A verb that would take a section over its budget prunes; what leaves is in the store before it leaves, and comes
    back by `resolve`. `on_event` hears each step of a pruning that did something.
    """

    def __init__(
        self,
        shelf: Shelf,
        settings: WorkingSettings,
        *,
        count: CountTokens,
        find: Find,
        keep_episode: Callable[..., Episode],
        injected: LogInjection,
        on_event: Callable[[Step], None] | None = None,
    ) -> None:
        self._shelf = shelf
        self._keep_episode = keep_episode
        self._injected = injected
        self._noted = set[str]()
        self._settings = settings
        self._find = find
        self._on_event = on_event
        self._lock = RLock()
        self._log: deque[Step] = deque(maxlen=settings.log)
        self._state = State(count, budgets(settings), settings.extract_characters)

    @property
    def id(self) -> str:
        """Also the id of the session that holds what was moved out, and the saves."""
        return self._shelf.task

    @property
    def description(self) -> str:
        """What it is about."""
        with self._lock:
            return "\n".join(entry.shown for entry in self._state.of_kind("description"))

    @property
    def pruned(self) -> tuple[Step, ...]:
        """The steps of pruning that did something, oldest first."""
        with self._lock:
            return tuple(self._log)

    @property
    def subtasks(self) -> tuple[Subtask, ...]:
        with self._lock:
            return tuple(self._state.subtasks.values())

    @property
    def stack(self) -> tuple[Frame, ...]:
        """The states that were pushed and not popped, the innermost last."""
        with self._lock:
            return tuple(self._state.frames)

    def load_task_context(
        self,
        *,
        description: str | None = None,
        goals: Iterable[str] | None = None,
        constraints: Iterable[str | Constraint | Mapping[str, object]] | None = None,
        success_criteria: Iterable[str] | None = None,
        plan: Iterable[str | Planned | Mapping[str, object]] | None = None,
        system: Iterable[str] | str | None = None,
    ) -> None:
        """Say what the task is about. What is given takes the place of what stood there.

        The first description is also when the task starts (`started_at` in the metadata).
        """
        texts = {"description": description, "goal": goals, "criterion": success_criteria, "system": system}

        def load(state: State) -> None:
            if description is not None and not state.of_kind("description"):
                state.set_variable(("metadata", "", STARTED_AT), self._shelf.clock().isoformat())
            for kind, given in texts.items():
                if given is not None:
                    context.load_texts(state, kind, given)
            if constraints is not None:
                context.load_constraints(state, constraints)
            if plan is not None:
                context.load_plan(state, plan)

        self._change(load)

    def start(self, subtask: str, description: str = "") -> None:
        """A subtask is under way: it is the current one until it ends or another is started."""
        self._change(lambda state: context.start(state, subtask, description))

    def complete(self, subtask: str) -> None:
        """A subtask ended without an output."""
        self._change(lambda state: context.finish(state, subtask, Status.COMPLETED))

    def add_intermediate(self, subtask: str, output: object) -> str:
        """Keep what a subtask gave (text, bytes or JSON), which completes it; the output's id is returned."""
        content = content_of(output)

        def keep(state: State) -> Entry:
            context.finish(state, subtask, Status.COMPLETED)
            return state.add("result", content, subtask=subtask, label=subtask)

        return self._change(keep).id

    def fail(self, subtask: str, error: str) -> None:
        """A subtask failed; the error stays in sight, and the subtask may be started again."""
        content = content_of(error)

        def note(state: State) -> None:
            context.finish(state, subtask, Status.FAILED)
            state.add("failure", content, subtask=subtask, label=subtask)

        self._change(note)

    def trace(self, text: str) -> str:
        """Keep a detail of the execution, for the current subtask; its id is returned."""
        content = content_of(text)

        def note(state: State) -> Entry:
            return state.add("trace", content, subtask=state.current, label=state.current or "")

        return self._change(note).id

    def set(self, key: str, value: object, scope: str = "task", *, subtask: str | None = None) -> None:
        """Set a variable to JSON. An intermediate one belongs to `subtask`, or to the current one."""
        frozen = frozen_value(key, value)
        with self._lock:
            address = self._state.address(key, scope, subtask)
            if self._state.set_lightly(address, frozen):
                return
        self._change(lambda state: state.set_variable(state.address(key, scope, subtask), frozen))

    def get(self, key: str, scope: str | None = None, default: Any = None) -> Any:
        """A copy of a variable's value; without a scope, of the innermost that has this name."""
        with self._lock:
            state = self._state
            where = None if scope is None else checked_scope(scope)
            address = state.variables.find(key, where, len(state.frames), state.current)
            return default if address is None else thaw(state.variables.values[address])

    def accumulate(self, key: str, value: object) -> None:
        """Gather in the task's scope: numbers add up, maps are updated, lists take anything else. Survives clear."""
        (more,) = frozen_value(checked_key(key), [value])
        with self._lock:
            if self._state.gather_lightly(key, more):
                return
        self._change(lambda state: state.gather(key, more))

    def record_model_call(self, tokens: int, cost: float = 0.0) -> None:
        """Add a call of a language model to the metadata: `llm_calls`, `tokens_consumed` and `cost`."""
        if min(tokens, cost) < 0:
            raise InvalidInput(f"a call takes {tokens} tokens and costs {cost}; give what it used, 0 or more")
        more = {"llm_calls": 1, "tokens_consumed": tokens, "cost": cost}

        def add(state: State) -> None:
            spent = state.variables.of("metadata")
            for name, value in more.items():
                state.set_variable(("metadata", "", name), frozen_value(name, spent.get(name, 0) + value))

        self._change(add)

    def push_state(self, phase: str, subtask: str | None = None, **data: object) -> Frame:
        """Enter a state; variables of the execution scope belong to it from now on."""
        frozen = {name: frozen_value(name, value) for name, value in data.items()}
        frame = Frame.make(phase=phase, at=self._shelf.clock(), subtask=subtask, data=frozen)
        self._change(lambda state: state.push(frame))
        return frame

    def pop_state(self) -> Frame:
        """Leave the innermost state; its variables end with it."""
        with self._lock:
            if not self._state.frames:
                raise InvalidInput("there is no state to leave; every `pop_state` needs a `push_state` before it")
            return self._state.pop()

    def retrieve_from_episodic(
        self, query: str, limit: int | None = None, *, tainted: bool = False
    ) -> tuple[Retrieved, ...]:
        """Look into memory, and take in what is new and fits; unread passages of earlier queries make room.

        With `tainted`, also what came from outside and was not confirmed.
        """
        wanted = self._settings.retrieve_limit if limit is None else limit
        if wanted < 1:
            raise InvalidInput(f"limit is {wanted}; ask for at least one passage")
        return self.take_in(self._find(query, wanted, tainted))

    def take_in(self, found: Iterable[Retrieved]) -> tuple[Retrieved, ...]:
        """Passages that are new, as many as fit; unread ones of earlier queries make room."""
        with self._lock:
            trial = self._state.copy()
            fresh = new_among(trial, found)
            steps = () if fits(trial, fresh) else prune_unread(trial, self._shelf, self._settings)
            taken = fill(trial, fresh)
            self._take(trial, steps)
        self._note(taken)
        self._tell(steps)
        return taken

    def read(self, id: str) -> Retrieved:
        """A passage that memory brought; one that was read is not dropped to make room."""

        def mark(state: State) -> Entry:
            for entry in state.of_kind("retrieved"):
                if id in (entry.reference, entry.id):
                    state.put(entry.replace(read=True))
                    return entry
            raise NotFound(f"no passage {id!r} in this task; `retrieve_from_episodic` brings it, `memory.get` reads it")

        return passage(self._change(mark))

    def prune(self) -> Report:
        """Put away all that is cold, then whatever is over budget."""
        with self._lock:
            trial = self._state.copy()
            report = prune(trial, self._shelf, self._settings, thorough=True)
            self._take(trial, report.steps)
        self._tell(report.steps)
        return report

    def resolve(self, reference: Reference | str) -> Any:
        """What was moved out, as it was given; also by the name that the prompt shows, also in another process."""
        id = id_of(reference)
        with self._lock:
            entry = self._state.entries.get(id)
        if entry is not None and entry.content is not None:
            return entry.content.value
        return content_in(self._moved(id)).value

    def references(self) -> tuple[Reference, ...]:
        """Everything that this task moved out, in that order."""
        return self._shelf.listed()

    def result(self, subtask: str) -> Any:
        """The last output of a subtask, wherever it is."""
        with self._lock:
            outputs = [entry.id for entry in self._state.of_kind("result") if entry.subtask == subtask]
            known = self._state.subtasks.get(subtask)
        if outputs:
            return self.resolve(outputs[-1])
        reference = known.output if known and known.output else newest_of(subtask, self.references())
        if reference is None:
            raise NotFound(f"subtask {subtask!r} has no output; `add_intermediate` keeps one")
        return self.resolve(reference)

    def bring_back(self, reference: Reference | str) -> str:
        """Take something that was moved out in again, as the youngest, with its subtask's variables."""
        turn = self._moved(reference)
        about, content = turn.metadata[TASK], content_in(turn)

        def put(state: State) -> Entry:
            for entry in [each for each in state.entries.values() if each.reference == turn.id]:
                state.drop(entry.id)
            for key, value in about["variables"].items():
                state.set_variable(("intermediate", about["subtask"], key), value)
            return state.add(about["kind"], content, subtask=about["subtask"], label=about["label"])

        return self._change(put).id

    def snapshot(self) -> Snapshot:
        """Everything as it stands, as one value."""
        with self._lock:
            self._fit()
            return snapshot_of(self._state, self.id, self._shelf.title, self._shelf.clock())

    def restore(self, snapshot: Snapshot | str = LATEST) -> None:
        """Be as in a snapshot, or as in the save of that name."""
        known = saved(self._shelf, snapshot) if isinstance(snapshot, str) else snapshot
        self._become(lambda state: state_of(known, state.empty()))
        self._shelf = replace(self._shelf, title=known.title)

    def save(self, name: str = LATEST) -> Snapshot:
        """Keep a snapshot in the store, for any process; the last save of a name wins."""
        taken = self.snapshot()
        save(self._shelf, taken, name, self._settings.saves)
        return taken

    def render(self, budget: int | None = None) -> Rendered:
        """The task as text for a prompt: hot, then warm as room allows, then a line for each that is cold."""
        with self._lock:
            self._fit()
            most = self._settings.total if budget is None else budget
            shown = render(self._state, self._settings.old_after, most)
            brought = [passage(entry) for entry in self._state.of_kind("retrieved")]
        self._note(brought)
        return shown

    def stats(self) -> Usage:
        """What each section takes."""
        with self._lock:
            self._fit()
            return usage(self._state, self._settings.old_after, self._settings.total)

    def clear(self) -> Kept:
        """Empty the task but for accumulators and metadata, which are returned. Saves and what was moved out stay."""
        rest = self._become(State.cleared).variables
        gathered = {key: value for key, value in rest.of("task").items() if key in rest.accumulators}
        return Kept.make(accumulators=gathered, metadata=rest.of("metadata"))

    def finish(self, outcome: str | Mapping[str, Any] = "SUCCESS", **fields: Any) -> Episode:
        """Keep the task as an episode, learn from it, and empty the task as `clear` does. The episode is returned.

        `outcome` and `fields` are those of `memory.episode` (output, insights, tools, patterns, domain…); what is not
        given comes from the task. Where the task was saved, the save is empty then too. After a failure in between,
        finish it again: it is stored once.
        """
        with self._lock:
            self._fit()
            moved, now = self.references(), self._shelf.clock()
            told = episode_of(self._state, moved, lambda id: content_in(self._shelf.get(id)), outcome, now)
            own = {"id": f"{self.id}-{self._state.order}", "session": self.id}
            with self._shelf.store.reading(self._shelf.scope, now) as tx:
                if (stored := tx.episodes.get(own["id"])) is not None:
                    told["duration_ms"] = stored.execution.duration_ms  # finished before, when less time had passed
            episode = self._keep_episode(**{**told, **own, **fields})
            self.clear()
            if is_saved(self._shelf):
                self.save()
        return episode

    def _change(self, act: Callable[[State], T]) -> T:
        """Try a change on a copy, prune it where it is over budget, and let it take the place of what was."""
        with self._lock:
            trial = self._state.copy()
            outcome = act(trial)
            steps = self._settle(trial)
        self._tell(steps)
        return outcome

    def _become(self, make: Callable[[State], State]) -> State:
        """Be in another state."""
        with self._lock:
            other = make(self._state)
            steps = self._settle(other)
        self._tell(steps)
        return other

    def _fit(self) -> None:
        """Before anybody looks: variables that were not counted yet may be too much."""
        if self._state.over():
            self._change(lambda state: None)

    def _settle(self, state: State) -> tuple[Step, ...]:
        over = bool(state.over())
        steps = prune(state, self._shelf, self._settings, thorough=False).steps if over else ()
        self._take(state, steps)
        return steps

    def _take(self, state: State, steps: tuple[Step, ...]) -> None:
        self._state = state
        self._log.extend(step for step in steps if step.items)

    def _note(self, brought: Iterable[Retrieved]) -> None:
        """What memory brought is noted once for each task, and again by the process that resumes it."""
        with self._lock:
            new = {each.id: each.text for each in brought if each.id not in self._noted}
            self._noted.update(new)
        self._injected(list(new), via="task", tokens=sum(map(estimate_tokens, new.values())))

    def _tell(self, steps: tuple[Step, ...]) -> None:
        """Outside the lock: whoever hears it may use the task."""
        if self._on_event is not None:
            for step in steps:
                if step.items:
                    self._on_event(step)

    def _moved(self, reference: Reference | str) -> Turn:
        """The turn behind a reference, or behind the name that the prompt shows or showed."""
        id = id_of(reference)
        with self._lock:
            entry = self._state.entries.get(id)
        if entry is not None and entry.reference is not None:
            return self._shelf.get(entry.reference)
        try:
            return self._shelf.get(id)
        except NotFound:
            named = [each.id for each in self.references() if each.entry == id]
            if not named:
                raise
        return self._shelf.get(named[-1])
