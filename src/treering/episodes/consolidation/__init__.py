"""Several episodes of the same task become one that stands for them; they stay, archived, and can come back."""
