"""Messages of a conversation, with removed ones grouped into runs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.conversation.views import ExplainedMessage
    from treering.core.contexts import RemovedMessages


@dataclass(frozen=True, slots=True)
class RemovedRun:
    """Neighbouring messages that were removed together, with the stored span."""

    lines: tuple["ExplainedMessage", ...]
    span: "RemovedMessages | None"


def messages_and_runs(
    lines: Iterable["ExplainedMessage"], spans: Sequence["RemovedMessages"]
) -> Iterator["ExplainedMessage | RemovedRun"]:
    """Messages and runs in order. A message that was never sent does not split a run; it follows the run."""
    run, never_sent = list["ExplainedMessage"](), list["ExplainedMessage"]()

    def ended() -> Iterator["ExplainedMessage | RemovedRun"]:
        for _, together in groupby(run, key=lambda line: (_span_of(line, spans), line.why)):
            gathered = tuple(together)
            yield RemovedRun(gathered, _span_of(gathered[0], spans))
        yield from never_sent
        run.clear()
        never_sent.clear()

    for line in lines:
        if line.removed:
            run.append(line)
        elif run and not line.in_context:
            never_sent.append(line)
        else:
            yield from ended()
            yield line
    yield from ended()


def _span_of(line: "ExplainedMessage", spans: Sequence["RemovedMessages"]) -> "RemovedMessages | None":
    return next((span for span in spans if span.first <= line.seq <= span.last), None)
