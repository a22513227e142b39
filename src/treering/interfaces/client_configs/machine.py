"""The machine that an agent is configured on, and whether it is configured for one project or for all."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class ConfigScope(StrEnum):
    """Whether a server is configured for one project or for all projects of the user."""

    PROJECT = "project"
    USER = "user"

    @property
    def other(self) -> "ConfigScope":
        return ConfigScope.PROJECT if self is ConfigScope.USER else ConfigScope.USER


@dataclass(frozen=True, slots=True)
class Machine:
    """The places where configuration files are."""

    project: Path
    home: Path
    variables: Mapping[str, str]
    platform: str

    def folder(self, variable: str, default: str = "") -> Path:
        """The folder that an environment variable names, else one in the home folder."""
        named = self.variables.get(variable)
        return Path(named).expanduser() if named else self.home / default

    def has(self, program: str) -> bool:
        return shutil.which(program, path=self.variables.get("PATH", "")) is not None
