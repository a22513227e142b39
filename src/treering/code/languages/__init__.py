"""One module a language: how it is read, and how its names resolve."""
