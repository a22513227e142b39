"""Payloads of hooks, one module for each agent: what a call of a hook says about the session."""
