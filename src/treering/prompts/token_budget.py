"""Daily token budget of the language model, counted in the store across all processes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from treering.core.errors import TokensUsedUp, UnusableAnswer
from treering.core.privacy import ModelLocation
from treering.core.runs import LANGUAGE_MODEL, Run, RunState, token_run
from treering.core.scope import Scope
from treering.core.settings import Settings
from treering.ports.models import Models, Writer
from treering.ports.store import Store, Transaction

_BYTES_PER_TOKEN = 4  # estimate for servers that do not report usage


def tokens_used(tx: Transaction) -> int:
    """Tokens that this project has spent since midnight UTC."""
    run = tx.runs.get(token_run(tx.now))
    return 0 if run is None else run.done


def metered_writer(models: Models, store: Store, scope: Scope, now: datetime, settings: Settings) -> Writer:
    """The configured language model, which raises `TokensUsedUp` once `learn.max_tokens_per_day` are spent."""
    return _MeteredWriter(models.writer(hurried=False), store, scope, now, settings.learn.max_tokens_per_day)


@dataclass(frozen=True, slots=True)
class _MeteredWriter:
    writer: Writer
    store: Store
    scope: Scope
    now: datetime
    limit: int

    @property
    def model(self) -> str:
        return self.writer.model

    @property
    def location(self) -> ModelLocation:
        return self.writer.location

    @property
    def spent(self) -> int:
        return self.writer.spent

    def write(self, prompt: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        self._check()
        try:
            answer = self.writer.write(prompt, max_tokens=max_tokens, schema=schema)
        except UnusableAnswer:
            self._count(self.writer.spent or _estimate(prompt))
            raise
        self._count(self.writer.spent or _estimate(prompt + answer))
        return answer

    def stream(self, prompt: str, *, max_tokens: int) -> Iterator[str]:
        self._check()
        pieces = list[str]()
        try:
            for piece in self.writer.stream(prompt, max_tokens=max_tokens):
                pieces.append(piece)
                yield piece
        finally:  # also if the caller stops reading: what was written is paid for
            if pieces:
                self._count(self.writer.spent or _estimate(prompt + "".join(pieces)))

    def close(self) -> None:
        self.writer.close()

    def _check(self) -> None:
        with self.store.reading(self.scope, self.now) as tx:
            used = tokens_used(tx)
        if used >= self.limit:
            raise TokensUsedUp(
                f"{used:,} of {self.limit:,} tokens for today are used up, so the language model is not used until "
                "midnight UTC; raise learn.max_tokens_per_day to spend more"
            )

    def _count(self, tokens: int) -> None:
        def add(tx: Transaction) -> None:
            tx.claim(LANGUAGE_MODEL)
            before = tx.runs.get(token_run(tx.now))
            calls = 0 if before is None else before.counts.get("calls", 0)
            day = Run.make(
                id=token_run(tx.now),
                stage=LANGUAGE_MODEL,
                state=RunState.DONE,
                started_at=tx.now,
                updated_at=tx.now,
                finished_at=tx.now,
                done=(0 if before is None else before.done) + tokens,
                counts={"calls": calls + 1},
            )
            tx.runs.put_many([day])

        self.store.write(self.scope, self.now, add)


def _estimate(text: str) -> int:
    return len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN + 1
