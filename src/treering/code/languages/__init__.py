"""One package per language: extraction of facts and resolution of names."""
