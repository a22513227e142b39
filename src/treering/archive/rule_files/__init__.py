"""Rule files of coding agents, such as CLAUDE.md: imported as records, exported as a marked block."""
