"""Evidence among the first ten results of LoCoMo and REALTALK, with learning from the turns and without it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import treering
from bench.retrieval.sets import Group, load
from treering.core.queries import KnowledgeFilter
from treering.core.settings import Settings

SETS = ("locomo", "realtalk")
LIMIT = 10
START = datetime(2024, 1, 1, tzinfo=UTC)


def main() -> None:
    for name in SETS:
        groups = load(name).groups
        for learning in (False, True):
            shares = [measured(group, learning=learning) for group in groups]
            asked, found, learned = (sum(each) for each in zip(*shares, strict=True))
            print(
                f"{name}, learning {learning}: R@{LIMIT} {found / asked:.4f} of {asked}, {learned} records", flush=True
            )


def measured(group: Group, *, learning: bool) -> tuple[int, float, int]:
    """Questions, the sum of the shares of their evidence that is found, and how many records were learned."""
    settings = Settings.make(learn={"enabled": learning})
    with (
        TemporaryDirectory() as folder,
        treering.open(Path(folder) / "memory.db", background=False, settings=settings) as memory,
    ):
        documents = {}
        for place, document in enumerate(group.documents):
            session, at = document.id.partition(":")[0], START + timedelta(minutes=place)
            speaker, _, text = document.text.partition(": ")
            turn = memory.turn(session=session, role="user", text=text or "-", speaker=speaker, at=at)
            documents[turn.id] = document.id
        memory.settle(timeout=3_600.0)
        found = 0.0
        for question in group.questions:
            hits = memory.search(question.text, limit=LIMIT)
            # A learned record is evidence of the turns that it was learned from.
            turns = {id for hit in hits for id in (hit.id, *getattr(hit.record, "source_ids", ()))}
            known = {documents[id] for id in turns if id in documents}
            found += len(question.gold & known) / len(question.gold)
        with memory.store.reading(memory.scope, datetime.now(UTC)) as tx:
            learned = sum(1 for _ in tx.knowledge.stream(KnowledgeFilter()))
        return len(group.questions), found, learned


if __name__ == "__main__":
    main()
