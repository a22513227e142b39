"""A repository of any size: packages whose functions call functions of files before them, as layered code does."""

import random
from pathlib import Path

FUNCTIONS = 20
USES = 10
USED_FILES = 8
FOLDER_SIZE = 50


def make_up(root: Path, files: int) -> None:
    """Python packages whose functions call functions of files before them, as layered code does."""
    chance = random.Random(7)
    for number in range(files):
        path = root / _module(number).replace(".", "/")
        if number % FOLDER_SIZE == 0:
            path.parent.mkdir(parents=True)
            (path.parent / "__init__.py").write_text("")
        path.with_suffix(".py").write_text(source(number, chance))


def _module(number: int) -> str:
    return f"part_{number // FOLDER_SIZE}.file_{number}"


def _used(number: int, chance: random.Random) -> set[int]:
    """Files before this one: half of them beside it, of the others the first are used most, as foundations are."""
    folder = number - number % FOLDER_SIZE
    beside = chance.sample(range(folder, number), min(number - folder, USED_FILES // 2))
    others = (int(number * chance.random() ** 3) for _ in range(USED_FILES - len(beside)))
    return {*beside, *others} if number else set()


def source(number: int, chance: random.Random) -> str:
    used = sorted(_used(number, chance))
    lines = ["from {} import {}".format(*_module(each).split(".")) for each in used]
    for function in range(FUNCTIONS):
        lines += ["", "", f"def function_{function}(value):"]
        for _ in range(USES):
            target = chance.randrange(FUNCTIONS)
            callee = f"file_{chance.choice(used)}.function_{target}" if used else f"function_{target}"
            lines.append(f"    value = {callee}(value)")
        lines.append("    return value")
    return "\n".join(lines) + "\n"
