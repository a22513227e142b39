"""File names of TypeScript configurations, importable without loading a grammar."""

TSCONFIG_NAMES = (
    "tsconfig.json",
    "jsconfig.json",
    "tsconfig.base.json",
    "tsconfig.build.json",
    "tsconfig.app.json",
    "tsconfig.lib.json",
    "tsconfig.node.json",
    "tsconfig.common.json",
    "tsconfig.shared.json",
    "tsconfig.options.json",
    "tsconfig.root.json",
)
"""Usual names of configurations. Another file is read only if one of these extends it and it has such a name."""
