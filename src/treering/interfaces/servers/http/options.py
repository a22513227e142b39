"""Options of an HTTP server."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from treering.interfaces.servers.http.address import MCP_VARIABLE, Address
from treering.interfaces.servers.http.token import AccessToken

Announce = Callable[[Address, int, AccessToken], None]
"""Called with the address, the port and the token when the server is ready."""


@dataclass(frozen=True, slots=True)
class HttpOptions:
    """The address to listen on, and the authentication."""

    host: str
    port: int
    allowed: tuple[str, ...] = ()
    """Host names by which other machines reach it."""
    project: str | None = None
    """Project whose own token is used if the user gives none."""
    token_file: Path | None = None
    token: str | None = field(default=None, repr=False)
    variable: str = MCP_VARIABLE
    """Environment variable that the token came from."""

    @property
    def has_token(self) -> bool:
        """Whether the user gave a token."""
        return self.token_file is not None or self.token is not None
