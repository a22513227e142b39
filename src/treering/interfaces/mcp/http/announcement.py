"""Options of an HTTP server, and what it prints when it is ready."""

import json
import os
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path

from treering.interfaces.mcp.http.address import PATH, Address
from treering.interfaces.mcp.http.token import AccessToken


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

    @property
    def has_token(self) -> bool:
        """Whether the user gave a token."""
        return self.token_file is not None or self.token is not None


def announce(address: Address, port: int, options: HttpOptions, token: AccessToken, *, as_json: bool) -> None:
    """Print the URL, the command that connects a client, and the file of the token, but never the token."""
    url = f"http://{address.name}:{port}{PATH}"
    elsewhere = None if address.is_loopback else f"https://{options.allowed[0]}{PATH}"
    if as_json:
        document = {"url": url, "token_file": None if token.file is None else str(token.file), "pid": os.getpid()}
        print(json.dumps(document), flush=True)
    shown = "$TREERING_MCP_TOKEN" if token.file is None else f"$(cat {shlex.quote(str(token.file))})"
    lines = [
        f"serving at {url} until Ctrl-C; the token is in {token.file or 'TREERING_MCP_TOKEN'}",
        f'  claude mcp add --transport http treering {elsewhere or url} --header "Authorization: Bearer {shown}"',
    ]
    if elsewhere:
        lines.insert(1, "requests, with the token, are not encrypted: put a TLS proxy in front of the server")
    print("\n".join(lines), file=sys.stderr, flush=True)
