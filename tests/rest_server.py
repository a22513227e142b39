"""The REST API in this process, over memories that a test opens."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from treering.interfaces.rest import panel
from treering.interfaces.rest.app import application
from treering.interfaces.rest.memories import ProjectMemories
from treering.interfaces.rest.sign_in import SignInCodes
from treering.interfaces.servers.http.limits import HttpLimits
from treering.interfaces.servers.http.token import AccessToken
from treering.memory import Memory

TOKEN = "a-token-that-only-the-tests-know-of-00"
HOST = "here:80"
ORIGIN = "http://here:80"
P = "/api/v1/projects/p"


@contextmanager
def rest_client(
    open_memory: Callable[..., Memory],
    folder: Path,
    *,
    limits: HttpLimits | None = None,
    token: str | None = TOKEN,
    dist: Path = panel.DIST,
    **options: Any,
) -> Iterator[TestClient]:
    """A client of the whole application behind its gate, for the project `p`."""
    memories = ProjectMemories(lambda name: open_memory(project=name), "p")
    app = application(
        memories,
        [HOST],
        AccessToken(TOKEN),
        limits or HttpLimits(),
        codes=SignInCodes(folder),
        dist=dist,
        pause_folders=lambda _project: (str(folder / "hooks"),),
        **options,
    )
    headers = {"Host": HOST, **({"Authorization": f"Bearer {token}"} if token else {})}
    with TestClient(app, base_url="http://here:80", headers=headers, follow_redirects=False) as client:
        yield client
    memories.close()
