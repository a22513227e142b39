"""What the servers share: threads for calls, logs, shutdown, and HTTP."""
