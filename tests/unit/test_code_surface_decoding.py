"""The surface of a file is the same from all of its stored facts and from the part that it needs."""

import pytest

from treering.code.encoding import pack_facts, unpack_facts, unpack_surface
from treering.code.language_choice import load_language

SOURCES = {
    "python": (
        "shop/cart.py",
        'import os\nfrom a import b as c\n__all__ = ["Cart"]\nlimit = 3\n\n\nclass Cart(c.Base):\n    size: int = 1\n\n'
        "    def add(self, item):\n        total = item.price\n        return os.fspath(total)\n\n\n"
        "def test_cart(tmp_path):\n    Cart().add(limit)\n",
    ),
    "go": ("shop/cart.go", "package shop\n\ntype Cart struct{ n int }\n\nfunc (c *Cart) Add() int { return c.n }\n"),
    "rust": ("src/lib.rs", "pub struct Cart;\nimpl Cart { pub fn add(&self) -> u8 { 1 } }\n"),
    "typescript": ("shop/cart.ts", "export class Cart { add(n: number) { return n; } }\n"),
    "java": ("shop/Cart.java", "class Cart { int add(int n) { return n; } }\n"),
}


@pytest.mark.parametrize("language", SOURCES)
def test_a_surface_needs_only_the_leading_fields_of_a_stored_body(language: str) -> None:
    path, source = SOURCES[language]
    reader = load_language(language)
    packed = pack_facts(reader.extract(path, source.encode()))
    whole = reader.surface(unpack_facts(language, packed))
    assert len(whole) > 1
    assert unpack_surface(language, packed) == whole
