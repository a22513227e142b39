"""Many clients over HTTP: who may come in, by which name and with which token, and how the server ends."""
