"""What works: patterns judged by their evidence, refined where they fail, never believed by luck."""
