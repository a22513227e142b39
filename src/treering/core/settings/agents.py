"""Settings of the MCP server."""

from pydantic import Field

from treering.core.values import Value


class AgentSettings(Value):
    answer_tokens: int = Field(default=2_000, ge=100)
    """Default tokens of an MCP answer."""
    most_answer_tokens: int = Field(default=20_000, ge=100)
    """Largest token budget that an agent can request; clients truncate longer answers."""
    index_wait_seconds: float = Field(default=8.0, ge=0)
    """Seconds that the first query about code waits for the index."""
