"""Looking back on a week: what was learned, what changed, what keeps failing, what was corrected."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treering.jobs.stage import StageRun


def reflect(run: "StageRun") -> None:
    """The week's reflection: see `stage.reflect`. Imported when it runs: forgetting needs a part of this package."""
    from treering.knowledge.reflection.stage import reflect as do

    do(run)
