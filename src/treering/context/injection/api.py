"""`memory.injections`: what an agent is given unasked, at four points of its loop."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from treering.context.injection.deadline import BackgroundThreads, Pending
from treering.context.injection.given_items import GivenItems
from treering.context.injection.occasions import RecentSessions, readable_occasion, says_nothing
from treering.core.errors import StoreError
from treering.core.injection_rules import AFTER_COMPACTION, LOST_CONTEXT
from treering.core.injections import (
    InjectedItem,
    Injection,
    InjectionPoint,
    ItemKind,
    Occasion,
    SessionGroup,
    injected_item_id,
    items_in_context,
    session_group,
)

if TYPE_CHECKING:
    from treering.context.injection.candidates import InjectionCandidate
    from treering.context.injection.lookup import InjectionLookup
    from treering.context.injection.points import PointSpec
    from treering.context.prefetch.ranking import PrefetchedFile
    from treering.core.history import LogInjection
    from treering.core.scope import Scope
    from treering.core.settings import Settings
    from treering.patterns.matching.ranking import RankedPattern
    from treering.ports.clock import Clock, NewId
    from treering.ports.store import Store, Transaction
    from treering.search.answer import Answer

_LOG = logging.getLogger(__name__)
_MAX_REASON, _MAX_TEXT = 300, 1_000
_FIRST_SESSIONS = 3
_NO_SESSION = "none"
_FIRST_PROMPT = "Prepare the first search of this week, which fails in tests/prepare.py since the 3rd of May 2024"
_GROUP_SILENCE: Mapping[SessionGroup, str] = {
    SessionGroup.CONTROL: "control group",
    SessionGroup.PASSIVE: "passive group",
}


def never_paused(session: str, point: InjectionPoint) -> bool:
    return False


@dataclass(eq=False)
class InjectionEngine:
    """Injections of one project. Safe to share between threads."""

    scope: Scope
    store: Store
    clock: Clock
    new_id: NewId
    settings: Settings
    search: Callable[..., Answer]
    prefetch: Callable[..., tuple[PrefetchedFile, ...]]
    find_patterns: Callable[..., tuple[RankedPattern, ...]]
    log: LogInjection
    """Notes in the audit log which records were given."""
    paused: Callable[[str, InjectionPoint], bool] = never_paused
    """Whether a session is given nothing at a point. Assign a function of your own to add an off switch."""
    _threads: BackgroundThreads = field(default_factory=lambda: BackgroundThreads("treering-injections"))
    _failed: bool = False

    def __post_init__(self) -> None:
        self._items = GivenItems(self.scope, self.store)
        self._sessions = RecentSessions()

    def __repr__(self) -> str:
        return f"InjectionEngine(project={self.scope.project!r})"

    def offer(self, occasion: Occasion, *, seconds: float | None = None) -> Injection:
        """What the agent should be given now; an empty text, with the reason in `silence`, if that is nothing.

        Never raises: a value that is not an occasion gives silence, and a warning in the log. It returns within
        `seconds`, by default the deadline of the point (start 0.5, prompt 2, tool 0.1, step 0.05) and never more than
        3. Nothing is given twice in a session, unless its context was compacted.
        """
        try:
            return self._offer(occasion, seconds)
        except Exception as exc:  # noqa: BLE001 - a door: memory must never stop an agent
            return self._failure(occasion, exc)

    def given(self, session: str) -> tuple[InjectedItem, ...]:
        """Everything that a session was given, oldest first."""
        waiting = self._items.waiting(session)
        with self.store.reading(self.scope, self.clock()) as tx:
            return self._items.of(tx, session, waiting)

    def note(self, items: Iterable[InjectedItem]) -> int:
        """Store items that another process gave, such as a hook, and return how many were new.

        An item with a known id is left as it is.
        """
        new = self._items.store(items, self.clock())
        for point in InjectionPoint:
            records = [each for each in new if each.point is point and each.kind is not ItemKind.FILE]
            self.log([each.item for each in records], via=_way(point), tokens=sum(each.tokens for each in records))
        return len(new)

    def prepare(self) -> None:
        """Load what offers need, so that the first one of a process meets its deadline; a server calls it early."""
        from treering.context.injection.contradictions import load_comparison
        from treering.context.injection.points import POINTS

        with suppress(StoreError), self.store.reading(self.scope, self.clock(), for_search=True) as tx:
            load_comparison(tx.now, frozenset(tx.index.languages()))
        for point, spec in POINTS.items():
            nothing = Occasion(_NO_SESSION, point, prompt=_FIRST_PROMPT, search="prepare", files=("prepare",))
            with suppress(StoreError):
                self._made(nothing, spec, lambda: True)

    def flush(self, seconds: float = 1.0) -> None:
        """Store what is still in memory, waiting at most this long for other writers; call it before a session ends."""
        self._threads.wait(seconds)
        self._items.write(self.clock(), seconds)

    def close(self, seconds: float) -> None:
        """Store what is still in memory and end the threads."""
        self._threads.end()
        self.flush(seconds)

    def _offer(self, occasion: Occasion, seconds: float | None) -> Injection:
        from treering.context.injection.points import MAX_SECONDS, POINTS

        occasion = readable_occasion(occasion)
        spec = POINTS[occasion.point]
        if silence := self._silence(occasion, spec):
            return Injection(silence=silence)
        allowed = min(spec.seconds if seconds is None else seconds, MAX_SECONDS)
        pending, until = Pending[Injection](), monotonic() + allowed
        self._threads.run(lambda: self._work(occasion, spec, pending, until))
        return pending.wait(until - monotonic()) or Injection(silence="deadline")

    def _silence(self, occasion: Occasion, spec: PointSpec) -> str:
        """Why nothing may be given, whatever memory holds; empty if something may."""
        group = session_group(self.scope.project, occasion.session)
        only_start = group is SessionGroup.PASSIVE and occasion.point is InjectionPoint.START
        if self.settings.context.control_groups and group is not SessionGroup.FULL and not only_start:
            return _GROUP_SILENCE[group]
        if occasion.step < spec.first_step:
            return "first steps"
        if self.paused(occasion.session, occasion.point):
            return "paused"
        return "nothing known" if says_nothing(occasion) else ""

    def _work(self, occasion: Occasion, spec: PointSpec, pending: Pending[Injection], until: float) -> None:
        """Find and deliver an injection, then store it, which the agent does not wait for."""
        try:
            if pending.abandoned:
                return
            additions = self._items.additions
            made = self._made(occasion, spec, lambda: monotonic() < until and not pending.abandoned)
            if not pending.deliver(made, before=lambda: self._items.add(made.items, additions)):
                pending.deliver(Injection(silence="given meanwhile"))  # to another tool call of the same step
            elif made.items:
                self._store(occasion.point, made)
        except Exception as exc:  # noqa: BLE001 - as in `offer`
            pending.deliver(self._failure(occasion, exc))

    def _store(self, point: InjectionPoint, made: Injection) -> None:
        with suppress(StoreError):  # The next offer, or the end, writes it.
            self._items.write(self.clock())
        self.log(
            [each.item for each in made.items if each.kind is not ItemKind.FILE], via=_way(point), tokens=made.tokens
        )

    def _failure(self, occasion: Occasion, exc: Exception) -> Injection:
        level = logging.DEBUG if self._failed else logging.WARNING
        self._failed = True
        # The occasion itself may be what is wrong.
        point, session = getattr(occasion, "point", None), getattr(occasion, "session", None)
        _LOG.log(level, "nothing injected at %s of session %r: %r", point, session, exc)
        return Injection(silence="error")

    def _made(self, occasion: Occasion, spec: PointSpec, in_time: Callable[[], bool]) -> Injection:
        from treering.context.injection.selection import candidates_of, chosen
        from treering.render.injection import render_injection

        now, waiting = self.clock(), self._items.waiting(occasion.session)
        with self.store.reading(self.scope, now) as tx:
            look = self._lookup(tx, occasion, waiting, in_time)
            known = () if look.gate.compacted else items_in_context(look.given)
            excluded = frozenset((each.kind.value, each.item) for each in known)
            found = candidates_of(look, spec, excluded)
            items = chosen(tx, found, occasion.point, spec)
            notice = self._notice(tx) if occasion.point is InjectionPoint.START else ""
        if not in_time():
            return Injection(silence="deadline")
        rendered = render_injection(items, spec.tokens, notice=notice)
        if not rendered.text:
            return Injection(silence="nothing likely enough" if found else "nothing known")
        id = self.new_id()
        given = tuple(
            _item(look, each, id).replace(id=injected_item_id(id, place), place=place, tokens=tokens)
            for place, (each, tokens) in enumerate(rendered.items)
        )
        return Injection(rendered.text, given, rendered.tokens)

    def _lookup(
        self, tx: Transaction, occasion: Occasion, waiting: Iterable[InjectedItem], in_time: Callable[[], bool]
    ) -> InjectionLookup:
        from treering.context.injection.gate import InjectionGate
        from treering.context.injection.lookup import InjectionLookup
        from treering.context.trust import trust_level

        lost = occasion.point is InjectionPoint.START and occasion.begin in LOST_CONTEXT
        gate = InjectionGate(occasion.session, tx.now, trust_level(tx), self.settings.trust, compacted=lost)
        given = self._items.of(tx, occasion.session, waiting)
        return InjectionLookup(
            tx,
            occasion,
            gate,
            given,
            so_far=self._sessions.after(occasion),
            search=self.search,
            prefetch=self.prefetch,
            find_patterns=self.find_patterns,
            in_time=in_time,
        )

    def _notice(self, tx: Transaction) -> str:
        """Says in the first sessions of a project that its code is still being indexed."""
        code = tx.code.state()
        if code is None or code.complete or tx.observed_sessions.count() >= _FIRST_SESSIONS:
            return ""
        return "The code of this project is still being indexed: searches for code may miss files."


def _way(point: InjectionPoint) -> str:
    return f"injection {point.value}"


def _item(look: InjectionLookup, chosen: InjectionCandidate, injection: str) -> InjectedItem:
    occasion = look.occasion
    reason = f"{AFTER_COMPACTION}: {chosen.reason}" if look.gate.compacted else chosen.reason
    return InjectedItem.make(
        id=injection,
        session=occasion.session,
        point=occasion.point,
        kind=chosen.kind,
        item=chosen.item,
        injection=injection,
        injected_at=look.gate.now,
        step=occasion.step,
        type=chosen.type,
        text=chosen.text[:_MAX_TEXT],
        reason=reason[:_MAX_REASON],
        score=chosen.estimate,
        owner=look.tx.scope.principal,
        visibility=chosen.visibility,
    )
