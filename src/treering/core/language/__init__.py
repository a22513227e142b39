"""Conversion of texts to terms: splitting, folding and stemming by language. Pure, and equal for both engines."""
