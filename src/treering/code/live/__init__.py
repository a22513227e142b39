"""From the stored graph to answers: held in memory, current, and honest about what is not read yet."""
