"""A client's configuration file, and what Treering does to it."""

import json
from pathlib import Path
from typing import Any

from treering.interfaces.client_configs.apply import apply_change
from treering.interfaces.client_configs.connection import ConfigChange, ConfigFile, planned_change
from treering.interfaces.client_configs.formats import Entry
from treering.interfaces.client_configs.ledger import Ledger
from treering.interfaces.client_configs.parts import ServerPart
from treering.interfaces.client_configs.table import ClientConfig, client_named

CLAUDE = client_named("claude")


def server_file(client: ClientConfig, path: Path, entry: Entry | None = None) -> ConfigFile:
    """A file that should have our server; without an entry, one that should not."""
    return ConfigFile(path, (ServerPart(client.format, client.place, entry),))


def connecting_change(client: ClientConfig, path: Path, entry: Entry, ledger: Ledger) -> ConfigChange:
    return planned_change(server_file(client, path, entry), ledger)


def removing_change(client: ClientConfig, path: Path, ledger: Ledger) -> ConfigChange:
    return planned_change(server_file(client, path), ledger)


class Desk:
    """A folder with one configuration file in it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "project" / ".mcp.json"
        self.path.parent.mkdir()
        self.ledger = Ledger(folder / "kept")

    def connect(self, command: str = "treering") -> ConfigChange:
        change = self.planned(command)
        apply_change(change, self.ledger)
        return change

    def planned(self, command: str = "treering") -> ConfigChange:
        return connecting_change(CLAUDE, self.path, CLAUDE.entry(command), self.ledger)

    def remove(self) -> ConfigChange:
        change = removing_change(CLAUDE, self.path, self.ledger)
        apply_change(change, self.ledger)
        return change

    def write_another_key(self) -> None:
        """As somebody else would."""
        self.path.write_text(self.path.read_text().replace("{", '{\n  "x": 1,', 1))

    def servers(self) -> dict[str, Any]:
        return json.loads(self.path.read_text())["mcpServers"]
