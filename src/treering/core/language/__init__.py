"""How texts become terms: split, folded, stemmed by their language. Pure, and the same for every engine."""
