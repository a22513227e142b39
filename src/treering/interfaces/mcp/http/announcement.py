"""What the MCP server over HTTP prints when it is ready."""

import json
import os
import shlex
import sys

from treering.interfaces.mcp.http import PATH
from treering.interfaces.servers.http.address import Address
from treering.interfaces.servers.http.options import HttpOptions
from treering.interfaces.servers.http.token import AccessToken


def announce(options: HttpOptions, address: Address, port: int, token: AccessToken, *, as_json: bool) -> None:
    """Print the URL, the command that connects a client, and the file of the token, but never the token."""
    url = f"http://{address.name}:{port}{PATH}"
    elsewhere = None if address.is_loopback else f"https://{options.allowed[0]}{PATH}"
    if as_json:
        document = {"url": url, "token_file": None if token.file is None else str(token.file), "pid": os.getpid()}
        print(json.dumps(document), flush=True)
    shown = f"${options.variable}" if token.file is None else f"$(cat {shlex.quote(str(token.file))})"
    lines = [
        f"serving at {url} until Ctrl-C; the token is in {token.file or options.variable}",
        f'  claude mcp add --transport http treering {elsewhere or url} --header "Authorization: Bearer {shown}"',
    ]
    if elsewhere:
        lines.insert(1, "requests, with the token, are not encrypted: put a TLS proxy in front of the server")
    print("\n".join(lines), file=sys.stderr, flush=True)
