"""Location of a repository's memory: found from the folder, chosen by the user, moved when the choice changes."""
