"""`treering patterns …`: what works, with its evidence."""
