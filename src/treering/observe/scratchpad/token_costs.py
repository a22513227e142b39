"""Tokens of tool results, by module, and results that are unusually long."""

from treering.observe.scratchpad.activity import Activity
from treering.observe.scratchpad.path_kinds import module_of

SPIKE_TOKENS = 8_000
SPIKE_RATIO = 8  # times the mean
_MIN_SPIKE = 4_000
_CHARACTERS_PER_TOKEN = 4
_MAX_FILES = 3


def record_tokens(activity: Activity, subject: str, paths: tuple[str, ...], text: str, tokens: int | None) -> None:
    """Count the tokens of a result, estimated from its length if the sender does not give them."""
    count = tokens if tokens is not None else len(text) // _CHARACTERS_PER_TOKEN
    usual = activity.tokens // activity.results if activity.results else 0
    activity.tokens += count
    activity.results += 1
    for module in {module_of(path): None for path in paths[:_MAX_FILES]}:
        use = activity.entry("tokens_by_module", module)
        use.tokens += count
        use.results += 1
        use.largest = max(use.largest, count)
    if subject and (count >= SPIKE_TOKENS or (count >= _MIN_SPIKE and usual and count >= SPIKE_RATIO * usual)):
        spike = activity.entry("spikes", subject)
        spike.count += 1
        if count > spike.tokens:
            spike.tokens, spike.usual = count, usual
        spike.files, spike.last_step = paths[:_MAX_FILES], activity.step
