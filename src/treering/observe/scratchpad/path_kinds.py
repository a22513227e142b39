"""What a file's path says about it: its module, and whether it is configuration or a test."""

import re
from functools import lru_cache

from treering.core.values import LABEL_BYTES, fitting

_MODULE_DEPTH = 2
_ROOTS = frozenset({"src", "lib", "app", "packages", "crates", "apps", "modules"})  # folders that only contain modules
_TESTS = re.compile(
    r"(?:^|/)(?:tests?|__tests__|spec|specs|e2e|testing)/|(?:^|/)(?:test_[^/]+|conftest)\.py$"
    r"|[._-](?:test|tests|spec)\.[a-z]+$|Tests?\.(?:java|kt|cs|swift)$"
)
_CONFIG_NAMES = re.compile(
    r"(?:^|/)(?:package\.json|deno\.jsonc?|composer\.json|pyproject\.toml|setup\.(?:cfg|py)|tox\.ini|noxfile\.py|pytest\.ini"
    r"|requirements[^/]*\.txt|Cargo\.toml|rust-toolchain(?:\.toml)?|go\.(?:mod|work)|pom\.xml|[^/]*\.gradle(?:\.kts)?"
    r"|gradle\.properties|Gemfile|CMakeLists\.txt|(?:GNU)?[Mm]akefile|Justfile|justfile|Taskfile\.ya?ml|Procfile"
    r"|(?:[^/]*\.)?Dockerfile(?:\.[^/]*)?|docker-compose[^/]*\.ya?ml|compose[^/]*\.ya?ml|\.env(?:\.[^/]*)?"
    r"|[jt]sconfig[^/]*\.json|[^/]*\.config\.(?:[cm]?[jt]s|json)|\.[^/]*rc(?:\.(?:json|ya?ml|[cm]?js|toml))?"
    r"|\.(?:editorconfig|gitattributes|gitignore|importlinter|golangci\.ya?ml|goreleaser\.ya?ml|pre-commit-config\.yaml"
    r"|gitlab-ci\.yml|travis\.yml)|settings\.(?:py|json|toml|ya?ml)|application[^/]*\.(?:properties|ya?ml)|alembic\.ini"
    r"|Jenkinsfile|[^/]*\.tf(?:vars)?|nginx\.conf|vercel\.json|netlify\.toml|fly\.toml|buf(?:\.gen)?\.yaml|sqlc\.ya?ml)$"
    r"|(?:^|/)(?:\.github/workflows|\.circleci|helm|k8s|\.config|configs?|settings)/[^/]+\.(?:ya?ml|json|toml|ini|env)$"
)


@lru_cache(maxsize=4_096)
def module_of(path: str) -> str:
    """The folder that is the file's module: at most two levels, or three below a folder such as `src`."""
    folders = path.split("/")[:-1]
    depth = _MODULE_DEPTH + (1 if folders and folders[0] in _ROOTS else 0)
    return fitting("/".join(folders[:depth]), LABEL_BYTES) or "."


@lru_cache(maxsize=4_096)
def is_test(path: str) -> bool:
    return _TESTS.search(path) is not None


@lru_cache(maxsize=4_096)
def is_config(path: str) -> bool:
    """Whether the file configures a build, a tool or a deployment; lock files do not count."""
    return _CONFIG_NAMES.search(path) is not None


def stem_of(path: str) -> str:
    """Name of the file without its extensions."""
    return path.rsplit("/", 1)[-1].split(".", 1)[0]
