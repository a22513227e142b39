"""The temperature of an item, from its kind and the number of later outputs."""

from treering.task.sections import COLD, HOT, KINDS, WARM, Temperature


def temperature(kind: str, back: int, *, whole: bool, old_after: int) -> Temperature:
    """`back` is 1 for the latest output, 2 for the one before. An item that is not `whole` is cold."""
    if not whole:
        return COLD
    if kind != "result":
        return KINDS[kind].temperature
    if back <= 1:
        return HOT
    return WARM if back <= old_after else COLD
