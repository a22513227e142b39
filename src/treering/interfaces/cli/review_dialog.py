"""The questions of a review: one record after the other, each answered with one key."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from treering.core.errors import TreeringError
from treering.core.trust import TrustEvidence, offered_level

if TYPE_CHECKING:
    from treering.core.records import Knowledge
    from treering.core.trust import TrustLevel
    from treering.memory import Memory
    from treering.observe.review import SessionReview


class ReviewAnswer(StrEnum):
    """What the user decides about a record, or about the rest of the review."""

    CONFIRM = "confirm"
    EDIT = "edit"
    REJECT = "reject"
    ALL = "confirm all"
    LATER = "later"
    QUIT = "quit"
    HELP = "help"


KEYS: Mapping[str, ReviewAnswer] = {
    "c": ReviewAnswer.CONFIRM,
    "y": ReviewAnswer.CONFIRM,
    "e": ReviewAnswer.EDIT,
    "r": ReviewAnswer.REJECT,
    "n": ReviewAnswer.REJECT,
    "x": ReviewAnswer.REJECT,
    "a": ReviewAnswer.ALL,
    "l": ReviewAnswer.LATER,
    "q": ReviewAnswer.QUIT,
    "?": ReviewAnswer.HELP,
}
HELP: Mapping[ReviewAnswer, str] = {
    ReviewAnswer.CONFIRM: "it is true: agents are given it from now on",
    ReviewAnswer.EDIT: "correct its text; the old version is kept",
    ReviewAnswer.REJECT: "it is wrong or useless: delete it (`treering undo ID` restores it)",
    ReviewAnswer.ALL: "confirm this record and all that follow, except those from outside",
    ReviewAnswer.LATER: "leave it as it is and go to the next one",
    ReviewAnswer.QUIT: "stop; the rest waits for the next review",
    ReviewAnswer.HELP: "show this help",
}
_ENTER = ("\n", "\r")


class ReviewKeyboard(Protocol):
    def read(self) -> str: ...
    def line(self, prompt: str, text: str) -> str: ...


class ReviewScreen(Protocol):
    def question(self, record: "Knowledge", place: int, total: int, keys: str) -> None: ...
    def result(self, text: str) -> None: ...
    def help(self, keys: Sequence[tuple[str, str]]) -> None: ...


@dataclass
class ReviewDecisions:
    """Ids by decision. Each is stored before the next question is asked."""

    confirmed: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    later: list[str] = field(default_factory=list)
    rejected_by_session: Counter[str | None] = field(default_factory=Counter)

    @property
    def decided(self) -> int:
        return len(self.confirmed) + len(self.edited) + len(self.rejected)


@dataclass
class ReviewDialog:
    """Asks about the records of a review and stores each decision at once."""

    memory: "Memory"
    review: "SessionReview"
    keyboard: ReviewKeyboard
    screen: ReviewScreen
    decisions: ReviewDecisions = field(default_factory=ReviewDecisions)

    def run(self) -> ReviewDecisions:
        """Ask about the learned records, then about those from outside. Returns when all are decided or on quit."""
        records = [*self.review.learned, *self.review.tainted]
        all_confirmed = False
        for place, record in enumerate(records, 1):
            if all_confirmed and not record.tainted:
                self._store(record, ReviewAnswer.CONFIRM)
                continue
            answer = self._ask(record, place, len(records))
            if answer is ReviewAnswer.QUIT:
                break
            all_confirmed = all_confirmed or answer is ReviewAnswer.ALL
            self._store(record, answer)
        return self.decisions

    def offered(self) -> "TrustLevel | None":
        """The more careful level to offer after three rejected records of one session; else None."""
        most = max(self.decisions.rejected_by_session.values(), default=0)
        seen = TrustEvidence(flagged_in_last_session=most)
        return offered_level(self.memory.trust.level, seen) or self.memory.trust.offered

    def offer(self, level: "TrustLevel", question: str) -> bool:
        """Ask whether to set the more careful level; any key but `y` keeps the present one."""
        self.screen.result(question)
        if self.keyboard.read() != "y":
            return False
        self.memory.trust.set(level)
        return True

    def _ask(self, record: "Knowledge", place: int, total: int) -> ReviewAnswer:
        allowed = [each for each in ReviewAnswer if not (record.tainted and each is ReviewAnswer.ALL)]
        by_enter = ReviewAnswer.ALL if self.review.confirms_all and ReviewAnswer.ALL in allowed else None
        self.screen.question(record, place, total, _key_line(allowed, by_enter))
        while True:
            key = self.keyboard.read()
            answer = by_enter if key in _ENTER else KEYS.get(key)
            if answer is ReviewAnswer.HELP:
                self.screen.help([(_key(each), f"{each.value}: {HELP[each]}") for each in allowed])
            elif answer is not None and answer in allowed:
                return answer

    def _store(self, record: "Knowledge", answer: ReviewAnswer) -> None:
        try:
            self.screen.result(_STORED[answer](self, record))
        except TreeringError as exc:  # another process decided about it meanwhile, for example
            self.screen.result(f"not changed: {exc}")
            self.decisions.later.append(record.id)

    def _confirm(self, record: "Knowledge") -> str:
        self.memory.confirm(record.id)
        self.decisions.confirmed.append(record.id)
        return "confirmed"

    def _edit(self, record: "Knowledge") -> str:
        text = self.keyboard.line("text: ", " ".join(record.content.splitlines())).strip()
        if not text or text.split() == record.content.split():
            return self._later(record)
        corrected = self.memory.correct(record.id, text=text)
        self.decisions.edited.append(corrected.id)
        return f"corrected; it is now {corrected.id}"

    def _reject(self, record: "Knowledge") -> str:
        self.memory.forget(record.id)
        self.decisions.rejected.append(record.id)
        self.decisions.rejected_by_session[record.session] += 1
        return f"rejected; `treering undo {record.id}` restores it"

    def _later(self, record: "Knowledge") -> str:
        self.decisions.later.append(record.id)
        return "left for later"


_STORED: Mapping[ReviewAnswer, Callable[[ReviewDialog, "Knowledge"], str]] = {
    ReviewAnswer.CONFIRM: ReviewDialog._confirm,
    ReviewAnswer.ALL: ReviewDialog._confirm,
    ReviewAnswer.EDIT: ReviewDialog._edit,
    ReviewAnswer.REJECT: ReviewDialog._reject,
    ReviewAnswer.LATER: ReviewDialog._later,
}


def _key(answer: ReviewAnswer) -> str:
    return next(key for key, each in KEYS.items() if each is answer)


def _key_line(allowed: Sequence[ReviewAnswer], by_enter: ReviewAnswer | None) -> str:
    """`[c]onfirm  [e]dit …`; the answer that Enter gives is named."""
    named = [f"[{_key(each)}]{each.value[1:] if each.value[0] == _key(each) else f' {each.value}'}" for each in allowed]
    return "  ".join([*named, *([f"Enter: {by_enter.value}"] if by_enter else [])])
