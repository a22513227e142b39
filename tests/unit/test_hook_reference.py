"""docs/reference/hooks.md names the hooks that the code installs."""

from pathlib import Path

from treering.interfaces.hooks.agents import AGENTS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "hooks.md"
POINTS = ("start", "prompt", "tool", "step", None)


def test_the_table_lists_every_hook_at_its_point() -> None:
    rows = [line.strip("| \n").split(" | ") for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    listed = {cells[0].strip("`"): cells[1:] for cells in rows if len(cells) == len(POINTS) + 1}
    assert listed.keys() == AGENTS.keys()
    for name, agent in AGENTS.items():
        for point, cell in zip(POINTS, listed[name], strict=True):
            expected = [f"`{hook.name}`" for hook in agent.hooks.values() if hook.point == point]
            assert cell == (", ".join(expected) or "–"), (name, point)
