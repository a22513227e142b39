"""`treering.Client`: the verbs of Memory over HTTP, so that code written for a file runs against a server."""

from treering.client.client import Client

__all__ = ["Client"]
