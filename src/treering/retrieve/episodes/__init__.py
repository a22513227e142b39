"""Episodes found again: by meaning, by what they are, by when they were, by what went wrong in them."""
