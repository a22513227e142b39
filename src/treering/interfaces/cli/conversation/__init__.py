"""The terminal view of a conversation's window."""
