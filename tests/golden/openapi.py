"""The OpenAPI document as the golden file has it."""

import json
import tempfile
from pathlib import Path

import treering
from treering.interfaces.rest.app import rest_api
from treering.interfaces.rest.memories import ProjectMemories
from treering.interfaces.rest.openapi import ApiDocument
from treering.interfaces.rest.sign_in import SignInCodes
from treering.interfaces.servers.http.token import AccessToken

GOLDEN = Path(__file__).parent / "openapi.json"


def shown() -> str:
    """The document without the version of Treering, which every release changes."""
    folder = Path(tempfile.gettempdir())
    memories = ProjectMemories(lambda name: treering.open(":memory:", project=name), "demo")
    app = rest_api(memories, AccessToken("t" * 40), codes=SignInCodes(folder))
    document = dict(ApiDocument(app).content)
    document["info"] = {**document["info"], "version": "0"}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"
