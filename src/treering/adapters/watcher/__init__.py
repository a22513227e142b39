"""Changed files, as the operating system tells them."""
