"""Texts for models, from treering/prompts."""

from importlib.resources import files


def prompt_text(name: str) -> str:
    """The text `mcp_NAME.md`."""
    return files("treering.prompts").joinpath(f"mcp_{name}.md").read_text("utf-8").strip()
