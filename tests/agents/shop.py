"""A small Python project with a mistake, and the steps of a session that finds and fixes it."""

from tests.agents.script import Edit, Read, Run, Step

FILES = {
    "README.md": "# A shop\n",
    "prices.py": '"""Prices with tax."""\n\n\ndef total(prices, rate):\n    return sum(prices) + rate\n',
    "receipt.py": (
        '"""Receipts."""\n\nfrom prices import total\n\n\n'
        'def receipt(prices):\n    return f"Total: {total(prices, 0)}"\n'
    ),
    "test_prices.py": (
        "import unittest\n\nfrom prices import total\n\n\nclass TestPrices(unittest.TestCase):\n"
        "    def test_tax_is_a_share_of_the_price(self):\n        self.assertEqual(total([100], 0.2), 120)\n"
    ),
}
TEST = "python3 -m unittest test_prices"
ERROR = "AssertionError: 100.2 != 120"

FIX: tuple[Step, ...] = (
    Edit("prices.py", "    return sum(prices) + rate", "    return sum(prices) * (1 + rate)"),
    Edit("receipt.py", '    return f"Total: {total(prices, 0)}"', '    return f"Total with tax: {total(prices, 0.2)}"'),
    Run(TEST),
)
"""Edits two files, after which the test passes."""

FIND_AND_FIX: tuple[Step, ...] = (
    Read("prices.py"),
    Read("receipt.py"),
    Run(TEST),
    *FIX,
    Run("git checkout --quiet ."),
    Run(TEST),
    Read("prices.py"),
    Read("receipt.py"),
    *FIX,
)
"""Fails the test, fixes it, undoes the fix, and does it again: what resolves an error once may be chance."""
