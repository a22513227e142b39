"""Texts that are meant for a model; they are in treering/prompts."""

from importlib.resources import files


def written(name: str) -> str:
    """The text `mcp_NAME.md`."""
    return files("treering.prompts").joinpath(f"mcp_{name}.md").read_text("utf-8").strip()
