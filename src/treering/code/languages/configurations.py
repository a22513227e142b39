"""Names of TypeScript's configurations: which files are read is told by names, before any grammar is loaded."""

CONFIGURATIONS = (
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
"""The names configurations usually have; others are read where one of these extends them, if they have such a name."""
