"""Agent events → scratchpad → signals → promotion: what is learned from watching sessions."""
