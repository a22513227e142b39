"""From files to the stored graph: read, resolved and written so that every transaction leaves what is right."""
