"""How agents are served that ask through MCP."""

from pydantic import Field

from treering.core.values import Value


class HttpSettings(Value):
    """How clients are served over HTTP."""

    port: int = Field(default=18_733, ge=0, le=65_535)
    """T-R-E-E on the keys of a telephone, in a range that no well-known tool uses and no system gives away."""
    body_bytes: int = Field(default=4 * 1024 * 1024, ge=1_024)
    """How long a request can be: the longest text that is kept, each of its characters escaped, with room to spare."""
    request_seconds: float = Field(default=30.0, gt=0)
    """How long a request may take to arrive; who is slower only holds a connection that others want."""
    keep_alive_seconds: int = Field(default=75, ge=1)
    """How long an idle connection stays. Longer than clients keep theirs: if both let go at once, a request is lost."""
    connections: int = Field(default=500, ge=10)
    """Connections at once: half of the files that a process may usually have open."""
    sessions: int = Field(default=1_000, ge=1)
    """Sessions of clients that speak the previous protocol: each costs some kilobytes until it is left alone."""
    session_idle_seconds: float = Field(default=1_800.0, gt=0)
    """How long a session without any open request is kept; its client then begins another, and notices nothing."""
    ending_seconds: int = Field(default=1, ge=0)
    """How long calls may go on when the server is asked to end: what nobody waits for longer at a prompt."""


class AgentSettings(Value):
    answer_tokens: int = Field(default=2_000, ge=100)
    """How long an answer is, unless the agent asks for more: what a model reads without losing its thread."""
    most_answer_tokens: int = Field(default=20_000, ge=100)
    """How long an answer can be asked for; clients cut off what is longer, and then the end is lost."""
    similar: int = Field(default=3, ge=0, le=20)
    """Records on the same subject that are shown to whoever stores one: enough to see that it is known already."""
    recent_episodes: int = Field(default=5, ge=0, le=50)
    """Tasks of the sessions before that an agent is told of when it begins."""
    index_wait_seconds: float = Field(default=8.0, ge=0)
    """How long a question about code waits where nothing is indexed yet: most repositories are read in that time."""
    reading_at_once: int = Field(default=2, ge=1)
    """Calls that read at once. Python runs one at a time: more would only take turns, each with a connection and
    its cache of pages. All three rows together stay below `store.pool_size`, so that connections are kept."""
    writing_at_once: int = Field(default=3, ge=1)
    """Calls that write at once: one does, and the next have prepared what they write or look for what is like it."""
    lengthy_at_once: int = Field(default=2, ge=1)
    """Questions about code, resources and prompts that are answered at once: they may take seconds each."""
    http: HttpSettings = Field(default_factory=HttpSettings)
