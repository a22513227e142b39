"""How agents are served that ask through MCP."""

from pydantic import Field

from treering.core.values import Value


class AgentSettings(Value):
    answer_tokens: int = Field(default=2_000, ge=100)
    """How long an answer is, unless the agent asks for more: what a model reads without losing its thread."""
    most_answer_tokens: int = Field(default=20_000, ge=100)
    """How long an answer can be asked for; clients cut off what is longer, and then the end is lost."""
    index_wait_seconds: float = Field(default=8.0, ge=0)
    """How long a question about code waits where nothing is indexed yet: most repositories are read in that time."""
