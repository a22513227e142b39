"""Contexts of the stages of work: planning, checking, and what one stage hands to the next."""
