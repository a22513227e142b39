"""Where the memory of a repository is: found by the folder, chosen by the user, moved when the choice changes."""
